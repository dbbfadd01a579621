"""`/v1` for memories: proofs that a client checks by itself, conditions, operation ids, pages."""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING

import pytest
from tests.serving import rows, save

from indelible.entry import Saved, parse_entry, split_leaf
from indelible.seal import canonical, checkpoint
from indelible.seal import proof as proofs
from indelible.seal.merkle import leaf_hash, root_of, verify_consistency
from indelible.seal.note import Verifier, open_note
from indelible.sealed import Commitments, Sealed, verify

if TYPE_CHECKING:
    import httpx
    from tests.server.conftest import Serve
    from tests.serving import Served


def put(
    client: httpx.Client, key: str, content: str, headers: dict[str, str] | None = None, **more: object
) -> httpx.Response:
    return client.put("/v1/memory", params={"key": key}, json={"content": content, **more}, headers=headers or {})


def server_key(client: httpx.Client) -> Verifier:
    return Verifier(client.get("/v1/keys").json()["server_keys"][0])


def test_a_version_comes_with_all_that_it_takes_to_check_it(shared: Served) -> None:
    client = shared.client("proved")
    for number in range(5):
        put(client, "k", f"내용 {number}")
    found = client.get("/v1/memory", params={"key": "k", "version": "3"}).json()
    leaf = base64.b64decode(found["leaf"])
    entry = parse_entry(split_leaf(leaf)[0])
    assert isinstance(entry, Saved)
    body = canonical.dumps(found["record"])
    verify(
        Sealed(base64.b64decode(found["salt"]), body, found["content"].encode()),
        Commitments(bytes.fromhex(entry.content), bytes.fromhex(entry.record)),
        "k",
    )
    head = proofs.parse(found["proof"].encode()).verify(leaf_hash(leaf), [server_key(client)], "indelible/local/proved")
    assert (found["content"], found["version"], found["state"], found["attested"], head.size) == (
        "내용 2",
        3,
        "active",
        "server",
        5,
    )
    assert found["sha256"] == hashlib.sha256("내용 2".encode()).hexdigest()


def test_bytes_that_are_no_text_go_in_and_out_as_base64(shared: Served) -> None:
    client = shared.client("binary")
    assert put(client, "k", "/wD+", encoding="base64").status_code == 200
    found = client.get("/v1/memory?key=k").json()
    assert (found["encoding"], found["content"]) == ("base64", "/wD+")
    assert rows(client, "k.sha256") == {"k.sha256": hashlib.sha256(b"\xff\0\xfe").hexdigest()}
    assert put(client, "k", "not base64!", encoding="base64").status_code == 400


def test_who_may_not_read_learns_no_digest_from_a_condition(shared: Served) -> None:
    writes = shared.client("conditions-blind", {"write"})
    secret = put(writes, "k", "pin 4711").headers["etag"].strip('"').removeprefix("sha256:")
    late = put(writes, "k", "x", {"if-match": f'"sha256:{"0" * 64}"'})
    assert late.status_code == 412
    assert secret not in late.text
    assert secret in put(shared.client("conditions-blind"), "k", "x", {"if-none-match": "*"}).text


def test_a_condition_on_the_version_that_was_read_is_kept(shared: Served) -> None:
    client = shared.client("conditions")
    first = put(client, "k", "one", {"if-none-match": "*"})
    tag = client.get("/v1/memory?key=k").headers["etag"]
    assert (first.status_code, first.headers["etag"]) == (200, tag)
    assert put(client, "k", "two", {"if-match": tag}).status_code == 200
    late = put(client, "k", "lost", {"if-match": tag})
    assert (late.status_code, late.json()["slug"], late.json()["based_on"]) == (
        412,
        "conflict",
        tag.strip('"').removeprefix("sha256:"),
    )
    assert put(client, "k", "x", {"if-none-match": "*"}).status_code == 412
    for bad in (
        {"if-match": "*"},
        {"if-match": "W/" + tag},
        {"if-match": "abc"},
        {"if-none-match": tag},
        {"if-match": tag, "if-none-match": "*"},
    ):
        assert put(client, "k", "x", bad).status_code == 400, bad
    assert rows(client) == {"k": "two"}


