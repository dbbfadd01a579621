"""Which documents a question is about: words, character n-grams, neighbouring turns, and vectors where there are some.

    score(d) = bm25(d) + GRAMS x overlap(d), then + NEAR x the same of the turns before and behind d,
               then + VECTOR x z(cosine(d))

    bm25       Robertson and Zaragoza, The Probabilistic Relevance Framework (2009), over stems and CJK pairs
    overlap    the share of the question's grams that the text has, each weighted by its rarity

How rare a term is, and how long a text usually is, is counted over all segments and over live documents only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indelible.recall.narrowing import Narrow, narrow
from indelible.recall.segment import Segment
from indelible.recall.tokens import query_terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from indelible.recall.columns import Array
    from indelible.recall.row import Row


class Weights(NamedTuple):
    """What is tuned, once for all."""

    k1: float = 0.9
    b: float = 0.4
    grams: float = 8.0
    near: float = 0.4
    vector: float = 0.12


class Channels(NamedTuple):
    """What the score of a hit is the sum of."""

    words: float
    grams: float
    near: float
    vector: float


class Hit(NamedTuple):
    """A document that was found. It is not verified: it is a number of an entry, and nothing else."""

    seq: int
    score: float
    channels: Channels


class Cosines(NamedTuple):
    """How near documents are to the question by an embedder; those not named count as having no vector."""

    seqs: Array
    """(m,) u64, ascending."""
    values: Array
    """(m,) f32, -1 to 1."""


class _Part(NamedTuple):
    segment: Segment
    live: Array
    base: int


class Index:
    """Segments and the rows that are in none yet, asked as one."""

    def __init__(self, segments: Sequence[Segment], rows: Iterable[Row] = (), weights: Weights | None = None) -> None:
        tail = Segment.of(rows)
        self._parts: list[_Part] = []
        self._weights = weights or Weights()
        base = 0
        for segment in [*segments, *([tail] if len(tail) else [])]:
            self._parts.append(_Part(segment, np.ones(len(segment), np.bool_), base))
            base += len(segment)
        self._count = base

    def keep(self, seqs: Array) -> None:
        """Only documents with these numbers, ascending u64, are live."""
        for part in self._parts:
            part.live[:] = False
            part.live[part.segment.docs_of(seqs)] = True

    def retire(self, seqs: Sequence[int]) -> None:
        """Documents with these numbers are no longer live: superseded, archived, erased."""
        for part in self._parts:
            part.live[part.segment.docs_of(np.array(sorted(seqs), "<u8"))] = False

    def query(
        self, text: str, limit: int, *, wanted: Narrow | None = None, cosines: Cosines | None = None
    ) -> list[Hit]:
        """The best documents for a question, the best first; of equal ones the newer first.

        Raises:
            UsageError: cosines that are no numbers, or another number of them than of documents.
            IndexDamaged: a file was changed under a segment.
        """
        for part in self._parts:
            part.segment.check()
        asked = query_terms(text)
        scores = np.zeros(self._count, np.float32)
        live = sum(int(part.live.sum()) for part in self._parts)
        total = sum(int(part.segment.columns.lengths[part.live].sum()) for part in self._parts)
        average = total / live if live else 1.0
        for term in asked.terms:
            self._add(scores, term, live, average)
        seqs = np.concatenate([np.zeros(0, "<u8"), *(part.segment.columns.seqs for part in self._parts)])
        for part in self._parts:
            mask = narrow(part.segment, wanted or Narrow(), part.live)
            scores[part.base : part.base + len(mask)][~mask] = 0
        found = np.flatnonzero(scores)
        order = found[np.lexsort((seqs[found], scores[found]))[::-1][:limit]]
        return [Hit(int(seqs[doc]), float(scores[doc]), Channels(float(scores[doc]), 0, 0, 0)) for doc in order]

    def _add(self, scores: Array, term: int, live: int, average: float) -> None:
        found = []
        for part in self._parts:
            columns = part.segment.columns
            place = int(np.searchsorted(columns.terms, np.uint64(term)))
            if place < len(columns.terms) and columns.terms[place] == term:
                start, end = columns.term_at[place : place + 2].tolist()
                docs, counts = columns.term_docs[start:end], columns.term_counts[start:end]
                keep = part.live[docs]
                found.append((part, docs[keep], counts[keep]))
        frequency = sum(len(docs) for _, docs, _ in found)
        rarity = np.log1p((live - frequency + 0.5) / (frequency + 0.5))
        k1, b = self._weights.k1, self._weights.b
        for part, docs, counts in found:
            norm = k1 * (1 - b + b * part.segment.columns.lengths[docs] / average)
            scores[part.base + docs.astype(np.int64)] += rarity * (k1 + 1) * counts / (counts + norm)
