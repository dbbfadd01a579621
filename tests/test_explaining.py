"""Why a memory is handed over or held, and why one was, however long ago and whatever became of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from tests.judging import ANCHOR
from tests.reviewing import MINA, Desk, desk_at, said_of
from tests.support import bench_at

from indelible import explaining
from indelible.deliveries import journal_of
from indelible.errors import NotFoundError
from indelible.gate.presets import PRESETS
from indelible.memory.governing import restore_store
from indelible.record.parts import Link, Origin, Validity

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    bench = bench_at(tmp_path)
    made = desk_at(bench, journal_of(os.path.join(bench.root, "state"), "eros"))
    made.memory.save("note", b"start the database first")
    yield made
    bench.close()


def number(desk: Desk, key: str = "note") -> int:
    """Load a memory, and give the number of its delivery."""
    loaded = desk.memory.load(key, door="load")
    assert loaded.delivery is not None
    return loaded.delivery


def test_everything_that_a_verdict_rests_on_is_there(desk: Desk) -> None:
    desk.memory.save("ground", b"x")
    links = (Link("depends_on", "ground", "key:ground"),)
    record = said_of(desk.memory, "note", validity=Validity(anchors=(ANCHOR,)), links=links)
    desk.memory.save("note", b"see app.py", record=record)
    desk.approve()
    first = number(desk)
    seen = explaining.why(desk.memory, "note")
    assert isinstance(seen, explaining.Why)
    assert (seen.mode, seen.found.verdict.held, seen.command) == ("anchored", False, "")
    assert {one.condition for one in seen.outcomes} == {part.name for part in PRESETS["anchored"].parts}
    assert [(one.anchor.path, one.state.slug) for one in seen.anchors] == [("app.py", "anchor-unchanged")]
    assert [(one.relation, one.key, one.state) for one in seen.related] == [("depends_on", "ground", "delivered")]
    assert [one.number for one in seen.deliveries] == [first]
    assert [event.entry.verdict for event in seen.found.standing.events] == ["approve"]
    with desk.memory.following() as (_, _, head):
        assert seen.checkpoint == (head.size, head.root.hex())


def test_what_is_held_says_why_and_what_resolves_it(desk: Desk) -> None:
    desk.memory.save("outside", b"x", record=said_of(desk.memory, "outside", origin=Origin(class_="external")))
    seen = explaining.why(desk.memory, "outside")
    assert isinstance(seen, explaining.Why)
    assert [one.condition for one in seen.outcomes if one.reasons] == ["trusted-origin"]
    assert seen.command == "indelible review approve outside"


def test_another_policy_can_be_asked(desk: Desk) -> None:
    seen = explaining.why(desk.memory, "note", policy=PRESETS["strict"])
    assert isinstance(seen, explaining.Why)
    assert seen.mode == "strict"
    assert {one.condition for one in seen.outcomes if one.reasons} == {"at-revision", "expiry-ahead", "reviewed"}


def test_an_older_or_archived_memory_is_explained(desk: Desk) -> None:
    desk.memory.save("note", b"two")
    older = explaining.why(desk.memory, "note", 1)
    assert isinstance(older, explaining.Why)
    assert older.loaded.version == 1
    desk.memory.archive("note")
    seen = explaining.why(desk.memory, "note")
    assert isinstance(seen, explaining.Why)
    assert seen.found.verdict.slugs == ("state-archived",)
    assert seen.command == "indelible unarchive note"


def test_an_erased_memory_leaves_its_entries_and_deliveries(desk: Desk) -> None:
    first = number(desk)
    desk.memory.erase("note", reason="not ours")
    seen = explaining.why(desk.memory, "note")
    assert isinstance(seen, explaining.Erased)
    assert [entry.type for entry in seen.entries] == ["erased", "saved"]
    assert [one.number for one in seen.deliveries] == [first]


def test_nothing_there_is_said_to_be_nothing(desk: Desk) -> None:
    with pytest.raises(NotFoundError):
        explaining.key_of(desk.memory, "nothing")
    with pytest.raises(NotFoundError):
        explaining.why(desk.memory, "note", 9)
    with pytest.raises(NotFoundError):
        explaining.why_delivery(desk.memory, 99)


def test_a_record_is_found_by_its_urn_and_by_a_delivery_after_it_was_erased(desk: Desk) -> None:
    urn = desk.memory.fetch("note").record.id
    assert explaining.key_of(desk.memory, urn) == "note"
    number(desk)
    desk.memory.erase("note")
    assert explaining.key_of(desk.memory, urn) == "note"


def test_a_delivery_stands_in_the_log_with_its_proof(desk: Desk) -> None:
    desk.approve()
    seen = explaining.why_delivery(desk.memory, number(desk))
    assert (seen.entry, seen.now, seen.text, seen.finding) == ("stands", "unchanged", "same", None)
    assert seen.delivery.review is not None
    assert seen.delivery.review.reviewer == "mina"
    with desk.memory.following() as (_, _, head):
        assert seen.proof is not None
        assert seen.proof == (0, head.size, head.root.hex(), seen.delivery.leaf)


def test_a_delivery_is_explained_after_the_memory_was_erased(desk: Desk) -> None:
    first = number(desk)
    desk.memory.save("note", b"two")
    desk.memory.erase("note")
    seen = explaining.why_delivery(desk.memory, first)
    assert (seen.entry, seen.now, seen.text, seen.finding) == ("stands", "erased", "gone", None)
    assert seen.delivery.sha256 is None, "the digest of an erased text would let its text be guessed"
    assert seen.proof is not None
    assert seen.proof[3] == seen.delivery.leaf


@pytest.mark.parametrize(("change", "became"), [("archive", "archived"), ("save", "newer"), ("back", "unchanged")])
def test_what_became_of_a_delivered_memory_since(desk: Desk, change: str, became: str) -> None:
    first = number(desk)
    if change == "save":
        desk.memory.save("note", b"two")
    else:
        desk.memory.archive("note")
    if change == "back":
        desk.memory.unarchive("note")
    assert explaining.why_delivery(desk.memory, first).now == became


def test_something_that_was_not_delivered_says_why_not(desk: Desk) -> None:
    desk.memory.save("outside", b"x", record=said_of(desk.memory, "outside", origin=Origin(class_="external")))
    held = desk.memory.deliver("outside", door="load")
    assert held.delivery is not None
    seen = explaining.why_delivery(desk.memory, held.delivery)
    assert seen.delivery.outcome == "held"
    assert [slug for slug, _ in seen.delivery.reasons] == ["origin-unreviewed"]
    assert seen.entry == "stands"


def test_a_delivery_of_an_entry_that_is_not_in_the_log_is_an_alarm(desk: Desk) -> None:
    first = number(desk)
    journal = desk.memory.gate.journal
    assert journal is not None
    noted = journal.get(first)
    assert noted is not None
    for other in (
        noted._replace(leaf="0" * 64),
        noted._replace(commitment="0" * 64),
        noted._replace(seq=7),
        noted._replace(key="gone"),
    ):
        false = journal.add(other)
        assert false is not None
        seen = explaining.why_delivery(desk.memory, false)
        assert seen.entry == "altered"
        assert seen.finding is not None
        assert seen.finding.exit_code == 2


def test_a_log_that_cannot_be_followed_is_the_finding_and_the_delivery_is_still_shown(desk: Desk) -> None:
    first = number(desk)
    desk.memory.save("note", b"two")
    desk.bench.sql("UPDATE entry SET leaf = ? WHERE id = ?", b"x" * 100, desk.bench.row_id(0))
    seen = explaining.why_delivery(desk.memory, first)
    assert seen.delivery.key == "note"
    assert seen.finding is not None


def test_what_the_owner_gave_up_with_a_restored_store_is_no_alarm(desk: Desk) -> None:
    copy = desk.bench.snapshot()
    desk.memory.save("later", b"given up")
    first = number(desk, "later")
    trust, gate = desk.memory.trust, desk.memory.gate
    desk.bench.put_back(copy)
    memory = desk.bench.memory(trust=trust)  # type: ignore[arg-type]
    memory.gate = gate
    restore_store(memory, desk.bench.owner, reason="a disk died")
    seen = explaining.why_delivery(memory, first)
    assert (seen.entry, seen.finding) == ("given-up", None)


def test_a_contradiction_and_what_took_its_place_are_named(desk: Desk) -> None:
    links = (Link("supersedes", desk.memory.fetch("note").record.id, "key:note"),)
    desk.memory.save("newer", b"x", record=said_of(desk.memory, "newer", links=links))
    desk.memory.supersede("note", "newer")
    seen = explaining.why(desk.memory, "note")
    assert isinstance(seen, explaining.Why)
    assert [(one.relation, one.key) for one in seen.related] == [("superseded_by", "newer")]
    assert seen.command == "indelible load newer"
    assert MINA.name.endswith("mina")