def test_a_repeat_of_an_operation_makes_one_version(shared: Served) -> None:
    client = shared.client("repeats")
    first, again = (put(client, "k", "one", {"idempotency-key": "op-1"}).json() for _ in range(2))
    assert (first["repeated"], again["repeated"], again["version"], again["seq"], again["op"]) == (
        False,
        True,
        1,
        first["seq"],
        "op-1",
    )
    assert put(client, "k", "other", {"idempotency-key": "op-1"}).json()["slug"] == "conflict"
    assert client.get("/v1/history?key=k").json()["total"] == 1
    for _ in range(2):
        assert client.post("/v1/archive", json={"key": "k"}, headers={"idempotency-key": "op-2"}).status_code == 200
    assert [event["type"] for event in client.get("/v1/history?key=k").json()["events"]] == ["archived", "saved"]


def test_a_memory_is_put_away_and_brought_back(shared: Served) -> None:
    client = shared.client("lifecycle")
    put(client, "k", "one")
    put(client, "k", "two")
    client.post("/v1/archive", json={"key": "k", "reason": "done"})
    held = client.get("/v1/memory?key=k")
    assert (held.status_code, held.json()["slug"]) == (423, "held")
    assert [reason["slug"] for reason in held.json()["reasons"]] == ["state-archived"]
    assert client.get("/v1/memory?key=k&held=1").json()["content"] == "two"
    assert [row["key"] for row in client.get("/v1/memories?state=archived").json()["memories"]] == ["k"]
    client.post("/v1/unarchive", json={"key": "k"})
    assert client.post("/v1/restore", json={"key": "k", "version": 1}).json()["version"] == 3
    assert rows(client) == {"k": "one"}
    history = client.get("/v1/history?key=k").json()
    assert [(event["type"], event["how"]) for event in history["events"]] == [
        ("saved", "restored"),
        ("unarchived", ""),
        ("archived", ""),
        ("saved", "saved"),
        ("saved", "saved"),
    ]
    assert [event["type"] for event in client.get("/v1/history?key=k&limit=1&skip=2").json()["events"]] == ["archived"]


def test_what_is_erased_is_gone_from_the_file_and_its_proofs_stand(serve: Serve) -> None:
    served = serve()
    client = served.client()
    put(client, "k", "a very private sentence")
    put(client, "k", "a very private sentence, again")
    leaf = client.get("/v1/proof?key=k").json()["leaf"]
    assert client.delete("/v1/memory", params={"key": "k", "reason": "asked for"}).status_code == 200
    assert client.get("/v1/memory?key=k").status_code == 404
    assert leaf in client.get("/v1/entries").json()["leaves"]
    assert client.get("/v1/sealed?seq=0&count=5").json()["rows"] == []
    for side in ("", "-wal"):
        with open(served.store + side, "rb") as file:
            assert b"private sentence" not in file.read()
    assert client.get("/v1/audit").json()["ok"] is True


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/v1/memory?key=none", None), ("GET", "/v1/proof?key=none", None), ("GET", "/v1/history?key=none", None),
        ("GET", "/v1/memory?key=there&version=9", None), ("DELETE", "/v1/memory?key=none", None), ("POST", "/v1/archive", {"key": "none"}),
        ("POST", "/v1/restore", {"key": "there", "version": 999}), ("GET", "/v1/verdict?key=none", None), ("GET", "/v1/reviews?key=none", None),
        ("GET", "/v1/delivery?number=99999", None), ("GET", "/v1/tile/0/0", None), ("GET", "/v1/nothing", None), ("GET", "/memory", None),
        ("GET", "/memory/load/", None), ("GET", "/", None), ("GET", "//memory/load", None),
    ],
)  # fmt: skip
def test_what_is_not_there_is_404_as_a_problem(shared: Served, method: str, path: str, body: object) -> None:
    client = shared.client("absent")
    put(client, "there", "x")
    reply = client.request(method, path, json=body) if body is not None else client.request(method, path)
    assert (reply.status_code, reply.headers["content-type"], reply.json()["status"]) == (
        404,
        "application/problem+json",
        404,
    )


