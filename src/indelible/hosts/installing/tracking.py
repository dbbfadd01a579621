"""What git makes of a file: whether it would take it, and whether it has it already."""

from __future__ import annotations

import subprocess

_PATIENCE = 20.0


def is_ignored(top: str | None, path: str) -> bool:
    """Whether git leaves a file out; where git cannot tell, nothing is said."""
    return top is None or _ended(top, "check-ignore", "-q", "--", path) != 1


def is_tracked(top: str | None, path: str) -> bool:
    """Whether a file is one of the repository's; where git cannot tell, it counts as none."""
    return top is not None and _ended(top, "ls-files", "--error-unmatch", "--", path) == 0


def _ended(top: str, *words: str) -> int:
    try:
        return subprocess.run(
            ["git", "-C", top, *words], capture_output=True, check=False, timeout=_PATIENCE
        ).returncode
    except (OSError, subprocess.TimeoutExpired):
        return -1
