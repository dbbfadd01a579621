"""archive, unarchive, restore, erase."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from indelible.cli import common
from indelible.cli.output import OK, WARN, shown
from indelible.cli.saving import masking_of
from indelible.errors import UsageError

if TYPE_CHECKING:
    from indelible.cli.session import Session
    from indelible.memory import Saved


def _say(session: Session, saved: Saved, did: str, whence: str = "") -> None:
    place = f" (version {saved.version}, entry {saved.seq})" if saved.version else ""  # a plain server numbers nothing
    session.output.line(f"{OK} {did}  {shown(saved.key)}{place}{whence}")
    for warning in (*saved.warnings, *masking_of(saved)):
        session.output.aside(f"{WARN} {warning}")
    session.output.document({
        "ok": True, "exit_code": 0, "slug": did, "key": saved.key, "version": saved.version, "seq": saved.seq, "op": saved.op,
        "sha256": saved.sha256 or None, "repeated": saved.repeated, "warnings": list(saved.warnings),
        "masked": list(saved.masked),
    })  # fmt: skip


@click.command()
@common.key_argument
@common.reason_option
@common.op_option
@click.pass_obj
def archive(session: Session, key: str, reason: str | None, op: str | None) -> None:
    """Put KEY away: kept and verifiable, no longer handed out."""
    with common.target(session) as memory:
        _say(session, memory.archive(key, reason=reason, op=op), "archived")


@click.command()
@common.key_argument
@common.reason_option
@common.op_option
@click.pass_obj
def unarchive(session: Session, key: str, reason: str | None, op: str | None) -> None:
    """Bring an archived KEY back."""
    with common.target(session) as memory:
        _say(session, memory.unarchive(key, reason=reason, op=op), "unarchived")


@click.command()
@common.key_argument
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option(
    "--verify",
    is_flag=True,
    help="Search the raw bytes of every file for what was erased. Exit 1 where it is still found.",
)
@click.option(
    "--text",
    "file",
    metavar="FILE",
    help="With --verify: search for what is in FILE too; of a KEY that was erased before, for that alone.",
)
@common.reason_option
@common.op_option
@click.pass_obj
def erase(
    session: Session, *, key: str, yes: bool, verify: bool, file: str | None, reason: str | None, op: str | None
) -> int:
    """Take content and record of every version of KEY away for good; the log and its proofs stand."""
    from indelible import erasing
    from indelible.cli import erased

    if file is not None and not verify:
        raise UsageError("--text says what to search for", remedy="Say --verify too")
    if verify:
        return erased.erase_and_search(session, key, lambda: _confirm(key, yes=yes), file, reason=reason, op=op)
    _confirm(key, yes=yes)
    with common.target(session) as memory:
        done = erasing.erase(common.settings_of(session), memory, key, reason=reason, op=op)
    _say(session, done.saved._replace(warnings=done.warnings), "erased", erased.with_it(done))
    return 0


def _confirm(key: str, *, yes: bool) -> None:
    if yes:
        return
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError(
            "Erasing cannot be undone, and there is no terminal to ask on", remedy="Say --yes if that is meant"
        )
    click.confirm(f"Erase every version of {shown(key)}? This cannot be undone", abort=True, err=True)


@click.command()
@common.key_argument
@click.option(
    "--version", "number", type=click.IntRange(1), metavar="N", help="The version to bring back as the newest."
)
@click.option(
    "--from-git",
    is_flag=True,
    help="Fetch the original at its recorded source and branch, check its digest, save it as a new version.",
)
@click.option("--source", metavar="OWNER/REPO/PATH", help="With --from-git, where no source was recorded.")
@click.option("--branch", metavar="NAME", help="With --from-git, where no branch was recorded.")
@click.option("--sha256", "digest", metavar="HEX", help="With --from-git, the digest that the original must have.")
@common.reason_option
@common.op_option
@click.pass_obj
def restore(
    session: Session, *, key: str, number: int | None, from_git: bool, source: str | None, branch: str | None, digest: str | None,
    reason: str | None, op: str | None,
) -> None:  # fmt: skip
    """Bring KEY back: an older version, or the original from git where the store's copy failed or is gone."""
    if (number is None) == (not from_git):
        raise UsageError("Say what to restore from", remedy="Use --version N, or --from-git")
    if number is not None:
        with common.target(session) as memory:
            _say(session, memory.restore(key, number, reason=reason, op=op), "restored", f": version {number} again")
        return
    from indelible.cli.resyncing import resync

    saved, original = resync(session, key, source=source, branch=branch, digest=digest, reason=reason, op=op)
    _say(session, saved, "restored", f" from {original}")
