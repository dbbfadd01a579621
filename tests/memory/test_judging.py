"""What is judged with a memory: what it stands on, what says otherwise, and what every verdict comes to in the deliveries."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest
from tests.reviewing import MINA, Desk, desk_at, said_of

from indelible.errors import HeldError
from indelible.gate.presets import PRESETS
from indelible.gate.verdict import as_argument
from indelible.memory.gating import Gate
from indelible.memory.results import Held
from indelible.memory.surveying import is_elsewhere, resolving, review_states, survey
from indelible.record.parts import Link, Origin, Scope, Trust, Validity

if TYPE_CHECKING:
    from tests.support import Bench

    from indelible.gate.context import Context


@pytest.fixture
def desk(bench: Bench) -> Desk:
    return desk_at(bench)


def save(
    desk: Desk,
    key: str,
    text: bytes = b"x",
    *,
    depends: tuple[str, ...] = (),
    contradicts: tuple[str, ...] = (),
    **said: Any,
) -> None:
    links = [
        *(Link("depends_on", key, f"key:{key}") for key in depends),
        *(Link("contradicts", key, f"key:{key}") for key in contradicts),
    ]
    desk.memory.save(key, text, record=said_of(desk.memory, key, links=tuple(links), **said))


EXPIRED = Validity(expires_at="2020-01-01T00:00:00Z")
FROM_OUTSIDE = Origin(class_="external")
RULE = Trust("claimed", "instruction")


def test_a_held_memory_holds_what_depends_on_it_however_far(desk: Desk) -> None:
    save(desk, "ground", validity=EXPIRED)
    save(desk, "first", depends=("ground",))
    save(desk, "second", depends=("first",))
    assert desk.slugs("second") == ("dependency-held",)
    assert "'first'" in desk.memory.judge("second").verdict.reasons[0].message


def test_a_dependency_that_is_not_there_holds(desk: Desk) -> None:
    save(desk, "first", depends=("nothing",))
    assert desk.slugs("first") == ("dependency-missing",)


def test_a_circle_of_dependencies_is_judged_once_round(desk: Desk) -> None:
    save(desk, "a")
    save(desk, "b", depends=("a",))
    save(desk, "a", depends=("b",))
    assert desk.slugs("a") == desk.slugs("b") == ()
    save(desk, "b", depends=("a",), validity=EXPIRED)
    assert desk.slugs("a") == ("dependency-held",)


def test_a_chain_that_is_too_deep_is_not_known_to_apply(desk: Desk) -> None:
    save(desk, "n0")
    for number in range(1, 40):
        save(desk, f"n{number}", depends=(f"n{number - 1}",))
    assert desk.slugs("n20") == ()
    assert desk.slugs("n39") == ("dependency-held",)


def test_a_web_of_dependencies_takes_no_longer_than_its_memories(desk: Desk) -> None:
    save(desk, "l0a")
    save(desk, "l0b")
    for layer in range(1, 25):
        for name in "ab":
            save(desk, f"l{layer}{name}", depends=(f"l{layer - 1}a", f"l{layer - 1}b"))
    began = time.monotonic()
    assert desk.slugs("l24a") == ()
    assert time.monotonic() - began < 5


def test_of_two_that_contradict_one_another_the_outranked_is_held_and_the_other_says_so(desk: Desk) -> None:
    save(desk, "guess")
    save(desk, "fact", contradicts=("guess",))
    save(desk, "guess", contradicts=("fact",))
    assert (desk.slugs("guess"), desk.slugs("fact")) == ((), ())
    assert "contradicted" in desk.notes("guess")
    assert "contradicted" in desk.notes("fact")
    desk.approve("fact")
    assert desk.slugs("guess") == ("outranked",)
    assert "contradicted" in desk.notes("fact")


def test_a_reviewed_rule_outranks_a_reviewed_fact(desk: Desk) -> None:
    save(desk, "rule", trust=RULE)
    save(desk, "fact", contradicts=("rule",))
    desk.approve("rule")
    desk.approve("fact")
    assert desk.slugs("fact") == ("outranked",)


def test_a_dispute_by_the_agent_is_a_contradiction_that_is_shown(desk: Desk) -> None:
    save(desk, "one")
    save(desk, "two")
    desk.memory.review("one", "dispute", by=desk.bench.signer, method="process", subject="two")
    assert desk.slugs("one") == ()
    assert "contradicted" in desk.notes("one")
    assert "doubted" not in desk.notes("one")


@pytest.mark.parametrize("said", [{"validity": EXPIRED}, {"origin": FROM_OUTSIDE}])
def test_what_is_held_itself_contradicts_nothing(desk: Desk, said: dict[str, Any]) -> None:
    save(desk, "loud", **said)
    save(desk, "quiet", contradicts=("loud",))
    assert desk.slugs("quiet") == ()
    assert "contradicted" not in desk.notes("quiet")


def test_held_is_raised_by_load_and_given_by_deliver_and_both_name_every_reason(desk: Desk) -> None:
    save(desk, "note", validity=EXPIRED, trust=RULE)
    with pytest.raises(HeldError) as raised:
        desk.memory.load("note")
    assert [reason["slug"] for reason in raised.value.facts["reasons"]] == ["rule-unreviewed", "expiry"]  # type: ignore[attr-defined]
    held = desk.memory.deliver("note")
    assert isinstance(held, Held)
    assert held.verdict.slugs == ("rule-unreviewed", "expiry")
    assert desk.memory.load("note", policy=PRESETS["unsafe-deliver-all"]).content == b"x"


def test_git_is_asked_for_one_context_however_many_memories_are_judged(desk: Desk) -> None:
    for number in range(20):
        save(desk, f"n{number}")
    asked: list[str] = []

    def where(agent: str, now: str) -> Context:
        asked.append(now)
        return desk.context(agent, now)

    desk.memory.gate = Gate(context=where)
    assert len(list(survey(desk.memory, (PRESETS["anchored"], PRESETS["strict"]), []))) == 20
    assert len(asked) == 1


def test_what_was_put_away_is_left_out_unless_asked_for(desk: Desk) -> None:
    save(desk, "kept")
    save(desk, "away")
    desk.memory.archive("away")
    assert [one.loaded.key for one in survey(desk.memory, (PRESETS["anchored"],), [])] == ["kept"]
    assert [one.loaded.key for one in survey(desk.memory, (PRESETS["anchored"],), [], every=True)] == ["away", "kept"]


def test_one_altered_memory_hides_no_other(desk: Desk) -> None:
    save(desk, "bad", b"as it was")
    save(desk, "good")
    desk.bench.sql("UPDATE record SET content = ? WHERE id = ?", b"altered", desk.bench.row_id(0))
    findings: list[Any] = []
    assert [one.loaded.key for one in survey(desk.memory, (PRESETS["anchored"],), findings)] == ["good"]
    assert [finding.slug for finding in findings] == ["digest-mismatch"]


def test_where_a_review_stands(desk: Desk) -> None:
    def states(key: str = "note") -> tuple[str, ...]:
        return review_states(desk.memory.judge(key))

    save(desk, "note")
    assert states() == ("unreviewed",)
    desk.memory.review("note", "assign", by=MINA, subject="mina")
    assert states() == ("pending",)
    desk.memory.review("note", "dispute", by=MINA)
    assert states() == ("held", "disputed")
    desk.approve()
    assert states() == ("approved",)
    save(desk, "late", validity=Validity(review_by="2026-11-01T00:00:00Z"))
    assert states("late") == ("held", "overdue", "unreviewed")
    save(desk, "outside", origin=FROM_OUTSIDE)
    assert states("outside") == ("held", "unreviewed")


AGAIN = "indelible load --policy lifecycle 'my note' | indelible save "
PAST_ALL = "indelible load --policy unsafe-deliver-all 'my note' | indelible save "
NOT_YET, OVER = Validity(valid_from="2999-01-01T00:00:00Z"), Validity(valid_until="2020-01-01T00:00:00Z")


@pytest.mark.parametrize(("said", "command"), [
    ({"origin": FROM_OUTSIDE}, "indelible review approve 'my note'"),
    ({"validity": EXPIRED}, PAST_ALL + "--expires 90d 'my note' -"),
    ({"validity": EXPIRED, "origin": FROM_OUTSIDE}, PAST_ALL + "--expires 90d 'my note' -"),
    ({"validity": NOT_YET}, AGAIN + "--valid-from 0m 'my note' -"),
    ({"validity": OVER}, AGAIN + "--valid-until 90d 'my note' -"),
    ({"scope": Scope("global")}, "INDELIBLE_GLOBAL=1 indelible load 'my note'"),
    ({"crit": ("org.example/x",)}, "indelible why 'my note'"),
    ({}, ""),
])  # fmt: skip
def test_one_command_resolves_each_with_the_key_quoted(desk: Desk, said: dict[str, Any], command: str) -> None:
    save(desk, "my note", **said)
    assert resolving(desk.memory, desk.memory.judge("my note"), desk.memory.gate.policy) == command


def test_what_depends_on_a_held_memory_is_resolved_there(desk: Desk) -> None:
    save(desk, "ground", origin=FROM_OUTSIDE)
    save(desk, "first", depends=("ground",))
    save(desk, "second", depends=("first",))
    assert (
        resolving(desk.memory, desk.memory.judge("second"), desk.memory.gate.policy)
        == "indelible review approve ground"
    )


def test_what_stands_on_an_altered_memory_is_resolved_by_looking_at_that(desk: Desk) -> None:
    save(desk, "ground", b"as it was")
    save(desk, "first", depends=("ground",))
    desk.bench.sql("UPDATE record SET content = ? WHERE id = ?", b"altered", desk.bench.row_id(0))
    assert resolving(desk.memory, desk.memory.judge("first"), desk.memory.gate.policy) == "indelible verify ground"


def test_what_is_for_another_place_alone_is_elsewhere(desk: Desk) -> None:
    save(desk, "there", scope=Scope("project", project="apollo"))
    save(desk, "late", scope=Scope("project", project="apollo"), validity=EXPIRED)
    save(desk, "everywhere", scope=Scope("global"))
    save(desk, "here")
    assert [key for key in ("there", "late", "everywhere", "here") if is_elsewhere(desk.memory.judge(key))] == ["there"]


@pytest.mark.parametrize(
    ("key", "said"),
    [("note", "note"), ("a b", "'a b'"), ("-x", "-- -x"), ("$(rm)", "'$(rm)'"), ("it's", "'it'\"'\"'s'")],
)
def test_a_key_is_quoted_for_a_shell(key: str, said: str) -> None:
    assert as_argument(key) == said
