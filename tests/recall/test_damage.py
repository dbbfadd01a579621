"""Damage does what it says: at a rate of nothing it does nothing, and it never fails."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.recall import damage

ALL = [*damage.LOSSES, *damage.NOISES]


@given(st.binary(max_size=200), st.floats(0, 0.5), st.integers(0, 1 << 30), st.sampled_from(ALL))
def test_no_bytes_make_damage_fail(text: bytes, rate: float, seed: int, harm: damage.Damage) -> None:
    assert isinstance(harm(text, rate, np.random.default_rng(seed)), bytes)


@pytest.mark.parametrize("harm", [damage.flipped, damage.edited, damage.shuffled, damage.cut, damage.zeroed])
def test_at_a_rate_of_nothing_a_text_stays_as_it_is(harm: damage.Damage) -> None:
    text = "배포 전에 체크섬을 확인한다, always.".encode()
    assert harm(text, 0, np.random.default_rng(1)) == text


def test_flips_and_edits_come_at_their_rate() -> None:
    text = bytes(range(256)) * 40
    flipped = damage.flipped(text, 0.3, np.random.default_rng(2))
    assert sum((a ^ b).bit_count() for a, b in zip(text, flipped, strict=True)) / (8 * len(text)) == pytest.approx(
        0.3, abs=0.01
    )
    letters = b"a" * 9000
    assert len(damage.edited(letters, 0.3, np.random.default_rng(3))) == pytest.approx(9000, abs=120)


def test_the_first_half_and_a_block_are_lost() -> None:
    assert damage.halved("가나다라".encode(), 0, np.random.default_rng(1)) == "다라".encode()
    zeroed = damage.zeroed(b"x" * 100, 0.25, np.random.default_rng(1))
    assert (len(zeroed), zeroed.count(0)) == (100, 25)
    assert len(damage.cut(b"x" * 100, 0.25, np.random.default_rng(1))) == 75


def test_a_relative_is_near_and_nearly_never_the_same() -> None:
    text = b"the release was moved from friday to monday because nobody had checked"
    made = [damage.relative(text, np.random.default_rng(seed)) for seed in range(50)]
    assert sum(one == text for one in made) <= 2
    assert all(abs(len(one) - len(text)) < 12 for one in made)
