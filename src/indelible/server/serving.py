"""`serve`: the Memory API on one address, until it is told to stop.

    Serving on http://127.0.0.1:8420
    {"at":"…","event":"request",…}

Only this machine can reach it unless a host is named. SIGTERM or SIGINT lets what has begun come to its end.
"""

from __future__ import annotations

import logging
import signal
import socket
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import uvicorn

from indelible.errors import IndelibleError, UsageError
from indelible.server.app import application
from indelible.server.journal import Journal
from indelible.server.service import CONTENT_LIMIT, PATIENCE, open_service

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from indelible.settings import Settings

LOOPBACK = "127.0.0.1"
PORT = 8420
CONNECTIONS = 512
"""Connections at one time; more are told to come again."""
GRACE = 10
"""Seconds that requests have to come to their end when the server is stopped."""


class CannotListen(IndelibleError):
    """The address is taken, or is none of this machine's."""

    slug = "cannot-listen"


def serve(
    settings: Settings, host: str | None = None, port: int = PORT, *, limit: int = CONTENT_LIMIT, patience: float = PATIENCE,
    ready: Callable[[str], object] | None = None,
) -> None:  # fmt: skip
    """Serve until a signal ends it.

    Args:
        host: an address to listen on; None for this machine's own loopback, which is all that is open by itself.
        port: 0 for any that is free.
        limit: bytes of one memory.
        patience: seconds that a body may take to come.
        ready: told the address when it is served; by default a line on stderr says it.

    Raises:
        UsageError: no such port, or the store is a server itself.
        CannotListen: the address is taken or cannot be had.
        StoreError, NotSaved, Missing: the store cannot be used.
    """
    if not 0 <= port <= 65_535:
        raise UsageError(f"{port} is no port", remedy="Give --port a number from 0 to 65535; 0 takes a free one")
    listener = _listen(host or LOOPBACK, port)
    journal = Journal()
    try:
        service = open_service(settings, socket.gethostname(), journal, limit=limit, patience=patience)
    except BaseException:
        listener.close()
        journal.close()
        raise
    address = _address(listener)
    try:
        _Server(_config(application(service), journal), lambda: (ready or _say)(address)).run(sockets=[listener])
    finally:
        service.close()
        listener.close()


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        try:
            if sys.platform != "win32":
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(place)
            listener.listen(1024)
        except BaseException:
            listener.close()
            raise
    except OSError as exc:
        reason = exc.strerror or str(exc)
        raise CannotListen(
            f"{host} port {port} cannot be listened on ({reason})",
            remedy="Take another port with --port, or 0 for any that is free",
        ) from exc
    return listener


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _say(address: str) -> None:
    sys.stderr.write(f"Serving on {address}\n")
    sys.stderr.flush()


def _config(app: object, journal: Journal) -> uvicorn.Config:
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [_ToJournal(journal)], False
        logger.setLevel(logging.WARNING)
    return uvicorn.Config(
        app, log_config=None, access_log=False, server_header=False, proxy_headers=False, ws="none", lifespan="off",  # type: ignore[arg-type]
        limit_concurrency=CONNECTIONS, timeout_graceful_shutdown=GRACE, timeout_keep_alive=15, h11_max_incomplete_event_size=65_536,
    )  # fmt: skip


class _ToJournal(logging.Handler):
    """What uvicorn has to say, as one line and without traces: they could hold content."""

    def __init__(self, journal: Journal) -> None:
        super().__init__()
        self._journal = journal

    def emit(self, record: logging.LogRecord) -> None:
        kind = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else None
        words = record.msg if isinstance(record.msg, str) else type(record.msg).__name__
        self._journal.event("uvicorn", level=record.levelname.lower(), message=words.strip()[:120], fault=kind)


class _Server(uvicorn.Server):
    """Says when it is up, and ends without raising the signal again."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], object]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        names = [name for name in ("SIGINT", "SIGTERM", "SIGBREAK") if hasattr(signal, name)]
        before = {getattr(signal, name): signal.signal(getattr(signal, name), self._stop) for name in names}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _stop(self, _: int, __: FrameType | None) -> None:
        self.force_exit, self.should_exit = self.should_exit, True
