"""What a log says about a version of a memory: whose word counts, and what never does."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.judging import ANCHOR, World, context
from tests.reviewing import JUN, MINA, STRANGER, Desk, desk_at, said_of

from indelible.errors import DisciplineError
from indelible.gate.presets import PRESETS
from indelible.memory.governing import revoke_former
from indelible.memory.standing import format_seen, last_approved, parse_seen, standing
from indelible.record.parts import Link, Trust, Validity

if TYPE_CHECKING:
    from tests.support import Bench


@pytest.fixture
def desk(bench: Bench) -> Desk:
    made = desk_at(bench)
    made.memory.save("note", b"start the database first")
    return made


def test_a_reviewers_approval_counts_and_says_who_and_when(desk: Desk) -> None:
    desk.approve()
    review = desk.memory.judge("note").subject.review
    assert (review.value, review.by, review.protected) == ("approved", "mina", True)
    assert review.at == desk.memory.now()


def test_the_last_word_of_reviewers_counts(desk: Desk) -> None:
    for verdict, value in (
        ("approve", "approved"),
        ("reject", "rejected"),
        ("dispute", "disputed"),
        ("approve", "approved"),
    ):
        desk.memory.review("note", verdict, by=JUN)
        assert desk.value() == value


def test_an_approval_does_not_survive_new_text(desk: Desk) -> None:
    desk.approve()
    desk.memory.save("note", b"start nothing")
    assert desk.value() == "unreviewed"


def test_an_approval_does_not_survive_new_metadata_of_the_same_text(desk: Desk) -> None:
    desk.approve()
    rule = said_of(desk.memory, "note", trust=Trust("claimed", "instruction"))
    desk.memory.save("note", b"start the database first", record=rule)
    assert desk.value() == "unreviewed"
    assert "rule-unreviewed" in desk.slugs()


def test_an_older_version_keeps_its_own_review(desk: Desk) -> None:
    desk.approve()
    desk.memory.save("note", b"start nothing")
    assert standing(desk.memory, desk.memory.fetch("note", 1)).review.value == "approved"
    assert standing(desk.memory, desk.memory.fetch("note", 2)).review.value == "unreviewed"


def test_an_entry_that_the_agent_signs_itself_is_no_review(desk: Desk) -> None:
    own = desk.bench.signer
    desk.forge(own, by=f"{own.key_id:08x}")
    assert desk.value() == "unreviewed"
    assert "review-by-stranger" in desk.notes()


def test_an_entry_in_a_reviewers_name_with_another_signature_is_no_review(desk: Desk) -> None:
    desk.forge(desk.bench.signer)
    assert desk.value() == "unreviewed"
    assert "review-by-stranger" in desk.notes()


def test_a_reviewer_whose_key_is_not_trusted_counts_for_nothing_and_is_named(desk: Desk) -> None:
    desk.approve(by=STRANGER)
    assert desk.value() == "unreviewed"
    assert desk.memory.judge("note").subject.review.strangers == (f"{STRANGER.key_id:08x}",)


def test_an_approval_of_another_version_is_none_of_this_one(desk: Desk) -> None:
    desk.forge(MINA, digest="0" * 64)
    assert desk.value() == "unreviewed"


def test_a_revoked_reviewers_word_counts_no_more_from_that_entry_on(desk: Desk) -> None:
    desk.memory.save("other", b"x")
    desk.approve("other")
    desk.approve("note")
    revoke_former(desk.memory, desk.bench.owner, f"{MINA.key_id:08x}", from_seq=3, reason="stolen")
    assert desk.value("other") == "approved"
    assert desk.value("note") == "unreviewed"


def test_an_approval_by_a_key_that_lies_open_here_says_so_whatever_it_claims(desk: Desk) -> None:
    desk.memory.review("note", "approve", by=MINA, method="process")
    assert "review-unprotected" in desk.notes()
    desk.approve()
    assert "review-unprotected" not in desk.notes()
    desk.memory.review("note", "approve", by=MINA, method="process")
    assert "review-unprotected" not in desk.notes()  # a person's word stays a person's
    desk.memory.save("other", b"x")
    desk.memory.review("other", "approve", by=JUN, method="human")
    assert "review-unprotected" not in desk.notes("other")
    trust = desk.bench.trusted(reviewers=desk.memory.trust.reviewer_keys(), unprotected=frozenset({JUN.key_id}))
    reader = desk.bench.memory(trust=trust)
    assert [note.slug for note in reader.judge("other").verdict.notes][-1] == "review-unprotected"


def test_the_agents_own_dispute_is_shown_and_decides_nothing(desk: Desk) -> None:
    desk.approve()
    desk.memory.review("note", "dispute", by=desk.bench.signer, method="process")
    assert desk.value() == "approved"
    assert "doubted" in desk.notes()
    desk.approve(by=JUN)
    assert "doubted" not in desk.notes()


def test_whom_the_agent_assigns_it_to_gives_way_to_whom_a_reviewer_does(desk: Desk) -> None:
    own = desk.bench.signer
    desk.memory.review("note", "assign", by=own, method="process", subject="jun")
    assert desk.memory.judge("note").subject.review.assigned == "jun"
    assert desk.value() == "pending"
    desk.memory.review("note", "assign", by=MINA, subject="mina")
    desk.memory.review("note", "assign", by=own, method="process", subject="jun")
    assert desk.memory.judge("note").subject.review.assigned == "mina"


def test_a_name_that_is_not_ascii_is_the_same_in_key_and_assignment(bench: Bench) -> None:
    from tests.support import signer_of

    from indelible.entry import quote
    from indelible.seal.note import Verifier

    mina = signer_of(f"indelible-reviewer/{quote('민아')}")
    memory = bench.memory(create=True, trust=bench.trusted(reviewers=(Verifier(mina.vkey),)))
    memory.save("note", b"x")
    memory.review("note", "assign", by=mina, subject="민아")
    memory.review("note", "approve", by=mina)
    review = memory.judge("note").subject.review
    assert (review.by, review.assigned) == ("민아", "민아")


def test_the_newest_approved_version_before_this_one_is_found(desk: Desk) -> None:
    desk.approve()
    for text in (b"two", b"three", b"four"):
        desk.memory.save("note", text)
    assert last_approved(desk.memory, desk.memory.fetch("note")) == 1
    desk.approve()
    desk.memory.save("note", b"five")
    assert last_approved(desk.memory, desk.memory.fetch("note")) == 4
    desk.memory.save("fresh", b"x")
    assert last_approved(desk.memory, desk.memory.fetch("fresh")) is None


def test_an_approval_that_was_taken_back_is_none_to_compare_with(desk: Desk) -> None:
    desk.approve()
    desk.memory.review("note", "reject", by=JUN)
    desk.memory.save("note", b"two")
    assert last_approved(desk.memory, desk.memory.fetch("note")) is None


def test_what_an_approval_was_looked_at_against_is_read_back() -> None:
    here = context(world=World(digest="d" * 64))
    assert parse_seen(format_seen(here, (ANCHOR,))) == ("a" * 40, "d" * 64)
    assert parse_seen(format_seen(here, ())) == ("a" * 40, "")
    assert format_seen(context(revision=None), ()) is None


@pytest.mark.parametrize("text", [None, "", "[]", "7", "{", '{"revision": 7, "anchors": ["x"]}', "[" * 100_000])
def test_what_cannot_be_read_there_is_nothing(text: str | None) -> None:
    assert parse_seen(text) == ("", "")


def test_an_approval_of_changed_anchors_delivers_until_they_change_again(desk: Desk) -> None:
    anchored = said_of(desk.memory, "note", validity=Validity(anchors=(ANCHOR,)))
    desk.memory.save("note", b"see app.py", record=anchored)
    assert desk.slugs() == ()
    desk.world.changed, desk.world.now = {"app.py"}, "second"
    assert desk.slugs() == ("anchor-changed",)
    found = desk.memory.judge("note")
    desk.approve(subject=format_seen(found.context, found.subject.anchors))
    assert desk.slugs() == ()
    desk.world.now = "third"
    assert desk.slugs() == ("anchor-changed",)


def test_an_approval_at_another_commit_serves_strict_there(desk: Desk) -> None:
    from indelible.gate.presets import policy_of

    policy = policy_of("at-revision,reviewed")
    desk.approve(subject=json.dumps({"revision": "a" * 40}))
    assert desk.slugs(policy=policy) == ("revision-unknown",)  # of a memory that names no commit nothing is known
    from indelible.record.parts import Origin

    desk.memory.save("note", b"x", record=said_of(desk.memory, "note", origin=Origin(class_="agent", commit="b" * 40)))
    assert desk.slugs(policy=policy) == ("revision", "review-missing")
    desk.approve(subject=json.dumps({"revision": "a" * 40}))
    assert desk.slugs(policy=policy) == ()


def test_a_key_under_no_passphrase_makes_no_rule(desk: Desk) -> None:
    trust = Trust("claimed", "instruction")
    desk.memory.save("note", b"always do so", record=said_of(desk.memory, "note", trust=trust))
    desk.approve(method="process")
    assert desk.slugs() == ("rule-unreviewed",)
    desk.approve()
    assert not desk.slugs()
    assert desk.memory.load("note").verdict.delivered_as == "rule"  # type: ignore[union-attr]


def test_a_key_under_no_passphrase_does_not_undo_a_persons_refusal(desk: Desk) -> None:
    desk.memory.review("note", "reject", by=MINA)
    desk.approve(by=JUN, method="process")
    assert desk.value() == "rejected"
    desk.approve(by=JUN)
    assert desk.value() == "approved"


def test_the_agents_word_takes_nothing_away_from_what_was_approved(desk: Desk) -> None:
    """A contradiction that it states is shown, and outranks nothing; whom it assigns is nobody's to wait for."""
    desk.approve()
    desk.memory.save("rule", b"otherwise", record=said_of(desk.memory, "rule", trust=Trust("claimed", "instruction")))
    desk.approve("rule")
    desk.memory.review("note", "dispute", by=desk.memory.signer, method="process", subject="rule")
    assert not desk.slugs()
    assert "contradicted" in desk.notes()
    desk.memory.review("note", "assign", by=desk.memory.signer, method="process", subject="nobody")
    assert not desk.slugs(policy=PRESETS["owner"])
    desk.memory.review("note", "dispute", by=MINA, subject="rule")
    assert "review-disputed" in desk.slugs()


