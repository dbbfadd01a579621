"""`/v1/review`: a reviewer's signed word is taken from an API key that may review, and the head after it is the server's."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from tests.serving import save
from tests.support import entry_of, sign_entry, signer_of

from indelible.entry import Judged, Noted, origin_of
from indelible.seal.merkle import leaf_hash
from indelible.seal.note import Verifier, open_note
from indelible.settings import now
from indelible.wiring import keystore

if TYPE_CHECKING:
    import httpx
    from tests.serving import Served

    from indelible.seal.note import Signer

ANN = signer_of("indelible-reviewer/ann")
BOB = signer_of("indelible-reviewer/bob")
"""Whom the server does not know."""


@dataclass
class Desk:
    """Where a reviewer sits: an API key that may read and review, and none of the agent's keys."""

    client: httpx.Client
    agent: str
    writer: httpx.Client

    @property
    def leaves(self) -> list[bytes]:
        return [base64.b64decode(leaf) for leaf in self.client.get("/v1/entries").json()["leaves"]]

    def entry(self, about: str = "k", by: Signer = ANN, /, **changes: Any) -> Judged:
        """An approval of what is there now."""
        leaves = self.leaves
        said = [(leaf, entry) for leaf in leaves if getattr(entry := entry_of(leaf), "key", None) == about]
        saved = [pair for pair in said if pair[1].type == "saved"][-1]
        plain: dict[str, Any] = {
            "at": now(), "by": f"{by.key_id:08x}", "digest": leaf_hash(saved[0]).hex(), "key": about, "method": "human",
            "op": f"review-{len(leaves)}", "origin": origin_of("local", self.agent), "prev": leaf_hash(said[-1][0]).hex(),
            "prev_seq": said[-1][1].seq, "reason": None, "seq": len(leaves), "subject": None, "type": "reviewed",
            "verdict": "approve", "version": saved[1].version,
        }  # fmt: skip
        return Judged(**{**plain, **changes})

    def send(self, entry: Judged, by: Signer = ANN, client: httpx.Client | None = None) -> httpx.Response:
        return self.lodge(sign_entry(entry, by), client)

    def lodge(self, leaf: bytes, client: httpx.Client | None = None) -> httpx.Response:
        return (client or self.client).post("/v1/review", json={"leaf": base64.b64encode(leaf).decode()})

    def refused(self, reply: httpx.Response, status: int, slug: str) -> None:
        """Nothing of it is in the log, and nothing came of it."""
        assert (reply.status_code, reply.json()["slug"]) == (status, slug), reply.text
        assert [entry_of(leaf).type for leaf in self.leaves] == ["saved"]
        assert self.client.get("/v1/memory?key=k").status_code == 423


@pytest.fixture
def desk(shared: Served, request: pytest.FixtureRequest) -> Desk:
    """A reviewer's desk, with one memory from outside to look at."""
    keystore(shared.settings).trust(ANN.name, ANN.vkey)
    agent = request.node.name[:60]
    writer = shared.client(agent)
    assert writer.put("/v1/memory?key=k", json={"content": "text", "origin": "external"}).status_code == 200
    return Desk(shared.client(agent, {"read", "review"}), agent, writer)


def test_a_review_is_added_under_a_head_of_the_servers(desk: Desk) -> None:
    entry = desk.entry()
    reply = desk.send(entry)
    assert (reply.status_code, reply.json()["seq"], reply.json()["repeated"]) == (200, 1, False)
    found = desk.client.get("/v1/memory?key=k").json()["verdict"]
    assert (found["held"], found["review"]["by"], found["review"]["at"]) == (False, "ann", entry.at)
    assert desk.leaves[1] == sign_entry(entry, ANN)
    note = desk.client.get("/v1/checkpoint").content
    server = Verifier(desk.client.get("/v1/keys").json()["server_keys"][0])
    assert open_note(note, [server])[1]
    assert desk.writer.get("/v1/audit").json()["findings"] == []
    save(desk.writer, "k", "the log goes on")
    assert desk.client.get("/v1/history?key=k").json()["total"] == 3


def test_the_same_review_again_adds_nothing(desk: Desk) -> None:
    leaf = sign_entry(desk.entry(), ANN)
    first, again = desk.lodge(leaf), desk.lodge(leaf)
    assert (first.json()["repeated"], again.json()["repeated"], again.json()["seq"], len(desk.leaves)) == (
        False,
        True,
        1,
        2,
    )
    other = desk.send(desk.entry(op="review-1", verdict="reject"))
    assert (other.status_code, other.json()["slug"], len(desk.leaves)) == (409, "conflict", 2)


