"""Several segments made one, without the texts: for compaction, and for erasure.

What is not kept leaves nothing behind, neither its terms nor its labels. Large arrays are gone through in stretches, so that
a million documents need no more memory than the arrays that have an element for each document.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indelible.errors import UsageError
from indelible.recall.columns import BUCKETS, TYPES, Columns, counted, label_columns, labels_of, turns_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from indelible.recall.columns import Array
    from indelible.recall.layout import Shapes

STRETCH = 1 << 21
"""Elements of a large array that are in memory at once, about."""


class Source(NamedTuple):
    """One of the segments that are merged."""

    columns: Columns
    target: Array
    """(n,) i64: which document of the result each of its documents becomes, -1 for one that is not kept."""


class Lists(NamedTuple):
    """A compressed list of documents in one source, and which list of the result each is."""

    at: Array
    docs: Array
    into: Array


class Plan(NamedTuple):
    """What the result will look like."""

    sources: list[Source]
    shapes: Shapes
    terms: Array
    term_at: Array
    labels: list[bytes]
    label_at: Array


def plan(parts: Sequence[tuple[Columns, Array]]) -> Plan:
    """Look through the parts, each with (n,) bool: which of its documents are kept.

    Raises:
        UsageError: two parts keep a document of one `seq`.
    """
    sources = _sources(parts)
    terms = _union(
        [
            _kept_keys(source, source.columns.term_at, source.columns.term_docs, source.columns.terms)
            for source in sources
        ]
    )
    labels = sorted({label for source in sources for label in _kept_labels(source)})
    term_at = _at(len(terms), [(source, lists) for source, lists in _term_lists(sources, terms)])
    label_at = _at(len(labels), [(source, lists) for source, lists in _label_lists(sources, labels)])
    n = sum(int((source.target >= 0).sum()) for source in sources)
    turns = sum(int(np.count_nonzero(source.columns.groups[source.target >= 0])) for source in sources)
    grams = sum(int(np.diff(source.columns.gram_at.astype(np.int64))[source.target >= 0].sum()) for source in sources)
    shapes: Shapes = {
        "seqs": (n,), "times": (4, n), "groups": (n,), "orders": (n,), "lengths": (n,), "sizes": (n,), "bits": (n, 16), "digests": (n, 32),
        "commitments": (n, 32), "turn_keys": (turns,), "turn_docs": (turns,),
        "terms": (len(terms),), "term_at": (len(terms) + 1,), "term_docs": (int(term_at[-1]),),
        "term_counts": (int(term_at[-1]),), "gram_at": (n + 1,), "grams": (grams,), "gram_counts": counted(grams), "label_bytes": (sum(map(len, labels)),),
        "label_ends": (len(labels),), "label_at": (len(labels) + 1,), "label_docs": (int(label_at[-1]),),
    }  # fmt: skip
    return Plan(sources, shapes, terms, term_at, labels, label_at)


def fill(plan: Plan, result: Columns) -> None:
    """Put everything in its place. `result` has the shapes of the plan and holds zeros."""
    for source in plan.sources:
        _fill_rows(source, result)
    result.turn_keys[:], result.turn_docs[:] = turns_of(result.groups, result.orders)
    result.terms[:], result.term_at[:] = plan.terms, plan.term_at
    cursor = plan.term_at[:-1].astype(np.int64)
    for source, lists in _term_lists(plan.sources, plan.terms):
        _fill_lists(source, lists, cursor, result.term_docs, (source.columns.term_counts, result.term_counts))
    _fill_grams(plan.sources, result)
    result.label_bytes[:], result.label_ends[:] = label_columns(plan.labels)
    result.label_at[:] = plan.label_at
    cursor = plan.label_at[:-1].astype(np.int64)
    for source, lists in _label_lists(plan.sources, plan.labels):
        _fill_lists(source, lists, cursor, result.label_docs)


def merge(parts: Sequence[tuple[Columns, Array]]) -> Columns:
    """The same in memory."""
    planned = plan(parts)
    result = Columns(*(np.zeros(planned.shapes[name], TYPES[name]) for name in Columns._fields))
    fill(planned, result)
    return result


def _sources(parts: Sequence[tuple[Columns, Array]]) -> list[Source]:
    seqs = np.concatenate([np.zeros(0, "<u8"), *(columns.seqs[keep] for columns, keep in parts)])
    ordered = np.sort(seqs)
    if (ordered[1:] == ordered[:-1]).any():
        raise UsageError("Two segments of the index hold a document of one number")
    return [Source(columns, np.where(keep, np.searchsorted(ordered, columns.seqs), -1)) for columns, keep in parts]


def _union(keys: Sequence[Array]) -> Array:
    return np.unique(np.concatenate([np.zeros(0, "<u8"), *keys]))


def _kept_keys(source: Source, at: Array, docs: Array, keys: Array) -> Array:
    kept: Array = keys[_kept(source, at, docs) > 0]
    return kept


def _kept_labels(source: Source) -> list[bytes]:
    counts = _kept(source, source.columns.label_at, source.columns.label_docs)
    return [label for label, count in zip(labels_of(source.columns), counts.tolist(), strict=True) if count]


def _term_lists(sources: Sequence[Source], terms: Array) -> Iterator[tuple[Source, Lists]]:
    for source in sources:
        columns = source.columns
        yield source, Lists(columns.term_at, columns.term_docs, np.searchsorted(terms, columns.terms))


def _label_lists(sources: Sequence[Source], labels: Sequence[bytes]) -> Iterator[tuple[Source, Lists]]:
    place = {label: at for at, label in enumerate(labels)}
    for source in sources:
        into = np.array([place.get(label, 0) for label in labels_of(source.columns)], np.int64)
        yield source, Lists(source.columns.label_at, source.columns.label_docs, into)


def _stretches(at: Array) -> Iterator[tuple[int, int]]:
    """Runs of lists that have about `STRETCH` elements together."""
    first, lists = 0, len(at) - 1
    while first < lists:
        end = max(first + 1, int(np.searchsorted(at, int(at[first]) + STRETCH, "right")) - 1)
        yield first, min(end, lists)
        first = end


def _kept(source: Source, at: Array, docs: Array) -> Array:
    """(lists,) i64: how many documents of each list are kept."""
    counts = np.zeros(len(at) - 1, np.int64)
    for first, end in _stretches(at):
        start = int(at[first])
        kept = source.target[docs[start : int(at[end])]] >= 0
        running = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])
        counts[first:end] = np.diff(running[at[first : end + 1].astype(np.int64) - start])
    return counts


def _at(lists: int, parts: Sequence[tuple[Source, Lists]]) -> Array:
    counts = np.zeros(lists, np.int64)
    for source, part in parts:
        kept = _kept(source, part.at, part.docs)
        counts[part.into[kept > 0]] += kept[kept > 0]
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])


def _fill_rows(source: Source, result: Columns) -> None:
    kept = source.target >= 0
    target, columns = source.target[kept], source.columns
    for name in ("seqs", "groups", "orders", "lengths", "sizes", "bits", "digests", "commitments"):
        getattr(result, name)[target] = getattr(columns, name)[kept]
    result.times[:, target] = columns.times[:, kept]


def _fill_lists(
    source: Source, lists: Lists, cursor: Array, into: Array, beside: tuple[Array, Array] | None = None
) -> None:
    """Append the documents of each list, and what stands beside them, where `cursor` points; it is moved on."""
    for first, end in _stretches(lists.at):
        bounds = lists.at[first : end + 1].astype(np.int64)
        docs = source.target[lists.docs[bounds[0] : bounds[-1]]]
        kept = docs >= 0
        running = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])[bounds - bounds[0]]
        counts, lists_into = np.diff(running), lists.into[first:end]
        some = counts > 0
        counts, lists_into, starts = counts[some], lists_into[some], running[:-1][some]
        place = np.repeat(cursor[lists_into] - starts, counts) + np.arange(int(running[-1]))
        into[place] = docs[kept]
        if beside:
            beside[1][place] = beside[0][bounds[0] : bounds[-1]][kept]
        cursor[lists_into] += counts


def _fill_grams(sources: Sequence[Source], result: Columns) -> None:
    """A list of each document goes to where the document went."""
    sizes = np.zeros(len(result.seqs), np.int64)
    for source in sources:
        kept = source.target >= 0
        sizes[source.target[kept]] = np.diff(source.columns.gram_at.astype(np.int64))[kept]
    result.gram_at[1:] = np.cumsum(sizes)
    for source in sources:
        _move_grams(source, result)


def _move_grams(source: Source, result: Columns) -> None:
    at, starts = source.columns.gram_at.astype(np.int64), result.gram_at.astype(np.int64)
    for first, end in _stretches(source.columns.gram_at):
        target, sizes = source.target[first:end], np.diff(at[first : end + 1])
        kept = np.repeat(target >= 0, sizes)
        sizes, target = sizes[target >= 0], target[target >= 0]
        within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        grams = source.columns.grams[at[first] : at[end]][kept]
        result.grams[np.repeat(starts[target], sizes) + within] = grams
        if len(result.gram_counts):
            result.gram_counts[:] += np.bincount(grams, minlength=BUCKETS).astype("<u4")
