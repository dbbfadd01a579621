"""Which place a folder lies in: the top of its checkout, or the folder that was initialised. A few stats; git is not run.

As `settings.repository` has it, but for the ceilings of git, which only make two places of one here.
"""

from __future__ import annotations

import os

from indelible.hosts.words import UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FOLDER = ".indelible"
"""As in `settings.repository`, which a gate does not load."""
_MOST_BYTES = 8_192
_MOST = 16
"""Other places that one call is held against."""


def place_of(folder: str) -> str:
    """The top; empty outside of any."""
    at, initialised = os.path.realpath(folder), ""
    while True:
        if os.path.exists(os.path.join(at, ".git")):
            return at
        if not initialised and os.path.isdir(os.path.join(at, FOLDER)):
            initialised = at
        above = os.path.dirname(at)
        if above == at:
            return initialised
        at = above


def main_of(place: str) -> str:
    """The checkout that a linked worktree belongs to; empty for any other place."""
    try:
        with open(os.path.join(place, ".git"), "rb") as file:
            told = os.fsdecode(file.read(_MOST_BYTES)).strip()
    except (OSError, ValueError):
        return ""
    folder = os.path.join(place, told.removeprefix("gitdir: "))
    common, found, _ = os.path.normpath(folder).partition(f"{os.sep}worktrees{os.sep}")
    return os.path.realpath(os.path.dirname(common)) if found and os.path.basename(common) == ".git" else ""


def others(paths: Iterable[str], place: str, home: str) -> Iterator[str]:
    """Places of ours, other than `place`, that absolute paths lie in: the first sixteen.

    Args:
        home: what a tilde stands for.
    """
    seen, asked = {place, ""}, set()
    for path in paths:
        if UNKNOWN in path or "\0" in path:
            continue
        folder = nearest(home + path[1:] if path[:2] == "~/" or path == "~" else path)
        if folder in asked:
            continue
        asked.add(folder)
        found = place_of(folder)
        if found not in seen and len(seen) < _MOST + 2:
            seen.add(found)
            if os.path.isdir(os.path.join(found, FOLDER)):
                yield found


def holds_one(folder: str) -> str:
    """A folder of ours right in `folder`, or one level below; empty where there is none."""
    if os.path.isdir(direct := os.path.join(folder, FOLDER)):
        return direct
    try:
        with os.scandir(folder) as entries:
            for _, entry in zip(range(_MOST * _MOST), entries, strict=False):
                if os.path.isdir(below := os.path.join(entry.path, FOLDER)):
                    return below
    except OSError:
        return ""
    return ""


def nearest(path: str) -> str:
    """The innermost folder of a path that is there."""
    while path and not os.path.isdir(path):
        above = os.path.dirname(path)
        if above == path:
            break
        path = above
    return path
