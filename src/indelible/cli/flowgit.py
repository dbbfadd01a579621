"""flow hook, flow check: what git's hooks call, and what CI calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from indelible.cli import common
from indelible.cli.output import BAD, OK, WARN, counted, visible
from indelible.errors import Unchecked, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indelible.cli.session import Session
    from indelible.githooks.receiving import Terms
    from indelible.seal.note import Verifier
    from indelible.settings import Settings
    from indelible.workflow.commits import Finding
    from indelible.workflow.scars import Attempt

BLOCKED, UNCHECKED = 2, 1
NOTHING, BEHIND = "no-commits", "range-turned-round"


def _complete_event(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    from indelible.githooks.scripts import EVENTS

    return [event for event in EVENTS if event.startswith(incomplete)]


@click.command(hidden=True, context_settings={"ignore_unknown_options": True})
@click.argument("event", shell_complete=_complete_event)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_obj
def hook(session: Session, event: str, arguments: tuple[str, ...]) -> int:
    """Answer git's hook EVENT: what the scripts call that 'indelible hooks install --git' writes. Nobody types it."""
    from indelible.githooks.hook import run

    code = run(event, arguments)
    slug = "blocked" if code else "allowed"
    session.output.document({"ok": not code, "exit_code": code, "slug": slug, "event": event})
    return code


approver_option = click.option(
    "--approver", "vkeys", metavar="VKEY", multiple=True, help="The public key of an approver. Any number of times."
)
approvers_option = click.option(
    "--approvers", "file", metavar="FILE", type=click.Path(exists=True, dir_okay=False),
    help="A file of approvers, as a receiving repository has it. [INDELIBLE_APPROVERS]",
)  # fmt: skip

repository_option = click.option(
    "--repository", "repositories", metavar="NAME", multiple=True,
    help="The repository that receipts have to be for, by its address or its name in them. Any number of times. [not looked at]",
)  # fmt: skip


@click.command()
@click.option("--range", "span", metavar="A..B", required=True, help="The commits that B has and A has not.")
@approver_option
@approvers_option
@repository_option
@click.option("--target", metavar="NAME", help="The target whose receipt each commit needs. [approved-diff]")
@click.option(
    "--scars",
    "export",
    metavar="FILE",
    help="Look for what failed before, too: the patterns of 'indelible scar export FILE'.",
)
@click.pass_obj
def check(
    session: Session, span: str, vkeys: tuple[str, ...], file: str | None, *, repositories: tuple[str, ...], target: str | None,
    export: str | None,
) -> int:  # fmt: skip
    """Check that every commit of a range carries an approver's receipt for exactly what it is. Public keys are enough.

    Exit 2 where one does not, or is what a barrier bars; 1 where it could not be checked; 0 where all do, or where there
    is none between two commits of which the second is on top of the first.
    """
    from indelible import settings as kept
    from indelible.githooks.receiving import repository_named
    from indelible.workflow.commits import Trust, check_range

    folder, environ = kept.here()
    old, new = _parse_span(span)
    terms = _terms(folder, environ, old, vkeys, file)
    named = tuple(map(repository_named, repositories)) or terms.repositories
    with common.progress(session.output, "Checking commits") as progress:
        findings = check_range(
            folder, environ, old, new, Trust(terms.approvers, target or terms.target, terms.revoked, named),
            known=terms.baseline, progress=progress,
        )  # fmt: skip
    is_behind = not findings and _is_behind(folder, environ, old, new)
    return _report(session, findings, span, _attempts(folder, environ, old, new, export), is_behind=is_behind)


def _attempts(folder: str, environ: Mapping[str, str], old: str, new: str, export: str | None) -> tuple[Attempt, ...]:
    """What of a range failed before, by an export; nothing vouches for its patterns."""
    if export is None:
        return ()
    from indelible.stepping.scarchecks import read_export
    from indelible.workflow.addedlines import attempts_in_range

    return attempts_in_range(folder, environ, old, new, read_export(export))


