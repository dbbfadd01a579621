from __future__ import annotations

import itertools
import json
import socket
import struct
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import httpx
import pytest

from indelible.errors import (
    AccessDenied,
    DigestMismatch,
    IndelibleError,
    Malformed,
    Missing,
    NotFoundError,
    NotSaved,
    OutcomeUnknown,
    Unchecked,
    Unreachable,
    UsageError,
)
from indelible.plain.client import PlainClient
from indelible.plain.forms import embed
from indelible.plain.receipts import Receipts
from indelible.seal.digest import Digest
from indelible.store.wire import Wire

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.plain.conftest import PlainServer

HERE = Path(__file__).resolve().parent
CASES = HERE.parent / "vectors" / "cases"
API_KEY = "4mL_Qtest"
KEY, TEXT = "MEMORY.md", "# 기억\n다음: 배포\n"
HEX = Digest.of(TEXT.encode()).hex


def client(url: str, *, agent: str = "eros", api_key: str = API_KEY, **more: Any) -> PlainClient:
    made.append(PlainClient(url, agent, api_key, **more))
    return made[-1]


made: list[PlainClient] = []


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    while made:
        made.pop().close()


def put_pair(server: PlainServer, content: str, key: str = KEY) -> None:
    server.put("eros", key, content)
    server.put("eros", f"{key}.sha256", Digest.of(content.encode()).hex)


@pytest.fixture
def receipts(tmp_path: Path) -> Receipts:
    ticks = itertools.count()
    return Receipts(str(tmp_path / "state" / "receipts.db"), lambda: f"2026-11-30T00:00:{next(ticks):02}Z")


LISTED = json.loads((CASES / "key_list_open.json").read_text(encoding="utf-8"))
KEYS = [*LISTED["query"], *LISTED["lookalike"], *filter(None, LISTED["escape"]), "메모", "\u202e", "a\nb", "%ff"]


# What is saved comes back


def test_a_save_puts_the_content_and_its_checksum_as_the_seeds_do(server: PlainServer) -> None:
    saved = client(server.url).save(KEY, TEXT)
    assert saved.sha256 == HEX
    assert server.get("eros", KEY) == TEXT
    assert server.get("eros", f"{KEY}.sha256") == HEX
    assert [(method, body and body["key"]) for method, _, _, body in server.requests] == [
        ("POST", KEY),
        ("POST", f"{KEY}.sha256"),
        ("GET", None),
        ("GET", None),
    ]


def test_what_was_saved_loads_as_verified(server: PlainServer) -> None:
    with client(server.url) as plain:
        plain.save(KEY, TEXT)
        loaded = plain.load(KEY)
    assert (loaded.content, loaded.checksum_ok, loaded.sha256) == (TEXT.encode(), True, HEX)
    assert not loaded.keyed
    assert "unkeyed" in loaded.warnings[0]


@pytest.mark.parametrize(
    "name", ["int_crlf", "int_separators", "int_loneCR", "int_nfc", "int_nfd", "int_empty", "int_nonl"]
)
@pytest.mark.parametrize("form", ["detached", "embedded"])
def test_every_byte_survives_the_wire(server: PlainServer, name: str, form: str) -> None:
    data = (CASES / f"{name}.md").read_bytes()
    content = (
        data
        if form == "detached"
        else embed(data, saved_at="2026-06-10T17:43:56Z", source="a/b/c", branch="main").encode()
    )
    client(server.url).save(KEY, content)
    loaded = client(server.url).load(KEY)
    assert (loaded.checksum_ok, loaded.content) == (True, content)
    assert form == "detached" or (loaded.embedded is not None and loaded.embedded.text.encode() == data)


def test_keys_are_quoted_and_reach_no_other_namespace(server: PlainServer) -> None:
    with client(server.url) as plain:
        for number, key in enumerate(KEYS):
            plain.save(key, f"content {number}")
        for number, key in enumerate(KEYS):
            assert plain.load(key).content == f"content {number}".encode()
    assert {row["agent"] for row in server.rows} == {"eros"}


