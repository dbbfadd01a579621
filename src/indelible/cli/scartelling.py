"""How scars and attempts are told: lines for people, rows for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indelible.cli.output import BAD, OK, WARN, counted, visible
from indelible.errors import IntegrityError
from indelible.workflow.scars import COMMAND, said

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from indelible.cli.session import Session
    from indelible.entry import Noted
    from indelible.stepping.scars import Looked
    from indelible.workflow.scars import Attempt, Scar

BARRED = "scar-barred"
"""The slug where a barrier is hit."""


def row(scar: Scar) -> dict[str, object]:
    """One scar for `--json`."""
    lists = ("evidence", "paths", "commands", "added", "waived")
    texts = ("id", "title", "tried", "why", "level", "retired", "expires", "by", "at")
    return {
        **{name: getattr(scar, name) for name in texts}, **{name: list(getattr(scar, name)) for name in lists},
        "scope": _scope(scar),
    }  # fmt: skip


def counted_scars(number: int) -> str:
    """`1 scar`, `2 scars`."""
    return counted(number, "scar", "scars")


def close(session: Session, slug: str, warnings: Sequence[str], **facts: object) -> None:
    """Warnings, and the document of a verb that did what it was called for."""
    for warning in warnings:
        session.output.aside(f"{WARN} {visible(warning)}")
    session.output.document({"ok": True, "exit_code": 0, "slug": slug, "warnings": list(warnings), **facts})


def beside(scar: Scar, notes: Sequence[Noted]) -> Iterator[str]:
    """What is known of a scar besides its text."""
    until = f", until {scar.expires}" if scar.expires else ""
    yield f"Recorded {scar.at} by {visible(scar.by)}; scope {visible(_scope(scar))}{until}"
    for note in notes:
        yield f"Waived {note.at}: sha256:{note.digest}  {visible(note.reason or '')}"


def tell_list(session: Session, found: Looked, warnings: Sequence[str], *, every: bool) -> int:
    """All scars, or those in force; gives the exit code."""
    for scar in found.scars:
        session.output.line(f"{scar.id}  {scar.level}  {visible(scar.title)}")
    if every:
        for one in found.held:
            session.output.line(
                f"{one.scar.id}  held  {visible(one.scar.title)}: {visible('; '.join(reason.message for reason in one.reasons))}"
            )
        for scar in found.retired:
            session.output.line(f"{scar.id}  retired  {visible(scar.title)}: {visible(scar.retired)}")
    rest = len(found.held) + len(found.retired)
    more = f"; {rest} more not in force here ('indelible scar list --all')" if rest and not every else ""
    session.output.line(f"{counted_scars(len(found.scars))} in force{more}")
    code = _tell_findings(session, found.findings)
    for warning in warnings:
        session.output.aside(f"{WARN} {visible(warning)}")
    session.output.document({
        "ok": not code, "exit_code": code, "slug": "scars" if not code else IntegrityError.slug, "scars": [row(one) for one in found.scars],
        "held": [{**row(one.scar), "reasons": [reason._asdict() for reason in one.reasons]} for one in found.held],
        "retired": [row(one) for one in found.retired], "findings": [one.as_dict() for one in found.findings], "warnings": list(warnings),
    })  # fmt: skip
    return code


def tell_check(session: Session, found: Sequence[Attempt], findings: Sequence[IntegrityError], number: int) -> int:
    """What was noticed; gives the exit code: 2 where a barrier is hit, or where nobody knows what all barriers are."""
    barred = any(one.is_barred for one in found)
    for one in found:
        session.output.aside(f"{BAD if one.is_barred else WARN} {visible(said(one))}")
        session.output.aside(f"   by {one.by} '{visible(one.pattern)}'; if that is a false alarm: {waiver(one)}")
    code = _tell_findings(session, findings) or (2 if barred else 0)
    if not found and not code:
        session.output.line(f"{OK} nothing that failed before ({counted_scars(number)} in force)")
    slug = IntegrityError.slug if findings else BARRED if barred else "scar-warned" if found else "scar-free"
    session.output.document({
        "ok": not code, "exit_code": code, "slug": slug, "attempts": [attempt_row(one) for one in found], "scars": number,
        "findings": [one.as_dict() for one in findings],
    })  # fmt: skip
    return code


def waiver(one: Attempt) -> str:
    """The command that waives an attempt, for a person."""
    return f"indelible scar waive {one.scar.id} --digest {one.digest} --reason TEXT"


def attempt_row(one: Attempt) -> dict[str, object]:
    """One attempt for `--json`."""
    return {
        "id": one.scar.id, "level": one.scar.level, "title": one.scar.title, "why": one.scar.why, "by": one.by, "pattern": one.pattern,
        "where": one.where if one.by != COMMAND else None, "line": one.line or None, "digest": one.digest, "commit": one.commit or None,
    }  # fmt: skip


def _tell_findings(session: Session, findings: Sequence[IntegrityError]) -> int:
    for finding in findings:
        session.output.aside(f"{BAD} {visible(str(finding))}")
    return 2 if findings else 0


def _scope(scar: Scar) -> str:
    scope = scar.scope
    if scope is None:
        return "unknown"
    named = getattr(scope, scope.level, None) or (" ".join(scope.paths) if scope.level == "path" else "")
    return f"{scope.level}:{named}" if named else scope.level
