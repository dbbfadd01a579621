"""An endpoint that speaks the embeddings call, against a real server on this machine that behaves as it is told."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from indelible.errors import EmbedderFailed, UsageError
from indelible.recall.embed import embedder_of
from indelible.recall.embedders import endpoint
from indelible.recall.embedders.endpoint import Endpoint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KEY = "sk-test-5f2b"
TEXT = "배포 전에 체크섬을 확인한다"


class Heard:
    """What the server was asked, and how it answers: a status and a body for each call, the last for ever."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []

    def next(self, asked: dict[str, Any]) -> Any:
        self.asked.append(asked)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return answer(asked) if callable(answer) else answer


@contextmanager
def serving(*answers: Any) -> Iterator[tuple[str, Heard]]:
    heard = Heard(*answers)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            heard.headers.append({name.lower(): value for name, value in self.headers.items()} | {"path": self.path})
            status, body, *more = heard.next(asked)
            self.send_response(status)
            for name, value in more:
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", heard
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def asking(
    *answers: Any, key: str = KEY, sleep: Callable[[float], None] = lambda _: None
) -> Iterator[tuple[Endpoint, Heard]]:
    with serving(*answers) as (base, heard):
        client = Endpoint("small", base, key, timeout=2.0, sleep=sleep)
        try:
            yield client, heard
        finally:
            client.close()


def body(*vectors: Any, numbers: list[int] | None = None) -> bytes:
    order = numbers or list(range(len(vectors)))
    return json.dumps({"data": [{"index": n, "embedding": v} for n, v in zip(order, vectors, strict=True)]}).encode()


def good(asked: dict[str, Any]) -> tuple[int, bytes]:
    return 200, body(*[[float(len(text)), 1.0, 0.0] for text in asked["input"]])


def test_texts_are_sent_with_the_key_and_vectors_come_back_with_length_one() -> None:
    with asking(good) as (client, heard):
        rows = client.embed([TEXT, "a"])
        assert rows.shape == (2, 3)
        assert np.linalg.norm(rows, axis=1) == pytest.approx(1)
        assert client.maker.size == 3
    assert heard.asked == [{"model": "small", "input": [TEXT, "a"], "encoding_format": "float"}]
    assert (heard.headers[0]["path"], heard.headers[0]["authorization"]) == ("/v1/embeddings", f"Bearer {KEY}")


def test_the_name_has_model_and_host_and_no_key() -> None:
    with asking(good) as (client, heard):
        maker = client.maker
        assert maker.name.startswith("openai:small@127.0.0.1:")
        assert maker.name.endswith("/v1")
        assert (maker.size, maker.digest) == (3, "")
        assert KEY not in repr(maker)
        assert client.maker == maker
    assert len(heard.asked) == 1


def test_without_a_key_none_is_sent() -> None:
    with asking(good, key="") as (client, heard):
        client.embed(["a"])
    assert "authorization" not in heard.headers[0]


def test_vectors_are_put_in_the_order_of_the_texts() -> None:
    with asking((200, body([0, 1], [1, 0], numbers=[1, 0]))) as (client, _):
        assert client.embed(["a", "b"]).tolist() == [[1, 0], [0, 1]]


def test_many_texts_go_in_batches() -> None:
    with asking(good) as (client, heard):
        assert client.embed(["x" * (n % 7 + 1) for n in range(150)]).shape == (150, 3)
    assert [len(asked["input"]) for asked in heard.asked] == [64, 64, 22]


def test_no_texts_have_no_vectors_of_the_right_size() -> None:
    with asking(good) as (client, _):
        assert client.embed([]).shape == (0, 3)


def test_any_text_can_be_sent_and_a_long_one_only_as_far_as_it_is_read() -> None:
    with asking(good) as (client, heard):
        client.embed(["", "\ud800x", "\0", "a" * 1_000_000])
    assert [len(text) for text in heard.asked[0]["input"]] == [1, 2, 1, endpoint.READ]


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_a_busy_endpoint_is_asked_again(status: int) -> None:
    waits: list[float] = []
    with asking((status, b""), (status, b""), good, sleep=waits.append) as (client, heard):
        assert client.embed(["a"]).shape == (1, 3)
    assert (len(heard.asked), waits) == (3, [0.5, 1.0])


def test_it_is_asked_again_only_so_often_and_waits_only_so_long() -> None:
    waits: list[float] = []
    with (
        asking((429, b"", ("retry-after", "86400")), sleep=waits.append) as (client, heard),
        pytest.raises(EmbedderFailed, match="was asked 4 times and gave no vectors, with status 429"),
    ):
        client.embed(["a"])
    assert len(heard.asked) == endpoint.TRIES
    assert waits == [endpoint.LONGEST_WAIT] * (endpoint.TRIES - 1)


