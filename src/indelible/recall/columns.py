"""The arrays of a segment: what many rows look like when they lie side by side.

n documents stand in the order of their `seq`; a document is its place in that order. Two lists of documents, of terms and of
labels, are kept as compressed rows: `term_docs[term_at[i]:term_at[i + 1]]` have the term `terms[i]`.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indelible.errors import UsageError
from indelible.recall.row import BITS_SIZE, DIGEST_SIZE
from indelible.recall.tokens import split_row

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from indelible.recall.row import Row

Array = NDArray[Any]
_ORDER, _SPREAD = np.uint64((1 << 20) - 1), np.uint64(0x9E3779B97F4A7C15)
BUCKETS = 1 << 16
"""Of grams."""
_MANY_GRAMS = 1 << 20
TYPES = {
    "seqs": "<u8", "times": "<f8", "groups": "<u8", "orders": "<i8", "lengths": "<u4", "sizes": "<u8", "bits": "<u8", "digests": "|u1",
    "commitments": "|u1", "turn_keys": "<u8", "turn_docs": "<u4", "terms": "<u8", "term_at": "<u8",
    "term_docs": "<u4", "term_counts": "|u1", "gram_at": "<u8", "grams": "<u2", "gram_counts": "<u4", "label_bytes": "|u1", "label_ends": "<u8",
    "label_at": "<u8", "label_docs": "<u4",
}  # fmt: skip
"""How the elements of each array lie in a file: little-endian."""


class Columns(NamedTuple):
    """All of them."""

    seqs: Array
    """(n,) u64, ascending."""
    times: Array
    """(4, n) f64: saved, valid from, valid until, expires; seconds since 1970."""
    groups: Array
    """(n,) u64: the episode, 0 for none."""
    orders: Array
    """(n,) i64: the place in it."""
    lengths: Array
    """(n,) u32: words of the text."""
    sizes: Array
    """(n,) u64: bytes of the text."""
    bits: Array
    """(n, 16) u64: the first 128 bytes of the text."""
    digests: Array
    """(n, 32) u8."""
    commitments: Array
    """(n, 32) u8."""
    turn_keys: Array
    """(e,) u64, ascending: `turn_key` of each document that is a turn of an episode."""
    turn_docs: Array
    """(e,) u32: which document that is."""
    terms: Array
    """(t,) u64, ascending."""
    term_at: Array
    """(t + 1,) u64."""
    term_docs: Array
    """(p,) u32."""
    term_counts: Array
    """(p,) u8: how often the term is in the document."""
    gram_at: Array
    """(n + 1,) u64."""
    grams: Array
    """(g,) u16: the buckets of document i are `grams[gram_at[i]:gram_at[i + 1]]`, ascending."""
    gram_counts: Array
    """(65536,) u32: in how many documents each bucket is; (0,) where there are so few grams that they are sooner counted."""
    label_bytes: Array
    """(b,) u8: the labels in UTF-8, ascending, one behind the other."""
    label_ends: Array
    """(l,) u64: where each of them ends."""
    label_at: Array
    """(l + 1,) u64."""
    label_docs: Array
    """(q,) u32."""


def turn_key(groups: Array, orders: Array) -> Array:
    """A number for a place in an episode, so made that the turns of one lie together.

    Two places may share one: who finds a key looks at the place as well.
    """
    key: Array = (groups * _SPREAD & ~_ORDER) | (orders.astype(np.int64).view(np.uint64) & _ORDER)
    return key


def turns_of(groups: Array, orders: Array) -> tuple[Array, Array]:
    """`turn_keys` and `turn_docs`."""
    docs = np.flatnonzero(groups)
    keys = turn_key(groups[docs], orders[docs])
    order = np.argsort(keys, kind="stable")
    return keys[order], docs[order].astype(np.uint32)


def columns_of(rows: Iterable[Row]) -> Columns:
    """The columns of some rows, in whatever order they come; a `seq` may come once.

    Raises:
        UsageError: two rows of one `seq`, features that are none, or bits and digests of another size.
    """
    rows = sorted(rows, key=lambda row: row.seq)
    for before, row in pairwise(rows):
        if before.seq == row.seq:
            raise UsageError(f"Two rows of the index have the number {row.seq}")
    n = len(rows)
    groups = np.fromiter((row.group for row in rows), "<u8", n)
    orders = np.fromiter((row.order for row in rows), "<i8", n)
    keys, docs = turns_of(groups, orders)
    plain = {
        "seqs": np.fromiter((row.seq for row in rows), "<u8", n),
        "times": np.array([row.times for row in rows], "<f8").reshape(n, 4).T.copy(),
        "sizes": np.fromiter((row.size for row in rows), "<u8", n),
        "groups": groups, "orders": orders, "turn_keys": keys, "turn_docs": docs,
        "bits": _matrix(rows, "bits", BITS_SIZE).view("<u8"), "digests": _matrix(rows, "sha256", DIGEST_SIZE),
        "commitments": _matrix(rows, "commitment", DIGEST_SIZE),
    }  # fmt: skip
    return Columns(**plain, **_features(rows), **_labels(rows))


def _matrix(rows: Sequence[Row], field: str, width: int) -> Array:
    parts: list[bytes] = [getattr(row, field) for row in rows]
    if any(len(part) != width for part in parts):
        raise UsageError(f"A row of the index has {field} of another size than {width} bytes")
    return np.frombuffer(b"".join(parts), "|u1").reshape(len(rows), width)


def _features(rows: Sequence[Row]) -> dict[str, Array]:
    """`lengths`, and the lists of terms and of grams."""
    try:
        split = [split_row(row.features) for row in rows]
    except ValueError as exc:
        raise UsageError("A row of the index has features that do not parse") from exc
    terms = np.frombuffer(b"".join(part[1] for part in split), "<u8")
    counts = np.frombuffer(b"".join(part[2] for part in split), "|u1")
    docs = np.repeat(np.arange(len(rows), dtype="<u4"), [len(part[2]) for part in split])
    grams = np.frombuffer(b"".join(part[3] for part in split), "<u2")
    order = np.argsort(terms, kind="stable")
    found, firsts = np.unique(terms[order], return_index=True)
    return {
        "lengths": np.fromiter((part[0] for part in split), "<u4", len(rows)), "terms": found,
        "term_at": np.append(firsts, len(terms)).astype("<u8"), "term_docs": docs[order], "term_counts": counts[order],
        "gram_at": _starts([len(part[3]) // 2 for part in split]),
        "grams": grams, "gram_counts": count_grams(grams),
    }  # fmt: skip


def count_grams(grams: Array) -> Array:
    """`gram_counts` of these grams."""
    return np.bincount(grams, minlength=BUCKETS).astype("<u4") if len(grams) > _MANY_GRAMS else np.zeros(0, "<u4")


def counted(grams: int) -> tuple[int, ...]:
    """The shape of `gram_counts` where there are so many grams."""
    return (BUCKETS if grams > _MANY_GRAMS else 0,)


def _labels(rows: Sequence[Row]) -> dict[str, Array]:
    having: dict[bytes, list[int]] = {}
    for doc, row in enumerate(rows):
        for label in set(row.labels):
            having.setdefault(label.encode("utf-8", "surrogatepass"), []).append(doc)
    labels = sorted(having)
    whole, ends = label_columns(labels)
    docs = np.array([doc for label in labels for doc in having[label]], "<u4")
    at = _starts([len(having[label]) for label in labels])
    return {"label_bytes": whole, "label_ends": ends, "label_at": at, "label_docs": docs}


def label_columns(labels: Sequence[bytes]) -> tuple[Array, Array]:
    """`label_bytes` and `label_ends`."""
    return np.frombuffer(b"".join(labels), "|u1"), np.cumsum([len(label) for label in labels], dtype="<u8")


def labels_of(columns: Columns) -> list[bytes]:
    """The labels, ascending."""
    whole, ends = columns.label_bytes.tobytes(), [0, *columns.label_ends.tolist()]
    return [whole[start:end] for start, end in pairwise(ends)]


def _starts(counts: Sequence[int]) -> Array:
    return np.concatenate([np.zeros(1, "<u8"), np.cumsum(counts, dtype="<u8")])
