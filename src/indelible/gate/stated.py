"""Records as somebody states them, one JSON object on a line, judged without a store.

Two forms are read: the small one of the seed (`id`, `scope`, `source_revision`, `expires_at`, `reviewed`) and the
interchange form. Nothing of either is verified beyond its own digest, so in the interchange form nothing is reviewed: that is for
a log to say. A line that cannot be read is a verdict of its own, and hides none of the others.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from indelible.errors import UsageError
from indelible.gate.context import Context
from indelible.gate.place import GivenPlace
from indelible.gate.policy import judge
from indelible.gate.shape import signs
from indelible.gate.subject import Subject, claims, small
from indelible.gate.verdict import Reason, Verdict
from indelible.record.interchange import record_digest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from indelible.gate.context import World
    from indelible.gate.policy import Policy

FACTS = ("org", "user", "project", "session")
MEMBERS = frozenset({"agent", "branch", "global", "now", "repo", "revision", "scope", *FACTS})
"""What a stated context may have."""


class Stated(NamedTuple):
    """The verdict on one line."""

    line: int
    id: str
    """Empty where the line cannot be read."""
    verdict: Verdict


def context_of(said: Mapping[str, object], world: World) -> Context:
    """The context that a request states: `scope`, `revision`, `now`, `agent`, … each a text, but for `global`.

    Raises:
        UsageError: an unknown member, one of another type, or no time.
    """
    if unknown := sorted(said.keys() - MEMBERS):
        raise UsageError(f"A context has no '{unknown[0]}'", remedy=f"It has {', '.join(sorted(MEMBERS))}")
    texts = {name: value for name, value in said.items() if name != "global" and value is not None}
    if wrong := [name for name, value in texts.items() if not isinstance(value, str)]:
        raise UsageError(f"'{wrong[0]}' of the context is no text")
    if not isinstance(said.get("global", False), bool):
        raise UsageError("'global' of the context is neither true nor false")
    from indelible.record.times import parse_time

    given = {name: str(value) for name, value in texts.items()}
    scope, repo = given.get("scope"), given.get("repo")
    level, _, named = (scope or "").partition(":")
    place = GivenPlace(
        repo=repo or (named if level == "repo" else None), revision=given.get("revision"), branch=given.get("branch")
    )
    facts = {name: given[name] for name in FACTS if name in given}
    now = parse_time(given.get("now", ""), "now")
    return Context(given.get("agent", ""), now, place, world, facts, said.get("global") is True, scope=scope)


def judge_lines(data: bytes, policy: Policy, context: Context) -> Iterator[Stated]:
    """The verdict on each line of a JSON Lines file; empty lines are passed over."""
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            record = _object(line)
        except (ValueError, RecursionError) as exc:
            words = f"line {number} is no JSON object ({exc if isinstance(exc, _Broken) else type(exc).__name__})"
            yield Stated(number, "", Verdict(policy.mode, policy.condition.name, (Reason("record-broken", words),)))
            continue
        yield _judge(number, record, policy, context)


def _judge(number: int, record: dict[str, Any], policy: Policy, context: Context) -> Stated:
    if "spec" not in record and not isinstance(record.get("scope"), dict):
        subject = small(record, agent=context.reader)
        return Stated(number, subject.id, judge(policy, subject, context))
    subject = _interchanged(record, context.reader)
    verdict = judge(policy, subject, replace(context, scope=None))  # a scope of members is held against the place
    if altered := _altered(record):
        verdict = verdict._replace(reasons=(*verdict.reasons, altered))
    return Stated(number, subject.id, verdict)


def _interchanged(record: dict[str, Any], reader: str) -> Subject:
    said = claims(json.dumps(record).encode())
    scope, state, content = record.get("scope"), record.get("state"), record.get("content")
    agent = scope.get("agent") if isinstance(scope, dict) else None
    text = content.get("text") if isinstance(content, dict) else None
    return Subject(
        **said, agent=agent if isinstance(agent, str) else reader,
        state=str(state.get("value", "active")) if isinstance(state, dict) else "active",
        signs=signs(text) if isinstance(text, str) else (),
    )  # fmt: skip


def _altered(record: dict[str, Any]) -> Reason | None:
    """Why a record is not the one that its sender gave a digest of; None where it is, or none is stated."""
    integrity = record.get("integrity")
    if integrity is None:
        return None
    try:
        stated, found = integrity["digest"], str(record_digest(record))
    except (TypeError, KeyError, UsageError):
        return Reason("record-altered", "the digest that it states of itself cannot be read or computed")
    if stated == found:
        return None
    return Reason("record-altered", f"it states the digest {stated!r:.80} of itself, and has {found}")


class _Broken(ValueError):
    """What is wrong with a line, in words that hold nothing of it."""


def _object(line: bytes) -> dict[str, Any]:
    record = json.loads(line, object_pairs_hook=_members, parse_constant=_no_constant)
    if not isinstance(record, dict):
        raise _Broken("something else")
    return record


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Broken("a member stands there twice")
    return found


def _no_constant(_text: str) -> object:
    raise _Broken("a number that JSON does not have")
