"""From texts to thresholds: how near unrelated texts come, and how far a wrong answer can lead, at a rate that is asked for.

The last third of the texts is hidden and the rest is stored; every kind of damage is done to hidden and to stored texts; what the memory
then finds for a hidden one is wrong, whatever it is. Wrong evidence above 0 is fitted by an exponential tail (the peaks-over-threshold
method with shape 0: Pickands 1975; Coles, "An Introduction to Statistical Modeling of Extreme Values", 2001, chapter 4), and the
threshold is where that tail falls to the rate. The same is done to the lead of a wrong text over the right
one, for texts with near-duplicates beside them. Everything is drawn from one seed: the same texts give the same thresholds.

Where the stored text that is found holds a third of what is left of a hidden one, the trial is left out: as far as the cue can tell,
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

__all__ = ["FEW", "FEWEST", "KIN", "calibrate", "damaged", "runs_of", "share", "small"]

FEWEST = 300
"""Texts that a calibration needs: of fewer, the tail is a guess."""
KIN = 1 / 3
"""The share of what is left of a hidden text from which on the stored text that holds it is no wrong answer."""
_RUN = 5
"""Characters that are held together, for that share."""
_FEW = 5
"""Fewer values than these are no tail; then the odds themselves are the line: a weight of x nats is wrong once in e^x."""
_KEEP = 0.01
"""The share of texts with shuffled words that `covered` may let go."""
FEW, JOINED = (1, 2, 5, 30), (1, 1, 30, 600)
"""Texts in a small store, and how many in a row make each of them: of a hundred bytes, or of 60 KB."""
_SMALL = 20
"""Small stores that a calibration tries."""
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
    moved: bool
    """Whether its words were shuffled and nothing else happened to it."""


def calibrate(texts: Sequence[bytes], *, wrong: float = 1e-7, trials: int = 4000, seed: int = 1) -> Thresholds:
    """The thresholds at which a wrong PERFECT is expected once in 1 / `wrong` answers.

    Args:
        texts: what such stores hold, `FEWEST` distinct ones and more, in the order in which they were
            written: the last third is hidden, so that no episode is torn.
        wrong: the share of wrong answers called PERFECT that is asked for, for each way of being wrong.
        trials: damaged texts to try, half of them hidden.

    Raises:
        UsageError: too few texts.
    """
    distinct = list(dict.fromkeys(texts))
    if len(distinct) < FEWEST:
        raise UsageError(
            f"{len(distinct)} texts are too few to calibrate by; {FEWEST} are needed",
            remedy="Keep the thresholds that are shipped",
        )
    seen = list(_tried(distinct, trials, np.random.default_rng(seed)))
    strange = [one for one in seen if one.hidden]
    kept = [one.covered for one in seen if one.right and one.moved]
    covered = float(np.floor(100 * np.quantile(kept, _KEEP)) / 100)
    led = [one for one in seen if not one.hidden and not one.right]
    by_bits = [one.lead for one in led if one.bits > max(one.turns, one.grams)]
    moved = [one.lead for one in led if one.bits <= max(one.turns, one.grams)]
    count, least = len(seen) - len(strange), float(np.ceil(-10 * np.log(wrong)) / 10)
    return Thresholds(
        bits=_line([one.bits for one in strange], len(strange), wrong, least),
        turns=_line([one.turns for one in strange], len(strange), wrong, least),
        grams=_line([one.grams for one in strange if one.covered >= covered], len(strange), wrong, least),
        covered=covered,
        gap=_line(moved, count, wrong, 0.0),
        flips=_line(by_bits, count, wrong, 0.0),
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
    """A cue made of a text by one kind of damage, or a loss and a noise; what is left of the text in it; whether words moved, and no more."""
    rate = float(dice.random()) * _RATE
    kind = int(dice.integers(3))
    loss, noise = (kinds[int(dice.integers(len(kinds)))] for kinds in (damage.LOSSES, damage.NOISES))
    if kind == 0:
        return noise(text, rate, dice), text, noise is damage.shuffled
    piece = loss(text, rate / kind, dice)
    return (piece if kind == 1 else noise(piece, rate / 2, dice)), piece, False


def _tried(texts: list[bytes], trials: int, dice: Dice) -> Iterator[Seen]:
    """What came of each trial, but for those that ask for what is there: nine of ten in a store of all, one in a small one."""
    hidden, stored = texts[2 * len(texts) // 3 :], texts[: 2 * len(texts) // 3]
    kin = [damage.relative(text, dice) for text in stored[::3]]
    yield from _in_store(list(dict.fromkeys(stored + kin)), hidden, trials - trials // 10, dice)
    for turn in range(_SMALL):
        few = small(stored, FEW[turn % len(FEW)], dice)
        yield from _in_store(few, hidden, trials // 10 // _SMALL, dice)


def small(texts: Sequence[bytes], count: int, dice: Dice) -> list[bytes]:
    """A store of so many texts, each of them one of these, or dozens or hundreds that stand in a row; none is part of another."""
    joined = int(JOINED[int(dice.integers(len(JOINED)))])
    places = dice.permutation(max(len(texts) // joined, 1))[:count] * joined
    return list(dict.fromkeys(b"\n".join(texts[at : at + joined]) for at in places.tolist()))


def _in_store(stored: list[bytes], hidden: list[bytes], trials: int, dice: Dice) -> Iterator[Seen]:
    """Half of them ask for a hidden text."""
    weigher = Weigher(build(stored), many=True)
    best_of = float(np.log(len(stored)))
    for turn in range(trials):
        is_hidden = turn % 2 == 0
        source = (hidden if is_hidden else stored)[int(dice.integers(len(hidden if is_hidden else stored)))]
        cue, piece, moved = damaged(source, dice)
        if cue in stored:
            continue
        weighed, between = weigher.weigh(cue_of(cue), stored.__getitem__)
        if between or not len(weighed.places):
            continue
        found = stored[int(weighed.places[0])]
        if is_hidden and share(piece, runs_of(found)) >= KIN:
            continue
        right = not is_hidden and found == source
        bits, turns, grams = (float(column[0]) - best_of for column in (weighed.bits, weighed.turns, weighed.grams))
        yield Seen(right, is_hidden, bits, turns, grams, float(weighed.covered[0]), weighed.lead, moved)


def _line(values: list[float], trials: int, wrong: float, least: float) -> float:
    """Where an exponential tail through what lies above 0 falls to the rate `wrong`, rounded up to a tenth; not below `least`."""
    above = [value for value in values if value > 0]
    if len(above) < _FEW:
        return least
    mean = sum(above) / len(above)
    return max(least, float(np.ceil(10 * mean * np.log(len(above) / trials / wrong)) / 10))
