"""Two or more kinds of work, timed in turns in one process, and what they come to beside one another.

A shared machine changes its pace from one second to the next: a time alone says little, and a ratio of two times that
were taken far apart not much more. So works run in rounds, each of them once in every round. `least` compares the best
times, which the neighbours disturb least; `median` is the median of the ratios of each round. No time is asserted.
"""

from __future__ import annotations

import gc
import time
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Work = Callable[[], object]
    Clock = Callable[[], float]

ROUNDS = 7
cpu: Clock = time.process_time
wall: Clock = time.perf_counter


class Times(NamedTuple):
    """Seconds for one unit of work, one for each round."""

    seconds: tuple[float, ...]

    @property
    def least(self) -> float:
        return min(self.seconds)

    @property
    def median(self) -> float:
        return median(self.seconds)

    def micros(self) -> str:
        """For the table: the least and the median in microseconds."""
        return f"{self.least * 1e6:.1f} µs (median {self.median * 1e6:.1f})"


class Ratio(NamedTuple):
    """How many times as long."""

    least: float
    median: float

    def __str__(self) -> str:
        return f"{self.least:.2f} x (median {self.median:.2f})"


def interleave(works: Mapping[str, tuple[Work, int]], *, rounds: int = ROUNDS, clock: Clock = cpu) -> dict[str, Times]:
    """The times of each work, which does so many units when it is called; all of them once before the clock runs.

    Args:
        works: name to `(work, units)`.
        rounds: how often each is timed.
        clock: `cpu` (of this process) or `wall`.
    """
    for work, _ in works.values():
        work()
    taken: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, (work, units) in works.items():
            gc.collect()
            begun = clock()
            work()
            taken[name].append((clock() - begun) / units)
    return {name: Times(tuple(seconds)) for name, seconds in taken.items()}


def ratio(much: Times, little: Times) -> Ratio:
    """How many times `little` is `much`."""
    return Ratio(much.least / little.least, median(a / b for a, b in zip(much.seconds, little.seconds, strict=True)))


def repeat(work: Callable[[int], object], count: int) -> tuple[Work, int]:
    """`work(0)`, `work(1)`, … as one work of `count` units."""

    def run() -> None:
        for number in range(count):
            work(number)

    return run, count
