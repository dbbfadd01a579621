"""The algebra of policies: all reasons are given, nothing empty is taken, what breaks holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.judging import ANCHOR, APPROVED, HERE, OTHER, World, context, slugs, subject

from indelible.errors import UsageError
from indelible.gate.policy import AllOf, AnyOf, Policy, UnsafeDeliverAll, judge, outcomes
from indelible.gate.presets import CONDITIONS, PRESETS, UNSAFE
from indelible.gate.subject import Review
from indelible.gate.verdict import Reason

if TYPE_CHECKING:
    from indelible.gate.context import Context
    from indelible.gate.subject import Subject


class Never:
    """A condition that no memory meets."""

    def __init__(self, slug: str = "never") -> None:
        self.name = slug

    def __call__(self, subject: Subject, context: Context) -> tuple[Reason, ...]:
        return (Reason(self.name, "it is never so"),)


class Always(Never):
    def __call__(self, subject: Subject, context: Context) -> tuple[Reason, ...]:
        return ()


class Broken(Never):
    """One that breaks, with a text in its error that must not come out."""

    def __call__(self, subject: Subject, context: Context) -> tuple[Reason, ...]:
        raise KeyError("the secret text of a memory")


@pytest.mark.parametrize("combination", [AllOf, AnyOf])
def test_an_empty_combination_is_refused(combination: Any) -> None:
    with pytest.raises(UsageError):
        combination([])


def test_all_reasons_are_given_and_not_only_the_first() -> None:
    both = AllOf([Never("one"), Always("two"), Never("three")])
    assert slugs(both(subject(), context())) == ("one", "three")


def test_one_condition_is_enough_for_any_of_them() -> None:
    assert AnyOf([Never(), Always()])(subject(), context()) == ()
    assert slugs(AnyOf([Never("one"), Never("two")])(subject(), context())) == ("one", "two")


def test_a_condition_that_breaks_holds_the_memory_and_tells_nothing_of_it() -> None:
    verdict = judge(Policy("custom", AllOf([Broken(), Always()])), subject(), context())
    assert verdict.held
    assert verdict.slugs == ("policy-broken",)
    assert "secret" not in str(verdict)


def test_a_world_that_breaks_holds_the_memory() -> None:
    class Gone(World):
        def check(self, anchors: tuple[Any, ...]) -> tuple[Reason, ...]:
            raise OSError("the disk is gone")

    verdict = judge(PRESETS["anchored"], subject(anchors=(ANCHOR,)), context(world=Gone()))
    assert verdict.slugs == ("policy-broken",)


def test_the_one_that_lets_everything_through_says_so() -> None:
    verdict = judge(PRESETS[UNSAFE], subject(state="archived", scope=None), context())
    assert not verdict.held
    assert verdict.notes[0].slug == "unsafe"
    assert "Unsafe" in UnsafeDeliverAll.name


def test_mode_and_conditions_stand_in_every_verdict() -> None:
    for name, policy in PRESETS.items():
        for said in ({}, {"state": "archived"}):
            verdict = judge(policy, subject(**said), context())
            assert verdict.mode == name
            assert verdict.policy == policy.condition.name
            assert verdict.as_dict()["mode"] == name


def test_only_what_is_reviewed_and_asks_to_be_a_rule_is_one() -> None:
    rule = judge(PRESETS["anchored"], subject(authority="instruction", review=APPROVED), context())
    assert (rule.held, rule.delivered_as) == (False, "rule")
    assert judge(PRESETS["anchored"], subject(review=APPROVED), context()).delivered_as == "reference"
    assert judge(PRESETS[UNSAFE], subject(authority="instruction"), context()).delivered_as == "reference"


def test_an_approval_by_an_unprotected_key_says_so() -> None:
    review = Review("approved", "mina", "2026-11-29T00:00:00Z", protected=False)
    for name in PRESETS:
        assert "review-unprotected" in slugs(judge(PRESETS[name], subject(review=review), context()).notes)
        assert "review-unprotected" not in slugs(judge(PRESETS[name], subject(review=APPROVED), context()).notes)


def test_what_is_said_beside_a_memory_that_is_handed_over() -> None:
    said = {"signs": ("hides",), "origin": "user", "on_change": "warn", "anchors": (ANCHOR,)}
    verdict = judge(PRESETS["anchored"], subject(**said), context(world=World({"app.py"})))
    assert not verdict.held
    assert slugs(verdict.notes) == ("unreviewed", "no-expiry", "order-shaped", "anchor-changed")
    doubtful = subject(review=Review(doubted="2026-11-29T00:00:00Z", strangers=("0a1b2c3d",)))
    assert {"doubted", "review-by-stranger"} <= set(slugs(judge(PRESETS["anchored"], doubtful, context()).notes))


def test_the_outcome_of_each_condition_can_be_seen() -> None:
    found = outcomes(PRESETS["strict"], subject(revision=OTHER, review=APPROVED), context())
    assert [one.condition for one in found] == [part.name for part in PRESETS["strict"].parts]
    assert {one.condition for one in found if one.reasons} == {"at-revision", "expiry-ahead"}
    broken = outcomes(Policy("custom", AllOf([Broken("b"), Always("a")])), subject(), context())
    assert [slugs(one.reasons) for one in broken] == [("policy-broken",), ()]


TIMES = (None, "2026-11-29T00:00:00Z", "2026-12-01T00:00:00Z", "soon", 7)
REVIEWS = (Review(), APPROVED, Review("rejected", "mina", "2026-11-29T00:00:00Z"), Review("pending", assigned="jun"))
subjects = st.builds(
    subject,
    scope=st.sampled_from((None, "repo:demo/app", "repo:x", subject().scope)), revision=st.sampled_from((None, "", HERE, OTHER, HERE[:7])),
    expires_at=st.sampled_from(TIMES), valid_from=st.sampled_from(TIMES), valid_until=st.sampled_from(TIMES), review_by=st.sampled_from(TIMES),
    state=st.sampled_from(("active", "archived", "superseded")), review=st.sampled_from(REVIEWS), origin=st.sampled_from(("user", "agent", "tool", "external", "?")),
    authority=st.sampled_from(("reference", "instruction")), anchors=st.sampled_from(((), (ANCHOR,))), signs=st.sampled_from(((), ("hides",))),
    crit=st.sampled_from(((), ("org.example/x",))), agent=st.sampled_from(("eros", "rudex")),
)  # fmt: skip
contexts = st.builds(
    lambda world, **said: context(world=World({"app.py"} if world else ()), **said),
    world=st.booleans(), revision=st.sampled_from((None, HERE, OTHER)), scope=st.sampled_from((None, "repo:demo/app")),
)  # fmt: skip
names = st.lists(st.sampled_from(sorted(CONDITIONS)), min_size=1, max_size=6)


@given(subjects, contexts, names, names)
def test_adding_a_condition_never_frees_a_held_memory(
    one: Subject, here: Context, some: list[str], more: list[str]
) -> None:
    before = judge(Policy("custom", AllOf([CONDITIONS[name] for name in some])), one, here)
    after = judge(Policy("custom", AllOf([CONDITIONS[name] for name in (*some, *more)])), one, here)
    assert not before.held or after.held
    assert set(before.slugs) <= set(after.slugs)


@given(subjects, contexts)
def test_whatever_is_judged_comes_to_a_verdict(one: Subject, here: Context) -> None:
    for policy in PRESETS.values():
        verdict = judge(policy, one, here)
        assert all(reason.slug and reason.message for reason in (*verdict.reasons, *verdict.notes))
        assert "policy-broken" not in verdict.slugs


@pytest.mark.parametrize(("key", "remedy"), [
    ("it's", """'indelible review approve 'it'"'"'s'', by a reviewer"""),
    ("-x", "'indelible review approve -- -x', by a reviewer"),
    ("KEY", "'indelible review approve KEY', by a reviewer"),
    ("", "'indelible review approve KEY', by a reviewer"),
])  # fmt: skip
def test_the_remedy_of_a_reason_names_the_memory_as_a_shell_takes_it(key: str, remedy: str) -> None:
    verdict = judge(PRESETS["anchored"], subject(key=key, origin="external"), context())
    assert [(reason.slug, reason.remedy) for reason in verdict.reasons] == [("origin-unreviewed", remedy)]


def test_a_variable_in_a_remedy_is_not_taken_for_the_key() -> None:
    assert Reason("x", "y", "Set INDELIBLE_KEY_FILE").about("a").remedy == "Set INDELIBLE_KEY_FILE"
