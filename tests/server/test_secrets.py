"""O-SEC-01 and O-SEC-06 over HTTP: the seeds' paths, `/v1`, and what a client has signed already."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest
from tests.server.test_commit import Hand
from tests.server.test_v1 import put
from tests.serving import Served, rows, save
from tests.support import signer_of, traces

from indelible.entry import origin_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import httpx

SECRET = "glpat-" + "aB3dE6gH9" * 3
TEXT = f'# Notes\npassword = "{SECRET}"\n'
MASKED = '# Notes\npassword = "[masked: gitlab-token]"\n'
FOUND = "gitlab-token (content line 2)"


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.fixture(params=["refuse", "mask"])
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def served(tmp_path: Path, mode: str) -> Iterator[Served]:
    made = Served(tmp_path / "served", {}, variables={"INDELIBLE_SECRETS": mode}).start()
    yield made
    made.stop()
    assert traces(made.root, SECRET.encode(), TEXT.encode()) == [], "store, journal, keys, pins: none holds any of it"


def refusal(reply: httpx.Response, *found: str) -> None:
    assert reply.status_code == 422, reply.text
    problem = reply.json()
    assert (problem["slug"], problem["status"]) == ("secret-refused", 422)
    assert [one for one in found if one not in problem["found"]] == []
    assert (SECRET in reply.text, sha256(TEXT) in reply.text) == (False, False)


def test_a_plain_save_is_refused_or_masked_and_says_so(served: Served, mode: str) -> None:
    client = served.client()
    reply = save(client, "k", TEXT)
    if mode == "refuse":
        refusal(reply, FOUND)
        assert rows(client) == {}
        return
    assert reply.json() == {"status": "saved", "agent": "eros", "key": "k", "masked": [FOUND]}
    assert rows(client, "k") == {"k": MASKED}
    assert rows(client, "k.sha256") == {"k.sha256": sha256(MASKED)}
    assert save(client, "k", "plain").json() == {"status": "saved", "agent": "eros", "key": "k"}
    with served.memory() as memory:
        assert memory.verify("k").loaded.content == b"plain"


@pytest.mark.parametrize("mode", ["mask"])
def test_a_checksum_of_what_is_nowhere_stored_is_not_kept(served: Served) -> None:
    """An unmodified client states the digest of what it sent, and reads both back."""
    client = served.client()
    for _ in range(2):
        assert save(client, "k", TEXT).status_code == 200
        assert save(client, "k.sha256", sha256(TEXT)).status_code == 200
        assert rows(client, "k.sha256") == {"k.sha256": sha256(MASKED)}
    assert save(client, "k", "plain").status_code == 200
    assert save(client, "k.sha256", sha256("other")).status_code == 200
    assert rows(client, "k.sha256") == {"k.sha256": sha256("other")}, (
        "of unmasked text a wrong statement stays what it is"
    )


def test_a_put_is_refused_or_masked_and_says_so(served: Served, mode: str) -> None:
    client = served.client()
    reply = put(client, "k", TEXT, {"Idempotency-Key": "op-1"})
    if mode == "refuse":
        refusal(reply, FOUND)
        assert put(client, "k", "plain", {"Idempotency-Key": "op-1"}).json()["version"] == 1
        return
    done = reply.json()
    assert (done["masked"], done["sha256"], done["repeated"]) == ([FOUND], sha256(MASKED), False)
    assert reply.headers["etag"] == f'"sha256:{sha256(MASKED)}"'
    again = put(client, "k", TEXT, {"Idempotency-Key": "op-1"}).json()
    assert (again["repeated"], again["masked"], again["version"]) == (True, [FOUND], 1)
    found = client.get("/v1/memory", params={"key": "k"}).json()
    assert (found["content"], found["sha256"]) == (MASKED, sha256(MASKED))
    assert put(client, "k", "next", {"If-Match": reply.headers["etag"]}).json()["version"] == 2
    assert client.get("/v1/audit").json()["ok"] is True


def test_a_secret_in_a_name_is_refused_in_both_modes(served: Served, mode: str) -> None:
    client = served.client()
    assert put(client, "k", "text").status_code == 200
    refusal(save(client, f"notes/{SECRET}", "text"), "(key)")
    refusal(put(client, f"notes/{SECRET}", "text"), "(key)")
    refusal(put(client, "k", "text", reason=SECRET), "(reason)")
    refusal(put(client, "k", "text", {"Idempotency-Key": SECRET}), "(operation id)")
    for path in ("archive", "unarchive"):
        refusal(client.post(f"/v1/{path}", json={"key": "k", "reason": SECRET}), "(reason)")
    refusal(client.post("/v1/restore", json={"key": "k", "version": 1, "reason": SECRET}), "(reason)")
    refusal(client.request("DELETE", "/v1/memory", params={"key": "k", "reason": SECRET}), "(reason)")
    assert client.get("/v1/history", params={"key": "k"}).json()["total"] == 1


def test_what_a_client_has_signed_is_refused_in_both_modes(served: Served, mode: str) -> None:
    client = served.client()
    hand = Hand(client, "eros", signer_of(origin_of("local", "eros")))
    assert client.post("/v1/keys", json={"vkey": hand.signer.vkey}).status_code == 200
    refusal(client.post("/v1/commit", json=hand.body(hand.saved("k", TEXT.encode()))), FOUND)
    refusal(client.post("/v1/commit", json=hand.body(hand.saved("k", b"text", reason=SECRET))), "(reason)")
    refusal(client.post("/v1/commit", json=hand.body(hand.saved(SECRET, b"text"))), "(key)")
    refusal(client.post("/v1/commit", json=hand.body(hand.saved("k", TEXT.encode(), how="restored"))), FOUND)
    assert hand.leaves() == []
    assert client.post("/v1/commit", json=hand.body(hand.saved("k", MASKED.encode()))).status_code == 200


def test_bytes_that_were_there_before_may_be_restored(tmp_path: Path) -> None:
    served = Served(tmp_path / "served", {}, variables={"INDELIBLE_SECRETS": "allow"}).start()
    try:
        save(served.client(), "k", TEXT)
        save(served.client(), "k", "taken out")
        served.variables["INDELIBLE_SECRETS"] = "refuse"
        served.again()
        assert served.client().post("/v1/restore", json={"key": "k", "version": 1}).json()["version"] == 3
        assert rows(served.client(), "k") == {"k": TEXT}
    finally:
        served.stop()
