"""What `hooks` says of one host: what was done to its files, and how its hooks stand."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from indelible.cli.output import BAD, OK, WARN, visible, write

if TYPE_CHECKING:
    from indelible.cli.session import Session
    from indelible.hosts.installing.proving import Standing
    from indelible.hosts.installing.running import Done


def say_done(session: Session, one: Done, *, dry_run: bool, verb: str) -> None:
    """What became of one host."""
    name = f"{one.title} ({one.scope})"
    if one.error is not None:
        session.output.aside(f"{BAD} {name}: {visible(str(one.error))}")
        if not one.edits:
            return
    if dry_run and not session.output.json:
        for edit in one.edits:
            _show_diff(edit.path, edit.before or b"", edit.after or b"")
    what = "would be changed" if dry_run else verb
    session.output.line(f"{OK} {name}: {what if one.edits else f'nothing to change, {verb} already'}")
    for laid in one.laid:
        kept = f" (before: {laid.backup})" if laid.backup else ""
        session.output.line(f"   {'wrote' if laid.edit.after is not None else 'took away'} {laid.edit.path}{kept}")
    for note in one.notes:
        session.output.aside(f"{WARN} {note}")


def _show_diff(path: str, before: bytes, after: bytes) -> None:
    from difflib import unified_diff

    old, new = (content.decode("utf-8", "backslashreplace").splitlines() for content in (before, after))
    for line in unified_diff(old, new, path, path, lineterm=""):
        write(sys.stdout, "\t".join(map(visible, line.split("\t"))) + "\n")


def say_standing(session: Session, one: Standing) -> None:
    """How the hooks of one host stand."""
    name = f"{one.title} ({one.scope})"
    if not one.installed and not one.problems:
        session.output.line(f"{WARN} {name}: not installed")
        return
    trusted = {True: ", trusted", False: ", not trusted", None: ""}[one.trusted]
    said = f"{'current' if one.current else 'not current'}, {'fires' if one.fires else 'does not fire'}{trusted}"
    mark = BAD if not one.works else WARN if one.warnings else OK
    session.output.line(
        f"{mark} {name}: {said if one.installed else 'cannot be looked at'}" + (f"  {one.file}" if one.file else "")
    )
    for problem in (*one.problems, *one.warnings):
        session.output.line(f"   {visible(problem)}")