def _report(
    session: Session, findings: tuple[Finding, ...], span: str, attempts: tuple[Attempt, ...], *, is_behind: bool
) -> int:
    from indelible.cli.scartelling import attempt_row
    from indelible.workflow.scars import said

    wrong = [one for one in findings if not (one.ok or one.unchecked)]
    unseen = [one for one in findings if one.unchecked]
    for one in findings:
        session.output.line(f"{OK if one.ok else WARN if one.unchecked else BAD} {visible(one.text)}")
    for attempt in attempts:
        session.output.aside(f"{BAD if attempt.is_barred else WARN} {visible(said(attempt))}")
    barred = any(one.is_barred for one in attempts)
    code = BLOCKED if wrong or barred else UNCHECKED if unseen else 0
    slug = {BLOCKED: "blocked", UNCHECKED: "unchecked", 0: "approved"}[code]
    if not findings and not barred:
        code, slug = _report_nothing(session, span, is_behind=is_behind)
    if wrong:
        session.output.aside(
            f"{BAD} {counted(len(wrong), 'commit', 'commits')} that nobody approved as it is: 'indelible approve', then commit again"
        )
    elif unseen:
        session.output.aside(
            f"{WARN} not all of it could be seen: fetch the whole history ('git fetch --unshallow'; fetch-depth: 0 in CI)"
        )
    session.output.document({
        "ok": not code, "exit_code": code, "slug": slug, "range": span, "commits": [one._asdict() for one in findings],
        "attempts": [attempt_row(one) for one in attempts],
    })  # fmt: skip
    return code


def _report_nothing(session: Session, span: str, *, is_behind: bool) -> tuple[int, str]:
    """Exit code and slug of a range without commits: nobody approved anything."""
    if not is_behind:
        session.output.line(f"{OK} there is no commit in {visible(span)}: nothing was checked")
        return 0, NOTHING
    session.output.aside(
        f"{WARN} there is no commit in {visible(span)}, and its first end does not lie before its second: nothing was checked. "
        "Write --range A..B with the older one first, and see that the checkout is of what is to be checked"
    )
    return UNCHECKED, BEHIND


def _is_behind(folder: str, environ: Mapping[str, str], old: str, new: str) -> bool:
    """Whether B of `A..B` is not on top of A."""
    from indelible.gitsource.command import Git

    git = Git(environ, 60.0)
    return bool(old) and bool(
        git.run(folder, "merge-base", "--is-ancestor", f"{old}^{{commit}}", f"{new}^{{commit}}").code
    )


def _parse_span(span: str) -> tuple[str, str]:
    """`(A, B)` of `A..B`; an A of zeros, as CI has for a new branch, is none."""
    old, dots, new = span.partition("..")
    if not dots or new.startswith(".") or ".." in new:
        raise UsageError(f"{span!r} is no range", remedy="Write --range A..B, two commits with two dots between")
    return ("" if not old.strip("0") else old), new or "HEAD"


def _terms(folder: str, environ: Mapping[str, str], old: str, vkeys: tuple[str, ...], file: str | None) -> Terms:
    """Whose receipts count: as the caller says, else as this machine knows, else as the repository had it before these commits.

    Raises:
        Unchecked: nobody is named.
    """
    from indelible.githooks.receiving import Terms, read_terms
    from indelible.seal.note import Verifier
    from indelible.settings.judging import approvers_file

    named = file or ("" if vkeys else approvers_file(environ))
    terms = read_terms(named) if named else Terms(())
    terms = terms._replace(approvers=(*terms.approvers, *map(Verifier, vkeys)))
    if not named and not vkeys:
        terms = terms._replace(approvers=_known(folder, environ, old))
    if not terms.approvers:
        raise Unchecked(
            "Nobody is named who may approve, so that nothing can be checked",
            remedy="Say --approver VKEY, name a file in INDELIBLE_APPROVERS, or put [approvers] into .indelible/config.toml",
        )
    return terms


def _known(folder: str, environ: Mapping[str, str], old: str) -> tuple[Verifier, ...]:
    from indelible import settings as kept
    from indelible import wiring
    from indelible.workflow.proposals import approvers_at

    found: Settings = kept.spare()
    here = wiring.approvers(found)
    return here or approvers_at(folder, environ, old)
