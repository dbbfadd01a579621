"""Each condition: when it holds, and with which slug it does not."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest
from tests.judging import ANCHOR, APPROVED, HERE, MINE, NOW, OTHER, World, context, slugs, subject
from tests.support import ROOT

from indelible.gate import conditions as c
from indelible.gate.subject import Review
from indelible.record import Scope

CASES = os.path.join(ROOT, "tests", "vectors", "cases")
ASSIGNED = Review("approved", "mina", "2026-11-29T00:00:00Z", assigned="jun")
PAST, AHEAD = "2026-11-29T00:00:00Z", "2026-12-01T00:00:00Z"


@pytest.mark.parametrize(("condition", "said", "expected"), [
    (c.InScope(), {}, ()),
    (c.InScope(), {"scope": None}, ("scope-invalid",)),
    (c.InScope(), {"scope": Scope("agent", agent="rudex")}, ("scope",)),
    (c.InScope(), {"scope": Scope("global")}, ("scope-global-not-admitted",)),
    (c.InScope(), {"scope": "repo:demo/app"}, ("scope",)),
    (c.Readable(), {}, ()),
    (c.Readable(), {"agent": "rudex"}, ("permission",)),
    (c.Readable(), {"agent": "rudex", "scope": Scope("global", visibility="shared")}, ()),
    (c.Active(), {}, ()),
    (c.Active(), {"state": "archived"}, ("state-archived",)),
    (c.Active(), {"state": "superseded", "replaced_by": "newer"}, ("state-superseded",)),
    (c.NotRejected(), {"review": APPROVED}, ()),
    (c.NotRejected(), {"review": Review("rejected", "mina", PAST)}, ("review-rejected",)),
    (c.NotRejected(), {"review": Review("disputed", "mina", PAST)}, ("review-disputed",)),
    (c.WithinValidity(), {"valid_from": PAST, "valid_until": AHEAD}, ()),
    (c.WithinValidity(), {"valid_from": AHEAD}, ("validity-not-yet",)),
    (c.WithinValidity(), {"valid_until": PAST}, ("validity-over",)),
    (c.WithinValidity(), {"valid_until": NOW}, ("validity-over",)),
    (c.WithinValidity(), {"valid_from": "soon", "valid_until": 7}, ("validity-invalid", "validity-invalid")),
    (c.ClockSane(), {"saved_at": PAST}, ()),
    (c.ClockSane(), {"saved_at": "2026-11-30T00:04:00Z"}, ()),
    (c.ClockSane(), {"saved_at": AHEAD}, ("clock-behind",)),
    (c.TrustedOrigin(), {"origin": "user"}, ()),
    (c.TrustedOrigin(), {"origin": "tool"}, ("origin-unreviewed",)),
    (c.TrustedOrigin(), {"origin": "external"}, ("origin-unreviewed",)),
    (c.TrustedOrigin(), {"origin": "unknown"}, ("origin-unreviewed",)),
    (c.TrustedOrigin(), {"origin": "x-new"}, ("origin-unreviewed",)),
    (c.TrustedOrigin(), {"origin": "external", "review": APPROVED}, ()),
    (c.RulesReviewed(), {"authority": "instruction"}, ("rule-unreviewed",)),
    (c.RulesReviewed(), {"authority": "instruction", "review": APPROVED}, ()),
    (c.NotOrdering(), {"signs": ("hides",)}, ("order-quarantined",)),
    (c.NotOrdering(), {"signs": ("hides",), "origin": "user"}, ()),
    (c.NotOrdering(), {"signs": ("hides",), "review": APPROVED}, ()),
    (c.Understood(), {"crit": ("org.example/x",)}, ("crit-unknown",)),
    (c.AtRevision(), {}, ()),
    (c.AtRevision(), {"revision": OTHER}, ("revision",)),
    (c.AtRevision(), {"revision": HERE[:7]}, ("revision",)),
    (c.AtRevision(), {"revision": HERE.upper()}, ("revision",)),
    (c.AtRevision(), {"revision": ""}, ("revision-unknown",)),
    (c.AtRevision(), {"revision": None}, ("revision-unknown",)),
    (c.AtRevision(), {"revision": 7}, ("revision-unknown",)),
    (c.AtRevision(), {"revision": OTHER, "review": Review("approved", "mina", PAST, revision=HERE)}, ()),
    (c.AtRevision(), {"revision": OTHER, "review": Review("pending", revision=HERE)}, ("revision",)),
    (c.NotExpired(), {}, ()),
    (c.NotExpired(), {"expires_at": AHEAD}, ()),
    (c.NotExpired(), {"expires_at": PAST}, ("expiry",)),
    (c.NotExpired(), {"expires_at": NOW}, ("expiry",)),
    (c.NotExpired(), {"expires_at": "2026-12-01T00:00:00"}, ("expiry-invalid",)),
    (c.NotExpired(), {"expires_at": {"t": 1}}, ("expiry-invalid",)),
    (c.NotExpired(required=True), {}, ("expiry-missing",)),
    (c.NotExpired(required=True), {"expires_at": AHEAD}, ()),
    (c.Reviewed(), {}, ("review-missing",)),
    (c.Reviewed(), {"review": APPROVED}, ()),
    (c.Reviewed(), {"review": Review("rejected", "mina", PAST)}, ()),
    (c.Reviewed(named=True), {"review": APPROVED}, ()),
    (c.Reviewed(named=True), {"review": ASSIGNED}, ("review-not-by-owner",)),
    (c.ReviewNotOverdue(), {}, ()),
    (c.ReviewNotOverdue(), {"review_by": AHEAD}, ()),
    (c.ReviewNotOverdue(), {"review_by": PAST}, ("review-overdue",)),
    (c.ReviewNotOverdue(), {"review_by": PAST, "review": APPROVED}, ()),
    (c.ReviewNotOverdue(), {"review_by": "2026-11-29T12:00:00Z", "review": APPROVED}, ("review-overdue",)),
    (c.ReviewNotOverdue(), {"review_by": "soon"}, ("review-invalid",)),
    (c.AnchorsUnchanged(), {"anchors": (ANCHOR,)}, ()),
])  # fmt: skip
def test_a_condition_holds_or_says_with_a_slug_why_not(
    condition: Any, said: dict[str, Any], expected: tuple[str, ...]
) -> None:
    assert slugs(condition(subject(**said), context())) == expected


def test_every_reason_is_for_people_and_none_is_empty() -> None:
    reason = c.NotExpired()(subject(expires_at=PAST), context())[0]
    assert PAST in reason.message
    assert "--expires" in reason.remedy


def test_a_short_revision_is_said_to_be_one() -> None:
    assert "short form" in c.AtRevision()(subject(revision=HERE[:7]), context())[0].message


def test_without_a_commit_here_no_revision_is_known() -> None:
    assert slugs(c.AtRevision()(subject(), context(revision=None))) == ("revision-unknown",)


def test_a_scope_given_as_text_is_compared_letter_by_letter() -> None:
    here = context(scope="repo:demo/app")
    for text in ("repo:demo/app-2", "repo:demo", "repo:demo/app/sub", "repo:Demo/app", "repo:demo/app/", "global"):
        assert slugs(c.InScope()(subject(scope=text), here)) == ("scope",)
    assert c.InScope()(subject(scope="repo:demo/app"), here) == ()


def test_a_changed_anchor_holds_until_it_was_approved_as_it_is_now() -> None:
    changed = context(world=World({"app.py"}, digest="after"))
    seen = Review("approved", "mina", PAST, anchors="after")
    assert slugs(c.AnchorsUnchanged()(subject(anchors=(ANCHOR,)), changed)) == ("anchor-changed",)
    assert slugs(c.AnchorsUnchanged()(subject(anchors=(ANCHOR,), review=APPROVED), changed)) == ("anchor-changed",)
    assert c.AnchorsUnchanged()(subject(anchors=(ANCHOR,), review=seen), changed) == ()
    again = context(world=World({"app.py"}, digest="changed once more"))
    assert slugs(c.AnchorsUnchanged()(subject(anchors=(ANCHOR,), review=seen), again)) == ("anchor-changed",)


@pytest.mark.parametrize("on_change", ["warn", "ignore"])
def test_an_anchor_that_is_only_to_be_told_of_holds_nothing(on_change: str) -> None:
    assert c.AnchorsUnchanged()(subject(anchors=(ANCHOR,), on_change=on_change), context(world=World({"app.py"}))) == ()


def test_who_assigned_it_is_named_while_it_waits() -> None:
    assert "jun" in c.Reviewed()(subject(review=Review("pending", assigned="jun")), context())[0].message
    assert "not trusted here" in c.Reviewed()(subject(review=Review(strangers=("0a1b2c3d",))), context())[0].message


def rows(name: str) -> Any:
    with open(os.path.join(CASES, name), encoding="utf-8") as file:
        return json.load(file)


TIMES = [(row["expires_at"], row["verdict"]) for row in rows("time_cases.json")["rows"]]
EDGES = [(row["now"], row["expires_at"], row["verdict"]) for row in rows("time_cases_edge.json")["rows"]]
STATED = {(): "valid", ("expiry",): "expired", ("expiry-invalid",): "invalid"}


@pytest.mark.parametrize(("expires_at", "verdict"), TIMES, ids=lambda value: str(value)[:30])
def test_each_spelling_of_an_expiry_has_one_verdict(expires_at: object, verdict: str) -> None:
    found = slugs(c.NotExpired()(subject(expires_at=expires_at), context(now=rows("time_cases.json")["now"])))
    if verdict.startswith("rule:"):  # the written rule: a time without a zone, or a day without a time, is none
        verdict = "invalid"
    assert STATED[found] == verdict.partition(":")[0]


@pytest.mark.parametrize(("now", "expires_at", "verdict"), EDGES, ids=lambda value: str(value)[:30])
def test_each_time_at_an_edge_is_stated_and_never_taken_for_no_expiry(
    now: str, expires_at: object, verdict: str
) -> None:
    found = STATED[slugs(c.NotExpired()(subject(expires_at=expires_at), context(now=now)))]
    words = "expired invalid" if verdict == "not offered" else verdict.partition(",")[0]
    assert found in words.split()


def test_a_condition_looks_at_files_only_where_there_are_anchors() -> None:
    world = World()
    c.AnchorsUnchanged()(subject(), context(world=world))
    assert world.asked == 0
    assert MINE.agent == "eros"


@pytest.mark.parametrize(("paths", "expected"), [
    ((), ()), (("src/app.py",), ()), (("docs/a.md", "src/app.py"), ()), (("docs/a.md",), ("scope",)),
])  # fmt: skip
def test_a_memory_of_paths_is_for_the_files_that_are_named(paths: tuple[str, ...], expected: tuple[str, ...]) -> None:
    mine = subject(scope=Scope("path", repo="github.com/demo/app", paths=("src/**",)))
    assert slugs(c.InScope()(mine, context(paths=paths))) == expected


def test_the_files_that_were_named_stand_in_the_context_as_one_text() -> None:
    assert context(paths=("a b.py", "c.py")).as_dict()["paths"] == "'a b.py' c.py"
    assert "paths" not in context().as_dict()
