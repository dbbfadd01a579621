"""What unrelated text looks like, learnt from what is stored: what every likelihood of a cue is weighed against.

All logarithms are natural; a ratio of likelihoods is told in nats. Of a store of any size only `SAMPLE` texts are read, evenly
spaced. What is asked for may be among them, so each count is lowered by one, and no probability is taken to be above `SURE`:
a store that holds one text, or forty versions of one, still knows what is not like it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indelible.light import NamedTuple
from indelible.recall import ordinary
from indelible.recall.patterns import BITS_SIZE, ranges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indelible.recall.patterns import Cue, Patterns

    Floats = NDArray[np.float64]

__all__ = ["FLIPS", "SURE", "Background", "learn"]

SAMPLE = 8192
SURE = 0.5
UNIT = 250
"""Buckets of a text by which chances are told: about 150 bytes of English."""
FLIPS = np.array([0.003, 0.02, 0.06, 0.12, 0.2, 0.3, 0.4, 0.47])
"""Rates of flipped bits that are summed over, each as likely as another."""
_LITTER = np.array([0.02, 0.3])
"""Shares of an unrelated cue that are noise and follow no language, likewise."""
_BUCKETS, _TRIPLES = 1 << 16, 1 << 20
_ORDINARY = 0.1
"""The chance that such a text has a given bucket of the page of ordinary text: about as many of its buckets are in it."""
_PERIODS = (1, 2, 3, 4, 8, 16, 32, 64)
"""Bytes after which a cue without meaning may repeat itself."""
_PRIOR = 20.0
"""Texts (or letters) that a count weighs as much as what is assumed without one."""
_KINDS = 7
_LEADS = np.array([0, 0xC0, 0xE0, 0xF0, 256])
"""Kinds 0 to 3 begin at these bytes: ASCII (and, at first, what continues), the first of two, of three, of four."""
_LEFT = np.array([0, 1, 2, 3, 2, 1, 0])
"""How many bytes still belong to the character, after each kind; 4, 5 and 6 continue it with 2, 1 and none to come."""
_APART = np.bitwise_count(np.arange(256)[:, None] ^ np.arange(256))


class Background(NamedTuple):
    """The statistics of unrelated text."""

    frequency: Floats
    """(65536,) the share of texts with `UNIT` buckets that have each bucket, from just above 0 to `SURE`."""
    letters: Floats
    """(256,) log P(byte)."""
    flipped: Floats
    """(8, 256) log P(byte) once its bits are flipped at each rate of `FLIPS`."""
    followed: NDArray[np.float32]
    """(8, 65536) log P(byte | the byte before it), both read through flipped bits."""
    classes: Classes
    pairs: NDArray[np.float32]
    """(65536,) how often each two bytes follow one another."""
    triples: NDArray[np.float32]
    """(2^20,) how often each three bytes do, hashed."""
    sizes: NDArray[np.int64]
    """(n,) sizes of texts in bytes, ascending."""

    def size(self, size: int) -> float:
        """The log of P(an unrelated cue has this many bytes): as stored texts have, and else spread over the magnitudes to 2^30."""
        low, high = np.searchsorted(self.sizes, (size - 1, size + 2))
        near = max(int(high - low) - 1, 0) / 3
        return float(np.log((near + _PRIOR / ((size + 8) * 21)) / (len(self.sizes) + _PRIOR)))

    def chance(self, cue: Cue) -> Floats:
        """(c,) the probability that an unrelated text with as many buckets as the cue has each of the cue's."""
        return self.odds(cue.buckets, len(cue.buckets))

    def odds(self, buckets: NDArray[np.uint16], count: int) -> Floats:
        """Likewise of any buckets, for a text with `count` of them."""
        return np.minimum(1 - (1 - self.frequency[buckets]) ** max(count / UNIT, 0.1), SURE)

    def plain(self, letters: NDArray[np.uint8]) -> float:
        """The log of P(these bytes | unrelated text): plain language, littered language and flipped bits, each as likely as another."""
        if not len(letters):
            return 0.0
        at = letters.astype(np.int64)
        followed = self.flipped[:, at[0]] + self.followed[:, at[:-1] * 256 + at[1:]].sum(axis=1)
        ways = np.concatenate((self._language(at), followed, _meaningless(at)))
        return float(np.logaddexp.reduce(ways) - np.log(len(ways)))

    def kinds(self, letters: NDArray[np.uint8]) -> float:
        """Likewise by kinds of bytes alone (`Classes`), their bits flipped at any rate. It takes ten times as long as `plain`."""
        if not len(letters):
            return 0.0
        return float(np.logaddexp.reduce(self.classes.likely(letters.astype(np.int64))) - np.log(len(FLIPS)))

    def _language(self, at: NDArray[np.int64]) -> Floats:
        """(2,) log P by an interpolated model of three bytes (Witten and Bell's idea), littered at each rate of `_LITTER`."""
        single = np.exp(self.letters[at])
        likely = single.copy()
        if len(at) > 1:
            pairs = self.pairs[at[:-1] * 256 + at[1:]]
            before = self.pairs.reshape(256, 256).sum(axis=1)[at[:-1]]
            likely[1:] = _mixed(pairs, before, likely[1:])
        if len(at) > 2:
            triples = self.triples[_hashed(at[:-2], at[1:-1], at[2:])]
            likely[2:] = _mixed(triples, self.pairs[at[:-2] * 256 + at[1:-1]], likely[2:])
        litter = _LITTER[:, None]
        return np.asarray(np.log(np.minimum((1 - litter) * likely + litter * single, SURE)).sum(axis=1))


