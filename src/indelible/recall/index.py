"""Which documents a question is about: words, character n-grams, neighbouring turns, and an embedder's nearness if there is one.

    own(d)     bm25(d) + GRAMS x overlap(d); 0 where d has no word of the question and overlap(d) is under FLOOR
    score(d)   own(d) + sum over the three turns before and behind of NEAR x own(turn) + NEARNESS x nearness(d)

`bm25` counts stems and CJK pairs, `overlap` is the share of the question's character n-grams that are in the text, by their
rarity. Where there are many documents, the n-grams are looked at in those that words, neighbours and nearness propose, and in
all of them when words find next to nothing. All weights are the same for every language and every store.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indelible.errors import UsageError
from indelible.recall import scoring
from indelible.recall.columns import BUCKETS
from indelible.recall.scoring import NEAR, Part, Statistics
from indelible.recall.segment import Segment
from indelible.recall.tokens import query_terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indelible.recall.columns import Array
    from indelible.recall.row import Row
    from indelible.recall.tokens import Asked

GRAMS = 10.0
"""What a text gains that has all of the question's n-grams; BM25 of a well-matching text is as much again."""
FLOOR = 0.35
"""Overlap from which on a text without any word of the question is about it all the same."""
NEARNESS = 2.0
"""What one standard deviation of an embedder's cosine is worth."""
FEW = 4096
"""Live documents up to which every one is looked at in every channel."""
CANDIDATES = 1000
"""Documents that words propose, beyond that; and a tenth of them an embedder."""
_AT_ONCE = 4096
_STEPS = tuple(step for distance in range(1, len(NEAR) + 1) for step in (-distance, distance))


class Channels(NamedTuple):
    """What the score of a hit is the sum of."""

    words: float
    grams: float
    near: float
    nearness: float


class Hit(NamedTuple):
    """A document that was found. Nothing is verified: it is the number of an entry, and nothing else."""

    seq: int
    score: float
    channels: Channels