def test_whoever_may_write_may_not_hand_in_a_review(desk: Desk, shared: Served) -> None:
    leaf = sign_entry(desk.entry(), ANN)
    desk.refused(desk.lodge(leaf, desk.writer), 403, "access-denied")
    desk.refused(desk.lodge(leaf, shared.client(desk.agent, {"read", "write", "erase"})), 403, "access-denied")
    desk.refused(desk.lodge(leaf, shared.client(desk.agent, {"review"}, prefix="other")), 403, "access-denied")


def test_a_key_that_may_only_review_learns_no_digest(desk: Desk, shared: Served) -> None:
    reply = desk.send(desk.entry(), client=shared.client(desk.agent, {"review"}))
    assert (reply.status_code, reply.json()["sha256"], "etag" in reply.headers) == (200, None, False)


def test_a_reviewer_whom_the_server_does_not_know_is_refused(desk: Desk) -> None:
    desk.refused(desk.send(desk.entry("k", BOB), BOB), 403, "unknown-reviewer")
    agent = signer_of(origin_of("local", desk.agent))
    desk.refused(desk.send(desk.entry("k", agent), agent), 403, "unknown-reviewer")


def test_a_signature_that_is_not_the_reviewers_is_refused(desk: Desk) -> None:
    desk.refused(desk.send(desk.entry(), BOB), 422, "commit-refused")
    leaf = sign_entry(desk.entry(), ANN)
    desk.refused(desk.lodge(leaf[:-1] + bytes([leaf[-1] ^ 1])), 422, "commit-refused")
    desk.refused(desk.lodge(leaf.replace(b"approve", b"dispute")), 422, "commit-refused")


@pytest.mark.parametrize("changes", [{"seq": 0}, {"seq": 2}, {"prev": "0" * 64}, {"prev_seq": 7}])
def test_a_review_for_another_head_is_to_be_made_again(desk: Desk, changes: dict[str, Any]) -> None:
    desk.refused(desk.send(desk.entry(**changes)), 409, "head-moved")


@pytest.mark.parametrize(
    "changes",
    [
        {"digest": "0" * 64}, {"version": 2}, {"origin": "indelible/local/other"}, {"at": "yesterday"}, {"op": ""}, {"key": ""},
        {"type": "superseded", "verdict": "supersede"}, {"reason": "r" * 20_000},
    ],
)  # fmt: skip
def test_a_review_of_something_else_is_refused(desk: Desk, changes: dict[str, Any]) -> None:
    desk.refused(desk.send(desk.entry(**changes)), 422, "commit-refused")


@pytest.mark.parametrize("leaf", [b"", b"x" * 64, b"{}" + b"x" * 64, b"x" * 20_000])
def test_a_leaf_that_is_none_is_refused(desk: Desk, leaf: bytes) -> None:
    desk.refused(desk.lodge(leaf), 422, "commit-refused")


def test_another_entry_than_a_review_is_refused(desk: Desk) -> None:
    saved = desk.leaves[0]
    entry = Noted(
        now(),
        f"{ANN.key_id:08x}",
        None,
        "k",
        "op",
        origin_of("local", desk.agent),
        leaf_hash(saved).hex(),
        0,
        None,
        1,
        "archived",
        1,
    )
    desk.refused(desk.lodge(sign_entry(entry, ANN)), 422, "commit-refused")
    desk.refused(desk.lodge(saved), 422, "commit-refused")


def test_what_was_looked_at_is_what_is_judged(desk: Desk) -> None:
    entry = desk.entry()
    save(desk.writer, "k", "other text")
    reply = desk.send(entry)
    assert (reply.status_code, reply.json()["slug"]) == (409, "head-moved")
    # With the chain put right and the text left as it was.
    stale = desk.entry()._replace(digest=entry.digest, version=entry.version)
    assert desk.send(stale).status_code == 422
    assert len(desk.leaves) == 2


def test_an_erased_memory_is_not_reviewed(desk: Desk) -> None:
    desk.writer.delete("/v1/memory?key=k")
    assert desk.send(desk.entry()).status_code == 404
    assert len(desk.leaves) == 2


def test_reject_dispute_and_assign_are_taken_too(desk: Desk) -> None:
    for verdict, value in (
        ("assign", "pending"),
        ("dispute", "disputed"),
        ("reject", "rejected"),
        ("approve", "approved"),
    ):
        assert desk.send(desk.entry(verdict=verdict, subject="ann" if verdict == "assign" else None)).status_code == 200
        assert desk.client.get("/v1/reviews?key=k").json()["review"]["value"] == value
