"""`/v1/commit`: the server's own follower goes over what a client signed, and believes none of it."""

from __future__ import annotations

import base64
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.serving import rows, save
from tests.support import sign_entry, signer_of

from indelible.entry import Governed, Judged, Noted, Saved, origin_of
from indelible.record import Origin, Record, draft
from indelible.seal.checkpoint import Checkpoint
from indelible.seal.digest import Digest
from indelible.seal.merkle import leaf_hash, root_of
from indelible.seal.note import Signer, sign_note
from indelible.sealed import Sealed, commit
from indelible.wiring import keystore

if TYPE_CHECKING:
    import httpx
    from tests.serving import Served

NOW = "2026-11-30T00:00:00Z"


def text(data: bytes) -> str:
    return base64.b64encode(data).decode()


@dataclass
class Hand:
    """A client that signs by hand, so that it can do so wrongly."""

    client: httpx.Client
    agent: str
    signer: Signer

    @property
    def origin(self) -> str:
        return origin_of("local", self.agent)

    def head(self) -> bytes:
        note = self.client.get("/v1/head").json()["note"]
        return base64.b64decode(note) if note else b""

    def leaves(self) -> list[bytes]:
        return [base64.b64decode(leaf) for leaf in self.client.get("/v1/entries").json()["leaves"]]

    def saved(self, about: str, said: bytes = b"text", /, **changes: Any) -> tuple[bytes, Sealed]:
        record = draft(about, said, agent=self.agent, author="agent:x", now=NOW, random=b"0123456789")
        sealed = Sealed(b"s" * 32, record.to_body(), said)
        hashes = commit(sealed)
        plain: dict[str, Any] = {
            "at": NOW, "by": f"{self.signer.key_id:08x}", "content": hashes.content.hex(), "how": "saved", "key": about, "op": f"op-{about}",
            "origin": self.origin, "prev": None, "prev_seq": None, "reason": None, "record": hashes.record.hex(), "seq": len(self.leaves()),
            "type": "saved", "version": 1,
        }  # fmt: skip
        return sign_entry(Saved(**{**plain, **changes}), self.signer), sealed

    def note(self, leaves: list[bytes], signer: Signer | None = None, **changes: Any) -> bytes:
        plain: dict[str, Any] = {
            "origin": self.origin,
            "size": len(leaves),
            "root": root_of([leaf_hash(leaf) for leaf in leaves]),
        }
        return sign_note(Checkpoint(**{**plain, **changes}).format(), signer or self.signer)

    def body(
        self, *changes: tuple[bytes, Sealed | None], note: bytes | None = None, expected: str | None = None
    ) -> dict[str, Any]:
        head = self.head()
        return {
            "expected": (Digest.of(head).hex if head else "") if expected is None else expected,
            "changes": [
                {"leaf": text(leaf), "sealed": None if sealed is None else members(sealed)} for leaf, sealed in changes
            ],
            "note": text(self.note([*self.leaves(), *(leaf for leaf, _ in changes)]) if note is None else note),
        }

    def send(self, *changes: tuple[bytes, Sealed | None], **more: Any) -> httpx.Response:
        return self.client.post("/v1/commit", json=self.body(*changes, **more))


def members(sealed: Sealed) -> dict[str, str]:
    return {name: text(value) for name, value in sealed._asdict().items()}


@pytest.fixture
def hand(shared: Served, request: pytest.FixtureRequest) -> Hand:
    """A client of an agent of its own, whose key is enrolled."""
    agent = request.node.name[:60]
    made = Hand(shared.client(agent), agent, signer_of(origin_of("local", agent)))
    assert made.client.post("/v1/keys", json={"vkey": made.signer.vkey}).status_code == 200
    return made


def refused(hand: Hand, reply: httpx.Response, slug: str = "commit-refused", status: int = 422) -> str:
    assert (reply.status_code, reply.json()["slug"], rows(hand.client), hand.leaves()) == (status, slug, {}, []), (
        reply.text
    )
    return str(reply.json()["detail"])


def test_what_the_agent_signed_is_taken_as_it_is(hand: Hand) -> None:
    leaf, sealed = hand.saved("k", "안녕".encode())
    note = hand.note([leaf])
    assert hand.send((leaf, sealed), note=note).json() == {"status": "committed", "size": 1, "repeated": False}
    assert (hand.leaves(), hand.head(), rows(hand.client)) == ([leaf], note, {"k": "안녕"})
    assert hand.client.get("/memory/load?key=k").json()["memories"][0]["attested"] == "agent"


