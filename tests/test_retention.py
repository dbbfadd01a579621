"""The rules of retention: read strictly, the first that fits counts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from indelible.errors import UsageError
from indelible.record import Record, Scope, draft
from indelible.retention import parse_rules, retention_end, rule_for

SAVED = "2026-01-01T00:00:00Z"
FILE = "/r/.indelible/retention.toml"
RULES = """
[[content]]
scope = "repo:github.com/o/r"
expire_after = "7d"
[[content]]
scope = "path:src/**"
expire_after = "3d"
[[content]]
scope = "agent"
kind = "observation"
expire_after = "90d"
[[content]]
kind = "x-trace"
expire_after = "12h"
[audit]
keep = "365d"
"""


def record(scope: Scope, kind: str = "fact") -> Record:
    made = draft("k", b"x", agent="eros", author="agent:eros", now=SAVED, random=bytes(10))
    return replace(made, scope=scope, kind=kind)


@pytest.mark.parametrize(
    ("level", "value", "kind", "end"),
    [
        ("repo", "github.com/o/r", "fact", "2026-01-08T00:00:00Z"),
        ("repo", "github.com/o/other", "fact", None),
        ("repo", None, "fact", None),
        ("path", "src/**", "fact", "2026-01-04T00:00:00Z"),
        ("agent", "eros", "observation", "2026-04-01T00:00:00Z"),
        ("agent", None, "observation", "2026-04-01T00:00:00Z"),
        ("agent", "eros", "fact", None),
        ("global", None, "x-trace", "2026-01-01T12:00:00Z"),
        ("repo", "github.com/o/r", "x-trace", "2026-01-08T00:00:00Z"),
    ],
)
def test_the_first_rule_that_fits_says_when_content_ends(
    level: str, value: str | None, kind: str, end: str | None
) -> None:
    assert retention_end(parse_rules(RULES, FILE), level, value, kind, SAVED) == end


def test_a_record_is_judged_by_its_own_scope_and_kind() -> None:
    rules = parse_rules(RULES, FILE)
    found = rule_for(rules, record(Scope("path", paths=("docs/*", "src/**"))), SAVED)
    assert found is not None
    assert (found[0].value, found[1]) == ("src/**", "2026-01-04T00:00:00Z")
    assert str(found[0]) == "scope path:src/**, expire_after 3d"
    assert rule_for(rules, record(Scope("global")), SAVED) is None
    assert rule_for(rules, record(Scope("repo", repo="github.com/o/r")), SAVED) is not None


def test_fractions_of_a_second_are_cut_off_and_what_is_no_time_is_refused() -> None:
    rules = parse_rules(RULES, FILE)
    assert retention_end(rules, "agent", None, "x-trace", "2026-01-01T00:00:00.999Z") == "2026-01-01T12:00:00Z"
    for odd in ("yesterday", "2026-01-01T00:00:00", "2026-01-01"):
        with pytest.raises(UsageError):
            retention_end(rules, "agent", None, "x-trace", odd)


def test_a_file_that_says_nothing_keeps_everything_for_ever() -> None:
    rules = parse_rules("", FILE)
    assert (rules.content, rules.audit) == ((), None)
    assert retention_end(rules, "agent", None, "fact", SAVED) is None
    assert parse_rules('[audit]\nkeep = "1d"', FILE).audit_text == "1d"


WRONG = {
    "[[content]\n": "line 1",
    "a = 1": "'a'",
    "[content]\nexpire_after = '1d'": "[[content]]",
    "content = [1]": "[[content]]",
    "[[content]]\nscope = 'agent'": "expire_after",
    "[[content]]\nexpire_after = '1d'\n[[content]]\nexpire_after = 90": "number 2",
    "[[content]]\nexpire_after = '0d'": "expire_after",
    "[[content]]\nexpire_after = '1y'": "expire_after",
    "[[content]]\nexpire_after = '1d'\nscope = 'everywhere'": "scope",
    "[[content]]\nexpire_after = '1d'\nscope = 'global:x'": "scope",
    "[[content]]\nexpire_after = '1d'\nscope = ''": "scope",
    "[[content]]\nexpire_after = '1d'\nscope = ['agent']": "scope",
    "[[content]]\nexpire_after = '1d'\nkind = 'Fact'": "kind",
    "[[content]]\nexpire_after = '1d'\nkinds = 'fact'": "'kinds'",
    "[audit]\nkeep = 'for ever'": "keep",
    "[audit]\nkept = '1d'": "'kept'",
    "audit = '1d'": "[audit]",
    "a = " + "[" * 2000: FILE,
}


@pytest.mark.parametrize("text", WRONG, ids=lambda text: text[:40])
def test_what_is_off_is_refused_by_file_and_setting(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_rules(text, FILE)
    assert FILE in str(caught.value)
    assert WRONG[text] in str(caught.value)
