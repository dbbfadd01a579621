"""How many files a session has read since its turn began: one short line for each, in a file beside its ledger.

    {state folder}/hooks/{host}-{session}.{number of the place}.read

Only where heavy work is refused. A lost line holds nothing up: nothing is synced.
"""

from __future__ import annotations

import os

from indelible.errors import IndelibleError
from indelible.files import append_line, remove
from indelible.light import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

ENDS = ".read"
_MOST = 1_000_000
_MOST_FILES = 4_096
"""Files of one pattern that are counted."""


def count(ledger_path: str, paths: Iterable[str]) -> int:
    """Note files that are about to be read; answers with how many different ones there are now, these too."""
    path = ledger_path.removesuffix(".json") + ENDS
    known = _known(path)
    fresh = {sha256(os.fsencode(one)).hexdigest()[:16] for one in _files(paths)} - known
    if fresh:
        try:
            append_line(path, "".join(f"{one}\n" for one in sorted(fresh)).encode())
        except (OSError, IndelibleError):
            return len(known) + len(fresh)
    return len(known) + len(fresh)


def forget(ledger_path: str) -> None:
    """A turn begins."""
    remove(ledger_path.removesuffix(".json") + ENDS)


def _known(path: str) -> set[str]:
    try:
        with open(path, "rb") as file:
            return set(file.read(_MOST).decode("ascii", "replace").split())
    except OSError:
        return set()


def _files(paths: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for one in paths:
        if any(char in one for char in "*?[") and not os.path.exists(one):
            from glob import iglob

            for _, name in zip(range(_MOST_FILES), iglob(one), strict=False):
                found.add(os.path.realpath(name))
        elif "\0" not in one and os.path.isfile(one):
            found.add(os.path.realpath(one))
    return found
