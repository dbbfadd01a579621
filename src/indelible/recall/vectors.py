"""The nearest of many vectors: centred cosine, in 8 bits a dimension, with sign bits before it where there are very many.

    x       a unit vector from an embedder                                   (d,)   f32
    m       the mean of the vectors that are kept: the frame                 (d,)   f32
    c       (x - m) / |x - m|                                                (d,)   f32
    codes   round(c / scale), scale = max|c| / 127                           (n, d) i8, (n,) f32
    signs   c > 0, 64 dimensions to a word, one line a word                  (ceil(d / 64), n) u64

Why centred: the vectors of one model point into a narrow cone ("anisotropy": Ethayarajh, EMNLP 2019; taking the mean away: Mu and
Viswanath, ICLR 2018). With e5, whose texts all have cosines of .7 to .9, a mean direction says nothing but "this is text", and its
sign bits would be the same for all. A question is centred by the mean of the texts too.

Why 8 bits: a cosine is off by .0025 at most, a thirtieth of the spread of the cosines, and a scan reads a quarter of what f32
takes. Sign bits: P(bit differs) = angle / pi for random directions (Goemans and Williamson 1995; Charikar, STOC 2002), so that
the Hamming distance orders by angle, noisily; the exact cosine puts the shortlist right.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indelible.errors import EmbedderFailed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Mask = NDArray[np.bool_]

EXACT = 100_000
"""Rows of which `nearest` compares every one exactly."""
ALL_EXACT = 25_000
"""Rows of which `graded` compares every one exactly: 100,000 would take most of the ten milliseconds that a question may take."""
SHORTLIST = 2_000
"""Rows that the sign bits leave over: docs/recall.md has what is lost by so many."""
_TILE = 512
"""Rows that are unpacked at once: 0.8 MB of f32 stay in a core's own cache."""
_WORDS_TILE = 65_536
_WORD = 64
_SAMPLE = 4_096
_LEAST = 1e-6
"""Shorter than this is no direction but rounding."""


class Packed(NamedTuple):
    """n vectors as they are kept; whoever keeps them keeps `mean` too."""

    mean: Floats
    """(d,) f32"""
    codes: NDArray[np.int8]
    """(n, d) i8"""
    scales: Floats
    """(n,) f32; a row that is the mean itself has 0, and a cosine of 0 with everything"""
    lengths: Floats
    """(n,) f32: |x - m|, so that x can be had back when the mean is another"""
    signs: NDArray[np.uint64]
    """(ceil(d / 64), n) u64"""

    @property
    def size(self) -> int:
        """Dimensions."""
        return len(self.mean)

    def __len__(self) -> int:
        return len(self.scales)


class Near(NamedTuple):
    """What was found, the nearest first."""

    rows: NDArray[np.int64]
    """(k,) i64: which rows"""
    cosines: Floats
    """(k,) f32, centred, -1 to 1"""


class Spread(NamedTuple):
    """Of the cosines of all rows with one question."""

    mean: float
    deviation: float


def checked(vectors: object, count: int, size: int, who: str) -> Floats:
    """Vectors that an embedder gave, each brought to length 1.

    Args:
        vectors: what should be (count, size) numbers.
        who: named in the refusal.

    Raises:
        EmbedderFailed: another number or size of vectors, no numbers, a NaN, an infinity, or a row of zeros.
    """
    try:
        rows = np.asarray(vectors, np.float64)
    except (TypeError, ValueError) as exc:
        raise EmbedderFailed(f"{who} gave something else than vectors of one size") from exc
    if rows.shape != (count, size):
        given = " x ".join(map(str, rows.shape))
        raise EmbedderFailed(
            f"{who} gave {given} numbers where {count} x {size} were due: {count} vectors of {size} dimensions"
        )
    wrong = np.flatnonzero(~np.isfinite(rows).all(axis=1))
    if len(wrong):
        kind = "a NaN" if np.isnan(rows[wrong[0]]).any() else "an infinite number"
        raise EmbedderFailed(f"{who} gave a vector with {kind} in it (number {wrong[0]} of {count})")
    # Divided by its greatest number first: the square of one that is large enough would be infinite.
    rows = rows / np.maximum(np.abs(rows).max(axis=1, keepdims=True, initial=0), np.finfo(np.float64).tiny)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    zero = np.flatnonzero(lengths[:, 0] == 0)
    if len(zero):
        raise EmbedderFailed(f"{who} gave a vector of zeros, which has no direction (number {zero[0]} of {count})")
    found: Floats = (rows / lengths).astype(np.float32)
    return found