def test_an_embedded_save_of_the_seeds_without_detached_checksum_is_checked(server: PlainServer) -> None:
    content = embed(
        TEXT, saved_at="2026-06-10T17:43:56Z", source="moosjiny/mujoco/agents/rudex/MEMORY.md", branch="claude/rudex"
    )
    server.put("rudex", "MEMORY_MD_20260610", content)
    loaded = client(server.url, agent="rudex").load("MEMORY_MD_20260610")
    assert loaded.checksum_ok is True
    assert loaded.embedded is not None
    assert (loaded.embedded.text, loaded.embedded.branch) == (TEXT, "claude/rudex")


def test_expires_at_is_handed_on(server: PlainServer) -> None:
    client(server.url).save(KEY, TEXT, expires_at="2027-01-01T00:00:00Z")
    assert [body["expires_at"] for method, _, _, body in server.requests if method == "POST"] == [
        "2027-01-01T00:00:00Z"
    ] * 2


# The three states


def test_a_memory_without_a_checksum_is_none_with_a_warning(server: PlainServer) -> None:
    server.put("eros", KEY, TEXT)
    loaded = client(server.url).load(KEY)
    assert (loaded.checksum_ok, loaded.verdict.reason, loaded.content) == (None, "no-checksum", TEXT.encode())
    assert any("never was a checksum" in warning for warning in loaded.warnings)


@pytest.mark.parametrize("stated", ["", HEX[:63], "sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709", "0" * 64])
def test_a_wrong_or_unreadable_checksum_is_false_and_withholds_the_content(server: PlainServer, stated: str) -> None:
    server.put("eros", KEY, TEXT)
    server.put("eros", f"{KEY}.sha256", stated)
    loaded = client(server.url).load(KEY)
    assert loaded.checksum_ok is False
    assert loaded.stored == TEXT.encode()
    with pytest.raises(DigestMismatch):
        _ = loaded.content


def test_an_edited_content_is_false_and_its_versions_are_named(server: PlainServer) -> None:
    put_pair(server, TEXT)
    server.put("eros", KEY, TEXT + "!")
    loaded = client(server.url).load(KEY)
    assert (loaded.checksum_ok, loaded.verdict.reason) == (False, "digest-mismatch")
    assert HEX[:8] in loaded.verdict.message
    assert Digest.of(f"{TEXT}!".encode()).hex[:8] in loaded.verdict.message


def test_empty_content_is_content(server: PlainServer) -> None:
    put_pair(server, "")
    assert client(server.url).load(KEY).content == b""


def test_what_is_not_there_is_not_found(server: PlainServer) -> None:
    with pytest.raises(NotFoundError):
        client(server.url).load(KEY)


def test_a_checksum_without_its_content_is_a_deletion(server: PlainServer) -> None:
    server.put("eros", f"{KEY}.sha256", HEX)
    with pytest.raises(Missing, match="gone"):
        client(server.url).load(KEY)


def test_a_save_by_somebody_else_between_the_two_requests_is_no_tampering(server: PlainServer) -> None:
    put_pair(server, "v1")

    def save_meanwhile(plain: PlainServer) -> None:
        if len(plain.requests) == 2:
            put_pair(plain, "v2")

    server.on_request = save_meanwhile
    loaded = client(server.url).load(KEY)
    assert (loaded.checksum_ok, loaded.content) == (True, b"v2")


@pytest.mark.parametrize("content", [None, 5, {"text": "a"}, "half \ud800"])
def test_a_row_without_text_is_refused(server: PlainServer, content: object) -> None:
    server.put("eros", KEY, content)
    with pytest.raises(Malformed):
        client(server.url).load(KEY)


# Several versions in one reply

VERSIONS = json.loads((HERE / "fixtures" / "api_versions.json").read_text(encoding="utf-8"))
CONTENTS, HASHES = VERSIONS["content_reply"]["memories"], VERSIONS["hash_reply"]["memories"]


