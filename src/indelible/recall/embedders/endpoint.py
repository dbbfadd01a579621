"""An endpoint that speaks the embeddings call of the OpenAI API, by setting: `openai:MODEL`.

    POST {endpoint}/embeddings   {"model": MODEL, "input": [text, …], "encoding_format": "float"}
    200                          {"data": [{"index": 0, "embedding": [number, …]}, …]}

It is believed in nothing: another number of vectors, another size than before, a NaN, what is no JSON, a redirect, an answer
without end: each is refused by name. 429 and 5xx are tried again, a bounded number of times; what else is refused is not. No error
holds the key, a text or what the endpoint answered.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, NoReturn
from urllib.parse import urlsplit

import numpy as np

from indelible.errors import EmbedderFailed, UsageError
from indelible.recall.embed import Maker
from indelible.recall.vectors import checked

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import httpx

    from indelible.recall.embed import Vectors

READ = 4_000
"""Characters of a text that are sent: what models with a limit of 8,192 tokens take in any script."""
BATCH = 64
TRIES = 4
LONGEST_WAIT = 10.0
"""Seconds before another try, whatever the endpoint asks for."""
TIMEOUT = 30.0
"""Seconds for one exchange."""
_LIMIT = 64_000_000
_LOCAL = ("localhost", "127.0.0.1", "::1")
_PROBE = "indelible"


class Endpoint:
    """The embedder; its size is learnt from its first answer and then held to."""

    def __init__(
        self, model: str, base: str, key: str, *, timeout: float = TIMEOUT, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        """One that is not asked yet.

        Raises:
            UsageError: `base` is no address, holds more than one, or would carry a key in the clear.
        """
        self._url, host = _address(base, key)
        self._name = f"openai:{model}@{host}"
        self._who = f"The embedder '{self._name}'"
        self._model, self._key = model, key
        self._timeout, self._sleep = timeout, sleep
        self._size = 0
        self._client: httpx.Client | None = None

    @property
    def maker(self) -> Maker:
        if not self._size:
            self._batch([_PROBE])
        return Maker(self._name, self._size, "")

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:  # noqa: ARG002 - the call knows no difference
        whole = [text[:READ].encode("utf-8", "replace").decode() or " " for text in texts]
        rows = [self._batch(whole[start : start + BATCH]) for start in range(0, len(whole), BATCH)]
        return np.concatenate(rows) if rows else np.zeros((0, self.maker.size), np.float32)

    def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.close()

    def _batch(self, texts: Sequence[str]) -> Vectors:
        rows = self._vectors(self._answer(texts), len(texts))
        size = self._size or (len(rows[0]) if isinstance(rows[0], list) else 0)
        found = checked(rows, len(texts), size, self._who)
        self._size = size
        return found

    def _answer(self, texts: Sequence[str]) -> bytes:
        """The body of a 200."""
        body = json.dumps({"model": self._model, "input": list(texts), "encoding_format": "float"}).encode()
        for attempt in range(TRIES):
            status, answer, wait = self._exchange(body)
            if status == 200:
                return answer
            if status != 429 and status < 500:
                self._refuse(f"refused the call with status {status}", _remedy(status))
            if attempt + 1 == TRIES:
                self._refuse(
                    f"was asked {TRIES} times and gave no vectors, with status {status} at last", "Try again later"
                )
            self._sleep(min(LONGEST_WAIT, max(wait, 0.5 * 2**attempt)))
        raise AssertionError

    def _exchange(self, body: bytes) -> tuple[int, bytes, float]:
        """`(status, body, seconds it asks us to wait)`; the body of anything but a 200 is not read."""
        import httpx

        ends = time.monotonic() + self._timeout
        try:
            with self._opened().stream("POST", self._url, content=body) as response:
                if response.status_code != 200:
                    return response.status_code, b"", _seconds(response.headers.get("retry-after", ""))
                return 200, self._body(response, ends), 0.0
        except httpx.TimeoutException:
            self._refuse(f"did not answer within {self._timeout:g} s", "Try again later")
        except (httpx.HTTPError, httpx.StreamError) as exc:
            self._refuse(
                f"cannot be reached, or broke off ({type(exc).__name__})", "Is it running, and is that its address?"
            )

    def _body(self, response: httpx.Response, ends: float) -> bytes:
        body = bytearray()
        for chunk in response.iter_bytes():
            body += chunk
            if len(body) > _LIMIT:
                self._refuse(f"gave an answer of more than {_LIMIT} bytes")
            if time.monotonic() > ends:
                self._refuse(f"did not end its answer within {self._timeout:g} s", "Try again later")
        return bytes(body)

    def _opened(self) -> httpx.Client:
        import httpx

        if self._client is None:
            headers = {"Content-Type": "application/json", "Accept": "application/json"}
            if self._key:
                headers["Authorization"] = f"Bearer {self._key}"
            # As for a memory server: a proxy may carry https, which it cannot read; no redirect is followed.
            secure = self._url.startswith("https:")
            self._client = httpx.Client(
                headers=headers, timeout=self._timeout, trust_env=secure, verify=secure, follow_redirects=False
            )
        return self._client

    def _vectors(self, body: bytes, count: int) -> list[object]:
        """What stands under `embedding`, in the order of `index`."""
        try:
            told = json.loads(body, parse_constant=_no_number)
            given = {item["index"]: item["embedding"] for item in told["data"]}
        except (ValueError, TypeError, KeyError, RecursionError) as exc:
            raise EmbedderFailed(f"{self._who} answered with something else than JSON with vectors in it") from exc
        if sorted(given, key=str) != sorted(range(count), key=str) or len(told["data"]) != count:
            self._refuse(f"answered with {len(told['data'])} vectors for {count} texts, or numbered them otherwise")
        return [given[number] for number in range(count)]

    def _refuse(self, what: str, remedy: str = "") -> NoReturn:
        self.close()
        raise EmbedderFailed(f"{self._who} {what}", remedy=remedy)


def _address(base: str, key: str) -> tuple[str, str]:
    """`(address of the call, host and path for names)`."""
    remedy = "Set INDELIBLE_EMBEDDER_ENDPOINT to one like https://host/v1"
    if not base:
        raise UsageError("The embedder 'openai' needs the address of an endpoint", remedy=remedy)
    try:
        parts = urlsplit(base)
        host, port = parts.hostname or "", parts.port
    except ValueError as exc:
        raise UsageError("The endpoint of the embedder is no address", remedy=remedy) from exc
    plain = (
        base.isascii()
        and base.isprintable()
        and " " not in base
        and not (parts.query or parts.fragment or "@" in parts.netloc)
    )
    if parts.scheme not in ("http", "https") or not host or not plain:
        raise UsageError("The endpoint of the embedder is no http address of host, port and path only", remedy=remedy)
    if key and parts.scheme == "http" and host not in _LOCAL:
        raise UsageError(f"The API key of the embedder would go to {host} in the clear", remedy="Use https, or no key")
    path = parts.path.rstrip("/")
    return f"{parts.scheme}://{parts.netloc}{path}/embeddings", f"{host}{f':{port}' if port else ''}{path}"


def _seconds(header: str) -> float:
    return float(header) if header.isascii() and header.isdigit() and len(header) < 6 else 0.0


def _remedy(status: int) -> str:
    return {
        401: "Look at the API key: 'api_key_env' names the variable that holds it",
        403: "Look at the API key: 'api_key_env' names the variable that holds it",
        404: "Is there such a model, and does the address end where the API begins (…/v1)?",
    }.get(status, "")


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")