@pytest.mark.parametrize("status", [301, 400, 401, 404, 204])
def test_a_refusal_is_not_tried_again_and_no_redirect_is_followed(status: int) -> None:
    with (
        asking((status, b"", ("location", "http://127.0.0.1:9/v1"))) as (client, heard),
        pytest.raises(EmbedderFailed, match=f"refused the call with status {status}"),
    ):
        client.embed(["a"])
    assert len(heard.asked) == 1


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (b"<html>", "something else than JSON"),
        (b'{"data": 3}', "something else than JSON"),
        (b'{"data": [{"index": 0}]}', "something else than JSON"),
        (b'{"data": [{"index": [], "embedding": [1]}]}', "something else than JSON"),
        pytest.param(b"[" * 100_000, "something else than JSON", id="nested too deeply"),
        (b'{"data": [{"index": 0, "embedding": [NaN, 1]}]}', "something else than JSON"),
        (b'{"data": [{"index": 0, "embedding": [1e999, 1]}]}', "an infinite number"),
        (b'{"data": [{"index": 0, "embedding": [0, 0]}]}', "a vector of zeros"),
        (b'{"data": [{"index": 0, "embedding": []}]}', "a vector of zeros"),
        (b'{"data": [{"index": 0, "embedding": "AACAPw=="}]}', "1 x 0|numbers where|something else"),
        (b'{"data": [{"index": 0, "embedding": [null, 1]}]}', "a NaN|something else"),
        (b'{"data": []}', "answered with 0 vectors for 1 texts"),
        (b'{"data": [{"index": 1, "embedding": [1, 0]}]}', "numbered them otherwise"),
        (body([1, 0], [0, 1]), "answered with 2 vectors for 1 texts"),
        (body([1, 0], [0, 1], numbers=[0, 0]), "numbered them otherwise|2 vectors for 1"),
    ],
)  # fmt: skip
def test_an_answer_that_is_not_one_vector_a_text_is_refused_by_name(answer: bytes, says: str) -> None:
    with asking((200, answer)) as (client, _), pytest.raises(EmbedderFailed, match=says):
        client.embed(["a"])


def test_another_size_than_before_is_refused_with_both() -> None:
    with asking((200, body([1, 0, 0])), (200, body([1, 0]))) as (client, _):
        client.embed(["a"])
        with pytest.raises(EmbedderFailed, match="1 x 2 numbers where 1 x 3 were due"):
            client.embed(["b"])


def test_no_error_holds_the_key_the_text_or_the_answer() -> None:
    told = f"you sent {KEY} and {TEXT}".encode()
    for answer in ((200, told), (401, told), (500, told)):
        with asking(answer) as (client, _), pytest.raises(EmbedderFailed) as refused:
            client.embed([TEXT])
        words = f"{refused.value} {refused.value.facts} {refused.value.__cause__}"
        assert KEY not in words
        assert "체크섬" not in words


def test_an_endpoint_that_is_not_there_is_named() -> None:
    with pytest.raises(EmbedderFailed, match=r"'openai:small@127.0.0.1:9/v1' cannot be reached"):
        Endpoint("small", "http://127.0.0.1:9/v1", "").embed(["a"])


def test_an_endpoint_that_never_answers_is_given_up() -> None:
    gate = threading.Event()

    def late(asked: dict[str, Any]) -> tuple[int, bytes]:
        gate.wait(10)
        return good(asked)

    with serving(late) as (base, _):
        with pytest.raises(EmbedderFailed, match=r"did not answer within 0.2 s"):
            Endpoint("small", base, "", timeout=0.2).embed(["a"])
        gate.set()


def test_an_answer_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "_LIMIT", 1_000)
    with asking((200, b" " * 5_000)) as (client, _), pytest.raises(EmbedderFailed, match="more than 1000 bytes"):
        client.embed(["a"])


@pytest.mark.parametrize(
    ("base", "key", "says"),
    [
        ("", "", "needs the address of an endpoint"),
        ("localhost:8000/v1", "", "no http address"),
        ("ftp://host/v1", "", "no http address"),
        ("https://me:word@host/v1", "", "no http address"),
        ("https://host/v1?key=1", "", "no http address"),
        ("https://host:99999/v1", "", "no address"),
        ("https:///v1", "", "no http address"),
        ("http://embed.example.org/v1", KEY, "to embed.example.org in the clear"),
    ],
)
def test_an_address_that_is_none_or_would_carry_a_key_in_the_clear_is_refused(base: str, key: str, says: str) -> None:
    with pytest.raises(UsageError, match=says) as refused:
        embedder_of("openai:small", endpoint=base, key=key)
    assert "word" not in str(refused.value)
    assert KEY not in str(refused.value)
