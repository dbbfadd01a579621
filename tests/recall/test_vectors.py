"""The nearest of many vectors, and vectors that are none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.errors import EmbedderFailed
from indelible.recall import vectors
from indelible.recall.vectors import Packed, checked, mean_of, nearest, pack


def units(count: int, size: int, seed: int = 0) -> vectors.Floats:
    """Unit vectors in a narrow cone, as models of language give them."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(count, size)) + 3 * np.sin(np.arange(size))
    return checked(rows, count, size, "the test")


def packed_of(rows: vectors.Floats) -> Packed:
    return pack(rows, mean_of(rows))


def exact(rows: vectors.Floats, query: vectors.Floats) -> vectors.Floats:
    mean = rows.mean(axis=0, dtype=np.float64)
    moved, asked = rows - mean, query - mean
    found: vectors.Floats = (moved @ asked) / np.linalg.norm(moved, axis=1) / np.linalg.norm(asked)
    return found


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([[1.0, float("nan")], [1, 0]], r"a NaN in it \(number 0 of 2\)"),
        ([[1, 0], [float("-inf"), 0]], r"an infinite number in it \(number 1 of 2\)"),
        ([[1, 0], [0, 0]], r"a vector of zeros, which has no direction \(number 1 of 2\)"),
        ([[1, 0, 0], [0, 1, 0]], "2 x 3 numbers where 2 x 2 were due"),
        ([[1, 0]], "1 x 2 numbers where 2 x 2 were due"),
        ([[1, 0], [1]], "something else than vectors"),
        ([["a", "b"], ["c", "d"]], "something else than vectors"),
        ([[1, None], [1, 0]], "a NaN|something else"),
        ({"a": 1}, "something else than vectors"),
    ],
)
def test_what_is_no_vector_is_refused_by_name(rows: object, says: str) -> None:
    with pytest.raises(EmbedderFailed, match=f"^The embedder 'x' gave .*({says})"):
        checked(rows, 2, 2, "The embedder 'x'")


@pytest.mark.parametrize("scale", [1e-300, 1e-40, 1.0, 1e40, 1e300])
def test_vectors_of_any_length_are_brought_to_length_one(scale: float) -> None:
    assert checked([[3 * scale, 4 * scale]], 1, 2, "x").tolist() == pytest.approx(np.array([[0.6, 0.8]], np.float32))


def test_no_vectors_are_as_many_as_were_due() -> None:
    assert checked(np.zeros((0, 7)), 0, 7, "x").shape == (0, 7)


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(2, 200))
def test_cosines_are_those_of_the_centred_vectors_but_for_the_rounding(seed: int, count: int, size: int) -> None:
    rows = units(count + 1, size, seed)
    packed = packed_of(rows)
    query = units(1, size, seed + 1)[0]
    assert np.abs(vectors.cosines(packed, query) - exact(rows, query)).max() < 0.01


@given(st.integers(0, 2**32 - 1), st.integers(2, 200))
def test_what_was_packed_can_be_had_back_and_packed_by_another_mean(seed: int, size: int) -> None:
    rows = units(9, size, seed)
    back = vectors.unpack(packed_of(rows))
    assert np.abs(back - rows).max() < 0.01


def test_centring_takes_away_what_all_texts_share() -> None:
    rows = units(500, 64)
    raw = rows @ rows[0]
    centred = vectors.cosines(packed_of(rows), rows[0])
    assert np.median(raw) > 0.7
    assert abs(np.median(centred)) < 0.05
    assert centred[0] == pytest.approx(1, abs=0.01)


def test_rows_that_are_the_mean_are_near_to_nothing() -> None:
    rows = np.repeat(units(1, 64), 5, axis=0)
    packed = packed_of(rows)
    assert np.abs(vectors.cosines(packed, units(1, 64, 3)[0])).max() == 0
    assert len(nearest(packed, rows[0], 3).rows) == 3


def test_the_nearest_come_in_order_and_of_equal_ones_the_later_first() -> None:
    rows = units(50, 64)
    rows[7] = rows[31] = rows[11]
    found = nearest(packed_of(rows), rows[11], 10)
    assert found.rows[:3].tolist() == [31, 11, 7]
    assert (np.diff(found.cosines) <= 0).all()
    assert len(found.rows) == 10


