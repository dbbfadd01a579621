"""How near documents are to a question, channel by channel, over several segments as if they were one.

A document is named here by its place in all segments laid one behind the other.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indelible.recall.columns import BUCKETS, turn_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from indelible.recall.columns import Array
    from indelible.recall.segment import Segment

K1, B = 0.9, 0.6
"""Of BM25: how soon a repeated word counts no more, and how much longer texts are held back."""
NEAR = (0.5, 0.3, 0.18)
"""What the first, second and third turn before and behind a turn give to it."""
_NONE = -1
_AT_ONCE = 8192
"""Documents whose grams are in memory at once, for each thread."""
_THREADS = 2


class Part(NamedTuple):
    """A segment, and where its documents stand among all."""

    segment: Segment
    base: int
    live: Array | None
    """(n,) bool; None where all of them are."""

    @property
    def span(self) -> slice:
        """The places of its documents."""
        return slice(self.base, self.base + len(self.segment))


class Statistics(NamedTuple):
    """Of the live documents of all parts."""

    live: int
    average: float
    """Length."""


class Weights(NamedTuple):
    """Of the grams of a question; each sums to 1."""

    rare: Array
    """(65536,) f32: by the squares of their rarities; 0 for one that was not asked."""
    plain: Array
    """(65536,) f32: all alike."""


def rarity(documents: int, having: Array | int) -> Array:
    """ln(1 + (N - n + 0.5) / (n + 0.5)): how much it tells that a document has what n of N documents have."""
    found: Array = np.log1p((documents - having + 0.5) / (np.asarray(having) + 0.5))
    return found


def add_words(scores: Array, parts: Sequence[Part], terms: Sequence[int], of: Statistics) -> int:
    """Add BM25 of each term to the (N,) f32 scores of all live documents (Robertson and Zaragoza 2009, section 3.4.2).

    Gives how many of the terms are in any of them.

    score(d) = sum over terms of rarity(t) x (K1 + 1) tf / (tf + K1 (1 - B + B length(d) / average))
    """
    known = 0
    for found in _postings(parts, terms):
        having = sum(len(docs) for _, docs, _ in found)
        known += having > 0
        weight = float(rarity(of.live, having)) * (K1 + 1)
        for part, docs, counts in found:
            held = np.take(part.segment.columns.lengths, docs) * np.float32(K1 * B / of.average)
            held += np.float32(K1 * (1 - B))
            held += counts
            scores[part.span][docs] += np.float32(weight) * counts / held
    return known


def _postings(parts: Sequence[Part], terms: Sequence[int]) -> Iterator[list[tuple[Part, Array, Array]]]:
    """Of each term, by part: the live documents that have it, and how often."""
    asked = np.array(terms, np.uint64)
    starts = [np.searchsorted(part.segment.columns.terms, asked).tolist() for part in parts]
    for number, term in enumerate(terms):
        yield [
            found for part, places in zip(parts, starts, strict=True) for found in _posted(part, places[number], term)
        ]


def _posted(part: Part, place: int, term: int) -> Iterator[tuple[Part, Array, Array]]:
    columns = part.segment.columns
    if place == len(columns.terms) or columns.terms[place] != term:
        return
    start, end = columns.term_at[place : place + 2].tolist()
    docs, counts = columns.term_docs[start:end], columns.term_counts[start:end]
    if part.live is not None:
        kept = part.live[docs]
        docs, counts = docs[kept], counts[kept]
    yield part, docs, counts


def gram_weights(grams: Sequence[int], having: Array, documents: int) -> Weights:
    """What each bucket of a question gives to `overlaps`; `having` is in how many of the documents each of all buckets is."""
    rare, plain = np.zeros(BUCKETS, np.float32), np.zeros(BUCKETS, np.float32)
    asked = np.array(grams, np.int64)
    if len(asked):
        squared = rarity(documents, having[asked]) ** 2
        rare[asked] = squared / max(float(squared.sum()), 1e-9)
        plain[asked] = 1 / len(asked)
    return Weights(rare, plain)


def overlaps(parts: Sequence[Part], docs: Array, weights: Array) -> Array:
    """(m,) f32: the share of the question's grams that each of the ascending docs has, by their weights; 0 to 1."""
    result = np.zeros(len(docs), np.float32)
    stretches = []
    for part in parts:
        low, high = np.searchsorted(docs, (part.base, part.base + len(part.segment))).tolist()
        stretches += [(part, slice(first, min(first + _AT_ONCE, high))) for first in range(low, high, _AT_ONCE)]

    def look(stretch: tuple[Part, slice]) -> None:
        part, some = stretch
        result[some] = _overlaps(part, docs[some] - part.base, weights)

    if len(stretches) <= len(parts):
        for stretch in stretches:
            look(stretch)
    else:  # numpy lets other threads run meanwhile
        with ThreadPoolExecutor(_THREADS) as pool:
            list(pool.map(look, stretches))
    return result