def test_the_same_transaction_again_adds_nothing(hand: Hand) -> None:
    body = hand.body(hand.saved("k"))
    first, again = (hand.client.post("/v1/commit", json=body).json() for _ in range(2))
    assert (first["repeated"], again["repeated"], again["size"], len(hand.leaves())) == (False, True, 1, 1)


def test_an_operation_id_is_used_once(hand: Hand) -> None:
    hand.send(hand.saved("k"))
    assert hand.send(hand.saved("other", op="op-k")).json()["slug"] == "conflict"
    assert rows(hand.client) == {"k": "text"}


def test_a_head_that_has_moved_is_a_conflict(hand: Hand) -> None:
    body = hand.body(hand.saved("k"))
    save(hand.client, "first", "x")
    reply = hand.client.post("/v1/commit", json=body)
    assert (reply.status_code, reply.json()["slug"], rows(hand.client)) == (409, "head-moved", {"first": "x"})


def test_server_and_agent_take_turns_in_one_log(hand: Hand) -> None:
    save(hand.client, "a", "by the server")
    assert hand.send(hand.saved("b")).status_code == 200
    save(hand.client, "c", "by the server")
    found = hand.client.get("/memory/load").json()["memories"]
    assert {row["key_name"]: row["attested"] for row in found} == {"a": "server", "b": "agent", "c": "server"}
    assert hand.client.get("/v1/audit").json()["ok"] is True


def test_a_signature_by_another_key_is_refused(hand: Hand) -> None:
    thief = signer_of(hand.origin, 1)
    leaf, sealed = hand.saved("k")
    entry_by_thief = sign_entry(Saved(**{**_plain(leaf), "by": f"{thief.key_id:08x}"}), thief)
    refused(hand, hand.send((entry_by_thief, sealed)))
    refused(hand, hand.send((leaf, sealed), note=hand.note([leaf], thief)), "not-enrolled", 403)
    refused(hand, hand.send((leaf[:-1] + bytes([leaf[-1] ^ 1]), sealed)))
    assert "key" in refused(hand, hand.send((sign_entry(Saved(**_plain(leaf)), thief), sealed)))


def _plain(leaf: bytes) -> dict[str, Any]:
    from tests.support import entry_of

    return dict(entry_of(leaf)._asdict())


@pytest.mark.parametrize(
    "changes",
    [
        {"origin": "indelible/local/other"}, {"seq": 1}, {"version": 2}, {"prev": "0" * 64, "prev_seq": 0}, {"content": "0" * 64}, {"record": "0" * 64},
        {"content": "x"}, {"content": "0" * 63}, {"how": "invented"}, {"key": "other"}, {"key": ""}, {"at": "yesterday"}, {"by": "00000000"}, {"op": ""},
        {"key": "k" * 513}, {"reason": "r" * 20_000},
    ],
)  # fmt: skip
def test_an_entry_that_is_off_is_refused(hand: Hand, changes: dict[str, Any]) -> None:
    refused(hand, hand.send(hand.saved("k", **changes)))


@pytest.mark.parametrize(
    "changes",
    [
        {"origin": "indelible/local/other"},
        {"size": 0},
        {"size": 2},
        {"size": 2**40},
        {"root": b"\0" * 32},
        {"extensions": ("ok",), "root": b"\1" * 32},
    ],
)
def test_a_head_that_does_not_follow_is_refused(hand: Hand, changes: dict[str, Any]) -> None:
    leaf, sealed = hand.saved("k")
    refused(hand, hand.send((leaf, sealed), note=hand.note([leaf], **changes)))


@pytest.mark.parametrize("note", [b"", b"junk", b"a\n\n", b"x" * 100_000])
def test_a_head_that_is_no_note_is_refused(hand: Hand, note: bytes) -> None:
    refused(hand, hand.send(hand.saved("k"), note=note))


