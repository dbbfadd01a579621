"""Questions about the segments and rows of one index."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from indelible.errors import NotSaved, UsageError
from indelible.recall.ascending import united, within
from indelible.recall.segment import Segment, merge

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from indelible.recall.catalog import Named
    from indelible.recall.row import Row

TRIES = 8
"""How often the catalogue is read anew where what it named is gone: others made one segment of several meanwhile."""
CANNOT_KEEP = (OSError, NotSaved, UsageError)
"""The disk or another process does not let it be written: it works in memory."""
KEEPS_NOT = "The index could not be kept ({}): the next recall derives it again"
LEFT = "Something of it may still be in the index ({}): 'indelible reindex' makes that anew"
STAYS = "Something of it may still be in {0} or {0}-wal: another process reads there, and it goes at the next recall after that"
TIER = 8
"""Segments of about one size that become one."""
NO_ROW = (UsageError, ValueError, TypeError, AttributeError, OverflowError)
"""What comes of a row that somebody wrote who knows how its check is made."""


def entries_in(segments: Iterable[Segment], seqs: Sequence[int]) -> set[int]:
    """Those of these entries that lie in a segment."""
    sought = np.array(sorted(seqs), "<u8")
    return {seq for segment in segments for seq in segment.columns.seqs[segment.docs_of(sought)].tolist()}


def digest_of(path: str, held: Sequence[Segment], head: Mapping[str, str], live: NDArray[np.uint64]) -> str:
    """SHA-256 of one segment of the ascending entries `live` of these, written to `path`; empty where there are none.

    Raises:
        as `segment.merge`.
    """
    dead = united([seqs[~within(seqs, live)] for segment in held if len(seqs := segment.columns.seqs)])
    return merge(path, held, head, without=frozenset(dead.tolist()))[0]


def is_row(row: Row) -> bool:
    """Whether a segment can be made of it."""
    try:
        Segment.of((row,))
    except NO_ROW:
        return False
    return True


def tier(named: Sequence[Named], few: int) -> list[Named] | None:
    """The first TIER segments of about one size, if there are so many."""
    sizes: dict[int, list[Named]] = {}
    for one in named:
        tier = sizes.setdefault((max(one.rows // few, 1).bit_length() - 1) // 3, [])
        tier.append(one)
        if len(tier) == TIER:
            return tier
    return None


def size_of(folder: str) -> int:
    """Bytes of the files in a folder."""
    try:
        return sum(entry.stat().st_size for entry in os.scandir(folder) if entry.is_file(follow_symlinks=False))
    except OSError:
        return 0