def test_unarchiving_does_not_undo_a_supersession(desk: Desk) -> None:
    desk.memory.save(
        "new", b"newer", record=said_of(desk.memory, "new", links=(Link("supersedes", "urn:x:1", "key:note"),))
    )
    desk.memory.supersede("note", "new")
    assert desk.slugs() == ("state-superseded",)
    with pytest.raises(DisciplineError, match="took its place"):
        desk.memory.unarchive("note")
    desk.memory.archive("note")
    desk.memory.unarchive("note")
    assert desk.slugs() == ("state-superseded",)


def test_a_refusal_does_not_go_away_by_saving_the_same_bytes_again(desk: Desk) -> None:
    desk.memory.review("note", "reject", by=MINA)
    for again in (
        lambda: desk.memory.save("note", b"start the database first"),
        lambda: desk.memory.restore("note", 1),
    ):
        with pytest.raises(DisciplineError, match="rejected this very text"):
            again()
    desk.memory.save("note", b"start it second")
    assert desk.value() == "unreviewed"
    desk.memory.review("note", "reject", by=MINA)
    desk.approve()
    desk.memory.save("note", b"start it second")


def test_a_review_by_a_reviewer_who_was_revoked_is_passed_over_and_stops_nobody(desk: Desk) -> None:
    revoke_former(desk.memory, desk.bench.owner, f"{MINA.key_id:08x}", from_seq=1, reason="gone")
    desk.forge(MINA)
    assert desk.value() == "unreviewed"
    reader = desk.bench.memory("another", trust=desk.bench.trusted(reviewers=desk.memory.trust.reviewer_keys()))
    assert reader.judge("note").subject.review.value == "unreviewed"
