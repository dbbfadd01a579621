"""`hooks statusline` without click: one line for a host that asks at every turn."""

from __future__ import annotations

import os
import sys

from indelible.cli.output import BAD, OK, WARN, Output, visible
from indelible.errors import IndelibleError
from indelible.light import TYPE_CHECKING, NamedTuple
from indelible.state import glance

if TYPE_CHECKING:
    from typing import TextIO

    from indelible.settings import Settings

_MAX = 1_000_000


class Line(NamedTuple):
    """What the status line says, and the numbers in it."""

    line: str
    state: str
    """The slug of the last boot; `unknown` where there was none here."""
    verified: int = 0
    held: int = 0
    stale: int = 0


def statusline(arguments: list[str]) -> int | None:
    """The exit code, or None where the full command line must look: a host shows no line of a command that fails."""
    if arguments != ["hooks", "statusline"]:
        return None
    Output().give(look(sys.stdin).line)
    return 0


def look(stream: TextIO | None) -> Line:
    """The line for the folder that the host names on its standard input, or for the current one."""
    from indelible import settings

    try:
        return _line(settings.load(_folder(stream)))
    except IndelibleError as error:
        return Line(f"{WARN} indelible: {visible(error.message)}", "unknown")


def _line(settings: Settings) -> Line:
    boot = settings.boot
    last = glance.last(settings.state_dir, boot.directory or settings.store)
    if last is None:
        return Line(f"{WARN} indelible: not booted here ('indelible boot')", "unknown")
    if last.slug != "booted":
        mark = BAD if last.slug == "tampered" else WARN
        return Line(f"{mark} indelible: {last.slug}{': ' if last.said else ''}{visible(last.said)}", last.slug)
    stale = last.stale(glance.stamps(boot.directory, settings.checkout, boot.memories))
    said = f"{last.verified} verified, {last.held} held, {stale} stale"
    return Line(f"{WARN if stale else OK} indelible: {said}", last.slug, last.verified, last.held, stale)


def _folder(stream: TextIO | None) -> str | None:
    """The current folder of the session, as Claude Code, Qwen Code and Cursor tell it."""
    if stream is None or stream.closed or stream.isatty():
        return None
    import json

    try:
        told = json.loads(stream.buffer.read(_MAX) or b"{}")
        workspace = told.get("workspace")
        folder = (workspace.get("current_dir") if isinstance(workspace, dict) else None) or told.get("cwd")
    except (ValueError, AttributeError, OSError):
        return None
    return folder if isinstance(folder, str) and os.path.isdir(folder) else None