def replying(contents: list[Any], hashes: list[Any]) -> PlainClient:
    def reply(request: httpx.Request) -> httpx.Response:
        is_hash = request.url.params["key"].endswith(".sha256")
        return httpx.Response(200, json={"memories": hashes if is_hash else contents})

    return client("http://fake", transport=httpx.MockTransport(reply))


@pytest.mark.parametrize("contents", list(itertools.permutations(CONTENTS)))
@pytest.mark.parametrize("hashes", list(itertools.permutations(HASHES)))
def test_the_newest_consistent_pair_is_used_in_any_order(contents: tuple[Any], hashes: tuple[Any]) -> None:
    loaded = replying(list(contents), list(hashes)).load(KEY)
    assert (loaded.content.decode(), loaded.checksum_ok) == (VERSIONS["expect"]["content"], True)


@pytest.mark.parametrize("taken", [("id",), ("created_at",), ("id", "created_at")])
@pytest.mark.parametrize("contents", list(itertools.permutations(CONTENTS)))
def test_the_newest_is_told_by_times_or_by_ids(taken: tuple[str, ...], contents: tuple[Any]) -> None:
    def without(rows: list[Any] | tuple[Any]) -> list[Any]:
        return [{name: value for name, value in row.items() if name not in taken} for row in rows]

    plain = replying(without(contents), without(HASHES))
    if len(taken) == 2:
        with pytest.raises(Unchecked, match="several versions"):
            plain.load(KEY)
    else:
        assert plain.load(KEY).content == b"# v2\n"


@pytest.mark.parametrize(
    "contents",
    list(
        itertools.permutations(
            [*CONTENTS, {"id": 12, "key_name": KEY, "content": "# v3\n", "created_at": "2026-11-03T00:00:00Z"}]
        )
    ),
)
def test_a_newer_version_without_a_checksum_is_named_and_not_used(contents: tuple[Any]) -> None:
    loaded = replying(list(contents), HASHES).load(KEY)
    assert loaded.content == b"# v2\n"
    assert "id 12 of 2026-11-03T00:00:00Z" in loaded.warnings[0]


def test_versions_of_which_none_belong_together_are_each_named() -> None:
    hashes = [{"id": 20, "key_name": f"{KEY}.sha256", "content": "0" * 64, "created_at": "2026-11-05T00:00:00Z"}]
    verdict = replying(CONTENTS, hashes).load(KEY).verdict
    assert (verdict.state, verdict.reason) == (False, "digest-mismatch")
    for named in (
        "id 7 of 2026-11-01T00:00:00Z, sha256:b67c82e2",
        "id 8 of 2026-11-02",
        "id 20 of 2026-11-05",
        "sha256:00000000",
    ):
        assert named in verdict.message
    assert "id 9" not in verdict.message


def test_unreadable_checksums_pair_with_nothing() -> None:
    """Not even with content that consists of the same letters."""
    rows = [{"id": 1, "key_name": KEY, "content": ""}], [{"id": 2, "key_name": f"{KEY}.sha256", "content": ""}]
    assert replying(*rows).load(KEY).verdict.reason == "checksum-unreadable"


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("2026-11-02T08:00:00+09:00", "2026-11-02T00:00:00Z"),
        ("2026-11-02 00:00:00", "2026-11-02T00:00:00.5+00:00"),
        (1_700_000_000, 1_700_000_000.5),
    ],
)
def test_times_are_instants_and_not_texts(older: object, newer: object) -> None:
    rows = [
        {"key_name": KEY, "content": "new", "created_at": newer},
        {"key_name": KEY, "content": "old", "created_at": older},
    ]
    hashes = [{"key_name": f"{KEY}.sha256", "content": Digest.of(text).hex} for text in (b"old", b"new")]
    assert replying(rows, hashes).load(KEY).content == b"new"


