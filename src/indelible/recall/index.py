"""Which documents a question is about: words, character n-grams, neighbouring turns, and an embedder's nearness if there is one.

    own(d)     bm25(d) + GRAMS x overlap(d)
    close(d)   NEARNESS x nearness(d)
    score(d)   own(d) + close(d) + sum over the three turns before and behind of NEAR x (own(turn) + LENT x close(turn))

`bm25` counts stems and CJK pairs. `overlap` is the share of the question's character n-grams that are in the text, by the
squares of their rarities; in a text without any word of the question, where something is misspelt, all count alike, and a share
under FLOOR is none. Where there are many documents, n-grams are looked at in those that words, neighbours and nearness propose,
and in all of them when words find next to nothing. All weights are the same for every language and every store.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indelible.errors import UsageError
from indelible.recall import scoring
from indelible.recall.columns import BUCKETS
from indelible.recall.scoring import NEAR, Part, Statistics, Weights
from indelible.recall.segment import Segment
from indelible.recall.tokens import query_terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indelible.recall.columns import Array
    from indelible.recall.row import Row

GRAMS = 10.0
"""What a text gains that has all of the question's n-grams; BM25 of a well-matching text is as much again."""
FLOOR = 0.5
"""Overlap from which on a text without any word of the question is about it all the same: it was misspelt. Nine in ten questions
whose every word is misspelt reach it, and one in eight of letters put together by chance, in a pool of 6,800 texts."""
NEARNESS = 3.0
"""What one standard deviation of an embedder's cosine is worth."""
LENT = 0.3
"""The share of it that the turns beside a text have to lend."""
CLOSE = 2.0
"""Standard deviations from which on a text that shares nothing with the question, nor its neighbours, is about it."""
FEW = 4096
"""Live documents up to which every one is looked at in every channel."""
CANDIDATES = 500
"""Documents that words propose, beyond that; and a fifth as many an embedder. More of them find no more, in pools of 36,000."""
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


class _Question(NamedTuple):
    """What is asked."""

    words: Array
    """(N,) f32: BM25 of every document."""
    weights: Weights
    known: bool
    """At least half of its terms are somewhere: it is not misspelt."""