def test_a_version_that_is_not_what_the_entry_commits_to_is_refused(hand: Hand) -> None:
    leaf, sealed = hand.saved("k")
    for other in (
        None,
        sealed._replace(content=b"evil"),
        sealed._replace(salt=b"t" * 32),
        sealed._replace(salt=b""),
        sealed._replace(body=sealed.body + b" "),
    ):
        refused(hand, hand.send((leaf, other)))


def test_a_record_that_does_not_parse_or_is_of_another_key_is_refused(hand: Hand) -> None:
    other = draft("other", b"text", agent=hand.agent, author="agent:x", now=NOW, random=b"0123456789").to_body()
    for body in (b"{}", b"junk", other, other.replace(b'"revision":1', b'"revision":2')):
        hashes = commit(Sealed(b"s" * 32, body, b"text"))
        leaf, _ = hand.saved("k", record=hashes.record.hex())
        refused(hand, hand.send((leaf, Sealed(b"s" * 32, body, b"text"))))
    assert Record.from_body(other).key == "other"


@pytest.mark.parametrize("kind", ["stamped", "receipt-issued", "waived"])
def test_an_agent_says_nothing_that_is_for_other_roles_to_say(hand: Hand, kind: str) -> None:
    leaf, sealed = hand.saved("k")
    entry = Noted(
        NOW, f"{hand.signer.key_id:08x}", None, "k", "op-2", hand.origin, leaf_hash(leaf).hex(), 0, None, 1, kind, 1
    )
    refused(hand, hand.send((leaf, sealed), (sign_entry(entry, hand.signer), None)))


@pytest.mark.parametrize("kind", ["key-revoked", "store-restored"])
def test_an_agent_does_not_govern_its_log_in_the_owners_place(hand: Hand, kind: str) -> None:
    entry = Governed(
        NOW,
        f"{hand.signer.key_id:08x}",
        0,
        "op",
        hand.origin,
        None,
        0,
        "0" * 64 if kind == "store-restored" else "00000000",
        kind,
    )
    refused(hand, hand.send((sign_entry(entry, hand.signer), None)))


def test_a_later_version_does_not_say_that_it_comes_from_somewhere_better(hand: Hand) -> None:
    outside = draft(
        "k",
        b"text",
        agent=hand.agent,
        author="agent:x",
        now=NOW,
        random=b"0123456789",
        origin=Origin(class_="external"),
    )
    sealed = Sealed(b"s" * 32, outside.to_body(), b"text")
    leaf, _ = hand.saved("k", record=commit(sealed).record.hex())
    assert hand.send((leaf, sealed)).status_code == 200
    raised = Sealed(b"s" * 32, replace(outside, revision=2, origin=Origin(class_="user")).to_body(), b"text")
    chain = {"version": 2, "prev": leaf_hash(leaf).hex(), "prev_seq": 0, "op": "op-2"}
    later, _ = hand.saved("k", record=commit(raised).record.hex(), **chain)
    reply = hand.send((later, raised))
    assert (reply.status_code, reply.json()["slug"]) == (409, "origin-raised")
    assert hand.leaves() == [leaf]


def test_an_agent_hands_its_log_to_a_new_key(hand: Hand) -> None:
    new = signer_of(hand.origin, 7)
    hand.send(hand.saved("k"))
    entry = Governed(NOW, f"{hand.signer.key_id:08x}", 0, "op", hand.origin, None, 1, new.vkey, "key-rotated")
    leaf = sign_entry(entry, hand.signer)
    assert hand.send((leaf, None), note=hand.note([*hand.leaves(), leaf], new)).status_code == 200
    hand.signer = new
    assert hand.send(hand.saved("after")).status_code == 200
    assert rows(hand.client) == {"after": "text", "k": "text"}
    assert new.vkey in hand.client.get("/v1/keys").json()["agent_keys"]


def test_an_erasing_entry_takes_the_content_away(hand: Hand, shared: Served) -> None:
    leaf, sealed = hand.saved("k")
    hand.send((leaf, sealed))
    number = hand.client.get("/v1/memory?key=k").json()["delivery"]
    entry = Noted(
        NOW,
        f"{hand.signer.key_id:08x}",
        None,
        "k",
        "op-2",
        hand.origin,
        leaf_hash(leaf).hex(),
        0,
        "asked for",
        1,
        "erased",
        1,
    )
    change = (sign_entry(entry, hand.signer), None)
    weak = Hand(shared.client(hand.agent, {"read", "write"}), hand.agent, hand.signer)
    assert weak.send(change).status_code == 403
    told = hand.client.get("/v1/delivery", params={"number": number}).json()
    assert told["sha256"] is not None
    assert hand.send(change).status_code == 200
    assert (rows(hand.client), hand.client.get("/v1/sealed?seq=0").json()["rows"]) == ({}, [])
    assert hand.client.get("/v1/delivery", params={"number": number}).json() == told | {"sha256": None}