@pytest.mark.parametrize("time", ["yesterday", "", None, True, -1, 1e300, 10**400, {}])
def test_what_is_no_time_orders_nothing_and_ids_do(time: object) -> None:
    rows = [
        {"id": str(number), "key_name": KEY, "content": text, "created_at": time}
        for number, text in ((9, "old"), (10, "new"))
    ]
    hashes = [{"key_name": f"{KEY}.sha256", "content": Digest.of(text).hex} for text in (b"old", b"new")]
    assert replying(rows, hashes).load(KEY).content == b"new"


def test_rows_of_other_keys_are_ignored_where_the_server_sends_them_all(start: Callable[..., PlainServer]) -> None:
    server = start(whole=True)
    put_pair(server, "mine")
    put_pair(server, "other", "MEMORY.md.bak")
    server.put("eros", "MEMORY.mdx", 5)
    server.rows.append({"agent": "eros"})
    assert client(server.url).load(KEY).content == b"mine"


def test_saving_again_to_a_server_that_keeps_versions_is_read_back(start: Callable[..., PlainServer]) -> None:
    server = start(versions=True)
    plain = client(server.url)
    for text in ("v1", "v2", "v1"):
        plain.save(KEY, text)
        assert plain.load(KEY).content == text.encode()


# Success that is none

NOT_SAVED = [
    ("an error", 200, b'{"error": "disk full"}', NotSaved),
    ("an error as an object", 200, b'{"error": {"code": 507}}', NotSaved),
    ("nothing", 200, b"", OutcomeUnknown),
    ("a list", 200, b"[]", OutcomeUnknown),
    ("half of it", 200, b'{"status": "sav', OutcomeUnknown),
    ("two answers in one", 200, b'{"error": 1, "error": null}', OutcomeUnknown),
    ("queued", 202, b'{"status": "queued"}', OutcomeUnknown),
    ("no content", 204, b"", OutcomeUnknown),
    ("a page", 500, b"<html>oops</html>", OutcomeUnknown),
    ("a page that says 200", 200, b"<html>log in</html>", OutcomeUnknown),
    ("too large", 413, b"", NotSaved),
    ("refused", 401, b"{}", AccessDenied),
    ("forbidden", 403, b"{}", AccessDenied),
    ("nowhere", 404, b"{}", NotSaved),
]


@pytest.mark.parametrize(
    ("status", "body", "error"), [case[1:] for case in NOT_SAVED], ids=[case[0] for case in NOT_SAVED]
)
def test_a_reply_that_is_not_saved_is_never_called_saved(
    server: PlainServer, status: int, body: bytes, error: type[IndelibleError]
) -> None:
    server.always = server.reply(status, body)
    with pytest.raises(error, match=r"(?i)not saved") as raised:
        client(server.url).save(KEY, TEXT)
    assert raised.value.exit_code == 1
    assert len(server.requests) == 1


@pytest.mark.parametrize(("status", "body"), [case[1:3] for case in NOT_SAVED], ids=[case[0] for case in NOT_SAVED])
def test_a_save_that_fails_at_its_checksum_is_not_whole(server: PlainServer, status: int, body: bytes) -> None:
    server.scripted = [None, server.reply(status, body)]
    with pytest.raises(OutcomeUnknown, match="Not saved whole"):
        client(server.url).save(KEY, TEXT)


def test_a_server_that_says_saved_and_keeps_nothing_is_found_out(server: PlainServer) -> None:
    saved = server.reply(200, b'{"status": "saved"}')
    server.scripted = [saved, saved]
    with pytest.raises(NotSaved, match=r"Not saved.*something else \(nothing\)"):
        client(server.url).save(KEY, TEXT)


def test_a_server_that_says_saved_and_keeps_the_old_version_is_found_out(server: PlainServer) -> None:
    put_pair(server, "old")
    saved = server.reply(200, b'{"status": "saved"}')
    server.scripted = [saved, saved]
    with pytest.raises(NotSaved, match="something else"):
        client(server.url).save(KEY, TEXT)


