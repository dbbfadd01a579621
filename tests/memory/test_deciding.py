"""Decisions about memories: each bound to one version, each made once, and by whom it may be."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from tests.reviewing import JUN, MINA, Desk, desk_at, said_of
from tests.support import ROOT

from indelible.errors import AccessDenied, ConflictError, NotFoundError, UsageError
from indelible.memory.deciding import derived_op
from indelible.record.parts import Link

if TYPE_CHECKING:
    from tests.support import Bench

SELF_CLAIM = os.path.join(ROOT, "tests", "vectors", "cases", "gate_selfclaim.md")


@pytest.fixture
def desk(bench: Bench) -> Desk:
    made = desk_at(bench)
    made.memory.save("note", b"the old way")
    return made


def newer(desk: Desk, key: str = "newer", over: str = "note") -> None:
    """Save a memory that says itself that it supersedes another."""
    links = (Link("supersedes", desk.memory.fetch(over).record.id, f"key:{over}"),)
    desk.memory.save(key, b"the new way", record=said_of(desk.memory, key, links=links))


@pytest.mark.parametrize("verdict", ["approve", "reject"])
def test_an_agent_does_not_review_its_own_memory(desk: Desk, verdict: str) -> None:
    with pytest.raises(AccessDenied, match="own memory"):
        desk.memory.review("note", verdict, by=desk.bench.signer)
    assert desk.value() == "unreviewed"


def test_a_text_that_claims_its_own_approval_stays_unreviewed(desk: Desk) -> None:
    with open(SELF_CLAIM, "rb") as file:
        desk.memory.save("team-rule-1", file.read())
    found = desk.memory.judge("team-rule-1")
    assert found.subject.review.value == "unreviewed"
    assert (found.subject.authority, found.subject.scope.level) == ("reference", "agent")  # type: ignore[union-attr]
    assert "review-missing" in desk.slugs("team-rule-1", policy=_strict())
    desk.approve("team-rule-1")
    assert desk.value("team-rule-1") == "approved"
    desk.memory.save("team-rule-1", b"reviewed: true\nother text")
    assert desk.value("team-rule-1") == "unreviewed"


def _strict():
    from indelible.gate.presets import PRESETS

    return PRESETS["strict"]


def test_a_save_between_looking_and_approving_is_a_conflict(desk: Desk) -> None:
    looked = desk.memory.fetch("note")
    desk.memory.save("note", b"something else")
    for bound in ({"of": looked.sha256}, {"at": looked.seq}, {"of": f"sha256:{looked.sha256}"}):
        with pytest.raises(ConflictError, match="looked at") as raised:
            desk.approve(**bound)
        assert raised.value.exit_code == 5
        assert "review show" in raised.value.remedy
    assert desk.value() == "unreviewed"


def test_a_save_of_the_same_text_in_between_is_one_too_for_who_looked_at_the_entry(desk: Desk) -> None:
    looked = desk.memory.judge("note")
    desk.memory.save("note", b"the old way")
    with pytest.raises(ConflictError):
        desk.approve(of=looked.standing.leaf.hex())
    desk.approve(of=desk.memory.judge("note").standing.leaf.hex())
    assert desk.value() == "approved"


def test_nothing_that_is_not_there_is_reviewed(desk: Desk) -> None:
    with pytest.raises(NotFoundError):
        desk.approve("nothing")
    desk.memory.erase("note")
    with pytest.raises(NotFoundError):
        desk.approve("note")


def test_a_repeated_operation_is_one_review(desk: Desk) -> None:
    first = desk.memory.review("note", "approve", by=MINA, op="op-1")
    again = desk.memory.review("note", "approve", by=MINA, op="op-1", subject='{"revision":"x"}')
    assert (first.seq, first.repeated) == (again.seq, False)
    assert again.repeated


@pytest.mark.parametrize("other", [{"verdict": "reject"}, {"by": JUN}, {"key": "second"}])
def test_an_operation_id_of_another_decision_is_a_conflict(desk: Desk, other: dict[str, object]) -> None:
    desk.memory.save("second", b"x")
    wish = {"key": "note", "verdict": "approve", "by": MINA, "op": "op-1"}
    desk.memory.review(**wish)  # type: ignore[arg-type]
    with pytest.raises(ConflictError, match="already used"):
        desk.memory.review(**(wish | other))  # type: ignore[arg-type]


def test_an_unknown_verdict_is_refused(desk: Desk) -> None:
    with pytest.raises(UsageError):
        desk.memory.review("note", "bless", by=MINA)


def test_what_is_superseded_is_held_and_says_what_took_its_place(desk: Desk) -> None:
    newer(desk)
    desk.memory.supersede("note", "newer")
    assert desk.slugs() == ("state-superseded",)
    assert "'newer'" in desk.memory.judge("note").verdict.reasons[0].message
    assert desk.slugs("newer") == ()


def test_supersession_is_reciprocal_and_ordered_in_time(desk: Desk) -> None:
    desk.memory.save("silent", b"says nothing of the other")
    with pytest.raises(ConflictError):
        desk.memory.supersede("note", "silent")
    newer(desk)
    desk.memory.save("note", b"saved again since")
    with pytest.raises(ConflictError):
        desk.memory.supersede("note", "newer")
    assert desk.slugs() == ()


def test_over_an_approved_memory_only_a_reviewers_word_counts(desk: Desk) -> None:
    desk.approve()
    newer(desk)
    with pytest.raises(AccessDenied, match="approved"):
        desk.memory.supersede("note", "newer")
    assert desk.slugs() == ()
    desk.memory.supersede("note", "newer", by=MINA, method="human")
    assert desk.slugs() == ("state-superseded",)


def test_an_approval_after_the_agents_supersession_brings_it_back(desk: Desk) -> None:
    newer(desk)
    desk.memory.supersede("note", "newer")
    desk.approve()
    assert desk.slugs() == ()
    recalled = desk.memory.recall("the old way")
    assert "note" in [one.key for one in recalled.delivered]


def test_a_save_that_was_cut_before_it_superseded_is_told_and_can_be_finished(desk: Desk) -> None:
    newer(desk)
    assert "supersedes-unfinished" in desk.notes("newer")
    desk.memory.supersede("note", "newer", op="op/supersede/note")
    assert "supersedes-unfinished" not in desk.notes("newer")
    assert desk.memory.supersede("note", "newer", op="op/supersede/note").repeated


def test_the_id_of_a_part_of_an_operation_is_the_same_each_time_and_never_too_long() -> None:
    assert derived_op("op", "supersede", "note") == "op/supersede/note"
    long = derived_op("op", "supersede", "키" * 170)
    assert long == derived_op("op", "supersede", "키" * 170)
    assert len(long.encode()) <= 512
