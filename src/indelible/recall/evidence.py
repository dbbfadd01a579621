"""How well each stored text explains a cue: log P(cue | text, noise) - log P(cue | unrelated text), in nats.

Three kinds of noise, each at every rate of a short list, each list summed over as equally likely (a mixture, so that no rate
has to be known):

    bits   each bit flipped at rate r. h of N bits differ: h log r + (N - h) log(1 - r)
    turns  each character deleted, or another put before it, at rate r; a replacement is both. With a the length of the longest
           common subsequence of m and k characters: a log(1 - 2r) + (m - a)(log r + log P(letter)) + (k - a) log r
    grams  each gram of the text survives at rate s, wherever it moved; the cue has gram b by chance with probability q_b. With
           t grams in the text: sum_(those in the cue) log(1 + s / (q_b (1 - s))) + t log(1 - s)

A part that is lost as a whole is one event, not one for each character: it costs what naming its place costs, and no more.

The longest common subsequence is the best path of a pair hidden Markov model whose letters cost the same (Durbin et al.,
"Biological Sequence Analysis", 1998, chapter 4), counted by bit-parallel addition (Hyyrö, "Bit-parallel LCS-length computation
revisited", 2004). Grams overlap, and those of one damaged place fall together: the evidence of grams is divided by how many.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indelible.light import NamedTuple
from indelible.recall.background import FLIPS
from indelible.recall.hopfield import distances
from indelible.recall.patterns import known, ranges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indelible.recall.background import Background
    from indelible.recall.patterns import Cue, Patterns

    Floats = NDArray[np.float64]
    Places = NDArray[np.int64]

__all__ = [
    "LIMIT",
    "Grams",
    "bits",
    "common",
    "grams",
    "long",
    "matched",
    "rough_bits",
    "rough_lost",
    "rough_weights",
    "shingles",
    "turns",
    "weights_whole",
]

TURNS = np.array([0.005, 0.02, 0.06, 0.12, 0.18, 0.25, 0.32])
SURVIVES = np.array([0.05, 0.15, 0.3, 0.5, 0.75, 0.93, 0.98])
TOGETHER = 4.0
"""Grams of two to four characters that one damaged character takes along, about: 2 + 3 + 4 halved, as words have ends."""
SHINGLE = 8
"""Bytes of a shingle, by which long texts are compared exactly."""
STRANGE = 1e-6
"""The chance that a cue holds a given shingle of an unrelated text."""
MORE = 1.0
FEW = 4
"""Characters that a text may be longer than the cue before it is asked whether a whole part was lost."""
LIMIT = 512
"""Bytes of cue and text that are aligned with one another."""
_ROUGH_FLIPS, _ROUGH_SURVIVES = 4, 0.3
_WHOLE, _CUT = np.log(0.9), np.log(0.05)


class Grams(NamedTuple):
    """What grams say of some texts, each (k,)."""

    evidence: Floats
    """Nats."""
    most: Floats
    """Nats, if any part of the text was lost and costs nothing: by it a text is compared with its kin."""
    hits: Places
    """Buckets that the cue has as well."""
    covered: Floats
    """The share of the cue's grams that the text has, the rare ones counting more: each by -log of its chance."""