@pytest.mark.parametrize(
    "path",
    [
        "/v1/memory?key=k&policy=unsafe-deliver-all", "/v1/memory?key=k&policy=", "/v1/memory?key=k&policy=nothing", "/v1/memory?key=k&policy=active,,readable",
        "/v1/memory?key=k&revision=abc", "/v1/memory?key=k&revision=", "/v1/memory?key=k&revision=" + "A" * 40, "/v1/memory?key=k&repo=", "/v1/memory?key=k&branch=",
        "/v1/memory?key=k&repo=https://user:secret@/x", "/v1/held?state=erased,x", "/v1/held?policy=unsafe-deliver-all", "/v1/verdict", "/v1/verdict?key=k&held=1",
        "/v1/deliveries?outcome=lost", "/v1/deliveries?since=yesterday", "/v1/deliveries?until=2026-11-30", "/v1/deliveries?after=-1", "/v1/deliveries?limit=0",
        "/v1/delivery", "/v1/delivery?number=0", "/v1/delivery?number=x", "/v1/reviews",
        "/v1/memories?limit=0", "/v1/memories?limit=1001", "/v1/memories?limit=x", "/v1/memories?limit=-1", "/v1/memories?limit=１", "/v1/memories?state=x",
        "/v1/memories?offset=3", "/v1/memory", "/v1/memory?key=", "/v1/memory?key=k&version=0", "/v1/memory?key=k&held=yes", "/v1/consistency?old=0",
        "/v1/consistency?old=99", "/v1/consistency", "/v1/entries?start=99999999999999", "/v1/sealed", "/v1/sealed?seq=0&count=257", "/v1/tile/9/0", "/v1/tile/x/0",
        "/v1/memory?key=%ff", "/v1/memory?key=%ed%a0%80", "/v1/operation?op=",
    ],
)  # fmt: skip
def test_a_query_that_is_off_is_400_as_a_problem(shared: Served, path: str) -> None:
    client = shared.client("off")
    put(client, "k", "x")
    reply = client.get(path)
    assert (reply.status_code, reply.headers["content-type"]) == (400, "application/problem+json")


def test_another_method_is_405_and_says_which_there_are(shared: Served) -> None:
    reply = shared.client().delete("/memory/save")
    assert (reply.status_code, reply.headers["allow"], reply.json()["slug"]) == (405, "POST", "no-such-method")
    reply = shared.client().post("/healthz")
    assert (reply.status_code, reply.headers["allow"], reply.json()["slug"]) == (405, "GET, HEAD", "no-such-method")


def test_a_client_can_replay_the_log_and_check_its_growth(shared: Served) -> None:
    client = shared.client("replay")
    for number in range(7):
        put(client, f"k{number % 3}", str(number))
    old = checkpoint.parse(open_note(client.get("/v1/checkpoint").content, [server_key(client)])[0].text)
    for number in range(300):
        put(client, f"n{number}", "x")
    head = client.get("/v1/head").json()
    new = checkpoint.parse(open_note(base64.b64decode(head["note"]), [server_key(client)])[0].text)
    leaves = [base64.b64decode(leaf) for leaf in client.get("/v1/entries").json()["leaves"]]
    hashes = [leaf_hash(leaf) for leaf in leaves]
    assert (len(leaves), root_of(hashes), head["entries"]) == (new.size, new.root, new.size)
    assert root_of(hashes[:7]) == old.root
    told = client.get("/v1/consistency?old=7").json()
    verify_consistency(7, new.size, [base64.b64decode(each) for each in told["hashes"]], old.root, new.root)
    assert client.get("/v1/tile/0/0").content == b"".join(hashes[:256])
    assert client.get("/v1/entries?start=305&end=307").json()["leaves"] == [
        base64.b64encode(leaf).decode() for leaf in leaves[305:307]
    ]
    assert client.get("/v1/entries?start=400").json()["leaves"] == []


def test_a_page_in_which_something_is_wrong_says_so_and_is_no_success(serve: Serve) -> None:
    served = serve()
    client = served.client()
    for key in ("a", "b"):
        save(client, key, f"text of {key}")
    served.sql(
        "UPDATE record SET body = CAST(replace(CAST(body AS TEXT), 'reference', 'instruction') AS BLOB) WHERE content = CAST('text of b' AS BLOB)"
    )
    page = client.get("/v1/memories")
    assert (
        page.status_code,
        [row["key"] for row in page.json()["memories"]],
        [each["key"] for each in page.json()["findings"]],
    ) == (409, ["a"], ["b"])
    audit = client.get("/v1/audit")
    assert (audit.status_code, audit.json()["ok"], audit.json()["findings"][0]["slug"]) == (
        409,
        False,
        "altered-record",
    )
    assert str(served.root) not in audit.text


def test_problems_show_no_folder_of_the_server(serve: Serve) -> None:
    import os

    served = serve()
    client = served.client()
    save(client, "k", "x")
    for side in ("", "-wal", "-shm"):
        if os.path.exists(served.store + side):
            os.unlink(served.store + side)
    reply = client.get("/memory/load?key=k")
    assert (reply.status_code, reply.json()["slug"]) == (409, "missing")
    assert str(served.root) not in reply.text
