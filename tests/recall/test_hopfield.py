"""Associative memories: what the papers prove of them holds for ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from indelible.errors import UsageError
from indelible.recall import hopfield

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

rows = st.integers(1, 12).flatmap(
    lambda n: st.integers(1, 8).flatmap(
        lambda d: st.tuples(
            hnp.arrays(np.float64, (n, d), elements=st.floats(-4, 4)),
            hnp.arrays(np.float64, (d,), elements=st.floats(-4, 4)),
        )
    )
)


def signs(n: int, d: int, seed: int = 7) -> Floats:
    """Random patterns of +1 and -1."""
    return np.random.default_rng(seed).choice([-1.0, 1.0], (n, d))


def noisy(patterns: Floats, rate: float, seed: int = 8) -> Floats:
    """Each component turned round with that probability."""
    return patterns * np.where(np.random.default_rng(seed).random(patterns.shape) < rate, -1.0, 1.0)


@given(rows, st.floats(0.01, 20))
def test_an_update_never_raises_the_energy(stored: tuple[Floats, Floats], beta: float) -> None:
    patterns, cue = stored
    answer = hopfield.softmax(cue, patterns, beta)
    assert answer.energy <= hopfield.energy(cue, patterns, beta) + 1e-9


@given(rows, st.floats(0.01, 20))
def test_the_energy_lies_between_zero_and_twice_the_longest_pattern_squared(
    stored: tuple[Floats, Floats], beta: float
) -> None:
    patterns, cue = stored
    found = hopfield.softmax(cue, patterns, beta).energy
    assert -1e-9 <= found <= 2 * (patterns * patterns).sum(axis=1).max() + 1e-9


@given(hnp.arrays(np.float64, st.integers(1, 30), elements=st.floats(-50, 50)))
def test_sparsemax_gives_the_nearest_point_of_the_simplex(scores: Floats) -> None:
    weights = hopfield.sparsemax(scores)
    assert weights.min() >= 0
    assert weights.sum() == pytest.approx(1)
    inside = weights > 0
    slack = (scores - weights)[inside]
    assert np.ptp(slack) < 1e-9  # one threshold for all that have weight,
    assert (scores[~inside] <= slack.max() + 1e-9).all()  # and none without weight stands above it


def test_a_pattern_that_stands_clear_is_given_back_to_the_last_bit_by_one_sparse_step() -> None:
    patterns = signs(200, 256)
    beta = 1.001 / hopfield.separation(patterns).min()
    answer = hopfield.sparse(patterns, patterns, beta)
    assert np.array_equal(answer.state, patterns)
    assert np.array_equal(answer.weights, np.eye(200))


@given(rows, st.floats(0.01, 5), st.integers(1, 12))
def test_leaving_patterns_out_changes_no_more_than_the_bound_says(
    stored: tuple[Floats, Floats], beta: float, k: int
) -> None:
    patterns, cue = stored
    k = min(k, len(patterns))
    whole, part = hopfield.softmax(cue, patterns, beta), hopfield.truncated(cue, patterns, beta, k)
    left_out = whole.weights[part.retrieval.weights == 0].sum()
    assert left_out <= part.tail + 1e-9
    assert np.linalg.norm(part.retrieval.state - whole.state) <= part.error + 1e-9


def test_many_cues_at_once_are_answered_as_one_by_one() -> None:
    patterns = signs(40, 64)
    cues = noisy(patterns[:5], 0.2)
    for network in (hopfield.softmax, hopfield.sparse):
        together = network(cues, patterns, 0.5)
        for at, cue in enumerate(cues):
            alone = network(cue, patterns, 0.5)
            assert together.state[at] == pytest.approx(alone.state)
            assert together.energy[at] == pytest.approx(alone.energy)
    assert hopfield.truncated(cues, patterns, 0.5, 3).error.shape == (5,)


def test_the_cubic_rule_is_that_of_the_paper_unit_by_unit() -> None:
    patterns = signs(6, 9)
    state = noisy(patterns[0], 0.3)
    expected = []
    for unit in range(9):
        rest = patterns @ state - patterns[:, unit] * state[unit]
        field = ((rest + patterns[:, unit]) ** 3 - (rest - patterns[:, unit]) ** 3).sum()
        expected.append(np.sign(field))
    assert hopfield.cubic(state, patterns, steps=1).tolist() == expected


def test_few_patterns_come_back_from_every_network_and_many_only_from_those_that_can_hold_them() -> None:
    few, many = signs(5, 256), signs(200, 256)
    cues = noisy(few, 0.1)
    assert np.array_equal(hopfield.classical(cues, hopfield.hebb(few)), few)
    assert np.array_equal(hopfield.cubic(cues, few), few)
    crowded = noisy(many, 0.1)
    assert not np.array_equal(hopfield.classical(crowded, hopfield.hebb(many)), many)
    assert np.array_equal(hopfield.cubic(crowded, many), many)
    assert np.array_equal(np.sign(hopfield.softmax(crowded, many, 1.0).state), many)


@given(hnp.arrays(np.uint64, (5, 3)), hnp.arrays(np.uint64, (3,)), hnp.arrays(np.uint64, (5, 3)))
def test_distances_count_the_known_bits_that_differ(
    patterns: NDArray[np.uint64], cue: NDArray[np.uint64], known: NDArray[np.uint64]
) -> None:
    expected = [
        sum(((int(a) ^ int(b)) & int(k)).bit_count() for a, b, k in zip(row, cue, mask, strict=True))
        for row, mask in zip(patterns, known, strict=True)
    ]
    assert hopfield.distances(cue, patterns, known).tolist() == expected
    best, apart = hopfield.nearest(cue, patterns, known)
    assert apart == min(expected) == expected[best]


BAD = [
    (np.ones(3), np.ones((0, 3)), "Nothing is stored"),
    (np.ones(4), np.ones((2, 3)), "4 components, the stored patterns have 3"),
    (np.array([1.0, np.nan, 1.0]), np.ones((2, 3)), "NaN"),
    (np.ones(3), np.full((2, 3), np.inf), "infinity"),
]


@pytest.mark.parametrize(("cue", "patterns", "words"), BAD)
def test_what_cannot_be_computed_with_is_refused_by_name(cue: Floats, patterns: Floats, words: str) -> None:
    for network in (hopfield.softmax, hopfield.sparse):
        with pytest.raises(UsageError, match=words):
            network(cue, patterns, 1.0)


def test_a_beta_that_is_no_temperature_and_a_k_beyond_the_store_are_refused() -> None:
    with pytest.raises(UsageError, match="beta is 0"):
        hopfield.softmax(np.ones(3), np.ones((2, 3)), 0)
    with pytest.raises(UsageError, match="with 2 patterns stored"):
        hopfield.truncated(np.ones(3), np.ones((2, 3)), 1.0, 3)
    with pytest.raises(UsageError, match="2 words of bits"):
        hopfield.distances(np.zeros(2, np.uint64), np.zeros((4, 16), np.uint64))
