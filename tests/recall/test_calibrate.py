"""Thresholds come from a routine: the same texts give the same ones, and the ones that are shipped are what it gives."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from indelible.errors import Malformed, UsageError
from indelible.recall.calibrate import calibrate, damaged, runs_of, share
from indelible.recall.thresholds import DEFAULT, Thresholds

SENTENCES = (Path(__file__).parent / "calibration.txt").read_bytes().splitlines()
"""Sentences of this project's documents, in their order, as they stood when recall was calibrated."""


@pytest.mark.slow
def test_the_thresholds_that_are_shipped_are_what_the_routine_gives() -> None:
    assert calibrate(SENTENCES) == DEFAULT


def test_the_same_texts_give_the_same_thresholds_and_a_stricter_rate_gives_stricter_ones() -> None:
    once, again = (calibrate(SENTENCES[:400], trials=200) for _ in range(2))
    assert once == again
    strict = calibrate(SENTENCES[:400], trials=200, wrong=1e-9)
    assert all(high >= low for high, low in zip(strict, once, strict=True))
    assert strict.bits > once.bits


def test_too_few_texts_are_refused_with_the_remedy() -> None:
    with pytest.raises(UsageError, match="Keep the thresholds that are shipped"):
        calibrate([*SENTENCES[:299], *SENTENCES[:299]])


def test_thresholds_survive_json_unchanged() -> None:
    assert Thresholds.parse(DEFAULT.format()) == DEFAULT


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "{", '{"bits": 1}', DEFAULT.format().replace("}", ', "more": 1}'), "null"]
)
def test_what_is_no_thresholds_is_refused(text: str) -> None:
    with pytest.raises(Malformed):
        Thresholds.parse(text)


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
def test_a_threshold_that_would_let_anything_or_nothing_pass_is_refused(odd: float) -> None:
    with pytest.raises(Malformed, match="finite"):
        Thresholds.parse(DEFAULT._replace(gap=odd).format())


def test_a_share_counts_runs_of_five_characters() -> None:
    assert share(b"abcdef", runs_of(b"xabcdefx")) == 1
    assert share(b"abcdefg", runs_of(b"abcdef")) == pytest.approx(2 / 3)
    assert share(b"abc", runs_of(b"xyzxyz")) == 1


def test_damage_is_the_same_for_the_same_seed_and_tells_what_is_left() -> None:
    for seed in range(60):
        cue, piece, moved = damaged(SENTENCES[7], np.random.default_rng(seed))
        assert (cue, piece, moved) == damaged(SENTENCES[7], np.random.default_rng(seed))
        if moved:
            assert sorted(cue.split(b" ")) == sorted(SENTENCES[7].split(b" "))
