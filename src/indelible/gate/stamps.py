"""By what a file is known to be as it was when it was read, without reading it again."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from os import stat_result

RACY_NS = 2_000_000_000
"""A file system may give two changes within so long the same time."""

Stamp = tuple[int, int, int, int]


def stamp_of(seen: stat_result) -> Stamp:
    """Size in bytes, times in nanoseconds, and number of a file."""
    return seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino


def is_racy(stamp: Stamp, read_ns: int) -> bool:
    """Whether a change after it was read, at `read_ns`, might have left the stamp as it is."""
    return max(stamp[1:3]) >= read_ns - RACY_NS
