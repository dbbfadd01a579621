"""What git ignores here: not part of the change, and told, so that nobody takes it for part of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from indelible.gitsource.command import Git, Running

MOST = 200
"""Names that a change lists; a folder that is ignored whole is one."""


def begin_ignored(git: Git, top: str) -> Running:
    """Start the looking."""
    return git.begin(top, "ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z")


def read_ignored(running: Running) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names, and a note where they are not all.

    Raises:
        GitFailed.
    """
    names = sorted(name for name in running.must().split(b"\0") if name)
    more = len(names) - MOST
    notes = (f"{more:,} more ignored files and folders are not listed",) if more > 0 else ()
    return tuple(os.fsdecode(name) for name in names[:MOST]), notes