def test_several_entries_are_taken_together_or_not_at_all(hand: Hand) -> None:
    one = hand.saved("one")
    two = hand.saved("two", seq=1)
    bad = hand.saved("bad", seq=2, content="0" * 64)
    refused(hand, hand.send(one, two, bad))
    assert hand.send(one, two).json()["size"] == 2
    assert rows(hand.client) == {"one": "text", "two": "text"}


@pytest.mark.parametrize(
    "spoil",
    [
        lambda body: body | {"changes": []}, lambda body: body | {"changes": body["changes"] * 257}, lambda body: body | {"note": "not base64!"},
        lambda body: body | {"extra": 1}, lambda body: body | {"changes": [{"leaf": ""}]}, lambda body: {k: v for k, v in body.items() if k != "expected"},
        lambda body: body | {"expected": None},
    ],
)  # fmt: skip
def test_a_transaction_of_another_shape_is_refused(hand: Hand, spoil) -> None:
    reply = hand.client.post("/v1/commit", json=spoil(hand.body(hand.saved("k"))))
    assert (reply.status_code in (400, 422), rows(hand.client)) == (True, {})


def test_lost_bytes_of_the_present_version_can_be_put_back_and_no_others(hand: Hand, shared: Served) -> None:
    leaf, sealed = hand.saved("k", b"the true text")
    hand.send((leaf, sealed))
    shared.sql("UPDATE record SET content = CAST('evil' AS BLOB) WHERE content = CAST('the true text' AS BLOB)")
    assert hand.client.get("/memory/load?key=k").status_code == 409
    change = hand.saved("other")
    wrong = {**hand.body(change), "mends": [{"seq": 0, "sealed": members(sealed._replace(content=b"another"))}]}
    assert hand.client.post("/v1/commit", json=wrong).status_code == 422
    right = {**hand.body(change), "mends": [{"seq": 0, "sealed": members(sealed)}]}
    assert hand.client.post("/v1/commit", json=right).status_code == 200
    assert rows(hand.client) == {"k": "the true text", "other": "text"}


# What is decided


ANN, BOB = signer_of("indelible-reviewer/ann"), signer_of("indelible-reviewer/bob")
"""A reviewer whom the server knows, and one whom it does not."""


@pytest.fixture
def outside(hand: Hand, shared: Served) -> Hand:
    """An agent with one memory that came from outside, at a server that knows Ann."""
    keystore(shared.settings).trust(ANN.name, ANN.vkey)
    text = {"content": "text", "origin": "external"}
    assert hand.client.put("/v1/memory?key=k", json=text).status_code == 200
    return hand


def judged(hand: Hand, by: Signer, **changes: Any) -> Judged:
    leaf = hand.leaves()[0]
    plain: dict[str, Any] = {
        "at": NOW, "by": f"{by.key_id:08x}", "digest": leaf_hash(leaf).hex(), "key": "k", "method": "human", "op": "op-2", "origin": hand.origin,
        "prev": leaf_hash(leaf).hex(), "prev_seq": 0, "reason": None, "seq": 1, "subject": None, "type": "reviewed", "verdict": "approve", "version": 1,
    }  # fmt: skip
    return Judged(**{**plain, **changes})


def verdict(hand: Hand) -> tuple[int, str]:
    found = hand.client.get("/v1/verdict?key=k").json()["verdict"]
    return found["held"], found["review"]["value"]


def test_a_review_by_a_reviewer_counts(outside: Hand) -> None:
    assert outside.send((sign_entry(judged(outside, ANN), ANN), None)).status_code == 200
    assert verdict(outside) == (False, "approved")


def test_a_review_in_a_reviewers_name_that_is_not_signed_by_it_is_refused(outside: Hand) -> None:
    for signer in (BOB, outside.signer):
        reply = outside.send((sign_entry(judged(outside, ANN), signer), None))
        assert (reply.status_code, reply.json()["slug"], len(outside.leaves())) == (422, "commit-refused", 1)