def rough_bits(cue: Cue, patterns: Patterns, background: Background) -> tuple[Floats, Places, Places]:
    """Of every text: the evidence of bits at one rate, the distance in bits, and the bytes compared; the cue's holes are not."""
    words = -(-cue.reach // 8)
    there = np.minimum(patterns.sizes, cue.reach)
    masks = known(there)[:, :words]
    compared = there
    kept = cue.kept[: cue.reach]
    if not kept.all():
        masks = masks & _mask(kept, words)
        compared = np.concatenate(([0], kept.cumsum()))[there]
    apart = distances(cue.bits[:words], patterns.bits[:, :words], masks)
    rest = _rest(cue.letters(cue.reach), background.flipped[_ROUGH_FLIPS])
    rate = FLIPS[_ROUGH_FLIPS]
    likely = apart * np.log(rate) + (8 * compared - apart) * np.log(1 - rate) + rest[compared]
    return likely + _sized(len(cue.content), patterns.sizes), apart, compared


def bits(
    letters: NDArray[np.uint8], size: int, sizes: Places, apart: Places, compared: Places, background: Background
) -> Floats:
    """(k,) log P(the cue | texts of these sizes, at these distances over so many bytes).

    What a cue has beyond the text is unrelated, and counts against it by `MORE` nats a byte: flips put nothing on.

    Args:
        letters: (reach,) the bytes of the cue that can be compared; `size` is how many it has in all.
    """
    rates = FLIPS[:, None]
    rest = np.stack([_rest(letters, flipped) for flipped in background.flipped])[:, compared] - MORE * (
        len(letters) - compared
    )
    likely = apart * np.log(rates) + (8 * compared - apart) * np.log(1 - rates) + rest
    return np.asarray(np.logaddexp.reduce(likely, axis=0) - np.log(len(FLIPS)) + _sized(size, sizes))


def turns(asked: bytes, text: bytes, background: Background, *, cut: bool) -> tuple[float, float]:
    """The log of P(the cue's bytes | this text's); and the most that it may be if any part of the text was lost.

    A text longer than the cue is also tried as its beginning or its end alone, and as what is left without its middle: each costs what
    naming the place costs. The second number leaves that out, and what is lost costs nothing: by it a text is compared with its kin,
    which may differ in the very part that is lost.

    Args:
        asked: up to `LIMIT` bytes of the cue, as many of the text.
        cut: more of the text follows: then only as much of it as the cue has is looked at.
    """
    one, other = (piece.decode("utf-8", "surrogateescape") for piece in (asked, text))
    m, k = len(one), len(other)
    if not m or not k:
        return -np.inf, -np.inf
    noise = -float(background.letters[np.frombuffer(asked, np.uint8)].sum())
    together = common(one, other)
    ways = [] if cut and k > m else [_turned(together, m, k, noise)]
    if cut or k > m + FEW:
        ends = (other[:m],) if cut else (other[:m], other[-m:])
        ways += [_turned(common(one, end), m, min(m, k), noise) - np.log(2.0 * k) for end in ends]
        if not cut and m < k:
            ways.append(_turned(_outside(one, other), m, m, noise) - 2 * np.log(2.0 * k))
    return max(ways), max(*ways, _turned(together, m, min(m, k), noise))


def sums(buckets: NDArray[np.uint16], weights: Floats, patterns: Patterns) -> Floats:
    """(n,) of each text, the weights of those buckets that it has."""
    each = np.zeros(1 << 16, np.float32)
    each[buckets] = weights
    counts = np.diff(patterns.offsets)
    found = np.zeros(len(counts))
    some = counts > 0
    if some.any():
        found[some] = np.add.reduceat(each[patterns.buckets], patterns.offsets[:-1][some])
    return found


def rough_weights(chance: Floats) -> Floats:
    """(c,) what each bucket of the cue counts for, at that rate."""
    return np.asarray(_weights(chance, np.array([_ROUGH_SURVIVES]))[0])


def weights_whole(chance: Floats) -> Floats:
    """(c,) what each bucket of the cue counts for if three of four survive."""
    return np.asarray(_weights(chance, np.array([0.75]))[0])


def rough_lost(counts: Places) -> Floats:
    """(n,) what so many buckets cost, before any is found."""
    return np.asarray(counts * np.log(1 - _ROUGH_SURVIVES))


def grams(cue: Cue, patterns: Patterns, places: Places, chance: Floats) -> Grams:
    """What the buckets of the texts at these places say."""
    counts = np.diff(patterns.offsets)[places]
    hits = np.zeros((len(places), len(cue.buckets)), np.float32)
    if len(cue.buckets) and counts.sum():
        found = patterns.buckets[ranges(patterns.offsets[places], counts)]
        at = np.minimum(cue.buckets.searchsorted(found), len(cue.buckets) - 1)
        hit = cue.buckets[at] == found
        hits[np.repeat(np.arange(len(places)), counts)[hit], at[hit]] = 1
    number = hits.sum(axis=1)
    found_nats = hits @ _weights(chance, SURVIVES).T.astype(np.float32)
    scores, most = (_summed(found_nats + lost, TOGETHER) for lost in _lost(number, counts, TOGETHER))
    rare = -np.log(chance)
    covered = (hits @ rare.astype(np.float32)).astype(np.float64) / max(float(rare.sum()), 1e-9)
    return Grams(scores, most, number.astype(np.int64), covered)


def shingles(content: bytes) -> NDArray[np.uint64]:
    """Every `SHINGLE` bytes in a row, each once, ascending."""
    if len(content) < SHINGLE:
        return np.zeros(0, np.uint64)
    windows = np.lib.stride_tricks.sliding_window_view(np.frombuffer(content, np.uint8), SHINGLE)
    return np.unique(np.ascontiguousarray(windows).view(np.uint64).ravel())


def long(asked: NDArray[np.uint64], text: NDArray[np.uint64]) -> tuple[float, float]:
    """The evidence of the shingles of a long cue and a long text, and its most: as that of grams, each as rare as the other."""
    hits = np.array([len(np.intersect1d(asked, text, assume_unique=True))], np.float64)
    found = hits[:, None] * _weights(np.array([STRANGE]), SURVIVES)[:, 0]
    scores, most = (_summed(found + lost, SHINGLE) for lost in _lost(hits, np.array([len(text)]), SHINGLE))
    return float(scores[0]), float(most[0])


def common(one: str, other: str) -> int:
    """The length of the longest common subsequence."""
    rows = _rows(one, other)
    return len(other) - rows[-1].bit_count()


def matched(one: str, other: str) -> list[bool]:
    """Of each character of the other, whether it is in (one of) the longest common subsequences: the way back through the rows."""
    rows, found = _rows(one, other), [False] * len(other)
    row, place = len(one), len(other)
    while row and place:
        if rows[row] >> (place - 1) & 1:
            place -= 1
            continue
        row -= 1
        if rows[row] >> (place - 1) & 1:
            place -= 1
            found[place] = True
    return found


def _rows(one: str, other: str) -> list[int]:
    """For each beginning of one: a 0 at each place of the other at which the longest common subsequence grows."""
    places: dict[str, int] = {}
    for at, letter in enumerate(other):
        places[letter] = places.get(letter, 0) | 1 << at
    whole = (1 << len(other)) - 1
    row, rows = whole, [whole]
    for letter in one:
        hit = row & places.get(letter, 0)
        row = (row + hit | row - hit) & whole
        rows.append(row)
    return rows


def _outside(one: str, other: str) -> int:
    """Characters that the shorter one has in common with the beginning and with the end of the other: all, if the middle was lost."""
    m = len(one)
    begins = next((at for at in range(m) if one[at] != other[at]), m)
    ends = next((at for at in range(m - begins) if one[-1 - at] != other[-1 - at]), m - begins)
    return begins + ends


def _mask(kept: NDArray[np.bool_], words: int) -> NDArray[np.uint64]:
    """(words,) with a 1 at each bit of a byte that is kept."""
    mask = np.zeros(8 * words, np.uint8)
    mask[: len(kept)] = np.where(kept, 255, 0)
    return mask.view(np.uint64)


def _rest(letters: NDArray[np.uint8], flipped: Floats) -> Floats:
    """(reach + 1,) log P(the bytes from each place on | unrelated)."""
    return np.concatenate((flipped[letters][::-1].cumsum()[::-1], [0.0]))


def _sized(size: int, sizes: Places) -> Floats:
    """(k,) log P(the cue's size | the text's): flips leave it as it is; otherwise something was cut off or put on, anywhere."""
    return np.asarray(np.where(sizes == size, _WHOLE, _CUT - np.log(np.maximum(sizes, size) + 1.0)))


def _turned(together: int, m: int, k: int, noise: float) -> float:
    """The log of P(m characters | k characters, `together` of them in common), over all rates; `noise`: nats of all m as plain letters."""
    odd = m - together
    likely = together * np.log(1 - 2 * TURNS) + (odd + k - together) * np.log(TURNS)
    return float(np.logaddexp.reduce(likely) - np.log(len(TURNS)) - noise * odd / m)


def _weights(chance: Floats, survives: Floats) -> Floats:
    """(rates, c) what each gram of the cue counts for if the text has it."""
    rate = survives[:, None]
    return np.asarray(np.log1p(rate / (chance * (1 - rate))))


def _lost(hits: Floats, counts: Places, together: float) -> tuple[Floats, Floats]:
    """(k, rates) what the grams of a text cost that the cue does not have: one by one, or the most of them with a part lost; and at least."""
    gone = np.log(1 - SURVIVES)
    place = 2 * together * np.log(counts[:, None] + 1.0)
    part = np.minimum(hits[:, None] / SURVIVES, counts[:, None]) * gone
    return np.maximum(counts[:, None] * gone, part - place), part


def _summed(scores: Floats, together: float) -> Floats:
    """(k,) over all rates, divided by how many grams fall together."""
    return np.asarray((np.logaddexp.reduce(scores, axis=1) - np.log(len(SURVIVES))) / together, np.float64)