class _Pool:
    """The documents that one question is put to.

    Args:
        words: (N,) f32, BM25 of each; 0 for those that are not allowed.
        mask: (N,) bool, those that are; None for all.
        close: (N,) f32, nearness; 0 for those that are not allowed; None where there is none.
        question: what is asked.
    """

    def __init__(
        self, parts: Sequence[Part], words: Array, mask: Array | None, close: Array | None, question: _Question
    ) -> None:
        self.parts, self._words, self._mask, self._close, self._question = parts, words, mask, close, question
        self._own = words.copy()
        """What is known of `own`: only the words' share, of documents whose grams were not looked at."""
        self._grams = np.zeros(len(words), np.float32)

    def everything(self) -> Array:
        """All documents that are allowed, ascending."""
        docs = np.arange(len(self._words)) if self._mask is None else np.flatnonzero(self._mask)
        self._look(docs)
        return docs

    def promising(self, limit: int) -> Array:
        """Those that may be among the best, ascending: by words, by nearness, and the turns beside the best of them."""
        found = scoring.best(self._words, max(CANDIDATES, 2 * limit))
        if len(found) < limit or not self._question.known:
            return self.everything()
        if self._close is not None:
            found = np.union1d(found, scoring.best(self._close, max(CANDIDATES // 5, limit)))
        self._look(found)
        promise = self._own[found] if self._close is None else self._own[found] + NEARNESS * self._close[found]
        strong = found[np.argsort(promise, kind="stable")[-max(CANDIDATES // 5, 2 * limit) :]]
        beside = scoring.turns_beside(self.parts, strong, _STEPS)
        around = np.unique(beside[beside >= 0])
        around = around if self._mask is None else around[self._mask[around]]
        self._look(np.setdiff1d(around, found, assume_unique=True))
        return np.union1d(strong, around)

    def _look(self, docs: Array) -> None:
        """Learn `own` of ascending docs."""
        worded = self._words[docs] > 0
        shares = self._plain(docs, worded)
        shares[shares < FLOOR] = 0
        shares[worded] = scoring.overlaps(self.parts, docs[worded], self._question.weights.rare)
        self._grams[docs] = shares
        self._own[docs] += GRAMS * shares

    def _plain(self, docs: Array, worded: Array) -> Array:
        """Plain overlaps of those without words, and of the others where they come along more cheaply than they are left out."""
        shares = np.zeros(len(docs), np.float32)
        wordless = np.flatnonzero(~worded)
        if 2 * len(wordless) > len(docs):
            wordless = np.arange(len(docs))
        shares[wordless] = scoring.overlaps(self.parts, docs[wordless], self._question.weights.plain)
        return shares

    def channels(self, docs: Array) -> Array:
        """(4, m) f64: what `Channels` names, of each; zeros for one that is not about the question."""
        close = np.zeros(len(self._words), np.float32) if self._close is None else NEARNESS * self._close
        beside = scoring.turns_beside(self.parts, docs, _STEPS)
        weights = np.repeat(NEAR, 2)
        own, nearness = (weights @ _lent(array, beside) for array in (self._own, close))
        about = (self._own[docs] > 0) | (own > 0) | (close[docs] >= NEARNESS * CLOSE)
        channels = np.stack([self._words[docs], GRAMS * self._grams[docs], own + LENT * nearness, close[docs]])
        return np.where(about, channels, 0.0)


def _lent(array: Array, beside: Array) -> Array:
    """Its elements, 0 where there is no turn."""
    lent: Array = np.where(beside >= 0, array[beside], 0.0) if array.size else np.zeros(beside.shape)
    return lent


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
        self.parts = tuple(parts)
        self._total = base
        seqs = np.concatenate([part.segment.columns.seqs for part in parts])
        docs = np.concatenate([_live_docs(part) for part in parts])
        if not (seqs[docs[1:]] > seqs[docs[:-1]]).all():
            docs = docs[np.argsort(seqs[docs], kind="stable")]
        self.docs: Array = docs
        self._last: tuple[str, _Question] | None = None
        self._whole = len(docs) == base and bool((docs[1:] > docs[:-1]).all())
        self.seqs: Array = seqs[docs]
        """(n,) u64, ascending: the live documents, with which every mask and every array given or taken here is aligned."""

    @cached_property
    def times(self) -> Array:
        """(n, 4) f64: saved, valid from, valid until, expires."""
        times: Array = np.concatenate([part.segment.columns.times for part in self.parts], axis=1)[:, self.docs].T
        return times

    def labelled(self, label: str) -> Array:
        """(n,) bool: the documents that have a label."""
        mask = np.zeros(self._total, np.bool_)
        for part in self.parts:
            mask[part.span][part.segment.labelled(label)] = True
        found: Array = mask[self.docs]
        return found

    def labels(self, prefix: str = "") -> tuple[str, ...]:
        """The labels that begin so, of documents live or not, ascending."""
        found = {label for part in self.parts for label in part.segment.labels if label.startswith(prefix)}
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
        question = self._question(text)
        mask = self._spread(allowed)
        words = question.words if mask is None else question.words * mask
        return self._rank(_Pool(self.parts, words, mask, self._close(nearness, mask), question), limit)

    def _question(self, text: str) -> _Question:
        """What depends on its text alone: kept for one who asks for more of the same."""
        if self._last is None or self._last[0] != text:
            asked = query_terms(text)
            words = np.zeros(self._total, np.float32)
            known = scoring.add_words(words, self.parts, asked.terms, self._statistics)
            weights = scoring.gram_weights(asked.grams, self._gram_counts, len(self.seqs))
            self._last = (text, _Question(words, weights, 2 * known >= len(asked.terms)))
        return self._last[1]

    def _check(self, allowed: Array | None, nearness: Array | None) -> None:
        for name, array in (("allowed", allowed), ("nearness", nearness)):
            if array is not None and array.shape != self.seqs.shape:
                raise UsageError(f"{name} has {array.size} elements for {self.seqs.size} documents")
        if nearness is not None and np.isinf(nearness).any():
            raise UsageError("nearness holds an infinite number")
        for part in self.parts:
            part.segment.check()

    def _spread(self, allowed: Array | None) -> Array | None:
        """(N,) bool: the live ones that are allowed; None for all there are."""
        if self._whole:
            return allowed
        mask = np.zeros(self._total, np.bool_)
        mask[self.docs if allowed is None else self.docs[allowed]] = True
        return mask

    def _close(self, nearness: Array | None, mask: Array | None) -> Array | None:
        """(N,) f32 of it, 0 where nothing is known or allowed."""
        if nearness is None:
            return None
        close = np.zeros(self._total, np.float32)
        close[self.docs] = np.nan_to_num(nearness, nan=0.0)
        return close if mask is None else close * mask

    def _rank(self, pool: _Pool, limit: int) -> list[Hit]:
        docs = pool.everything() if len(self.docs) <= FEW else pool.promising(limit)
        channels = pool.channels(docs)
        scores = channels.sum(axis=0)
        seqs = scoring.gather(self.parts, docs, "seqs")
        order = np.lexsort((seqs, scores))[::-1][:limit]
        order = order[scores[order] > 0]
        return [
            Hit(int(seqs[place]), float(scores[place]), Channels(*channels[:, place].tolist()))
            for place in order.tolist()
        ]

    @cached_property
    def _statistics(self) -> Statistics:
        lengths = np.concatenate([part.segment.columns.lengths for part in self.parts])[self.docs]
        return Statistics(len(lengths), max(float(lengths.mean()), 1.0) if len(lengths) else 1.0)

    @cached_property
    def _gram_counts(self) -> Array:
        """(65536,) i64: in how many live documents each bucket is."""
        counts: Array = np.sum([_gram_counts(part) for part in self.parts], axis=0)
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
