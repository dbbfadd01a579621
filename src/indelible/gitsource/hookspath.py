"""Where the user has git look for hooks: `core.hooksPath`, whatever our own runs of git are told."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from indelible.errors import UsageError

if TYPE_CHECKING:
    from indelible.gitsource.command import Git


def hooks_path(git: Git, folder: str) -> tuple[str, str]:
    """Scope and value of the setting that holds, with a `~` made a path; two empty texts where it is not set.

    Raises:
        UsageError: git cannot read its settings.
    """
    ended = git.run(folder, "config", "--show-scope", "--type=path", "-z", "--get-all", "core.hooksPath")
    if ended.code not in (0, 1):
        raise UsageError(f"Git's settings cannot be read in {folder} ({ended.fault})", remedy="Mend them first")
    parts = os.fsdecode(ended.out).split("\0")[:-1]
    pairs = [(scope, value) for scope, value in zip(parts[::2], parts[1::2], strict=True) if scope != "command"]
    return pairs[-1] if pairs else ("", "")
