"""One HTTP exchange with a server that is not trusted with anything but the API key.

The key goes to the one address that was asked for: a redirect is an answer and is never followed, an answer is
read up to a limit and uncompressed, and the whole exchange (resolving, connecting, an answer that drips) ends in
the time allowed. Whatever goes wrong is one `NoAnswer`, which says whether the request may have arrived.
"""

from __future__ import annotations

import json
import queue
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from indelible.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx

MAX_REPLY = 64 * 1024 * 1024
"""Bytes: one reply may hold every memory of an agent."""

_SENDING = "http11.send_request_headers.started"


class NoAnswer(Exception):
    """The server did not answer, or not in a way that can be read. The client words it, for a load or a save."""

    def __init__(self, words: str, *, sent: bool, late: bool = False) -> None:
        super().__init__(words)
        self.words = words
        self.sent = sent
        """Whether the request may have arrived."""
        self.late = late
        """Whether all the time allowed went by."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a server answered."""

    status: int
    body: bytes
    location: str
    """Where a redirect points; empty elsewhere."""


class Wire:
    """The way to one server.

    Args:
        base: `https://host[:port][/path]`; plain http is spoken directly, never through a proxy that would see the key.
        api_key: sent as `x-api-key`; None to ask as nobody.
        transport: an httpx transport, in place of the network.
        timeout: seconds for one exchange, all of it.
        limit: bytes that a reply may have.
    """

    def __init__(
        self,
        base: str,
        api_key: str | None,
        *,
        transport: httpx.BaseTransport | None = None,
        timeout: float = 10.0,
        limit: int = MAX_REPLY,
    ) -> None:
        self.base, self.host = _address(base)
        credential = {} if api_key is None else {"x-api-key": _header(api_key)}
        self._headers = {**credential, "Accept": "application/json", "Accept-Encoding": "identity"}
        self._transport = transport
        self._timeout = timeout
        self._limit = limit
        self._client: httpx.Client | None = None

    def get(self, path: str, params: Mapping[str, str]) -> Reply:
        """The reply to a GET. Raises `NoAnswer`."""
        return self._within_time("GET", path, params, None)

    def post(self, path: str, body: Mapping[str, object]) -> Reply:
        """The reply to a POST of JSON. Raises `NoAnswer`."""
        return self._within_time("POST", path, {}, json.dumps(body).encode())

    def close(self) -> None:
        """Let the connection go."""
        client, self._client = self._client, None
        if client is not None:
            client.close()

    def _within_time(self, method: str, path: str, params: Mapping[str, str], body: bytes | None) -> Reply:
        """The exchange in a thread of its own, since no timeout of a socket bounds resolving or a header that drips."""
        sent, answers = threading.Event(), queue.SimpleQueue[Reply | NoAnswer]()
        request = self._request(method, path, params, body, sent)
        threading.Thread(target=self._answer, args=(request, sent, answers), daemon=True).start()
        try:
            answer = answers.get(timeout=self._timeout)
        except queue.Empty:
            answer = NoAnswer(f"{self.host} did not answer within {self._timeout:g} s", sent=sent.is_set(), late=True)
        if isinstance(answer, NoAnswer):
            self.close()
            raise answer
        return answer

    def _request(
        self, method: str, path: str, params: Mapping[str, str], body: bytes | None, sent: threading.Event
    ) -> httpx.Request:
        import httpx

        def trace(event: str, _: Mapping[str, Any]) -> None:
            if event == _SENDING:
                sent.set()

        if self._client is None:
            # A proxy may carry https, which it cannot read; nothing else here comes from the environment. For http the
            # certificates, which take 30 ms to load, are of no use: a redirect to https is not followed.
            secure = self.base.startswith("https:")
            self._client = httpx.Client(transport=self._transport, trust_env=secure, verify=secure)
        kind = {} if body is None else {"Content-Type": "application/json"}
        return self._client.build_request(
            method,
            self.base + path,
            params=params or None,
            content=body,
            headers={**self._headers, **kind},
            extensions={"trace": trace, "timeout": httpx.Timeout(self._timeout).as_dict()},
        )

    def _answer(
        self, request: httpx.Request, sent: threading.Event, answers: queue.SimpleQueue[Reply | NoAnswer]
    ) -> None:
        import httpx

        answer: Reply | NoAnswer = NoAnswer(f"the exchange with {self.host} broke off", sent=True)
        try:
            answer = self._exchange(request)
        except httpx.TimeoutException:
            answer = NoAnswer(f"{self.host} did not answer within {self._timeout:g} s", sent=sent.is_set(), late=True)
        except (httpx.ConnectError, httpx.UnsupportedProtocol, httpx.ProxyError) as exc:
            answer = NoAnswer(f"{self.host} cannot be reached ({exc})", sent=False)
        except (httpx.HTTPError, httpx.StreamError, OSError) as exc:
            answer = NoAnswer(f"{self.host} broke the connection off ({exc})", sent=True)
        except NoAnswer as exc:
            answer = exc
        finally:
            answers.put(answer)

    def _exchange(self, request: httpx.Request) -> Reply:
        client, ends = self._client, time.monotonic() + self._timeout
        if client is None:
            raise NoAnswer("the client was closed", sent=False)
        response = client.send(request, stream=True, follow_redirects=False)
        try:
            if response.headers.get("content-encoding", "identity") != "identity":
                raise NoAnswer(f"{self.host} compressed its reply, which was not asked for", sent=True)
            body = bytearray()
            for chunk in response.iter_bytes():
                body += chunk
                if len(body) > self._limit:
                    raise NoAnswer(f"the reply of {self.host} is longer than {self._limit} bytes", sent=True)
                if time.monotonic() > ends:
                    raise NoAnswer(
                        f"{self.host} did not end its reply within {self._timeout:g} s", sent=True, late=True
                    )
            return Reply(response.status_code, bytes(body), response.headers.get("location", ""))
        finally:
            response.close()


def _address(base: str) -> tuple[str, str]:
    """The base address without a slash at its end, and the host for messages."""
    remedy = "Write it as https://host or http://127.0.0.1:8000"
    try:
        parts = urlsplit(base)
        host, port = parts.hostname or "", parts.port
    except ValueError as exc:
        raise UsageError("The address of the Memory API is not an address", remedy=remedy) from exc
    if parts.scheme not in ("http", "https") or not host:
        raise UsageError("The address of the Memory API is not an http address", remedy=remedy)
    if (
        "@" in parts.netloc
        or parts.query
        or parts.fragment
        or not base.isascii()
        or not base.isprintable()
        or " " in base
    ):
        raise UsageError("The address of the Memory API has more than host, port and path", remedy=remedy)
    return base.rstrip("/"), f"{host}:{port}" if port else host


def _header(api_key: str) -> str:
    if not api_key or not all("!" <= letter <= "~" for letter in api_key):
        raise UsageError(
            "The API key is empty, or holds a space or a character outside ASCII",
            remedy="Copy it again: it is one word",
        )
    return api_key
