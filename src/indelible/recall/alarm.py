"""When the likeness of two agents is out of their own past: by median and MAD, never by a fixed number for everybody.

A pair's past is what earlier runs found of it, of other memories than are there now: to look twice at the same adds nothing. Of
these the newest `WINDOW` count. With m their median and s = 1.4826 x the median of the distances from m (for normal values the
standard deviation; Hampel 1974), held from below by a floor, since a past that never moved has an s of 0, a value is out of it

    cosine        above m + 4 s, from `RUNS` runs on, floor 0.03
    containment   above m + 4 s, from the first run on, floor 0.0015, and with at least `SHINGLES` shingles in common: a jump

A cosine is held only against those of the same agents, vectors and model. A first look has no past, and so no alarm.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from indelible.recall.history import Past

RUNS = 5
"""Runs before a cosine can be out of its past."""
WINDOW = 30
SHINGLES = 2
"""Fewer in common are a phrase, not a passage: two are eight words in a row."""
TIMES = 4.0
FLOORS = {"cosine": 0.03, "a_in_b": 0.0015, "b_in_a": 0.0015}
_SIGMA = 1.4826


class Level(NamedTuple):
    """The past of one measure of one pair."""

    measure: str
    """`cosine`, `a_in_b` or `b_in_a`."""
    runs: int
    median: float | None
    """None without a past."""
    limit: float | None
    """What is above it is out of the past; None where there is too little of it."""


class Alarm(NamedTuple):
    """A measure that is out of its past."""

    measure: str
    value: float
    level: Level


def level(measure: str, values: Iterable[float]) -> Level:
    """The past of a measure, from its values, oldest first."""
    newest = list(values)[-WINDOW:]
    if not newest:
        return Level(measure, 0, None, None)
    middle = median(newest)
    spread = max(_SIGMA * median(abs(value - middle) for value in newest), FLOORS[measure] / TIMES)
    limit = middle + TIMES * spread if len(newest) >= (RUNS if measure == "cosine" else 1) else None
    return Level(measure, len(newest), middle, limit)


def levels(past: Iterable[Past], *, of: str, among: str, vectors: str) -> tuple[Level, ...]:
    """The past of each measure of one pair.

    Args:
        past: what is kept of this pair, oldest first.
        of, among, vectors: of the comparison that is made now.
    """
    other = [one for one in past if one.of != of]
    cosines = [one.cosine for one in other if one.cosine is not None and one.among == among and one.vectors == vectors]
    return (
        level("cosine", cosines), level("a_in_b", (one.a_in_b for one in other)), level("b_in_a", (one.b_in_a for one in other)),
    )  # fmt: skip


def judge(now: Past, past: tuple[Level, ...], shared: int) -> tuple[Alarm, ...]:
    """What is out of its past.

    Args:
        shared: shingles that both have.
    """
    found = []
    for one in past:
        value: float | None = getattr(now, one.measure)
        few = one.measure != "cosine" and shared < SHINGLES
        if value is not None and one.limit is not None and value > one.limit and not few:
            found.append(Alarm(one.measure, value, one))
    return tuple(found)