class Index:
    """Segments and the rows that lie in none yet, asked as one. To be made anew when any of them changes.

    Args:
        segments: opened.
        rows: those behind them.
        live: (m,) u64, ascending: the documents that count; what is not among them is as if it were not there.
    """

    def __init__(self, segments: Sequence[Segment], rows: Sequence[Row], live: Array) -> None:
        parts, base = [], 0
        for segment in (*segments, Segment.of(rows)):
            parts.append(Part(segment, base, _alive(segment, live)))
            base += len(segment)
        self._parts = tuple(parts)
        self._total = base
        seqs = np.concatenate([part.segment.columns.seqs for part in parts])
        docs = np.concatenate([_live_docs(part) for part in parts])
        if not (seqs[docs[1:]] > seqs[docs[:-1]]).all():
            docs = docs[np.argsort(seqs[docs], kind="stable")]
        self._docs: Array = docs
        self.seqs: Array = seqs[docs]
        """(n,) u64, ascending: the live documents, with which every mask and every array given or taken here is aligned."""

    @cached_property
    def times(self) -> Array:
        """(n, 4) f64: saved, valid from, valid until, expires."""
        times: Array = np.concatenate([part.segment.columns.times for part in self._parts], axis=1)[:, self._docs].T
        return times

    def labelled(self, label: str) -> Array:
        """(n,) bool: the documents that have a label."""
        mask = np.zeros(self._total, np.bool_)
        for part in self._parts:
            mask[part.span][part.segment.labelled(label)] = True
        found: Array = mask[self._docs]
        return found

    def labels(self, prefix: str = "") -> tuple[str, ...]:
        """The labels that begin so, of documents live or not, ascending."""
        found = {label for part in self._parts for label in part.segment.labels if label.startswith(prefix)}
        return tuple(sorted(found))

    def query(self, text: str, *, limit: int, allowed: Array | None = None, nearness: Array | None = None) -> list[Hit]:
        """The best documents for a question, the best first; of equal ones the one of the higher number.

        Args:
            text: of any length; its first 4,096 characters are read.
            limit: how many at most.
            allowed: (n,) bool, aligned with `seqs`: those that may be found, or lend to their neighbours.
            nearness: (n,) f32, aligned with `seqs`: z-scored cosines, NaN where a document has no vector.

        Raises:
            UsageError: an array of another length, or an infinite nearness.
            IndexDamaged: a file was changed under a segment.
        """
        self._check(allowed, nearness)
        asked = query_terms(text)
        words = np.zeros(self._total, np.float32)
        scoring.add_words(words, self._parts, asked.terms, self._statistics)
        mask = self._spread(allowed)
        words *= mask
        close = self._close(nearness)
        docs = self._candidates(words, mask, close, limit)
        return self._rank(docs, words, mask, close, asked, limit)

    def _check(self, allowed: Array | None, nearness: Array | None) -> None:
        for name, array in (("allowed", allowed), ("nearness", nearness)):
            if array is not None and array.shape != self.seqs.shape:
                raise UsageError(f"{name} has {array.size} elements for {self.seqs.size} documents")
        if nearness is not None and np.isinf(nearness).any():
            raise UsageError("nearness holds an infinite number")
        for part in self._parts:
            part.segment.check()

    def _spread(self, allowed: Array | None) -> Array:
        """(N,) bool: the live ones that are allowed."""
        mask = np.zeros(self._total, np.bool_)
        mask[self._docs if allowed is None else self._docs[allowed]] = True
        return mask

    def _close(self, nearness: Array | None) -> Array | None:
        """(N,) f32 of it, 0 where nothing is known."""
        if nearness is None:
            return None
        close = np.zeros(self._total, np.float32)
        close[self._docs] = np.nan_to_num(nearness, nan=0.0)
        return close

    def _candidates(self, words: Array, mask: Array, close: Array | None, limit: int) -> Array:
        """The documents that are looked at, ascending."""
        if len(self._docs) <= FEW:
            return np.flatnonzero(mask)
        found = scoring.best(words, max(CANDIDATES, 2 * limit))
        if len(found) < limit:
            return np.flatnonzero(mask)
        if close is not None:
            found = np.union1d(found, scoring.best(np.where(mask, close, 0), max(CANDIDATES // 10, limit)))
        beside = scoring.turns_beside(self._parts, found, _STEPS)
        around = np.unique(beside[beside >= 0])
        return np.union1d(found, around[mask[around]])

    def _rank(self, docs: Array, words: Array, mask: Array, close: Array | None, asked: Asked, limit: int) -> list[Hit]:
        """Score the candidates in every channel."""
        grams = scoring.overlaps(self._parts, docs, self._weights(asked))
        own = np.zeros(self._total, np.float32)
        own[docs] = np.where((words[docs] > 0) | (grams >= FLOOR), words[docs] + GRAMS * grams, 0)
        near = self._near(docs, own * mask)
        channels = np.stack([
            np.where(own[docs] > 0, words[docs], 0), np.where(own[docs] > 0, GRAMS * grams, 0), near,
            np.zeros(len(docs)) if close is None else NEARNESS * close[docs],
        ])  # fmt: skip
        scores = channels.sum(axis=0)
        seqs = scoring.gather(self._parts, docs, "seqs")
        order = np.lexsort((seqs, scores))[::-1][:limit]
        order = order[scores[order] > 0]
        return [
            Hit(int(seqs[place]), float(scores[place]), Channels(*channels[:, place].tolist()))
            for place in order.tolist()
        ]

    def _near(self, docs: Array, own: Array) -> Array:
        """(m,) f64: what the turns before and behind lend."""
        beside = scoring.turns_beside(self._parts, docs, _STEPS)
        lent = np.where(beside >= 0, own[beside] if self._total else 0, 0)
        weights = np.repeat(NEAR, 2)
        near: Array = weights @ lent
        return near

    def _weights(self, asked: Asked) -> Array:
        return scoring.gram_weights(asked.grams, self._gram_counts, len(self.seqs))

    @cached_property
    def _statistics(self) -> Statistics:
        lengths = np.concatenate([part.segment.columns.lengths for part in self._parts])[self._docs]
        return Statistics(len(lengths), max(float(lengths.mean()), 1.0) if len(lengths) else 1.0)

    @cached_property
    def _gram_counts(self) -> Array:
        """(65536,) i64: in how many live documents each bucket is."""
        counts: Array = np.sum([_gram_counts(part) for part in self._parts], axis=0)
        return counts


def _alive(segment: Segment, live: Array) -> Array | None:
    """(n,) bool, or None where all are live."""
    seqs = segment.columns.seqs
    if not len(seqs):
        return None
    low, high = np.searchsorted(live, (seqs[0], seqs[-1] + np.uint64(1))).tolist()
    if high - low == len(seqs) and (live[low:high] == seqs).all():
        return None
    mask = np.zeros(len(seqs), np.bool_)
    mask[segment.docs_of(live[low:high])] = True
    return mask


def _live_docs(part: Part) -> Array:
    docs = np.arange(len(part.segment)) if part.live is None else np.flatnonzero(part.live)
    return docs + part.base


def _gram_counts(part: Part) -> Array:
    """(65536,) i64: in how many of its live documents each bucket is."""
    counts = part.segment.gram_counts
    if part.live is None:
        return counts
    dead = np.flatnonzero(~part.live)
    columns = part.segment.columns
    for first in range(0, len(dead), _AT_ONCE):
        grams = [
            columns.grams[slice(*columns.gram_at[doc : doc + 2].tolist())] for doc in dead[first : first + _AT_ONCE]
        ]
        counts = counts - np.bincount(np.concatenate(grams), minlength=BUCKETS)
    return counts
