"""The patterns of what an index holds: the live documents' bits and n-grams, as the Hopfield memory wants them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indelible.recall.patterns import Patterns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indelible.recall.columns import Array, Columns
    from indelible.recall.index import Index


def patterns_of(index: Index) -> Patterns:
    """The live documents, in the order of their entries. Of one segment that is all live these are the mapped arrays themselves."""
    columns = [part.segment.columns for part in index.parts if len(part.segment)]
    every = Patterns(
        _joined([one.seqs for one in columns], np.zeros(0, np.uint64)),
        _joined([one.bits for one in columns], np.zeros((0, 16), np.uint64)),
        _joined([one.sizes for one in columns], np.zeros(0, np.uint64)).astype(np.int64),
        _offsets(columns),
        _joined([one.grams for one in columns], np.zeros(0, np.uint16)),
        _joined([one.digests for one in columns], np.zeros((0, 32), np.uint8)),
    )
    whole = len(index.docs) == len(every.seqs) and bool((index.docs == np.arange(len(index.docs))).all())
    return every if whole else every.select(index.docs)


def _joined(arrays: Sequence[Array], empty: Array) -> Array:
    return arrays[0] if len(arrays) == 1 else np.concatenate([empty, *arrays])


def _offsets(columns: Sequence[Columns]) -> Array:
    """Where each document's n-grams begin in the joined list, and where the last one's end."""
    counts = _joined([np.diff(one.gram_at.astype(np.int64)) for one in columns], np.zeros(0, np.int64))
    return np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
