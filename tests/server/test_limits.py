"""Requests that are off: each gets one plain sentence and a 4xx, nothing is stored, and the server goes on."""

from __future__ import annotations

import json
import socket
import sys
import time
import urllib.error
import urllib.request
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from tests.serving import rows, save

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.server.conftest import Serve
    from tests.serving import Served

MIB = 1 << 20


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"[]", b"null", b"1", b'"text"', b"{}", b"\xff\xfe{\0}\0", b'{"key":"k"}', b'{"content":"c"}', b'{"key":"k","content":null}',
        b'{"key":1,"content":"c"}', b'{"key":"k","content":123456789012345678901234567890}', b'{"key":"k","content":"a","content":"b"}',
        b'{"key":"k","content":"a","\\u0063ontent":"b"}', b'{"key":"k","content":"a","other":NaN}', b'{"key":"k","content":Infinity}',
        b'{"key":"k","content":"\\ud800"}', b'{"key":"\\udc00k","content":"c"}', b'{"key":"k","content":"\xff"}', b'{"key":"k","content":"\xed\xa0\x80"}',
        b'{"key":"k","content":"c"}{}', b'{"key":"k","content":"c","expire_at":"2026-01-01T00:00:00Z"}', b'{"key":"k","content":"c","agent":1}',
        b'{"key":"k","content":["c"]}', b'\xef\xbb\xbf{"key":"k","content":"c"}', b"key=k&content=c", b'{"key":"k","content":"a\nb"}',
        b'{"key":"k","content":' + b"[" * 100_000 + b"]" * 100_000 + b"}", b"[" * 100_000, b'{"a":' * 100_000, b'{"agent":"","key":"k","content":"c"}',
        b'{"agent":"*","key":"k","content":"c"}',
    ],
)  # fmt: skip
def test_a_body_that_is_off_is_400_and_nothing_is_stored(shared: Served, body: bytes) -> None:
    client = shared.client("junk")
    reply = client.post("/memory/save", content=body)
    assert (reply.status_code, reply.headers["content-type"]) == (400, "application/problem+json"), reply.text
    assert (rows(client), len(reply.content) < 1_000) == ({}, True)


def test_what_is_said_of_a_bad_body_quotes_no_content(shared: Served) -> None:
    reply = shared.client("junk").post("/memory/save", content=b'{"key":"k","content":["a secret sentence"]}')
    assert "secret" not in reply.text
    assert "content" in reply.text


def test_content_up_to_the_limit_is_taken_and_one_byte_more_is_not(shared: Served) -> None:
    client = shared.client("large")
    fits = "é" * (2 * MIB)
    assert save(client, "k", fits).status_code == 200
    assert rows(client, "k") == {"k": fits}
    reply = save(client, "k", fits + "x")
    assert (reply.status_code, reply.json()["slug"], rows(client, "k") == {"k": fits}) == (413, "too-large", True)
    assert client.put("/v1/memory?key=k", json={"content": fits + "x"}).status_code == 413


def test_content_whose_every_byte_is_escaped_fits_as_well(shared: Served) -> None:
    client = shared.client("escaped")
    content = "\x01" * (4 * MIB)
    assert client.post("/memory/save", content=json.dumps({"key": "k", "content": content}).encode()).status_code == 200
    assert rows(client, "k") == {"k": content}


def test_a_body_of_50_mb_is_refused_with_a_sentence_that_any_client_reads(shared: Served) -> None:
    client = shared.client("huge")
    body = json.dumps({"key": "k", "content": "x" * 50_000_000}).encode()
    request = urllib.request.Request(  # noqa: S310 - our own server
        f"{shared.url}/memory/save", data=body, headers={"x-api-key": client.headers["x-api-key"]}
    )
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(request, timeout=30)  # noqa: S310 - likewise
    assert (caught.value.code, json.loads(caught.value.read())["slug"]) == (413, "too-large")
    caught.value.close()
    assert rows(client) == {}


def test_a_body_without_an_end_is_cut_where_the_limit_is(serve: Serve) -> None:
    served = serve(limit=100_000)
    client = served.client()

    def endless() -> Iterator[bytes]:
        yield b'{"key":"k","content":"'
        for _ in range(40):
            yield b"x" * 50_000
        yield b'"}'

    assert client.post("/memory/save", content=endless()).status_code == 413
    assert (save(client, "k", "fine").status_code, rows(client)) == (200, {"k": "fine"})


def test_a_body_that_drips_is_given_up_and_others_are_served_meanwhile(serve: Serve) -> None:
    served = serve(patience=1.5)
    client = served.client()
    host, port = served.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as slow:
        slow.sendall(
            f"POST /memory/save HTTP/1.1\r\nHost: x\r\nx-api-key: {client.headers['x-api-key']}\r\nContent-Length: 1000\r\n\r\n{{".encode()
        )
        assert save(client, "k", "fine").status_code == 200
        reply = slow.recv(4_096)
    assert reply.startswith(b"HTTP/1.1 408")
    assert rows(client) == {"k": "fine"}


def test_a_client_that_leaves_in_the_middle_saves_nothing(shared: Served) -> None:
    client = shared.client("leaver")
    host, port = shared.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as gone:
        gone.sendall(
            f"POST /memory/save HTTP/1.1\r\nHost: x\r\nx-api-key: {client.headers['x-api-key']}\r\nContent-Length: 1000\r\n\r\n".encode()
        )
        gone.sendall(b'{"key":"k","content":"c"}')
    time.sleep(0.2)
    assert rows(client) == {}


@pytest.mark.parametrize(
    "raw",
    [
        b"GARBAGE\r\n\r\n",
        b"GET /memory/load HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\x16\x03\x01\x02\0\x01\0\x01\xfc",
        b"GET /" + b"a" * 200_000,
    ],
)
def test_what_is_no_http_does_not_hurt_the_server(shared: Served, raw: bytes) -> None:
    host, port = shared.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as odd:
        odd.sendall(raw)
        odd.shutdown(socket.SHUT_WR)
        with suppress(ConnectionResetError):
            assert not odd.recv(4_096).startswith(b"HTTP/1.1 2")
    assert shared.client("after").get("/healthz").status_code == 200


def test_a_compressed_body_is_refused(shared: Served) -> None:
    client = shared.client("gzip")
    assert client.post("/memory/save", content=b"\x1f\x8b", headers={"content-encoding": "gzip"}).status_code == 400


@pytest.mark.parametrize("header", ["idempotency-key", "if-match"])
def test_a_header_given_twice_is_refused(shared: Served, header: str) -> None:
    client = shared.client("twice")
    headers = [(header, "a"), (header, "b"), ("x-api-key", client.headers["x-api-key"])]
    assert client.put("/v1/memory?key=k", json={"content": "x"}, headers=headers).status_code == 400


def test_many_large_bodies_at_once_stay_within_the_room(serve: Serve) -> None:
    from concurrent.futures import ThreadPoolExecutor

    served = serve()
    client = served.client()
    with ThreadPoolExecutor(12) as pool:
        replies = list(pool.map(lambda n: save(client, f"k{n}", "x" * (4 * MIB)), range(24)))
    assert {reply.status_code for reply in replies} <= {200, 503}
    assert len(rows(client)) == sum(reply.status_code == 200 for reply in replies)
    if sys.platform == "linux" and served.process is not None:
        with open(f"/proc/{served.process.pid}/status", encoding="ascii") as status:
            peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
        assert peak < 500_000, f"{peak} kB"
