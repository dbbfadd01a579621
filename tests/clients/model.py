"""A scripted model on this machine's loopback address: it answers a coding agent by a script, and keeps every request.

    with Model() as model:
        model.follow(Script([shell("ls"), Turn("done")]))
        …start a client against model.url…
        assert model.requests[0].says("the briefing")

A request that offers tools belongs to the conversation and takes the next turn; one without (a title, a classifier) gets
`side`. Rules come before both and use up no turn: a summary for a compaction, the words of a subagent.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import urlsplit

from tests.clients.wires import Json, Turn, answer, route

Reply = Turn | Callable[["Request"], Turn]
"""What is answered: a turn, or a function of the request (an id that the model must repeat)."""
OK, AT_ITS_END = Turn("ok"), Turn("THE SCRIPT IS AT ITS END")


@dataclass(frozen=True)
class Request:
    """One request that a client sent."""

    protocol: str
    """Empty for a path that is none of a model's."""
    path: str
    body: Json
    via: str = ""
    """What answered it: `turn 0`, a rule's name, `side`, `last`, `count`, or `stray`."""

    def texts(self) -> Iterator[str]:
        """Every string in it, as the model reads them: without JSON's escapes."""
        return _strings(self.body)

    def says(self, needle: str) -> bool:
        """Whether the model is told this."""
        return any(needle in text for text in self.texts())

    def finds(self, pattern: str) -> str:
        """Group 1 of the last place where the pattern matches.

        Raises:
            LookupError: nowhere.
        """
        found = [match[1] for text in self.texts() for match in re.finditer(pattern, text)]
        if not found:
            raise LookupError(pattern)
        return found[-1]

    @property
    def main(self) -> bool:
        """Whether it offers tools, and so belongs to a conversation."""
        given = self.body.get("input")
        items = given if isinstance(given, list) else []
        return bool(self.body.get("tools")) or any(item.get("type") == "additional_tools" for item in items)


@dataclass(frozen=True)
class Rule:
    """An answer to requests that say something."""

    name: str
    says: str
    """A regular expression, searched in every string of a request."""
    reply: Reply
    times: int | None = None
    """How often it serves; None for ever."""
    lacks: str = ""
    """Text that such a request must not hold: what tells a subagent's conversation from its parent's."""

    def fits(self, request: Request) -> bool:
        """Whether it answers this request."""
        told = any(re.search(self.says, text, re.DOTALL) for text in request.texts())
        return told and not (self.lacks and request.says(self.lacks))


@dataclass
class Script:
    """What the model does in one run."""

    turns: Sequence[Reply]
    rules: list[Rule] = field(default_factory=list)
    side: Reply = OK
    last: Reply = AT_ITS_END


class Model:
    """The server. `requests` grows while a client runs; read it after the client has ended."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self._script, self._at = Script([]), 0
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.model = self
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def url(self) -> str:
        """Where it listens, without a slash at the end."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def conversation(self) -> list[Request]:
        """The requests that took a turn of the script, in order."""
        return [one for one in self.requests if one.via.startswith("turn ") or one.via == "last"]

    def by(self, name: str) -> list[Request]:
        """The requests that one rule answered."""
        return [one for one in self.requests if one.via == name]

    def saying(self, needle: str) -> list[Request]:
        """The requests in which a model was told this."""
        return [one for one in self.requests if one.says(needle)]

    def follow(self, script: Script) -> None:
        """Begin a script; what was recorded before is forgotten."""
        with self._lock:
            self._script, self._at, self.requests = script, 0, []

    def record(self, request: Request) -> None:
        """Keep a request that no script answers."""
        with self._lock:
            self.requests.append(request)

    def turn_for(self, request: Request) -> Turn:
        """Choose the answer, and keep the request with what answered it."""
        with self._lock:
            via, reply = self._choose(request)
            self.requests.append(Request(request.protocol, request.path, request.body, via))
        return reply if isinstance(reply, Turn) else reply(request)

    def _choose(self, request: Request) -> tuple[str, Reply]:
        for rule in self._script.rules:
            served = sum(one.via == rule.name for one in self.requests)
            if rule.fits(request) and (rule.times is None or served < rule.times):
                return rule.name, rule.reply
        if not request.main:
            return "side", self._script.side
        if self._at < len(self._script.turns):
            self._at += 1
            return f"turn {self._at - 1}", self._script.turns[self._at - 1]
        return "last", self._script.last


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    model: Model

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up in the middle of an answer is no news; anything else is shown."""
        import sys

        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_: object) -> None:
        """Nothing on the test's standard error."""

    def do_HEAD(self) -> None:
        """A client looks whether somebody is there."""
        self._send(200, b"")

    def do_GET(self) -> None:
        """A list of models, or anything else that a client asks for."""
        self.server.model.record(Request("", self.path, {}, "stray"))
        is_list = urlsplit(self.path).path.endswith("/models")
        self._document(
            {"object": "list", "data": [], "models": []} if is_list else {"error": "not here"}, 200 if is_list else 404
        )

    def do_POST(self) -> None:
        """A request to the model."""
        raw = self._body()
        body = json.loads(raw) if raw.strip() else {}
        path = urlsplit(self.path).path
        protocol, operation = route(path)
        request = Request(protocol, path, body if isinstance(body, dict) else {"list": body}, operation or "stray")
        if operation == "count":
            self.server.model.record(request)
            tokens = max(1, len(raw) // 4)
            self._document({"input_tokens": tokens} if protocol == "anthropic" else {"totalTokens": tokens})
        elif operation:
            self._answer(request, streaming=operation == "stream" or bool(request.body.get("stream")))
        else:
            self.server.model.record(request)
            self._document({"error": {"message": "not a path of a model"}}, 404)

    def _answer(self, request: Request, *, streaming: bool) -> None:
        turn = self.server.model.turn_for(request)
        time.sleep(turn.seconds)
        spelt = answer(request.protocol, turn, str(request.body.get("model", "scripted")))
        if not streaming:
            self._document(spelt.document)
            return
        lines = [
            (f"event: {name}\n" if name else "") + f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n"
            for name, data in spelt.events
        ]
        self._send(200, "".join(lines).encode(), "text/event-stream")

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        parts = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _document(self, document: Json, status: int = 200) -> None:
        self._send(status, json.dumps(document).encode())

    def _send(self, status: int, content: bytes, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for member in value.values():
            yield from _strings(member)
    elif isinstance(value, list):
        for member in value:
            yield from _strings(member)
