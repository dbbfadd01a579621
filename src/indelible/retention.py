r"""How long content and deliveries are kept: the rules in `.indelible/retention.toml`.

    [[content]]                  # the first rule that fits a memory counts for it
    scope = "agent"              # a level, or level:value; left out, every scope
    kind = "observation"         # left out, every kind
    expire_after = "90d"         # m, h, d or w, from the newest save on
    [audit]
    keep = "365d"                # deliveries; left out, for ever

Content goes by erasure: the entries of the log and the proofs stand. The rules are pure: whoever judges a memory asks
`retention_end`, so that what is past its time is held even where nobody ever ran `indelible retention apply`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import UsageError
from indelible.record.rules import instant
from indelible.spans import parse_span, shifted

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import timedelta

    from indelible.record import Record, Scope

_LEVELS = ("global", "org", "user", "project", "repo", "branch", "path", "session", "agent")
_KIND = re.compile(
    "fact|decision|procedure|preference|constraint|failure|observation|task_state|reference|x-[a-z0-9.-]+"
)
_MEMBERS = ("scope", "kind", "expire_after")


class Rule(NamedTuple):
    """How long the content of the memories that it fits is kept."""

    level: str
    """Empty for every scope."""
    value: str
    """Empty for every scope of that level."""
    kind: str
    """Empty for every kind."""
    span: timedelta
    text: str
    """The span as it was written."""

    def fits(self, level: str, values: tuple[str | None, ...], kind: str) -> bool:
        """Whether the rule is for such a memory; `values` are what the scope says at its level."""
        return self.level in {"", level} and (not self.value or self.value in values) and self.kind in {"", kind}

    def __str__(self) -> str:
        scope = f"{self.level}:{self.value}" if self.value else self.level
        words = [
            f"scope {scope}" if scope else "",
            f"kind {self.kind}" if self.kind else "",
            f"expire_after {self.text}",
        ]
        return ", ".join(filter(None, words))


class Rules(NamedTuple):
    """What a file of rules says."""

    path: str
    content: tuple[Rule, ...]
    audit: timedelta | None
    """How long deliveries are kept; None for ever."""
    audit_text: str = ""


def retention_end(rules: Rules, scope_level: str, scope_value: str | None, kind: str, saved_at: str) -> str | None:
    """When a memory's content expires by these rules, RFC 3339 in UTC; None where no rule fits.

    Args:
        scope_value: what the scope says at its level: the repository of `repo`, the agent of `agent`; None for nothing.
        saved_at: when its newest version was saved, RFC 3339 in UTC.

    Raises:
        UsageError: `saved_at` is no such time.
    """
    rule = _first(rules, scope_level, (scope_value,), kind)
    return None if rule is None else _end(rule, saved_at)


def rule_for(rules: Rules, record: Record, saved_at: str) -> tuple[Rule, str] | None:
    """The rule that counts for a memory, and when its content expires by it.

    Raises:
        UsageError: `saved_at` is no RFC 3339 time in UTC.
    """
    return rule_of(rules, record.scope, record.kind, saved_at)


def rule_of(rules: Rules, scope: Scope, kind: str, saved_at: str) -> tuple[Rule, str] | None:
    """As `rule_for`, of what is known of a memory without its record.

    Raises:
        UsageError: `saved_at` is no RFC 3339 time in UTC.
    """
    values = scope.paths if scope.level == "path" else (getattr(scope, scope.level, None),)
    rule = _first(rules, scope.level, values, kind)
    return None if rule is None else (rule, _end(rule, saved_at))


def _end(rule: Rule, saved_at: str) -> str:
    instant(saved_at)
    return shifted(f"{saved_at[:19]}Z", rule.span)


def _first(rules: Rules, level: str, values: tuple[str | None, ...], kind: str) -> Rule | None:
    return next((rule for rule in rules.content if rule.fits(level, values, kind)), None)


def parse_rules(text: str, path: str) -> Rules:
    """The rules in the text of a file.

    Raises:
        UsageError: it does not parse, or says something that there is not; the file and the line or the setting are named.
    """
    import tomllib

    try:
        members = tomllib.loads(text)
    except tomllib.TOMLDecodeError as exc:
        raise UsageError(f"The retention rules {path} are not TOML: {exc}", remedy="Mend that line", file=path) from exc
    except RecursionError as exc:
        raise UsageError(f"The retention rules {path} are nested too deeply", file=path) from exc
    _refuse_unknown(members, ("content", "audit"), path)
    tables = members.get("content", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise UsageError(f"{path}: 'content' is not written as [[content]] tables", file=path)
    audit = members.get("audit", {})
    if not isinstance(audit, dict):
        raise UsageError(f"{path}: 'audit' is not written as an [audit] table", file=path)
    _refuse_unknown(audit, ("keep",), f"{path}: [audit]")
    rules = tuple(_rule(table, f"{path}: [[content]] number {number}") for number, table in enumerate(tables, 1))
    keep = _span(audit["keep"], "keep", f"{path}: [audit]") if "keep" in audit else None
    return Rules(path, rules, keep, str(audit.get("keep", "")))


def _rule(table: Mapping[str, object], where: str) -> Rule:
    _refuse_unknown(table, _MEMBERS, where)
    if "expire_after" not in table:
        raise UsageError(f"{where} has no 'expire_after'", remedy='Say after how long: expire_after = "90d"')
    level, _, value = _text(table, "scope", where).partition(":")
    if level and (level not in _LEVELS or (level == "global" and value)):
        raise UsageError(f"{where}: 'scope' is no level, or level:value", remedy=f"The levels are {', '.join(_LEVELS)}")
    kind = _text(table, "kind", where)
    if kind and _KIND.fullmatch(kind) is None:
        raise UsageError(
            f"{where}: 'kind' is no kind of memory", remedy="Use fact, decision, procedure, … as 'save --kind' has it"
        )
    return Rule(level, value, kind, _span(table["expire_after"], "expire_after", where), str(table["expire_after"]))


def _text(table: Mapping[str, object], name: str, where: str) -> str:
    value = table.get(name)
    if name in table and not (isinstance(value, str) and value):
        raise UsageError(f"{where}: '{name}' is not a text in quotes")
    return str(value or "")


def _span(value: object, name: str, where: str) -> timedelta:
    span = parse_span(value) if isinstance(value, str) else None
    if not span:
        raise UsageError(
            f"{where}: '{name}' is no span of time", remedy='Write it as "90d": m, h, d or w, and more than none'
        )
    return span


def _refuse_unknown(table: Mapping[str, object], known: tuple[str, ...], where: str) -> None:
    for name in table:
        if name not in known:
            raise UsageError(f"{where}: there is no setting '{name}'", remedy=f"The settings are {', '.join(known)}")