class Classes(NamedTuple):
    """A hidden Markov model of UTF-8: which kind of byte follows which, however the bits are flipped.

    Its kinds: ASCII, the first of two, the first of three, the first of four, and what continues, first, second or last.
    Without it one Korean text would pass for another: every third byte of both begins with the same bits.
    """

    first: Floats
    """(7,) P(the kind of the first byte)."""
    steps: Floats
    """(7, 7) P(the kind of the next byte | that of this one)."""
    seen: Floats
    """(8, 7, 256) P(byte read | its kind), at each rate of `FLIPS`."""

    def likely(self, at: NDArray[np.int64]) -> Floats:
        """(8,) log P(bytes) at each rate, by the forward algorithm."""
        seen = self.seen[:, :, at]
        state = self.first * seen[:, :, 0]
        scale = np.zeros(len(state))
        for turn in range(1, len(at)):
            state = state @ self.steps * seen[:, :, turn]
            if turn % 32 == 0:  # so that it never underflows: 32 bytes cost at most e^-400
                whole = state.sum(axis=1)
                scale += np.log(whole)
                state /= whole[:, None]
        return np.asarray(scale + np.log(state.sum(axis=1)))


def learn(patterns: Patterns) -> Background:
    """The background of a store, on top of that of ordinary text (`ordinary`)."""
    chosen = np.unique(np.linspace(0, len(patterns.seqs) - 1, min(SAMPLE, len(patterns.seqs))).astype(np.int64))
    counts = np.diff(patterns.offsets)[chosen]
    found = patterns.buckets[ranges(patterns.offsets[chosen], counts)]
    # A text of many buckets tells less of each: as much as a piece of it with `UNIT` of them would.
    each = np.repeat(np.minimum(1.0, UNIT / np.maximum(counts, 1)), counts)
    seen = np.maximum(np.bincount(found, each, minlength=_BUCKETS) - 1, 0)
    usual = np.full(_BUCKETS, UNIT / _BUCKETS)
    usual[list(ordinary.buckets())] = _ORDINARY
    frequency = (seen + _PRIOR * usual) / (len(chosen) + _PRIOR)
    heads, there = _with_ordinary(
        np.ascontiguousarray(patterns.bits[chosen]).view(np.uint8),
        np.arange(BITS_SIZE) < np.minimum(patterns.sizes[chosen], BITS_SIZE)[:, None],
    )
    return _learnt(heads, there, np.minimum(frequency, SURE), np.sort(patterns.sizes))


