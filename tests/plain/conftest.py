"""A plain Memory API server as others run it, and sockets that misbehave."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

API_KEY = "4mL_Qtest"


@dataclass
class Scripted:
    """An answer that is not the server's own."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class PlainServer:
    """Keeps rows as the seeds' server does: one for each key, or, with `versions`, one for each save."""

    versions: bool = False
    whole: bool = False
    """Answer with all of the agent's rows, whatever key was asked for."""
    rows: list[dict[str, Any]] = field(default_factory=list)
    requests: list[tuple[str, str, dict[str, str], Any]] = field(default_factory=list)
    scripted: list[Scripted | None] = field(default_factory=list)
    """Answers to the next requests, in order; None lets one through."""
    always: Scripted | None = None
    on_request: Callable[[PlainServer], None] = lambda _: None
    url: str = ""

    def reply(self, status: int, body: bytes = b"", **headers: str) -> Scripted:
        return Scripted(status, body, headers)

    def put(self, agent: str, key: str, content: Any) -> None:
        """Behind everybody's back, or for them."""
        if not self.versions:
            self.rows = [row for row in self.rows if (row["agent"], row["key_name"]) != (agent, key)]
        number = len(self.requests) * 1000 + len(self.rows) + 1
        self.rows.append(
            {
                "agent": agent,
                "id": number,
                "key_name": key,
                "content": content,
                "created_at": f"2026-11-{1 + number % 28:02}T00:00:00Z" if not self.versions else None,
            }
        )

    def get(self, agent: str, key: str) -> str | None:
        return next(
            (row["content"] for row in reversed(self.rows) if (row["agent"], row["key_name"]) == (agent, key)), None
        )

    def answer(self, method: str, target: str, headers: dict[str, str], body: bytes) -> Scripted:
        self.requests.append((method, target, headers, json.loads(body) if body else None))
        self.on_request(self)
        scripted = self.scripted.pop(0) if self.scripted else self.always
        if scripted is not None:
            return scripted
        if headers.get("x-api-key") != API_KEY:
            return Scripted(401, b'{"error": "unauthorized"}')
        if method == "POST":
            sent = json.loads(body)
            self.put(sent["agent"], sent["key"], sent["content"])
            return Scripted(200, json.dumps({"status": "saved", "agent": sent["agent"], "key": sent["key"]}).encode())
        asked = parse_qs(urlsplit(target).query, keep_blank_values=True)
        found = [
            {name: value for name, value in row.items() if name != "agent"}
            for row in self.rows
            if row["agent"] in asked["agent"] and (self.whole or "key" not in asked or row["key_name"] in asked["key"])
        ]
        return Scripted(200, json.dumps({"memories": found}).encode())


@pytest.fixture
def start() -> Iterator[Callable[..., PlainServer]]:
    """Start plain servers; they end with the test."""
    running: list[ThreadingHTTPServer] = []

    def serve(**settings: Any) -> PlainServer:
        plain = PlainServer(**settings)

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # header and body in one packet, or each answer waits 40 ms for an acknowledgement

            def handle_any(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                headers = {name.lower(): value for name, value in self.headers.items()}
                answer = plain.answer(self.command, self.path, headers, body)
                self.send_response(answer.status)
                for name, value in {"content-length": str(len(answer.body)), **answer.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(answer.body)

            do_GET = do_POST = handle_any  # noqa: N815 - as http.server calls it

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - likewise
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        running.append(server)
        plain.url = f"http://127.0.0.1:{server.server_port}"
        return plain

    yield serve
    for server in running:
        server.shutdown()
        server.server_close()


@pytest.fixture
def server(start: Callable[..., PlainServer]) -> PlainServer:
    return start()


@pytest.fixture
def raw() -> Iterator[Callable[[Callable[[socket.socket], None]], str]]:
    """An address behind which each connection is handed to a function; None is said for it."""
    listeners: list[socket.socket] = []

    def listen(behave: Callable[[socket.socket], None]) -> str:
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)

        def accept() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=_safely, args=(behave, connection), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        return f"http://127.0.0.1:{listener.getsockname()[1]}"

    yield listen
    for listener in listeners:
        # A close alone leaves a thread in accept().
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def _safely(behave: Callable[[socket.socket], None], connection: socket.socket) -> None:
    with connection, contextlib.suppress(OSError):
        behave(connection)
