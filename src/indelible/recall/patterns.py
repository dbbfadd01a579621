"""What is stored, as a memory that answers to noisy cues sees it: two channels of each text.

    bits     the first 128 bytes, bit for bit: they outlast flipped bits, which leave no n-gram whole
    buckets  hashed character n-grams (`tokens`): they outlast what moves bytes: inserted, deleted, shuffled, lost

Of a text not longer than 128 bytes the bits hold all of it. Its size in bytes is kept too: flipped bits do not change it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indelible.errors import UsageError
from indelible.light import NamedTuple, sha256
from indelible.recall.row import BITS_SIZE, DIGEST_SIZE, bits_of
from indelible.recall.tokens import features, parse_features

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["BITS_SIZE", "WORDS", "Cue", "Patterns", "build", "cue_of", "known", "ranges"]

WORDS = BITS_SIZE // 8
"""Words of 64 bits in the bits of one text."""
HOLE = 6
"""No text has as many NUL bytes in a row, and no UTF-8 has any 0xFF."""


class Patterns(NamedTuple):
    """What is stored: n texts, in any order, each named by the entry that saved it."""

    seqs: NDArray[np.uint64]
    """(n,) the entries' numbers."""
    bits: NDArray[np.uint64]
    """(n, 16) the first 128 bytes, zeros behind a shorter text."""
    sizes: NDArray[np.int64]
    """(n,) bytes in each whole text."""
    offsets: NDArray[np.int64]
    """(n + 1,) where each text's buckets begin; the last is where they end."""
    buckets: NDArray[np.uint16]
    """(offsets[n],) buckets of grams, ascending within a text, each once."""
    digests: NDArray[np.uint8]
    """(n, 32) SHA-256 of each whole text, as the log committed to it."""

    def checked(self) -> Patterns:
        """Itself.

        Raises:
            UsageError: the arrays do not fit one another.
        """
        n = len(self.seqs)
        shapes = {
            "bits": (self.bits.shape, (n, WORDS)), "sizes": (self.sizes.shape, (n,)), "offsets": (self.offsets.shape, (n + 1,)),
            "digests": (self.digests.shape, (n, DIGEST_SIZE)), "buckets": (self.buckets.shape, (int(self.offsets[-1]) if len(self.offsets) else 0,)),
        }  # fmt: skip
        for name, (is_, should) in shapes.items():
            if is_ != should:
                raise UsageError(
                    f"The patterns' {name} have the shape {is_}, not {should}",
                    remedy="Build the index anew: indelible reindex",
                )
        return self

    def heads(self) -> NDArray[np.uint8]:
        """(n, 128) the same first bytes, one by one."""
        return np.ascontiguousarray(self.bits).view(np.uint8)

    def head(self, at: int) -> bytes:
        """The first bytes of one text: all of it, if it is not longer than 128."""
        return np.ascontiguousarray(self.bits[at]).tobytes()[: min(int(self.sizes[at]), BITS_SIZE)]

    def grams(self, at: int) -> NDArray[np.uint16]:
        """The buckets of one text."""
        return self.buckets[int(self.offsets[at]) : int(self.offsets[at + 1])]

    def select(self, keep: NDArray[np.int64]) -> Patterns:
        """Those at the places `keep`: what a filter lets through."""
        counts = np.diff(self.offsets)[keep]
        offsets = np.concatenate(([0], counts.cumsum()))
        taken = self.buckets[ranges(self.offsets[keep], counts)]
        return Patterns(self.seqs[keep], self.bits[keep], self.sizes[keep], offsets, taken, self.digests[keep])


class Cue(NamedTuple):
    """What is asked for: a damaged copy, or a part of one."""

    content: bytes
    kept: NDArray[np.bool_]
    """(len(content),) False in a hole: `HOLE` bytes and more that are all 0x00 or all 0xFF, as storage gives back what it lost."""
    head: NDArray[np.uint8]
    """(128,) its first bytes, zeros behind."""
    buckets: NDArray[np.uint16]
    """(c,) its buckets, ascending."""

    @property
    def bits(self) -> NDArray[np.uint64]:
        """(16,) words."""
        return self.head.view(np.uint64)

    @property
    def reach(self) -> int:
        """Bytes of it that can be compared bit by bit."""
        return min(len(self.content), BITS_SIZE)

    def letters(self, limit: int) -> NDArray[np.uint8]:
        """Its first `limit` bytes without the holes."""
        return np.frombuffer(self.content, np.uint8, min(len(self.content), limit))[self.kept[:limit]]

    def under(self, text: bytes) -> bytes:
        """What of a text does not lie under a hole of the cue."""
        if self.kept[: len(text)].all():
            return text
        there = np.ones(len(text), np.bool_)
        there[: len(self.kept)] = self.kept[: len(text)]
        return np.frombuffer(text, np.uint8)[there].tobytes()


def cue_of(content: bytes) -> Cue:
    """The two channels of a cue, whatever its bytes are."""
    buckets = np.array(parse_features(features(content)).grams, np.uint16)
    return Cue(content, _kept(content), np.frombuffer(bits_of(content), np.uint8).copy(), buckets)


def build(contents: Sequence[bytes], seqs: Sequence[int] | None = None) -> Patterns:
    """The patterns of texts, from the texts themselves; numbered from 0 if not told otherwise."""
    grams = [np.array(parse_features(features(content)).grams, np.uint16) for content in contents]
    offsets = np.concatenate(([0], np.cumsum([len(found) for found in grams], dtype=np.int64)))
    return Patterns(
        np.array(range(len(contents)) if seqs is None else seqs, np.uint64),
        np.frombuffer(b"".join(map(bits_of, contents)), np.uint64).reshape(-1, WORDS),
        np.array([len(content) for content in contents], np.int64),
        offsets.astype(np.int64),
        np.concatenate(grams) if grams else np.zeros(0, np.uint16),
        np.frombuffer(b"".join(sha256(content).digest() for content in contents), np.uint8).reshape(-1, DIGEST_SIZE),
    ).checked()


def _kept(content: bytes) -> NDArray[np.bool_]:
    """Where the cue has no hole."""
    kept = np.ones(len(content), np.bool_)
    for filler in (b"\0" * HOLE, b"\xff" * HOLE):
        if filler in content:
            empty = np.concatenate(([False], np.frombuffer(content, np.uint8) == filler[0], [False]))
            edges = np.flatnonzero(empty[1:] != empty[:-1]).reshape(-1, 2)
            for start, end in edges[edges[:, 1] - edges[:, 0] >= HOLE].tolist():
                kept[start:end] = False
    return kept


def known(count: NDArray[np.int64]) -> NDArray[np.uint64]:
    """(n, 16) words with a 1 at each bit of the first `count` bytes, (n,): what is there to be compared."""
    masks: NDArray[np.uint64] = _MASKS[count]
    return masks


def ranges(starts: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The places starts[0], starts[0] + 1, … (counts[0] of them), starts[1], … in one array."""
    ends = counts.cumsum()
    total = int(ends[-1]) if len(ends) else 0
    return np.asarray(np.arange(total) + np.repeat(starts - ends + counts, counts), np.int64)


_MASKS = np.where(np.arange(BITS_SIZE) < np.arange(BITS_SIZE + 1)[:, None], 255, 0).astype(np.uint8).view(np.uint64)
"""(129, 16) the first k bytes."""