def test_a_review_by_somebody_unknown_stands_there_and_counts_for_nothing(outside: Hand) -> None:
    assert outside.send((sign_entry(judged(outside, BOB), BOB), None)).status_code == 200
    assert verdict(outside) == (True, "unreviewed")
    (told,) = outside.client.get("/v1/reviews?key=k").json()["reviews"]
    assert (told["by"], told["reviewer"]) == (f"{BOB.key_id:08x}", None)


@pytest.mark.parametrize("decided", ["approve", "reject"])
def test_an_agent_does_not_review_its_own_memory(outside: Hand, decided: str) -> None:
    leaf = sign_entry(judged(outside, outside.signer, verdict=decided), outside.signer)
    reply = outside.send((leaf, None))
    assert (reply.status_code, reply.json()["slug"], len(outside.leaves())) == (422, "commit-refused", 1)


def test_nor_with_the_key_that_it_hands_its_log_to_in_the_same_breath(outside: Hand) -> None:
    new = signer_of(outside.origin, 7)
    handed = Governed(NOW, f"{outside.signer.key_id:08x}", 0, "op", outside.origin, None, 1, new.vkey, "key-rotated")
    first = sign_entry(handed, outside.signer)
    leaf = sign_entry(judged(outside, new, seq=2), new)
    note = outside.note([*outside.leaves(), first, leaf], new)
    assert outside.send((first, None), (leaf, None), note=note).status_code == 422
    assert len(outside.leaves()) == 1


@pytest.mark.parametrize("decided", ["dispute", "assign"])
def test_an_agent_may_dispute_and_ask_for_a_review(outside: Hand, decided: str) -> None:
    entry = judged(outside, outside.signer, verdict=decided, subject="ann" if decided == "assign" else None)
    assert outside.send((sign_entry(entry, outside.signer), None)).status_code == 200
    assert verdict(outside)[0] is True


def test_a_successor_is_named_by_the_agent_or_a_reviewer_and_by_nobody_else(outside: Hand) -> None:
    words = {"type": "superseded", "verdict": "supersede", "method": "process", "subject": "new"}
    assert outside.send((sign_entry(judged(outside, BOB, **words), BOB), None)).status_code == 422
    assert outside.send((sign_entry(judged(outside, outside.signer, **words), outside.signer), None)).status_code == 200
    slugs = [reason["slug"] for reason in outside.client.get("/v1/memory?key=k").json()["reasons"]]
    assert slugs == ["state-superseded", "origin-unreviewed"]


# Enrolling


def test_a_key_is_enrolled_once_and_only_under_the_agents_own_name(hand: Hand) -> None:
    assert hand.client.post("/v1/keys", json={"vkey": hand.signer.vkey}).status_code == 200
    other = hand.client.post("/v1/keys", json={"vkey": signer_of(hand.origin, 1).vkey})
    assert (other.status_code, other.json()["slug"]) == (409, "conflict")
    assert hand.client.get("/v1/keys").json()["agent_keys"] == [hand.signer.vkey]


@pytest.mark.parametrize(
    "name", ["indelible/local/other", "indelible-owner/me", "indelible-server/vm", "indelible/team/new"]
)
def test_a_key_of_another_name_is_not_enrolled(shared: Served, name: str) -> None:
    client = shared.client("new")
    assert client.post("/v1/keys", json={"vkey": signer_of(name).vkey}).status_code == 400
    assert client.post("/v1/keys", json={"vkey": "junk"}).status_code == 400
    assert client.get("/v1/keys").json()["agent_keys"] == []


def test_a_key_for_some_memories_only_neither_enrols_nor_commits(shared: Served) -> None:
    client = shared.client("scoped", prefix="p")
    assert client.post("/v1/keys", json={"vkey": signer_of("indelible/local/scoped").vkey}).status_code == 403
    assert client.post("/v1/commit", json={}).status_code == 403


def test_an_agent_that_is_not_enrolled_is_told_so(shared: Served) -> None:
    hand = Hand(shared.client("stranger"), "stranger", signer_of("indelible/local/stranger"))
    refused(hand, hand.send(hand.saved("k")), "not-enrolled", 403)
