"""Sets of entries as ascending arrays of their numbers: numpy's own set functions hash every element, which takes ten times as long."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

Numbers = NDArray[np.uint64]


def ascending(numbers: Collection[int]) -> Numbers:
    """(n,) u64 of distinct numbers in whatever order."""
    return np.sort(np.fromiter(numbers, np.uint64, len(numbers)))


def within(values: Numbers, among: Numbers) -> NDArray[np.bool_]:
    """(n,) bool: which of `values`, in whatever order, are in `among`, which is ascending."""
    if not len(among):
        return np.zeros(len(values), np.bool_)
    found: NDArray[np.bool_] = among[np.minimum(np.searchsorted(among, values), len(among) - 1)] == values
    return found


def united(some: Iterable[Numbers]) -> Numbers:
    """Everything that is in one of them, once, ascending; sorting what is in order already takes no time."""
    parts = [part for part in some if len(part)]
    if not parts:
        return np.zeros(0, np.uint64)
    whole: Numbers = np.sort(np.concatenate(parts), kind="stable")
    distinct: Numbers = whole[np.append(True, whole[1:] != whole[:-1])]
    return distinct
