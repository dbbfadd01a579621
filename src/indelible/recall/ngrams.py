"""What an agent's memories are about, as vectors: of hashed n-grams where there is no model, of a model's embeddings where there is.

Memories are cut into pieces of about fifty words, so that one long MEMORY.md and a hundred notes are measured alike. Without a
model a piece is the vector over `BUCKETS` buckets

    x[f] = sign(f) * (1 + ln tf[f]),  scaled to length 1

of its words, of the three-letter runs within them, and of the pairs of syllables or characters within Hangul, Han and other
such runs, each hashed to a bucket and a sign (Weinberger et al. 2009, "Feature hashing"). Sums of pieces are weighted by what
is common over all agents, each agent counting the same: with p[f] the share of pieces that have f, and N the number of pieces,

    idf[f] = ln((1 + N) / (1 + N * p[f]))

which is 0 for what stands in every piece. With a model, x is its embedding of the piece, scaled to length 1, and nothing is
weighted. Either way a piece counts by its words, and falls by a hash of its memory's key into one of `FOLDS` sums, of which
halves of an agent are made (`bands`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from indelible.errors import UsageError
from indelible.recall.codepoints import ALONE, FULL, HANGUL, LETTER, mix, ranges

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from indelible.recall.codepoints import Hashes, Places, Words

    Floats: TypeAlias = NDArray[np.float64]
    Embed: TypeAlias = Callable[[list[str]], NDArray[np.float32]]
    """`embed(texts)` gives (len(texts), d) numbers."""

NAME = "ngrams/1"
"""What these vectors are called in a history: another recipe has another name, and is not compared with this one."""
BUCKETS = 1 << 16
FOLDS = 8
PIECE = 50 * FULL
"""What a piece weighs."""
_SALTS = (np.uint64(0x5851F42D4C957F2D), np.uint64(0x14057B7EF767814F))
_BATCH = 256
"""Pieces that a model is given at once."""


class Pieces(NamedTuple):
    """Several texts in pieces."""

    of_word: Places
    """(n,) in which piece each word stands."""
    texts: Places
    """(k,) in which text each piece stands."""
    folds: Places
    """(k,)"""
    weights: Floats
    """(k,) in words."""
    begins: Places
    """(k,) first word of each."""


@dataclass(slots=True)
class Sums:
    """What the pieces of one agent add up to."""

    folds: Floats
    """(FOLDS, d)"""
    weights: Floats = field(default_factory=lambda: np.zeros(FOLDS))
    """(FOLDS,) in words."""
    having: Floats = field(default_factory=lambda: np.zeros(0))
    """(d,) how many pieces have each feature; (0,) for a model's vectors."""
    pieces: int = 0


def cut(words: Words, keys: Hashes) -> Pieces:
    """Cut texts into pieces.

    Args:
        keys: (t,) a number for each text, always the same for the same memory.
    """
    total = np.cumsum(words.weights)
    _, firsts, inverse = np.unique(words.texts, return_index=True, return_inverse=True)
    before = (total - words.weights)[firsts][inverse] if len(total) else total
    ordinal = (total - words.weights - before) // PIECE
    new = np.ones(len(total), np.bool_)
    new[1:] = (np.diff(ordinal) != 0) | (np.diff(words.texts) != 0)
    begins = np.flatnonzero(new)
    texts = words.texts[begins]
    folds = mix(keys[texts] ^ mix(ordinal[begins].astype(np.uint64))) >> np.uint64(61)
    of_word = np.cumsum(new) - 1
    weights = np.bincount(of_word, words.weights / FULL, len(begins)).astype(np.float64)
    return Pieces(of_word, texts, folds.astype(np.int64), weights, begins)


def empty(embed: Embed | None) -> Sums:
    """The sums of no pieces."""
    if embed is None:
        return Sums(np.zeros((FOLDS, BUCKETS)), having=np.zeros(BUCKETS))
    return Sums(np.zeros((FOLDS, 0)))