def mean_of(rows: Floats) -> Floats:
    """(d,) f32: the mean of (n, d) vectors; zeros where there are none."""
    return rows.mean(axis=0, dtype=np.float64).astype(np.float32) if len(rows) else np.zeros(rows.shape[1], np.float32)


def pack(rows: Floats, mean: Floats) -> Packed:
    """As they are kept, (n, d) unit vectors centred by `mean`."""
    centred = rows - mean
    lengths = np.linalg.norm(centred, axis=1).astype(np.float32)
    centred /= np.maximum(lengths, _LEAST)[:, None]
    centred[lengths < _LEAST] = 0
    scales = (np.abs(centred).max(axis=1, initial=0) / 127).astype(np.float32)
    codes = np.rint(centred / np.where(scales, scales, 1)[:, None]).astype(np.int8)
    return Packed(mean, codes, scales, lengths, _signs(centred))


def unpack(packed: Packed) -> Floats:
    """(n, d) f32: the unit vectors that were packed, but for the rounding."""
    return packed.codes * (packed.scales * packed.lengths)[:, None] + packed.mean


def centre(query: Floats, mean: Floats) -> Floats:
    """(d,) f32: a question as rows are compared with; zeros where it is the mean itself, which is near to nothing."""
    moved = query - mean
    length = np.linalg.norm(moved)
    return np.zeros_like(moved) if length < _LEAST else (moved / length).astype(np.float32)


def cosines(packed: Packed, query: Floats, rows: NDArray[np.int64] | None = None) -> Floats:
    """(n,) f32: the centred cosine of every row, or of `rows`, with a unit vector that an embedder made.

    Raises:
        EmbedderFailed: the question is of another size.
    """
    asked = _asked(packed, query)
    count = len(packed) if rows is None else len(rows)
    found, tile = np.empty(count, np.float32), np.empty((_TILE, packed.size), np.float32)
    for start in range(0, count, _TILE):
        end = min(count, start + _TILE)
        part = packed.codes[start:end] if rows is None else packed.codes[rows[start:end]]
        np.copyto(tile[: end - start], part)
        np.dot(tile[: end - start], asked, out=found[start:end])
    found *= packed.scales if rows is None else packed.scales[rows]
    return found


def nearest(
    packed: Packed, query: Floats, count: int, allowed: Mask | None = None, *, exact: int = EXACT, most: int = SHORTLIST
) -> Near:
    """The nearest rows: all are compared exactly up to `exact` of them, beyond that those `most` that the sign bits leave over.

    Args:
        allowed: (n,) which rows count at all; the others take no place of the list.

    Raises:
        EmbedderFailed: the question is of another size.
    """
    rows = None if allowed is None else np.flatnonzero(allowed)
    if (len(packed) if rows is None else len(rows)) > exact:
        rows = shortlist(packed, query, max(most, count), allowed)
    found = cosines(packed, query, rows)
    best = _best(found, count)
    return Near(best if rows is None else rows[best], found[best])


def shortlist(packed: Packed, query: Floats, most: int, allowed: Mask | None = None) -> NDArray[np.int64]:
    """At least `most` rows (all, where there are fewer) with the fewest differing sign bits, and all that are as near as the last."""
    distances = differing(packed, query)
    if allowed is None:
        return _fewest(distances, most)
    rows = np.flatnonzero(allowed)
    return rows[_fewest(distances[rows], most)]


