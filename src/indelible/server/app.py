"""The ASGI application: the one door through which every request comes and every answer goes.

Whatever goes wrong behind it becomes a problem document. A fault of our own is told to the log by its kind and place,
without its message, which might hold content.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import msgspec
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

from indelible.errors import IndelibleError
from indelible.server import shapes
from indelible.server.answers import answer
from indelible.server.asking import Ask
from indelible.server.bodies import Body, Gone, drain
from indelible.server.openapi import document
from indelible.server.problems import Crashed, TooSlow, UnknownMethod, UnknownPath, problem
from indelible.server.routes import OPERATIONS

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from indelible.server.operation import Operation
    from indelible.server.service import Service


def application(service: Service) -> ASGIApp:
    """The server as an ASGI application."""
    doors: dict[str, dict[str, _Door]] = {}
    for operation in OPERATIONS:
        doors.setdefault(operation.path, {})[operation.method] = _Door(service, operation)
    routes = [Route(path, _Path(methods)) for path, methods in doors.items()]
    description = msgspec.json.encode(document(OPERATIONS))

    async def describe(_: Request) -> Response:
        return Response(description, media_type="application/json")

    async def tell_health(_: Request) -> Response:
        return answer(shapes.Health())

    async def refuse_path(_: Request, __: Exception) -> Response:
        return problem(UnknownPath("There is nothing at this path"))

    async def refuse_method(_: Request, refused: Exception) -> Response:
        allowed = sorted((getattr(refused, "headers", None) or {}).get("Allow", "").split(", "))  # a set has no order
        return problem(UnknownMethod("This path does not have that method"), headers={"allow": ", ".join(allowed)})

    app = Starlette(
        routes=[
            *routes,
            Route("/openapi.json", describe, methods=["GET"]),
            Route("/healthz", tell_health, methods=["GET"]),
        ],
        exception_handlers={404: refuse_path, 405: refuse_method},
    )
    # A redirect would send the key on to an address that the request itself names.
    app.router.redirect_slashes = False
    return app


class _Path:
    """The methods of one path."""

    def __init__(self, methods: dict[str, _Door]) -> None:
        self._methods = methods
        self._allow = ", ".join(sorted(methods))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        door = self._methods.get(method)
        if door is None:
            refusal = problem(UnknownMethod(f"This path has {self._allow}"), headers={"allow": self._allow})
            await refusal(scope, receive, send)
        else:
            await door(scope, receive, send)


class _Door:
    """One operation."""

    def __init__(self, service: Service, operation: Operation) -> None:
        self._service, self._operation = service, operation

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = time.perf_counter()
        agent = fault = None
        response: Response
        body = Body(receive)
        try:
            ask = Ask(self._service, self._operation, scope, body)
            agent = ask.agent
            response = await self._operation.run(ask)
        except IndelibleError as error:
            fault, response = error.slug, problem(error)
            if self._operation.body is not None and not body.ended and not isinstance(error, TooSlow):
                send = _Lingering(body, send)
        except Gone:
            return
        except Exception as error:  # noqa: BLE001 - the door: told to the log, and to the client as a fault of ours
            fault, response = _where(error), problem(Crashed("The server could not do that"))
        fault = await _send(response, scope, body, send) or fault
        self._note(response.status_code, agent, fault, time.perf_counter() - begun)

    def _note(self, status: int, agent: str | None, fault: str | None, seconds: float) -> None:
        """Writes and failures are worth a line; a read that went well is not."""
        operation = self._operation
        if fault is not None or operation.method != "GET":
            self._service.journal.event(
                "request",
                method=operation.method,
                route=operation.path,
                status=status,
                agent=agent,
                fault=fault,
                ms=round(seconds * 1000, 1),
            )


async def _send(response: Response, scope: Scope, receive: Receive, send: Send) -> str | None:
    """Send the answer. What breaks one off that is sent in pieces; the connection is then closed in the middle."""
    try:
        await response(scope, receive, send)
    except IndelibleError as error:
        return f"broken off: {error.slug}"
    except Exception as error:  # noqa: BLE001 - the door: the status is out already; the client sees a cut answer
        return f"broken off: {_where(error)}"
    return None


class _Lingering:
    """Sends the answer to a body that was refused, and takes the rest of the body in before it hangs up.

    A client that is still sending would else find the connection reset, and never read why.
    """

    def __init__(self, body: Body, send: Send) -> None:
        self._body, self._send = body, send

    async def __call__(self, message: Message) -> None:
        if message["type"] != "http.response.body":
            await self._send(message)
            return
        await self._send({**message, "more_body": True})
        await drain(self._body)
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})


def _where(error: Exception) -> str:
    """The kind of a fault and the line it came from."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    code = trace.tb_frame.f_code if trace is not None else None
    return (
        f"{type(error).__name__} in {code.co_name}:{trace.tb_lineno}"
        if code is not None and trace is not None
        else type(error).__name__
    )
