"""The scale on which 0.9 means nearly the same and 0.3 separate roles, found from the very memories that are compared.

A raw cosine means nothing by itself: it hangs on the vectors, on how much there is, and on who else is compared. So it is measured
what it is for two things whose likeness is known:

    nearly the same    two halves of one agent's memory: its pieces lie in 8 folds, and each of the 35 ways to take 4 of them is
                       a pair of halves. A half has half of the words and so more noise; what two wholes would have is
                       2r / (1 + r) (Spearman 1910, Brown 1910). Of all of these, the lowest tenth is the anchor of 0.9.
    separate           different agents: the median of all pairs and twice their spread (1.4826 x the median of the
                       distances from it, and in all at least 0.1) is the anchor of 0.3. A minority of pairs that are alike does not
                       move it.

    likeness = 0.3 + 0.6 * (cosine - separate) / (same - separate),  held within 0 and 1

Where there are fewer than three agents with two pieces in each fold on average, or where halves of one agent are hardly more
alike than different agents (all are nearly the same, or each is a mixture), there is no such scale, and it is said why.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indelible.recall.ngrams import FOLDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indelible.recall.overlap import Pair, Vectors

NEARLY_THE_SAME, SEPARATE = 0.9, 0.3
"""The seed's bands."""
AGENTS, PIECES = 3, 2 * FOLDS
_LOWEST = 0.1
_APART = 0.2
"""How far the two anchors have to be from one another on the raw scale."""
_LEAST = 0.1
_SIGMA = 1.4826
"""The standard deviation of normal values is this times their median absolute deviation."""


class Calibration(NamedTuple):
    """How a raw cosine is read."""

    same: float | None
    """What halves of one agent have; the anchor of 0.9."""
    separate: float | None
    """What different agents have; the anchor of 0.3."""
    agents: int
    """With enough to be halved."""
    halves: int
    """Pairs of halves that were measured."""
    pairs: int
    """Pairs of agents that were measured."""
    problem: str = ""
    """Why it is not calibrated."""

    def likeness(self, cosine: float | None) -> float | None:
        """A cosine on the scale of the bands; None where it is not calibrated."""
        if self.problem or cosine is None or self.same is None or self.separate is None:
            return None
        slope = (NEARLY_THE_SAME - SEPARATE) / (self.same - self.separate)
        return min(1.0, max(0.0, SEPARATE + slope * (cosine - self.separate)))


def band(likeness: float | None) -> str:
    """The name of the band that a likeness is in."""
    if likeness is None:
        return "not-calibrated"
    return "nearly-the-same" if likeness >= NEARLY_THE_SAME else "separate" if likeness <= SEPARATE else "between"


def calibrate(made: Vectors, pairs: tuple[Pair, ...]) -> Calibration:
    """The scale for these vectors; the same for the same memories."""
    enough = [at for at, count in enumerate(made.pieces) if count >= PIECES and made.weights[at].all()]
    same = [value for at in enough for value in _halves(made, at)]
    named = {made.agents[at] for at in enough}
    apart = [pair.cosine for pair in pairs if pair.cosine is not None and {pair.a, pair.b} <= named]
    if len(enough) < AGENTS:
        problem = f"it takes {AGENTS} agents with {PIECES} pieces of fifty words each, and {len(enough)} have that"
        return Calibration(None, None, len(enough), len(same), len(apart), problem)
    middle = float(np.median(apart))
    separate = middle + max(_LEAST, 2 * _SIGMA * float(np.median(np.abs(np.array(apart) - middle))))
    highest = float(np.quantile(same, _LOWEST))
    near = highest - separate < _APART
    problem = "halves of one agent's memory are hardly more alike than the memories of different agents" if near else ""
    return Calibration(highest, separate, len(enough), len(same), len(apart), problem)


def _halves(made: Vectors, at: int) -> Iterator[float]:
    """The cosine of each pair of halves of one agent, as two of the whole size would have it."""
    folds, weights = made.folds[at], made.weights[at]
    for some in combinations(range(1, FOLDS), FOLDS // 2):
        chosen = np.zeros(FOLDS, np.bool_)
        chosen[list(some)] = True
        one, other = (folds[mask].sum(axis=0) / weights[mask].sum() - made.mean for mask in (chosen, ~chosen))
        half = max(0.0, made.cosine(one, other))
        yield 2 * half / (1 + half)