def _overlaps(part: Part, docs: Array, weights: Array) -> Array:
    columns = part.segment.columns
    starts, ends = columns.gram_at[docs].astype(np.int64), columns.gram_at[docs + 1].astype(np.int64)
    if int(docs[-1]) - int(docs[0]) + 1 == len(docs):
        grams = columns.grams[int(starts[0]) : int(ends[-1])]
    else:
        slices = zip(starts.tolist(), ends.tolist(), strict=True)
        grams = np.concatenate([columns.grams[start:end] for start, end in slices])
    shares, sizes = np.zeros(len(docs), np.float32), ends - starts
    some = sizes > 0
    if some.any():  # `reduceat` sums up to the next beginning; a document without grams has none
        given = np.take(weights, grams, mode="wrap")  # every u16 is a bucket: the fastest of its modes
        shares[some] = np.add.reduceat(given, (np.cumsum(sizes) - sizes)[some])
    return shares


def turns_beside(parts: Sequence[Part], docs: Array, steps: Sequence[int]) -> Array:
    """(len(steps), m) i64: the live document that many turns behind each doc in its episode, -1 where there is none."""
    groups, orders = gather(parts, docs, "groups"), gather(parts, docs, "orders")
    beside = np.full((len(steps), len(docs)), _NONE, np.int64)
    turns = np.flatnonzero(groups)
    for row, step in enumerate(steps if len(turns) else ()):
        for part in parts:
            _find_turns(part, groups[turns], orders[turns] + step, beside[row], turns)
    return beside


def _find_turns(part: Part, groups: Array, orders: Array, beside: Array, turns: Array) -> None:
    """Two turns may share a key, so what is found is looked at."""
    columns = part.segment.columns
    if not len(columns.turn_keys):
        return
    keys = turn_key(groups, orders)
    place = np.minimum(np.searchsorted(columns.turn_keys, keys), len(columns.turn_keys) - 1)
    docs = columns.turn_docs[place].astype(np.int64)
    found = (columns.turn_keys[place] == keys) & (columns.groups[docs] == groups) & (columns.orders[docs] == orders)
    if part.live is not None:
        found &= part.live[docs]
    beside[turns[found]] = docs[found] + part.base


def gather(parts: Sequence[Part], docs: Array, name: str) -> Array:
    """A column's elements for docs in any order."""
    result: Array | None = None
    for part in parts:
        column = getattr(part.segment.columns, name)
        if result is None:
            result = np.zeros(len(docs), column.dtype)
        inside = (docs >= part.base) & (docs < part.base + len(part.segment))
        result[inside] = column[docs[inside] - part.base]
    return np.zeros(len(docs)) if result is None else result


def best(scores: Array, count: int) -> Array:
    """The places of the `count` highest scores above 0, ascending; of equal ones those that stand last."""
    found = np.flatnonzero(scores > 0)
    if len(found) <= count:
        return found
    values = scores[found]
    least = np.partition(values, len(values) - count)[len(values) - count]
    above = found[values > least]
    equal = found[values == least][-(count - len(above)) :]
    return np.sort(np.concatenate([above, equal]))