def test_rows_that_are_not_allowed_take_no_place_of_the_list() -> None:
    rows = units(3_000, 128)
    allowed = np.zeros(3_000, np.bool_)
    allowed[[5, 700, 2_999]] = True
    for most_exact in (10_000, 2):
        found = nearest(packed_of(rows), rows[0], 5, allowed, exact=most_exact, most=1)
        assert sorted(found.rows.tolist()) == [5, 700, 2_999]


@pytest.mark.parametrize("size", [1, 63, 64, 65, 384])
def test_the_shortlist_holds_the_row_itself_whatever_the_size(size: int) -> None:
    rows = units(500, size)
    assert 123 in vectors.shortlist(packed_of(rows), rows[123], 1)


def test_a_shortlist_of_more_than_there_are_is_all_that_are_allowed() -> None:
    packed = packed_of(units(20, 64))
    allowed = np.arange(20) % 2 == 0
    assert vectors.shortlist(packed, units(1, 64, 1)[0], 99, allowed).tolist() == list(range(0, 20, 2))
    assert vectors.shortlist(packed, units(1, 64, 1)[0], 99).tolist() == list(range(20))


def test_sign_bits_with_exact_ranking_behind_them_find_what_the_scan_finds() -> None:
    rows = units(20_000, 384)
    packed = packed_of(rows)
    rng = np.random.default_rng(5)
    kept = []
    for start in range(40):
        query = checked([rows[start] + rng.normal(0, 0.03, 384)], 1, 384, "x")[0]
        near = nearest(packed, query, 10)
        kept.append(len(set(near.rows) & set(nearest(packed, query, 10, exact=0, most=2_000).rows)) / 10)
        assert near.rows[0] == start
    assert np.mean(kept) > 0.85


def test_an_empty_store_has_nothing_near() -> None:
    packed = packed_of(np.zeros((0, 64), np.float32))
    query = units(1, 64)[0]
    assert len(packed) == 0
    assert len(nearest(packed, query, 5).rows) == 0
    assert len(nearest(packed, query, 5, exact=-1).rows) == 0
    found, over = vectors.graded(packed, query)
    assert (len(found), over) == (0, vectors.Spread(0.0, 1.0))


def test_a_question_of_another_size_is_refused_with_both() -> None:
    with pytest.raises(EmbedderFailed, match="with 128 dimensions cannot be compared with vectors that have 64"):
        nearest(packed_of(units(20, 64)), units(1, 128)[0], 5)


def test_z_scores_say_how_far_a_cosine_stands_out() -> None:
    rows = units(9_000, 64)
    packed = packed_of(rows)
    whole, over = vectors.graded(packed, rows[3])
    assert over == vectors.Spread(float(whole.mean()), float(whole.std()))
    z = vectors.z_scores(whole, over)
    assert z[3] > 5
    assert abs(float(np.median(z))) < 0.1


def test_a_million_copies_of_one_text_are_no_trouble() -> None:
    one = packed_of(units(8, 64))
    count = 1_000_000
    many = Packed(
        one.mean, np.repeat(one.codes[:1], count, axis=0), np.repeat(one.scales[:1], count), np.repeat(one.lengths[:1], count),
        np.repeat(one.signs[:, :1], count, axis=1),
    )  # fmt: skip
    found = nearest(many, units(8, 64)[0], 5)
    assert found.rows.tolist() == [999_999, 999_998, 999_997, 999_996, 999_995]


def test_beyond_the_exact_scan_all_rows_have_a_cosine_and_the_nearest_an_exact_one() -> None:
    rows = units(20_000, 384)
    packed = packed_of(rows)
    exactly, over = vectors.graded(packed, rows[3])
    roughly, sampled = vectors.graded(packed, rows[3], exact=1_000, most=500)
    assert sampled == pytest.approx(over, abs=0.01)
    best = np.argsort(-exactly)[:10]
    near = np.abs(roughly[best] - exactly[best]) < 1e-6
    assert near[0]
    assert near.mean() >= 0.7
    assert np.corrcoef(roughly, exactly)[0, 1] > 0.6
    assert float(np.abs(roughly - exactly).mean()) < float(np.abs(exactly - exactly.mean()).mean())
