"""The policies that have a name, held against the seed's own function and the field case's records."""

from __future__ import annotations

import json
import os
import random
from datetime import datetime
from typing import Any

import pytest
from tests.judging import World, context, subject
from tests.support import ROOT

from indelible.errors import UsageError
from indelible.gate.context import Context
from indelible.gate.place import GivenPlace
from indelible.gate.policy import judge
from indelible.gate.presets import COMPARED, CONDITIONS, DEFAULT, PRESETS, SAYS, TRADES, policy_of
from indelible.gate.stated import context_of, judge_lines
from indelible.gate.subject import small

CASES = os.path.join(ROOT, "tests", "vectors", "cases")
HERE = "3f2a" * 10


def eligible(memory: dict[str, Any], context: dict[str, Any]) -> bool:
    """The seed's function, in Python: four conditions, `===` and `Date.parse`."""
    return (
        _same(memory.get("scope"), context["scope"])
        and _same(memory.get("source_revision"), context["revision"])
        and memory.get("reviewed") is True
        and _after(memory.get("expires_at"), context["now"])
    )


def _same(one: object, other: object) -> bool:
    return type(one) is type(other) is str and one == other


def _after(expires_at: object, now: str) -> bool:
    try:
        return datetime.fromisoformat(str(expires_at)) > datetime.fromisoformat(now)
    except ValueError:
        return False  # NaN is above nothing


CONTEXT = {"scope": "repo:example/app", "revision": HERE, "now": "2026-11-08T12:00:00Z"}
WORLD = World()
SCOPES: tuple[Any, ...] = ("repo:example/app", "repo:example/app", "repo:example/app-2", "repo:example", "repo:example/app/", "REPO:example/app", "global", "", None,
          ["repo:example/app"], [], {"level": "repo"}, 7)  # fmt: skip
REVISIONS = (HERE, HERE, HERE, HERE[:7], HERE.upper(), "", None, "commit-B", 7, [HERE])
REVIEWED: tuple[Any, ...] = (True, True, True, False, None, "true", 1, "yes", [True], {})
EXPIRIES: tuple[Any, ...] = ("2026-11-10T00:00:00Z", "2026-11-08T12:00:01+00:00", "2026-11-08T21:00:01+09:00", "2026-11-08T12:00:00Z", "2026-11-08T11:59:59Z",
            "9999-12-31T23:59:59Z", "2026-11-08T12:00:00.001Z", "1999-01-01T00:00:00Z", None, "", "never", "soon", [], {}, False)  # fmt: skip


def records(number: int, seed: int = 8) -> list[dict[str, Any]]:
    """Records of which some are eligible, some nearly, and some have members left out."""
    chance, made = random.Random(seed), []

    def one_of(values: tuple[Any, ...]) -> object:
        return values[0] if chance.random() < 0.5 else chance.choice(values)

    for index in range(number):
        record = {
            "id": f"r{index}", "scope": one_of(SCOPES), "source_revision": one_of(REVISIONS), "reviewed": one_of(REVIEWED),
            "expires_at": one_of(EXPIRIES), "content": "note",
        }  # fmt: skip
        if chance.random() < 0.05:
            del record[chance.choice(("scope", "source_revision", "reviewed", "expires_at"))]
        made.append(record)
    return made


def here(said: dict[str, Any]) -> Context:
    return Context("eros", said["now"], GivenPlace(revision=said["revision"]), WORLD, scope=said["scope"])


def test_strict_is_the_seeds_function_over_ten_thousand_records() -> None:
    made = records(10_000)
    wrong = [
        one for one in made
        if eligible(one, CONTEXT) is judge(PRESETS["strict"], small(one, agent="eros"), here(CONTEXT)).held
    ]  # fmt: skip
    assert wrong == []
    assert 200 < sum(eligible(one, CONTEXT) for one in made) < 5_000


def test_strict_over_lines_says_the_same() -> None:
    made = records(500, seed=9)
    text = "\n".join(map(json.dumps, made)).encode()
    found = list(judge_lines(text, PRESETS["strict"], context_of({**CONTEXT, "agent": "eros"}, WORLD)))
    assert [not one.verdict.held for one in found] == [eligible(one, CONTEXT) for one in made]


def fixture() -> tuple[bytes, dict[str, Any]]:
    with (
        open(os.path.join(CASES, "gate_records.jsonl"), "rb") as file,
        open(os.path.join(CASES, "gate_expected.json"), encoding="utf-8") as expected,
    ):
        return file.read(), json.load(expected)


def test_each_record_of_the_field_case_is_offered_or_held_with_every_reason() -> None:
    lines, expected = fixture()
    policy = policy_of("in-scope,at-revision,not-expired,reviewed")
    found = {one.id: one.verdict for one in judge_lines(lines, policy, context_of(expected["context"], WORLD))}
    assert sorted(name for name, verdict in found.items() if not verdict.held) == sorted(expected["offered"])
    for name, reasons in expected["withheld"].items():
        assert tuple(slug.removesuffix("-missing") for slug in found[name].slugs) == tuple(reasons)
    assert "no-expiry" in [note.slug for note in found["no-expiry"].notes]