def differing(packed: Packed, query: Floats) -> NDArray[np.uint16]:
    """(n,) u16: how many of the sign bits of each row are not those of the question."""
    asked = _signs(_asked(packed, query)[None])[:, 0]
    distances = np.empty(len(packed), np.uint16)
    for start in range(0, len(packed), _WORDS_TILE):
        end = min(len(packed), start + _WORDS_TILE)
        total = np.zeros(end - start, np.uint16)
        for line, word in zip(packed.signs, asked, strict=True):
            total += np.bitwise_count(line[start:end] ^ word)
        distances[start:end] = total
    return distances


def graded(packed: Packed, query: Floats, *, exact: int = ALL_EXACT, most: int = SHORTLIST) -> tuple[Floats, Spread]:
    """`(cosines, spread)`: a cosine for every row, as good as can be had in the time, and what z-scores of them are taken over.

    Up to `exact` rows all are exact. Beyond that those of the shortlist are, and the others are what their differing sign bits
    let expect: a line fitted to a sample of rows whose cosines are known.

    Raises:
        EmbedderFailed: the question is of another size.
    """
    if len(packed) <= exact:
        found = cosines(packed, query)
        return found, _over(found)
    distances = differing(packed, query)
    sample = _sample(len(packed))
    known, apart = cosines(packed, query, sample), distances[sample].astype(np.float32)
    slope = float(np.cov(apart, known)[0, 1] / max(float(apart.var()), _LEAST))
    found = np.float32(known.mean() - slope * apart.mean()) + np.float32(slope) * distances.astype(np.float32)
    found[sample] = known
    best = _fewest(distances, most)
    found[best] = cosines(packed, query, best)
    return found, _over(known)


def z_scores(found: Floats, over: Spread) -> Floats:
    """(k,) f32: how many standard deviations each cosine stands above the mean: what can be added to scores of other kinds."""
    return ((found - over.mean) / over.deviation).astype(np.float32)


def _fewest(distances: NDArray[np.uint16], most: int) -> NDArray[np.int64]:
    """Where the least distances are, at least `most` of them, by counting: there are only as many values as there are bits."""
    upto = int(np.searchsorted(np.bincount(distances).cumsum(), most))
    return np.flatnonzero(distances <= upto)


def _over(found: Floats) -> Spread:
    return Spread(float(found.mean()), float(found.std()) or 1.0) if len(found) else Spread(0.0, 1.0)


def _sample(count: int) -> NDArray[np.int64]:
    """Rows that are spaced evenly."""
    return np.unique(np.linspace(0, count - 1, min(count, _SAMPLE)).astype(np.int64))


def _asked(packed: Packed, query: Floats) -> Floats:
    if query.shape != (packed.size,):
        raise EmbedderFailed(
            f"A question with {query.size} dimensions cannot be compared with vectors that have {packed.size}"
        )
    return centre(query, packed.mean)


def _signs(rows: Floats) -> NDArray[np.uint64]:
    """(ceil(d / 64), n) u64 of (n, d): a line of words is read in one go."""
    padded = np.zeros((len(rows), -(-rows.shape[1] // _WORD) * _WORD), np.bool_)
    padded[:, : rows.shape[1]] = rows > 0
    return np.ascontiguousarray(np.packbits(padded, axis=1).view("<u8").T)


def _best(found: Floats, count: int) -> NDArray[np.int64]:
    """The places of the greatest, the greatest first; of equal ones the later row."""
    if count < len(found):
        least = np.partition(found, len(found) - count)[len(found) - count]
        candidates = np.flatnonzero(found >= least)
    else:
        candidates = np.arange(len(found))
    order = np.lexsort((candidates, found[candidates]))[::-1]
    return candidates[order[: max(count, 0)]]
