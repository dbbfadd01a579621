"""The file of the vectors: what it gives back, what it refuses, and how it grows."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from indelible.errors import EmbedderChanged, IndexDamaged, NotSaved
from indelible.recall import matrix, vectors
from indelible.recall.embed import Maker
from indelible.recall.matrix import Matrix, grown, matrix_of, read, write

if TYPE_CHECKING:
    from pathlib import Path

MAKER = Maker("fake:64", 64, "ab" * 32)
FACTS = {"place": "/store", "agent": "eros"}


def seqs(*numbers: int) -> matrix.Seqs:
    return np.array(numbers, np.uint64)


def rows(count: int, seed: int = 0) -> vectors.Floats:
    return vectors.checked(np.random.default_rng(seed).normal(0.3, 1, (count, 64)), count, 64, "the test")


def kept(tmp_path: Path, count: int = 50) -> tuple[str, str, Matrix]:
    path, made = str(tmp_path / "vectors"), matrix_of(np.arange(count, dtype=np.uint64), rows(count))
    return path, write(path, made, MAKER, FACTS), made


def same(one: Matrix, other: Matrix) -> bool:
    if one.centred_at != other.centred_at or not np.array_equal(one.seqs, other.seqs):
        return False
    return all(
        np.array_equal(getattr(one.packed, name), getattr(other.packed, name)) for name in vectors.Packed._fields
    )


@pytest.mark.parametrize("count", [0, 1, 50])
def test_what_was_written_is_read(tmp_path: Path, count: int) -> None:
    path, digest, made = kept(tmp_path, count)
    assert same(read(path, digest, MAKER, FACTS), made)
    assert os.stat(path).st_mode & 0o077 == 0 or os.name != "posix"
    assert os.listdir(tmp_path) == ["vectors"]


def test_a_row_takes_a_quarter_of_what_f32_takes(tmp_path: Path) -> None:
    path, _, _ = kept(tmp_path, 1_000)
    assert os.path.getsize(path) / 1_000 < 64 * 4 * 0.4


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_a_flipped_bit_is_found_wherever_it_is(tmp_path: Path, place: float, bit: int) -> None:
    path, digest, _ = kept(tmp_path)
    whole = bytearray((tmp_path / "vectors").read_bytes())
    at = int(place * len(whole))
    whole[at] ^= 1 << bit
    (tmp_path / "vectors").write_bytes(whole)
    padding = at not in covered(bytes(whole))
    try:
        read(path, digest, MAKER, FACTS)
    except IndexDamaged:
        return
    assert padding


def covered(whole: bytes) -> set[int]:
    """The places that mean something: all but the zeros between blocks."""
    import json

    size = int(whole[20:32]) if whole[20:32].isdigit() else 0
    try:
        told = json.loads(whole[33 : 33 + size])
    except ValueError:
        return set(range(len(whole)))
    base = -(-(33 + size) // 64) * 64
    places = set(range(33 + size))
    for kind, shape, offset in told["blocks"].values():
        places |= set(range(base + offset, base + offset + int(np.prod(shape)) * np.dtype(kind).itemsize))
    return places


@pytest.mark.parametrize("size", [0, 10, 200, 700, -1])
def test_a_file_that_is_cut_is_refused(tmp_path: Path, size: int) -> None:
    path, digest, _ = kept(tmp_path)
    whole = (tmp_path / "vectors").read_bytes()
    (tmp_path / "vectors").write_bytes(whole[:size])
    with pytest.raises(IndexDamaged):
        read(path, digest, MAKER, FACTS)


def test_a_file_that_was_added_to_is_refused(tmp_path: Path) -> None:
    path, digest, _ = kept(tmp_path)
    with open(path, "ab") as file:
        file.write(b"\0" * 64)
    with pytest.raises(IndexDamaged, match="cut or was added to"):
        read(path, digest, MAKER, FACTS)


@pytest.mark.parametrize("done", ["cut", "written to", "replaced", "taken away"])
def test_a_mapped_file_that_is_changed_under_its_user_is_an_error_and_no_wrong_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, done: str
) -> None:
    monkeypatch.setattr(matrix, "IN_MEMORY", 0)
    path, digest, made = kept(tmp_path)
    opened = read(path, digest, MAKER, FACTS)
    assert opened.watched[0] == path
    assert opened.nearness(rows(1)[0], made.seqs) == pytest.approx(made.nearness(rows(1)[0], made.seqs))
    if done == "cut":
        os.truncate(path, 100)
    elif done == "written to":
        (tmp_path / "vectors").write_bytes(bytes(10_000))
    elif done == "replaced":
        write(path, grown(made, seqs(99), rows(1, 9)), MAKER, FACTS)
    else:
        os.remove(path)
    with pytest.raises(IndexDamaged, match=r"changed while it was in use|cannot be read any more"):
        opened.nearness(rows(1)[0], made.seqs)


def test_a_file_that_is_not_there_or_is_none_is_refused(tmp_path: Path) -> None:
    path, digest, _ = kept(tmp_path)
    (tmp_path / "other").write_text("some text that is longer than a line of the header")
    with pytest.raises(IndexDamaged, match="is none, or one of another version"):
        read(str(tmp_path / "other"), digest, MAKER, FACTS)
    with pytest.raises(IndexDamaged, match="cannot be read"):
        read(f"{path}.gone", digest, MAKER, FACTS)


def test_an_older_file_in_its_place_is_refused(tmp_path: Path) -> None:
    path, _, made = kept(tmp_path)
    old = (tmp_path / "vectors").read_bytes()
    digest = write(path, grown(made, seqs(99), rows(1, 9)), MAKER, FACTS)
    (tmp_path / "vectors").write_bytes(old)
    with pytest.raises(IndexDamaged, match="another one than was written"):
        read(path, digest, MAKER, FACTS)


def test_a_file_of_another_store_is_refused(tmp_path: Path) -> None:
    path, digest, _ = kept(tmp_path)
    with pytest.raises(IndexDamaged, match="of another store, agent or recipe"):
        read(path, digest, MAKER, {**FACTS, "agent": "rudex"})


def test_another_embedder_is_refused_with_both_sizes_and_reading_goes_on_with_the_first(tmp_path: Path) -> None:
    path, digest, made = kept(tmp_path, 20)
    with pytest.raises(EmbedderChanged, match=r"with 64 dimensions.*with 128 dimensions"):
        read(path, digest, MAKER._replace(size=128), FACTS)
    assert same(read(path, digest, MAKER, FACTS), made)


def test_a_place_that_cannot_be_written_leaves_the_old_file(tmp_path: Path) -> None:
    path, digest, made = kept(tmp_path)
    with pytest.raises(NotSaved):
        write(str(tmp_path / "gone" / "vectors"), made, MAKER, FACTS)
    assert same(read(path, digest, MAKER, FACTS), made)


def test_new_rows_replace_those_of_the_same_entry_and_others_go() -> None:
    old = matrix_of(seqs(5, 1, 3), rows(3))
    new = grown(old, seqs(3, 2), rows(2, 7), without=seqs(5))
    assert new.seqs.tolist() == [1, 2, 3]
    assert new.centred_at == 3
    assert np.array_equal(new.packed.codes[0], old.packed.codes[0])
    assert vectors.unpack(new.packed)[[2, 1]] == pytest.approx(rows(2, 7), abs=0.02)


def test_the_mean_is_taken_anew_when_the_rows_have_become_many() -> None:
    few = matrix_of(seqs(0, 1), rows(2))
    many = grown(few, np.arange(2, 40, dtype=np.uint64), rows(38, 5))
    assert many.centred_at == 40
    whole = np.concatenate([rows(2), rows(38, 5)])
    assert many.packed.mean == pytest.approx(whole.mean(axis=0), abs=0.01)
    assert vectors.unpack(many.packed) == pytest.approx(whole, abs=0.02)


def test_nearness_is_aligned_with_what_is_asked_and_nan_where_there_is_no_vector() -> None:
    made = matrix_of(np.arange(10, 210, dtype=np.uint64), rows(200))
    near = made.nearness(rows(200)[7], seqs(3, 17, 18, 500))
    assert np.isnan(near).tolist() == [True, False, False, True]
    assert near[1] > 4 > abs(near[2])
    assert made.lacking(seqs(3, 17, 500)).tolist() == [3, 500]


def test_an_empty_matrix_is_near_to_nothing_and_grows() -> None:
    empty = matrix_of(seqs(), rows(0))
    assert np.isnan(empty.nearness(rows(1)[0], seqs(1, 2))).all()
    assert grown(empty, seqs(4), rows(1)).seqs.tolist() == [4]