def test_strict_holds_what_has_no_expiry_as_the_seed_does() -> None:
    lines, expected = fixture()
    found = {
        one.id: one.verdict.slugs
        for one in judge_lines(lines, PRESETS["strict"], context_of(expected["context"], WORLD))
    }
    assert found["no-expiry"] == ("expiry-missing",)
    assert found["ok"] == ()


def test_a_policy_is_a_preset_or_named_conditions() -> None:
    assert policy_of(DEFAULT) is PRESETS["anchored"]
    custom = policy_of("in-scope, reviewed")
    assert custom.mode == "custom"
    assert custom.condition.name.startswith("AllOf(in-scope, reviewed, ")
    for text in ("", "strickt", "in-scope,", "in-scope,nothing"):
        with pytest.raises(UsageError):
            policy_of(text)


def test_conditions_that_are_put_together_let_nothing_out_that_every_preset_holds() -> None:
    for name in CONDITIONS:
        for held in ({"origin": "external"}, {"signs": ("exfiltrates",)}, {"authority": "instruction"}, {"state": "archived"},
                     {"expires_at": "2020-01-01T00:00:00Z"}):  # fmt: skip
            assert judge(policy_of(name), subject(**held), context()).held, (name, held)


def test_every_condition_and_every_compared_policy_is_explained() -> None:
    assert set(SAYS) == set(CONDITIONS)
    assert set(TRADES) == set(COMPARED)


def test_the_four_hold_what_the_table_of_trade_offs_says() -> None:
    from tests.judging import ANCHOR, APPROVED

    later = "2026-12-31T00:00:00Z"
    unrelated = subject(revision="b" * 40, review=APPROVED, expires_at=later, anchors=(ANCHOR,))
    assert [name for name in COMPARED if judge(PRESETS[name], unrelated, context()).held] == ["strict"]
    changed = context(world=World({"app.py"}), revision="b" * 40)
    assert [name for name in COMPARED if judge(PRESETS[name], unrelated, changed).held] == ["anchored"]
    own = subject(expires_at=later)
    assert [name for name in COMPARED if judge(PRESETS[name], own, context()).held] == ["strict", "owner"]


@pytest.mark.parametrize("line", [
    b"{", b"null", b"[]", b'"a"', b"\xff\xfe", b'{"id": "a", "id": "b"}', b'{"id": NaN}', b"[" * 100_000, b'{"n": ' + b"9" * 5_000 + b"}",
], ids=str)  # fmt: skip
def test_a_broken_line_is_a_verdict_of_its_own_and_hides_no_other(line: bytes) -> None:
    good = b'{"id": "ok", "scope": "s", "source_revision": "R", "expires_at": "2030-01-01T00:00:00Z", "reviewed": true}'
    said = {"scope": "s", "revision": "R", "now": "2026-11-08T12:00:00Z", "agent": "eros"}
    found = list(
        judge_lines(
            b"\xef\xbb\xbf" + good + b"\r\n\r\n" + line + b"\n" + good, PRESETS["strict"], context_of(said, WORLD)
        )
    )
    assert [(one.line, one.id, one.verdict.slugs) for one in found] == [
        (1, "ok", ()),
        (3, "", ("record-broken",)),
        (4, "ok", ()),
    ]
    assert "line 3" in found[1].verdict.reasons[0].message


def test_a_record_of_the_interchange_form_is_judged_by_what_it_claims_and_never_as_reviewed() -> None:
    path = os.path.join(ROOT, "tests", "vectors", "record", "example-full.json")
    with open(path, "rb") as file:
        record = json.loads(file.read())
    line = json.dumps(record).encode()
    said = {"scope": f"repo:{record['scope'].get('repo')}", "now": "2026-11-08T12:00:00Z", "agent": "eros"}
    one = next(judge_lines(line, PRESETS["owner"], context_of(said, WORLD)))
    assert one.id == record["id"]
    assert "review-missing" in one.verdict.slugs
    assert "record-altered" not in one.verdict.slugs
    record["kind"] = "decision" if record["kind"] == "fact" else "fact"
    altered = next(judge_lines(json.dumps(record).encode(), PRESETS["owner"], context_of(said, WORLD)))
    assert "record-altered" in altered.verdict.slugs


@pytest.mark.parametrize("said", [{"now": ""}, {"now": "2026-11-08"}, {"now": "2026-11-08T12:00:00Z", "scope": ["repo:x"]},
                                  {"now": "2026-11-08T12:00:00Z", "colour": "red"}, {"now": "2026-11-08T12:00:00Z", "global": "yes"}, {}])  # fmt: skip
def test_a_context_that_cannot_be_read_is_refused(said: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        context_of(said, WORLD)
