"""What `save` was told about a memory, put into its record."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from indelible.errors import UsageError
from indelible.record import Record, Scope, draft
from indelible.spans import parse_span, shifted

if TYPE_CHECKING:
    from collections.abc import Callable

    from indelible.memory import Memory

KINDS = (
    "fact",
    "decision",
    "procedure",
    "preference",
    "constraint",
    "failure",
    "observation",
    "task_state",
    "reference",
)
ORIGINS = ("user", "agent", "tool", "external")


class Told(NamedTuple):
    """The options of one save; None where nothing was said."""

    kind: str | None = None
    title: str | None = None
    tags: tuple[str, ...] = ()
    scope: Scope | None = None
    authority: str | None = None
    origin: str | None = None
    expires: str | None = None
    visibility: str | None = None
    on_change: str | None = None
    review_by: str | None = None
    valid_from: str | None = None
    valid_until: str | None = None


def record_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say something about the memory itself."""
    options = (
        click.option("--kind", type=click.Choice(KINDS), help="What kind of memory it is. [fact]"),
        click.option("--title", metavar="TEXT", help="A line for people."),
        click.option("--tag", "tags", metavar="TAG", multiple=True, help="Any number of times."),
        click.option(
            "--scope",
            metavar="LEVEL[:VALUE]",
            help="Where it applies: global, repo:github.com/o/r, branch:NAME, path:GLOB, … [agent]",
        ),
        click.option(
            "--authority",
            type=click.Choice(("reference", "instruction")),
            help="A rule must still be reviewed to be given as one. [reference]",
        ),
        click.option("--origin", type=click.Choice(ORIGINS), help="What kind of source the text comes from. [agent]"),
        click.option(
            "--visibility",
            type=click.Choice(("private", "shared", "public")),
            help="Whether other agents may read it (INDELIBLE_READER says who reads). [private]",
        ),
        click.option(
            "--on-change",
            type=click.Choice(("hold", "warn", "ignore")),
            help="What follows when what it is anchored to changed. [hold]",
        ),
        click.option("--expires", metavar="TIME", help="When it stops applying: 30d, 12h, 2026-12-31, or RFC 3339."),
        click.option("--review-by", metavar="TIME", help="When somebody should look at it again."),
        click.option("--valid-from", metavar="TIME", help="What it says is true from then on."),
        click.option("--valid-until", metavar="TIME", help="What it says is true until then."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def told(now: str, *, scope: str | None, tags: tuple[str, ...], **said: str | None) -> Told:
    """Check the options and put times into UTC."""
    times = {
        name: parse_time(text, now)
        for name in ("expires", "review_by", "valid_from", "valid_until")
        if (text := said.pop(name)) is not None
    }
    first, last = times.get("valid_from"), times.get("valid_until")
    if first is not None and last is not None and last <= first:
        raise UsageError(f"--valid-until {last} is not after --valid-from {first}", remedy="Say a time after it")
    return Told(scope=parse_scope(scope) if scope else None, tags=tags, **times, **said)


def drafting(
    memory: Memory, key: str, content: bytes, options: Told, now: str, entropy: Callable[[int], bytes]
) -> Callable[[Record | None], Record]:
    """A maker of the record, given the version before."""

    def make(earlier: Record | None) -> Record:
        if earlier is not None:
            record = memory.revise(earlier, content)
        else:
            record = draft(
                key,
                content,
                agent=memory.agent,
                author=f"agent:{memory.agent}",
                now=now,
                random=entropy(10),
                team=memory.team,
            )
        return _apply(record, options)

    return make


def _apply(record: Record, options: Told) -> Record:
    said: dict[str, Any] = {
        name: value for name in ("kind", "title", "scope", "tags") if (value := getattr(options, name))
    }
    if options.visibility:
        said["scope"] = replace(said.get("scope", record.scope), visibility=options.visibility)
    if options.authority:
        said["trust"] = replace(record.trust, authority=options.authority)
    if options.origin:
        said["origin"] = replace(record.origin, class_=options.origin)
    times: dict[str, Any] = {
        "expires_at": options.expires,
        "review_by": options.review_by,
        "valid_from": options.valid_from,
        "valid_until": options.valid_until,
        "on_change": options.on_change,
    }
    given = {name: value for name, value in times.items() if value is not None}
    if given:
        said["validity"] = replace(record.validity, **given)
    return replace(record, **said) if said else record


def parse_scope(text: str) -> Scope:
    """`LEVEL` or `LEVEL:VALUE`; the value goes to the member of that name."""
    level, _, value = text.partition(":")
    fields = {"path": "paths", "global": ""}
    field = fields.get(level, level)
    if level not in ("global", "org", "user", "project", "repo", "branch", "path", "session", "agent"):
        raise UsageError(
            f"--scope: {level!r} is no level",
            remedy="Use global, org, user, project, repo, branch, path, session or agent",
        )
    if level == "path" and not value:
        raise UsageError("--scope path does not say which", remedy="Say path:GLOB")
    if not value or not field:
        return Scope(level)
    named: dict[str, Any] = {field: (value,) if field == "paths" else value}
    return Scope(level, **named)


def parse_time(text: str, now: str, *, back: bool = False) -> str:
    """A span from now, a day, or an RFC 3339 time with its zone, as RFC 3339 in UTC.

    Args:
        back: a span leads into the past.

    Raises:
        UsageError: none of these, or a time without a zone.
    """
    if (span := parse_span(text)) is not None:
        return shifted(now, -span if back else span)
    try:
        at = datetime.fromisoformat(text if "T" in text.upper() else f"{text}T00:00:00+00:00")
    except ValueError as exc:
        raise UsageError(
            f"{text!r} is no time",
            remedy="Use a span (30d, 12h), a day (2026-12-31), or RFC 3339 (2026-12-31T09:00:00Z)",
        ) from exc
    if at.tzinfo is None:
        raise UsageError(f"{text!r} has no zone", remedy="Add Z for UTC, or +09:00 and the like")
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