def _with_ordinary(heads: NDArray[np.uint8], there: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The first bytes of the texts, and the lines of the page as if each were one; and where there is a byte."""
    lines = [
        line[at : at + BITS_SIZE]
        for line in ordinary.PAGE.encode().split(b"\n")
        for at in range(0, len(line), BITS_SIZE)
    ]
    page = np.frombuffer(b"".join(line.ljust(BITS_SIZE, b"\0") for line in lines), np.uint8).reshape(-1, BITS_SIZE)
    known = np.arange(BITS_SIZE) < np.array([len(line) for line in lines])[:, None]
    return np.concatenate((heads, page)).astype(np.int64), np.concatenate((there, known))


def _learnt(
    heads: NDArray[np.int64], there: NDArray[np.bool_], frequency: Floats, sizes: NDArray[np.int64]
) -> Background:
    """With the statistics of bytes, from the first bytes of the texts, (k, 128), where there are any."""
    single = np.bincount(heads[there], minlength=256) + 0.25
    letters = 0.98 * single / single.sum() + 0.02 / 256
    pairs = np.bincount((heads[:, :-1] * 256 + heads[:, 1:])[there[:, 1:]], minlength=_BUCKETS).astype(np.float32)
    triples = _hashed(heads[:, :-2], heads[:, 1:-1], heads[:, 2:])[there[:, 2:]]
    together = pairs.reshape(256, 256) + 3 * np.outer(letters, letters)
    channels = [_channel(rate) for rate in FLIPS]
    return Background(
        frequency, np.log(letters), np.log(np.stack([letters @ channel for channel in channels])),
        np.stack([_conditional(channel.T @ together @ channel) for channel in channels]), _classes(heads, there, letters, channels),
        pairs, np.bincount(triples, minlength=_TRIPLES).astype(np.float32), sizes,
    )  # fmt: skip


def _classes(heads: NDArray[np.int64], there: NDArray[np.bool_], letters: Floats, channels: list[Floats]) -> Classes:
    """The hidden Markov model, counted: kinds are plain to see in what is not flipped."""
    kinds = np.digitize(heads, _LEADS) - 1
    for at in range(1, BITS_SIZE):
        left = _LEFT[kinds[:, at - 1]]
        kinds[:, at] = np.where((heads[:, at] & 0xC0) == 0x80, 6 - np.maximum(left - 1, 0), kinds[:, at])
    kinds[:, 0] = np.where((heads[:, 0] & 0xC0) == 0x80, 6, kinds[:, 0])
    seen = np.stack(
        [np.bincount(heads[there & (kinds == kind)], minlength=256) + 0.5 * letters for kind in range(_KINDS)]
    )
    steps = (
        np.bincount((kinds[:, :-1] * _KINDS + kinds[:, 1:])[there[:, 1:]], minlength=_KINDS**2).reshape(_KINDS, _KINDS)
        + 0.1
    )
    first = np.bincount(kinds[:, 0], minlength=_KINDS) + 0.1
    seen = seen / seen.sum(axis=1, keepdims=True)
    return Classes(
        first / first.sum(),
        steps / steps.sum(axis=1, keepdims=True),
        np.stack([seen @ channel for channel in channels]),
    )


def _conditional(together: Floats) -> NDArray[np.float32]:
    """(65536,) log P(second | first), from how often both are read together."""
    return np.asarray(np.log(together / together.sum(axis=1, keepdims=True)).ravel(), np.float32)


def _meaningless(at: NDArray[np.int64]) -> Floats:
    """(10,) the log of P(these bytes) where they mean nothing: any byte, any printable one, or what stood there a while ago."""
    whole = np.log(256.0)
    printable = np.where((at >= 32) & (at < 127), -np.log(96.0), -whole - 4)
    again = [
        np.where(at[period:] == at[:-period], np.log(0.9), np.log(0.1) - whole).sum() - whole * min(period, len(at))
        for period in _PERIODS
    ]
    return np.array([-whole * len(at), printable.sum(), *again])


def _hashed(first: NDArray[np.int64], second: NDArray[np.int64], third: NDArray[np.int64]) -> NDArray[np.int64]:
    """Knuth's multiplicative hash of three bytes, in 20 bits."""
    return ((first * 65536 + second * 256 + third) * 2654435761 >> 8) & (_TRIPLES - 1)


def _mixed(together: NDArray[np.float32], before: NDArray[np.float32], shorter: Floats) -> Floats:
    """P(next | what stands before it), leaning on the shorter context where the longer one was seldom seen; less the cue's own."""
    weight = before / (before + _PRIOR)
    return np.asarray(weight * np.maximum(together - 1, 0) / np.maximum(before, 1) + (1 - weight) * shorter)


def _channel(rate: float) -> Floats:
    """(256, 256) P(byte read | byte written) when each bit is flipped at this rate."""
    return np.asarray(rate**_APART * (1 - rate) ** (8 - _APART))
