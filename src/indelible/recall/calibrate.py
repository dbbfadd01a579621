"""From texts to thresholds: how near unrelated texts come, and how far a wrong answer can lead, at a rate that is asked for.

A third of the texts is hidden and the rest is stored; every kind of damage is done to hidden and to stored texts; what the memory
then finds for a hidden one is wrong, whatever it is. Of the wrong evidence the highest share is fitted by an exponential tail (the
peaks-over-threshold method with shape 0: Pickands 1975; Coles, "An Introduction to Statistical Modeling of Extreme Values", 2001,
chapter 4), and the threshold is where that tail falls to the rate. The same is done to the lead of a wrong text over the right
one, for texts with near-duplicates beside them. Everything is drawn from one seed: the same texts give the same thresholds.

Where the stored text that is found holds half of what is left of a hidden one, the trial is left out: as far as the cue can tell,
what it asks for is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indelible.errors import UsageError
from indelible.light import NamedTuple
from indelible.recall import damage
from indelible.recall.patterns import build, cue_of
from indelible.recall.thresholds import Thresholds
from indelible.recall.weighing import Weigher

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Dice = np.random.Generator

__all__ = ["FEWEST", "KIN", "calibrate", "damaged", "runs_of", "share"]

FEWEST = 300
"""Texts that a calibration needs: of fewer, the tail is a guess."""
KIN = 0.5
"""The share of what is left of a hidden text from which on the stored text that holds it is no wrong answer."""
_RUN = 5
"""Characters that are held together, for that share."""
_TAIL = 25
"""So many of the highest values are what the tail is fitted to."""
_KEEP = 0.01
"""So many of the texts that only lost a part may be let go by `covered`."""
_RATE = 0.5
"""The highest rate of damage."""


class Seen(NamedTuple):
    """What came of one damaged text."""

    right: bool
    hidden: bool
    bits: float
    turns: float
    grams: float
    covered: float
    lead: float
    """Nats of the first over the second."""
    lost: bool
    """Whether it lost a part and nothing else happened to it."""


def calibrate(texts: Sequence[bytes], *, wrong: float = 1e-6, trials: int = 4000, seed: int = 1) -> Thresholds:
    """The thresholds at which a wrong PERFECT is expected once in 1 / `wrong` answers.

    Args:
        texts: what such stores hold, `FEWEST` distinct ones and more. Their order does not matter.
        wrong: the share of wrong answers called PERFECT that is asked for, for each way of being wrong.
        trials: damaged texts to try, half of them hidden.

    Raises:
        UsageError: too few texts.
    """
    distinct = sorted(set(texts))
    if len(distinct) < FEWEST:
        raise UsageError(
            f"{len(distinct)} texts are too few to calibrate by; {FEWEST} are needed",
            remedy="Keep the thresholds that are shipped",
        )
    seen = list(_tried(distinct, trials, np.random.default_rng(seed)))
    strange = [one for one in seen if one.hidden]
    lost = [one.covered for one in seen if one.right and one.lost]
    covered = round(float(np.quantile(lost, _KEEP)), 2)
    led = [one for one in seen if not one.hidden and not one.right]
    by_bits = [one.bits > max(one.turns, one.grams) for one in led]
    count, share = len(seen) - len(strange), len(strange)
    return Thresholds(
        bits=_line([one.bits for one in strange], share, wrong),
        turns=_line([one.turns for one in strange], share, wrong),
        grams=_line([one.grams for one in strange if one.covered >= covered], share, wrong),
        covered=covered,
        gap=_line([one.lead for one, bits in zip(led, by_bits, strict=True) if not bits], count, wrong),
        flips=_line([one.lead for one, bits in zip(led, by_bits, strict=True) if bits], count, wrong),
    )


def share(piece: bytes, held: frozenset[str]) -> float:
    """The share of the piece's runs of `_RUN` characters that a text, given by its runs, has as well; all, if it has none."""
    own = runs_of(piece)
    return len(own & held) / len(own) if own else 1.0


def runs_of(text: bytes) -> frozenset[str]:
    """Every `_RUN` characters in a row."""
    letters = text.decode("utf-8", "surrogateescape")
    return frozenset(letters[at : at + _RUN] for at in range(len(letters) - _RUN + 1))


def damaged(text: bytes, dice: Dice) -> tuple[bytes, bytes, bool]:
    """A cue made of a text, what is left of the text in it, and whether it only lost a part: one kind of damage, or a loss and a noise."""
    rate = float(dice.random()) * _RATE
    kind = int(dice.integers(3))
    loss, noise = (kinds[int(dice.integers(len(kinds)))] for kinds in (damage.LOSSES, damage.NOISES))
    if kind == 0:
        return noise(text, rate, dice), text, False
    piece = loss(text, rate / kind, dice)
    return (piece, piece, True) if kind == 1 else (noise(piece, rate / 2, dice), piece, False)


def _tried(texts: list[bytes], trials: int, dice: Dice) -> Iterator[Seen]:
    """What came of each trial, but for those that ask for what is there."""
    order = dice.permutation(len(texts))
    hidden = [texts[at] for at in order[: len(texts) // 3]]
    stored = [texts[at] for at in order[len(texts) // 3 :]]
    kin = list(dict.fromkeys(damage.relative(text, dice) for text in stored[: len(stored) // 3]))
    stored = list(dict.fromkeys(stored + kin))
    weigher = Weigher(build(stored), many=True)
    best_of = float(np.log(len(stored)))
    for turn in range(trials):
        is_hidden = turn % 2 == 0
        source = hidden[int(dice.integers(len(hidden)))] if is_hidden else stored[int(dice.integers(len(stored)))]
        cue, piece, lost = damaged(source, dice)
        if cue in stored:
            continue
        weighed, crowded = weigher.weigh(cue_of(cue), stored.__getitem__)
        if crowded or len(weighed.places) < 2:
            continue
        found = stored[int(weighed.places[0])]
        if is_hidden and share(piece, runs_of(found)) >= KIN:
            continue
        right = not is_hidden and found == source
        bits, turns, grams = (float(column[0]) - best_of for column in (weighed.bits, weighed.turns, weighed.grams))
        yield Seen(right, is_hidden, bits, turns, grams, float(weighed.covered[0]), weighed.lead, lost)


def _line(values: list[float], trials: int, wrong: float) -> float:
    """Where an exponential tail through the highest values falls to the rate `wrong`, in whole nats, rounded up."""
    highest = np.sort(np.array(values))[::-1][: min(_TAIL, max(len(values) // 4, 2))]
    if len(highest) < 2:
        return 0.0
    edge = float(highest[-1])
    mean = max(float(highest.mean()) - edge, 1.0)
    return float(np.ceil(edge + mean * np.log(len(highest) / trials / wrong)))
