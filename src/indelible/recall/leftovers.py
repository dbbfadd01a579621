"""Which files in an index's folder are the index's own, and which of those a process left that was killed.

    index.db, -wal, -shm        the catalogue
    vectors.bin                 vectors
    seg-PPPPPPPPRRRRRRRR.idx    a segment, finished: the number of the process that made it in hex, and a random one
    ….idx.partN, .tmp-…-PID-…   in the making
    <folder>.PID.check          a folder beside it, of a check that is under way

Nothing else is ever opened or taken away: a foreign file that somebody put into the folder stays, whatever is in it. Whether a
process lives is asked of this machine; one behind another's process numbers (a container) that loses its file so derives it again.
Imports no numpy.
"""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from indelible.files import remove

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

CATALOG, VECTORS = "index.db", "vectors.bin"
SEGMENT = re.compile(r"seg-([0-9a-f]{8})[0-9a-f]{8}\.idx", re.ASCII)
"""The name of a segment; no other is opened, whatever a catalogue says."""
LEFT_OVER = 3600
"""Seconds after which a file in the making is nobody's, though its process lives."""
UNNAMED = 60
"""Seconds after which a finished segment is nobody's that no catalogue names: between the two lies one transaction."""
_MAKING = r"\.tmp-[a-z]+-(?P<pid>[0-9]{1,10})-[0-9a-f]+|seg-(?P<hex>[0-9a-f]{8})[0-9a-f]{8}\.idx\.part[0-9]+"
_CHECK = r"\.([0-9]{1,10})\.check"


def segment_name() -> str:
    """A name that no other segment has."""
    return f"seg-{os.getpid() & 0xFFFFFFFF:08x}{os.urandom(4).hex()}.idx"


def check_folder(folder: str) -> str:
    """Where this process derives the index of `folder` a second time."""
    return f"{folder}.{os.getpid()}.check"


def lives(pid: int) -> bool:
    """Whether there is such a process; where that cannot be asked, there is."""
    if not 0 < pid < 1 << 31:
        return False
    if os.name != "posix":
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def tidy(folder: str, named: Collection[str]) -> None:
    """Take away what nobody makes any more, and segments that are not `named`."""
    for entry in _entries(folder):
        making = re.fullmatch(_MAKING, entry.name)
        segment = SEGMENT.fullmatch(entry.name) if entry.name not in named else None
        if making is not None:
            pid, age = int(making["pid"] or int(making["hex"], 16)), LEFT_OVER
        elif segment is not None:
            pid, age = int(segment[1], 16), UNNAMED
        else:
            continue
        if not lives(pid) or _age(entry) >= age:
            remove(entry.path)


def tidy_checks(folder: str) -> None:
    """Take away the folders of checks whose process was killed, with what is ours in them."""
    parent, name = os.path.split(folder)
    for entry in _entries(parent):
        found = re.fullmatch(_CHECK, entry.name[len(name) :]) if entry.name.startswith(name) else None
        if found is not None and entry.is_dir(follow_symlinks=False) and not lives(int(found[1])):
            drop_folder(entry.path)


def drop_folder(folder: str) -> None:
    """Take away an index, and its folder if nothing foreign is in it."""
    drop_all(folder)
    with suppress(OSError):
        os.rmdir(folder)


def drop_all(folder: str) -> None:
    """Take away everything of an index, whoever uses it."""
    for entry in _entries(folder):
        beside = entry.name in (VECTORS, *(CATALOG + end for end in ("", "-wal", "-shm", "-journal")))
        if beside or SEGMENT.fullmatch(entry.name) or re.fullmatch(_MAKING, entry.name):
            remove(entry.path)


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    """Nothing of a folder that is a link, or none."""
    if os.path.islink(folder):
        return
    with suppress(OSError), os.scandir(folder) as found:
        yield from list(found)


def _age(entry: os.DirEntry[str]) -> float:
    try:
        return time.time() - entry.stat(follow_symlinks=False).st_mtime
    except OSError:
        return 0.0