def test_a_server_that_strips_the_text_is_found_out(server: PlainServer) -> None:
    original = server.put
    server.put = lambda agent, key, content: original(agent, key, content.strip())  # type: ignore[method-assign]
    with pytest.raises(NotSaved, match="something else"):
        client(server.url).save(KEY, TEXT)


def test_a_save_that_cannot_be_read_back_is_not_called_saved(server: PlainServer) -> None:
    server.scripted = [None, None, server.reply(500), server.reply(500)]
    with pytest.raises(OutcomeUnknown, match="reading it back failed"):
        client(server.url).save(KEY, TEXT)


@pytest.mark.parametrize("content", [b"\xff", "half \ud800"])
def test_content_that_is_not_utf8_is_not_sent(server: PlainServer, content: bytes | str) -> None:
    with pytest.raises(UsageError, match="Not saved"):
        client(server.url).save(KEY, content)
    assert server.requests == []


# A server that cannot be asked


def reset(connection: socket.socket) -> None:
    connection.recv(65536)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def reset_after_headers(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
    time.sleep(0.05)
    reset(connection)


def say_nothing(connection: socket.socket) -> None:
    while connection.recv(65536):
        pass


def drip(connection: socket.socket) -> None:
    """Header lines for ever, each well inside any time limit for one read."""
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    while True:
        connection.sendall(b"x: y\r\n")
        time.sleep(0.05)


def drip_body(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
    while True:
        connection.sendall(b" ")
        time.sleep(0.05)


def talk_nonsense(connection: socket.socket) -> None:
    connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")
    connection.close()


FAULTS = [reset, reset_after_headers, say_nothing, drip, drip_body, talk_nonsense]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_load_from_a_server_that_misbehaves_is_not_checked_within_the_time(
    raw: Callable[[Callable[[socket.socket], None]], str], fault: Callable[[socket.socket], None]
) -> None:
    begun = time.monotonic()
    with pytest.raises(Unreachable, match="Not checked") as raised:
        client(raw(fault), timeout=0.5).load(KEY)
    assert raised.value.exit_code == 1
    assert time.monotonic() - begun < 5


@pytest.mark.parametrize("fault", FAULTS)
def test_a_save_to_a_server_that_misbehaves_has_no_known_outcome(
    raw: Callable[[Callable[[socket.socket], None]], str], fault: Callable[[socket.socket], None]
) -> None:
    with pytest.raises(OutcomeUnknown, match=r"(?i)not saved"):
        client(raw(fault), timeout=0.5).save(KEY, TEXT)


@pytest.mark.parametrize("host", ["127.0.0.1", "no-such-host.invalid"])
def test_a_server_that_is_down_or_unknown_is_neither_verified_nor_tampered(host: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        host = f"{host}:{listener.getsockname()[1]}"
    with pytest.raises(Unreachable, match=r"Not checked.*cannot be reached|Not checked.*did not answer"):
        client(f"http://{host}", timeout=3).load(KEY)
    with pytest.raises(NotSaved, match="Not saved"):
        client(f"http://{host}", timeout=3).save(KEY, TEXT)


def test_threads_of_a_server_that_never_answers_end(raw: Callable[[Callable[[socket.socket], None]], str]) -> None:
    before = threading.active_count()
    plain = client(raw(drip_body), timeout=0.3)
    with pytest.raises(Unreachable):
        plain.load(KEY)
    ends = time.monotonic() + 5
    while threading.active_count() > before + 2 and time.monotonic() < ends:  # the listener's own two stay
        time.sleep(0.05)
    assert threading.active_count() <= before + 2


NO_ANSWER = [
    ("an error", 200, b'{"error": "database is locked"}'),
    ("nothing", 200, b""),
    ("a page", 200, b"<html>"),
    ("a list", 200, b"[]"),
    ("no list", 200, b'{"memories": {}}'),
    ("other JSON", 200, b'{"ok": true}'),
    ("two lists", 200, b'{"memories": [], "memories": []}'),
    ("not UTF-8", 200, b'{"memories": ["\xff"]}'),
    ("NaN", 200, b'{"memories": [], "x": NaN}'),
    ("deep", 200, b'{"memories": ' + b"[" * 100_000),
    ("a page of an error", 500, b"<html>"),
    ("no such page", 404, b'{"detail": "Not Found"}'),
    ("later", 503, b""),
    ("created", 201, b'{"memories": []}'),
]


@pytest.mark.parametrize(("status", "body"), [case[1:] for case in NO_ANSWER], ids=[case[0] for case in NO_ANSWER])
def test_a_reply_that_is_no_answer_is_not_checked_and_not_nothing_there(
    server: PlainServer, status: int, body: bytes
) -> None:
    server.always = server.reply(status, body)
    with pytest.raises(Unreachable, match="Not checked"):
        client(server.url).load(KEY)


def test_a_reply_is_read_up_to_a_limit_and_uncompressed(server: PlainServer) -> None:
    server.always = server.reply(200, b'{"memories": []}' + b" " * 5000)
    wire = Wire(server.url, API_KEY, limit=1000)
    with pytest.raises(Exception, match="longer than 1000 bytes"):
        wire.get("/memory/load", {})
    server.always = server.reply(200, b"\x1f\x8b", **{"content-encoding": "gzip"})
    wire.close()
    with pytest.raises(Unreachable, match="compressed"):
        client(server.url).load(KEY)


def test_an_error_of_the_server_is_shown_only_if_it_can_be(server: PlainServer) -> None:
    for body, shown in (
        (b'{"error": "disk full"}', "disk full"),
        (b'{"error": "\\u001b[2J"}', "no reason that can be shown"),
        (b'{"error": 507}', "507"),
    ):
        server.always = server.reply(200, body)
        with pytest.raises(Unreachable, match=shown):
            client(server.url).load(KEY)


# The API key


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_refused_and_the_key_goes_nowhere_else(
    server: PlainServer, start: Callable[..., PlainServer], status: int
) -> None:
    elsewhere = start()
    server.always = server.reply(status, b"", location=f"{elsewhere.url}/memory/load")
    with pytest.raises(Unreachable, match="redirect"):
        client(server.url).load(KEY)
    with pytest.raises(NotSaved, match="redirect"):
        client(server.url).save(KEY, TEXT)
    assert elsewhere.requests == []


def test_the_key_goes_through_no_proxy_that_could_read_it(
    server: PlainServer, start: Callable[..., PlainServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = start()
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, proxy.url)
    client(server.url).save(KEY, TEXT)
    assert proxy.requests == []


def test_a_refused_key_is_said(server: PlainServer) -> None:
    with pytest.raises(AccessDenied, match="401"):
        client(server.url, api_key="wrong").load(KEY)


def test_no_error_holds_the_key_or_the_content(server: PlainServer) -> None:
    for status in (200, 301, 401, 413, 500):
        server.always = server.reply(status, b"{")
        for action in (lambda: client(server.url).save(KEY, "SECRET"), lambda: client(server.url).load(KEY)):
            with pytest.raises(IndelibleError) as raised:
                action()
            assert API_KEY not in str(raised.value.as_dict())
            assert "SECRET" not in str(raised.value.as_dict())


@pytest.mark.parametrize("api_key", ["", "a b", "a\r\nx-admin: 1", "키", "a\n"])
def test_what_cannot_be_an_api_key_is_refused_without_showing_it(api_key: str) -> None:
    with pytest.raises(UsageError) as raised:
        client("http://127.0.0.1", api_key=api_key)
    assert not api_key or api_key not in str(raised.value)


@pytest.mark.parametrize(
    "base",
    [
        "",
        "127.0.0.1:80",
        "ftp://host",
        "file:///etc/passwd",
        "http://",
        "http://u:p@host",
        "http://host?x=1",
        "http://host#x",
        "http://ho st",
        "http://h:99999",
        "http://[::1",
    ],
)
def test_what_is_no_address_is_refused(base: str) -> None:
    with pytest.raises(UsageError, match="address"):
        client(base)


@pytest.mark.parametrize(("agent", "key"), [("", KEY), ("half \ud800", KEY), ("eros", ""), ("eros", "half \ud800")])
def test_what_is_no_name_is_refused(server: PlainServer, agent: str, key: str) -> None:
    for act in (
        lambda: client(server.url, agent=agent).load(key),
        lambda: client(server.url, agent=agent).save(key, TEXT),
    ):
        with pytest.raises(UsageError):
            act()
    assert server.requests == []


def test_an_address_may_have_a_path(server: PlainServer) -> None:
    with pytest.raises(NotFoundError):
        client(f"{server.url}/team/api/").load("메모")
    assert unquote(server.requests[0][1]) == "/team/api/memory/load?agent=eros&key=메모"


# Receipts: what this machine saved


def test_text_and_checksum_edited_together_are_found_on_the_machine_that_saved(
    server: PlainServer, receipts: Receipts
) -> None:
    client(server.url, receipts=receipts).save(KEY, TEXT)
    put_pair(server, "edited")
    here = client(server.url, receipts=receipts).load(KEY)
    assert (here.checksum_ok, here.keyed, here.verdict.reason) == (False, True, "differs-from-receipt")
    assert "differs from what this machine saved" in here.verdict.message
    with pytest.raises(DigestMismatch):
        _ = here.content
    elsewhere = client(server.url).load(KEY)
    assert (elsewhere.checksum_ok, elsewhere.keyed) == (True, False)
    assert any("unkeyed" in warning for warning in elsewhere.warnings)


def test_an_embedded_text_edited_with_its_checksum_is_found_too(server: PlainServer, receipts: Receipts) -> None:
    def form(text: str) -> str:
        return embed(text, saved_at="2026-06-10T17:43:56Z", source="a/b/c", branch="main")

    client(server.url, receipts=receipts).save("M_20260610", form(TEXT))
    put_pair(server, form("edited"), "M_20260610")
    assert client(server.url).load("M_20260610").checksum_ok is True
    assert client(server.url, receipts=receipts).load("M_20260610").verdict.reason == "differs-from-receipt"


def test_what_this_machine_saved_is_keyed_and_without_a_warning(server: PlainServer, receipts: Receipts) -> None:
    plain = client(server.url, receipts=receipts)
    plain.save(KEY, TEXT)
    loaded = plain.load(KEY)
    assert (loaded.checksum_ok, loaded.keyed, loaded.warnings) == (True, True, ())


def test_an_older_version_served_again_is_told_from_an_edit(server: PlainServer, receipts: Receipts) -> None:
    plain = client(server.url, receipts=receipts)
    for text in ("v1", "v2"):
        plain.save(KEY, text)
    put_pair(server, "v1")
    loaded = plain.load(KEY)
    assert (loaded.checksum_ok, loaded.verdict.reason) == (False, "rolled-back")


def test_a_checksum_that_was_taken_away_is_not_one_that_never_was(server: PlainServer, receipts: Receipts) -> None:
    plain = client(server.url, receipts=receipts)
    plain.save(KEY, TEXT)
    server.rows = [row for row in server.rows if row["key_name"] == KEY]
    assert (plain.load(KEY).checksum_ok, plain.load(KEY).verdict.reason) == (False, "checksum-gone")


def test_a_checksum_that_was_changed_alone_is_said_to_be_it(server: PlainServer, receipts: Receipts) -> None:
    plain = client(server.url, receipts=receipts)
    plain.save(KEY, TEXT)
    server.put("eros", f"{KEY}.sha256", "0" * 64)
    loaded = plain.load(KEY)
    assert loaded.checksum_ok is False
    assert "checksum is what was changed" in loaded.warnings[0]


def test_an_edit_without_its_checksum_is_said_to_differ_from_the_receipt_too(
    server: PlainServer, receipts: Receipts
) -> None:
    plain = client(server.url, receipts=receipts)
    plain.save(KEY, TEXT)
    server.put("eros", KEY, "edited")
    loaded = plain.load(KEY)
    assert (loaded.checksum_ok, loaded.verdict.reason) == (False, "digest-mismatch")
    assert "differs from what this machine saved" in loaded.warnings[0]


def test_a_memory_that_was_deleted_is_missing_where_it_was_saved(server: PlainServer, receipts: Receipts) -> None:
    plain = client(server.url, receipts=receipts)
    plain.save(KEY, TEXT)
    server.rows.clear()
    with pytest.raises(Missing, match="this machine saved"):
        plain.load(KEY)


def test_a_save_that_was_cut_between_its_halves_is_not_called_tampering(
    server: PlainServer, receipts: Receipts
) -> None:
    plain = client(server.url, receipts=receipts)
    plain.save(KEY, "v1")
    server.scripted = [None, server.reply(500)]
    with pytest.raises(OutcomeUnknown):
        plain.save(KEY, "v2")
    loaded = plain.load(KEY)
    assert (loaded.checksum_ok, loaded.verdict.reason, loaded.content) == (True, "half-saved", b"v2")
    assert "save it again" in loaded.warnings[0]
    plain.save(KEY, "v2")
    assert plain.load(KEY).verdict.reason == "matches"


def test_a_save_that_arrived_though_its_answer_got_lost_is_known(server: PlainServer, receipts: Receipts) -> None:
    plain = client(server.url, receipts=receipts)
    plain.save(KEY, "v1")
    server.scripted = [None, None, server.reply(500)]
    with pytest.raises(OutcomeUnknown):
        plain.save(KEY, "v2")
    assert (plain.load(KEY).checksum_ok, plain.load(KEY).keyed) == (True, True)


def test_a_refused_save_leaves_the_old_receipt_standing(server: PlainServer, receipts: Receipts) -> None:
    plain = client(server.url, receipts=receipts)
    plain.save(KEY, "v1")
    server.scripted = [server.reply(413)]
    with pytest.raises(NotSaved):
        plain.save(KEY, "v2")
    assert plain.load(KEY).verdict.reason == "matches"
    put_pair(server, "edited")
    assert plain.load(KEY).checksum_ok is False


def test_receipts_of_another_agent_key_or_server_say_nothing(
    start: Callable[..., PlainServer], receipts: Receipts
) -> None:
    one, other = start(), start()
    client(one.url, receipts=receipts).save(KEY, TEXT)
    put_pair(other, "theirs")
    put_pair(one, "theirs", "other")
    one.put("dami", KEY, "theirs")
    one.put("dami", f"{KEY}.sha256", Digest.of(b"theirs").hex)
    for url, agent, key in ((other.url, "eros", KEY), (one.url, "eros", "other"), (one.url, "dami", KEY)):
        loaded = client(url, agent=agent, receipts=receipts).load(key)
        assert (loaded.checksum_ok, loaded.keyed) == (True, False)


def test_a_receipt_that_cannot_be_kept_is_a_warning_and_no_failed_save(server: PlainServer, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    receipts = Receipts(str(tmp_path / "file" / "receipts.db"), lambda: "2026-11-30T00:00:00Z")
    saved = client(server.url, receipts=receipts).save(KEY, TEXT)
    assert len(saved.warnings) == 2
    assert server.get("eros", KEY) == TEXT


def test_receipts_that_cannot_be_read_stop_the_check(server: PlainServer, receipts: Receipts) -> None:
    plain = client(server.url, receipts=receipts)
    plain.save(KEY, TEXT)
    Path(receipts.path).write_bytes(b"not a database at all" * 100)
    with pytest.raises(Unchecked, match="receipts"):
        plain.load(KEY)
