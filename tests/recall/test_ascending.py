"""Sets of entries as ascending arrays behave as sets do."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from indelible.recall.ascending import ascending, united, within

numbers = st.integers(0, 40) | st.integers(2**64 - 5, 2**64 - 1)
sets = st.sets(numbers)


@given(st.lists(numbers), sets)
def test_which_values_are_within_others(values: list[int], among: set[int]) -> None:
    assert within(np.array(values, np.uint64), ascending(among)).tolist() == [value in among for value in values]


@given(st.lists(sets, max_size=4))
def test_what_is_united_is_there_once_and_in_order(some: list[set[int]]) -> None:
    assert united(map(ascending, some)).tolist() == sorted(set().union(*some))
