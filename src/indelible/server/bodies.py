"""Request bodies: read no further than allowed, held within what the server has room for, parsed strictly."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar

import msgspec

from indelible.errors import Busy, UsageError
from indelible.seal import canonical
from indelible.server.problems import TooLarge, TooSlow

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.types import Message, Receive

B = TypeVar("B", bound=msgspec.Struct)

ESCAPES = 6
"""Bytes of JSON for one byte of content, at most: a control character as `\\u0000`."""
OVERHEAD = 65_536
"""Bytes of JSON round the content."""
ROOM = 128 * 1024 * 1024
"""Bytes of bodies that are held at one time."""
LINGER_BYTES = 64 * 1024 * 1024
LINGER_SECONDS = 5.0
_LARGE = 262_144
"""Bodies from here on are parsed in a thread, so that the loop goes on."""


class Gone(Exception):
    """The client went away in the middle."""


class Body:
    """The way in which a request's body comes, and whether it has come to its end."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self.ended = False

    async def __call__(self) -> Message:
        message = await self._receive()
        self.ended = self.ended or message["type"] != "http.request" or not message.get("more_body", False)
        return message


class Intake:
    """Bodies as they come in.

    Args:
        patience: seconds that one may take.
    """

    def __init__(self, patience: float, room: int = ROOM) -> None:
        self._patience, self._room, self._held = patience, room, 0

    @asynccontextmanager
    async def take(self, receive: Receive, declared: str | None, limit: int) -> AsyncIterator[bytes]:
        """A whole body, for as long as the block lasts.

        Raises:
            TooLarge: more than `limit` bytes are declared or come. TooSlow: they do not come in time.
            Busy: there is no room for them now. Gone: the client went away.
        """
        if declared is not None and (not declared.isdigit() or int(declared[:20]) > limit):
            raise _too_large(limit)
        parts: list[bytes] = []
        try:
            async with asyncio.timeout(self._patience):
                await self._collect(receive, limit, parts)
            yield b"".join(parts)
        except TimeoutError as exc:
            raise TooSlow(f"The body did not come within {self._patience:g} seconds", remedy="Try again") from exc
        finally:
            self._held -= sum(map(len, parts))

    async def _collect(self, receive: Receive, limit: int, parts: list[bytes]) -> None:
        size, more = 0, True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Gone
            part = message.get("body", b"")
            size += len(part)
            if size > limit:
                raise _too_large(limit)
            if self._held + len(part) > self._room:
                raise Busy("The server holds as many large requests as it can", remedy="Try again in a moment")
            parts.append(part)
            self._held += len(part)
            more = message.get("more_body", False)


async def parse(data: bytes, kind: type[B]) -> B:
    """As `decode`; what is large is parsed in a thread."""
    return decode(data, kind) if len(data) < _LARGE else await asyncio.to_thread(decode, data, kind)


def decode(data: bytes, kind: type[B]) -> B:
    """Strict JSON of one type: every member once, none unknown, no NaN, no half surrogates, no deep nesting.

    Raises:
        UsageError: it is something else; what is said of it quotes no content.
    """
    canonical.loads(data)
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError as exc:
        raise UsageError(
            f"The body is not as it has to be: {_shown(exc)}", remedy="/openapi.json has the schema"
        ) from exc
    except msgspec.DecodeError as exc:
        raise UsageError("The body is not JSON") from exc


async def drain(body: Body) -> None:
    """Take in what is left of a body that was refused and throw it away, for a while."""
    taken = 0
    try:
        async with asyncio.timeout(LINGER_SECONDS):
            while not body.ended and taken < LINGER_BYTES:
                taken += len((await body()).get("body", b""))
    except TimeoutError:
        return


def _shown(exc: msgspec.ValidationError) -> str:
    """What msgspec says of types and members, cut where it is long."""
    text = str(exc)
    return text if len(text) <= 160 and text.isprintable() else ascii(text[:160]).strip("'") + "…"


def _too_large(limit: int) -> TooLarge:
    return TooLarge(f"The body has more than {limit} bytes", remedy="Save it in parts, or raise the server's limit")