def add(sums: Sums, words: Words, pieces: Pieces) -> None:
    """Add the n-grams of pieces to an agent's sums."""
    which, feature, sign, count = _features(words, pieces)
    value = 1 + np.log(count)
    length = np.sqrt(np.bincount(which, value * value, len(pieces.texts)))
    value *= sign * (pieces.weights / np.maximum(length, 1e-12))[which]
    flat = np.bincount(pieces.folds[which] * BUCKETS + feature, value, FOLDS * BUCKETS)
    sums.folds += flat.reshape(FOLDS, BUCKETS)
    sums.weights += np.bincount(pieces.folds, pieces.weights, FOLDS)
    sums.having += np.bincount(feature, minlength=BUCKETS)
    sums.pieces += len(pieces.texts)


def add_embedded(sums: Sums, words: Words, pieces: Pieces, texts: Sequence[str], embed: Embed) -> None:
    """Add a model's embeddings of pieces to an agent's sums.

    Raises:
        UsageError: the model gives something else than a row of finite numbers for each piece, all of one size.
    """
    ends = np.append(pieces.begins[1:], len(words.starts)) - 1
    cuts = [
        texts[text][words.starts[begin] - words.origins[text] : words.ends[end] - words.origins[text]]
        for text, begin, end in zip(pieces.texts, pieces.begins, ends, strict=True)
    ]
    for start in range(0, len(cuts), _BATCH):
        rows = np.asarray(embed(cuts[start : start + _BATCH]), np.float64)
        size = sums.folds.shape[1] or (rows.shape[1] if rows.ndim == 2 else 0)
        if rows.shape != (len(cuts[start : start + _BATCH]), size) or not size or not np.isfinite(rows).all():
            raise UsageError(
                f"The embedder gave {rows.shape} numbers, or some that are not finite, where ({len(cuts[start : start + _BATCH])}, {size}) were due",
                remedy="Use an embedder that gives one vector of one size for each text",
            )
        rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
        if not sums.folds.shape[1]:
            sums.folds = np.zeros((FOLDS, size))
        np.add.at(sums.folds, pieces.folds[start : start + _BATCH], rows * pieces.weights[start : start + _BATCH, None])
    sums.weights += np.bincount(pieces.folds, pieces.weights, FOLDS)
    sums.pieces += len(cuts)


def weigh(all_sums: Sequence[Sums]) -> list[Floats]:
    """The sums of each agent, (FOLDS, d), with what is common to all weighted down; unchanged where they are a model's."""
    shares = [sums.having / sums.pieces for sums in all_sums if len(sums.having) and sums.pieces]
    if not shares:
        return [sums.folds for sums in all_sums]
    number = sum(sums.pieces for sums in all_sums)
    idf = np.log((1 + number) / (1 + number * np.mean(shares, axis=0)))
    return [sums.folds * idf for sums in all_sums]


def _features(words: Words, pieces: Pieces) -> tuple[Places, Places, Floats, Floats]:
    """`(piece, bucket, sign, count)` of each feature of each piece, each pair once."""
    kinds = words.kinds
    pair = np.zeros(len(kinds), np.bool_)
    pair[:-1] = ((kinds[:-1] == HANGUL) | (kinds[:-1] == ALONE)) & (kinds[1:] == kinds[:-1])
    triple = np.zeros(len(kinds), np.bool_)
    triple[:-2] = (kinds[:-2] == LETTER) & (kinds[1:-1] == LETTER) & (kinds[2:] == LETTER)
    pairs, triples = np.flatnonzero(pair), np.flatnonzero(triple)
    hashes = np.concatenate(
        (
            words.hashes,
            mix(ranges(words.points, pairs, pairs + 2) ^ _SALTS[0]),
            mix(ranges(words.points, triples, triples + 3) ^ _SALTS[1]),
        )
    )
    holders = np.searchsorted(words.starts, np.concatenate((pairs, triples)), "right") - 1
    where = np.concatenate((pieces.of_word, pieces.of_word[holders]))
    keys = (where.astype(np.uint64) << np.uint64(17)) | (hashes >> np.uint64(47))
    keys, counts = np.unique(keys, return_counts=True)
    sign = 1.0 - 2.0 * (keys & np.uint64(1)).astype(np.float64)
    bucket = (keys >> np.uint64(1)) & np.uint64(BUCKETS - 1)
    return (keys >> np.uint64(17)).astype(np.int64), bucket.astype(np.int64), sign, counts.astype(np.float64)
