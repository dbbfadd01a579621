from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.recall.rows import row

from indelible.errors import IndexDamaged, UsageError
from indelible.recall import layout, merging
from indelible.recall.segment import Segment, build, merge

if TYPE_CHECKING:
    from indelible.recall.columns import Columns

HEAD = {"recipe": "words-1", "agent": "eros"}
TEXTS = ["배포 전에 체크섬을 확인한다", "the quick brown fox", "", "a lazy dog 🐕", "the quick checksum", "x"]


def same(one: Columns, other: Columns) -> bool:
    return all(a.shape == b.shape and bool((a == b).all()) for a, b in zip(one, other, strict=True))


def some_rows(texts=TEXTS, first=1):
    return [
        row(seq, text, f"tag:{seq % 3}", "kind:note", group=seq % 2 * 7, order=seq)
        for seq, text in enumerate(texts, first)
    ]


def test_what_is_written_is_what_is_opened(tmp_path):
    path = str(tmp_path / "s")
    segment = Segment.open(path, build(path, reversed(some_rows()), HEAD), HEAD)
    assert same(segment.columns, Segment.of(some_rows()).columns)
    assert segment.head == HEAD
    assert os.stat(path).st_mode & 0o777 == 0o600


def test_a_segment_of_nothing_can_be_written_and_asked(tmp_path):
    path = str(tmp_path / "s")
    segment = Segment.open(path, build(path, (), HEAD), HEAD)
    assert len(segment) == 0
    assert not segment.holds([1])
    assert segment.labels == ()


@pytest.mark.parametrize("chunk", [1, 2, 3])
def test_the_stretches_in_which_it_is_built_leave_no_trace(tmp_path, chunk):
    one, other = str(tmp_path / "one"), str(tmp_path / "other")
    assert build(one, some_rows(), HEAD) == build(other, some_rows(), HEAD, chunk=chunk)
    assert Path(one).read_bytes() == Path(other).read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["one", "other"]


def test_a_mapped_file_says_the_same_as_one_in_memory(tmp_path, monkeypatch):
    path = str(tmp_path / "s")
    digest = build(path, some_rows(), HEAD)
    monkeypatch.setattr(layout, "IN_MEMORY", 0)
    segment = Segment.open(path, digest, HEAD)
    assert same(segment.columns, Segment.of(some_rows()).columns)
    segment.check()


@settings(max_examples=40)
@given(st.data())
def test_merging_is_the_same_as_building_from_what_is_kept(data):
    texts = data.draw(st.lists(st.text(alphabet="ab 한글\n🐕", max_size=12), min_size=1, max_size=12))
    rows = some_rows(texts)
    owners = data.draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows)))
    kept = data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)))
    parts = []
    for owner in range(3):
        mine = [number for number in range(len(rows)) if owners[number] == owner]
        columns = Segment.of([rows[number] for number in mine]).columns
        parts.append((columns, np.array([kept[number] for number in mine], np.bool_)))
    expected = Segment.of([one for one, keep in zip(rows, kept, strict=True) if keep]).columns
    assert sorted_lists(merging.merge(parts)) == sorted_lists(expected)


def sorted_lists(columns: Columns) -> list[object]:
    """Columns whose lists of documents are compared as sets: several parts may come interleaved."""
    terms = [
        (term, sorted(zip(columns.term_docs[a:b].tolist(), columns.term_counts[a:b].tolist(), strict=True)))
        for term, a, b in zip(
            columns.terms.tolist(), columns.term_at[:-1].tolist(), columns.term_at[1:].tolist(), strict=True
        )
    ]
    labels = [
        sorted(columns.label_docs[a:b].tolist())
        for a, b in zip(columns.label_at[:-1].tolist(), columns.label_at[1:].tolist(), strict=True)
    ]
    rest = {
        name: array.tolist()
        for name, array in columns._asdict().items()
        if name not in ("term_docs", "term_counts", "label_docs")
    }
    return [terms, labels, rest]


def test_stretches_of_a_few_elements_merge_alike(monkeypatch):
    columns = Segment.of(some_rows()).columns
    keep = np.array([True, False, True, True, False, True])
    expected = merging.merge([(columns, keep)])
    monkeypatch.setattr(merging, "STRETCH", 2)
    assert same(merging.merge([(columns, keep)]), expected)


def test_what_is_left_out_leaves_no_trace(tmp_path):
    first, second, path = (str(tmp_path / name) for name in ("a", "b", "c"))
    secret = row(9, "zanzibar heliotrope", "tag:zanzibar", group=5, order=1)
    one = Segment.open(first, build(first, [*some_rows(), secret], HEAD), HEAD)
    other = Segment.open(second, build(second, some_rows(first=20), HEAD), HEAD)
    digest, count = merge(path, [one, other], HEAD, without={9, 777})
    merged = Segment.open(path, digest, HEAD)
    assert count == len(merged) == 2 * len(TEXTS)
    assert not merged.holds([9])
    assert same(merged.columns, Segment.of([*some_rows(), *some_rows(first=20)]).columns)
    content = Path(path).read_bytes()
    assert b"zanzibar" not in content
    assert secret.sha256 not in content
    assert secret.bits[:19] not in content


def test_where_nothing_is_left_no_file_is_made(tmp_path):
    path = str(tmp_path / "c")
    assert merge(path, [Segment.of(some_rows())], HEAD, without=range(100)) == ("", 0)
    assert not os.path.exists(path)


def test_two_rows_of_one_number_are_refused(tmp_path):
    with pytest.raises(UsageError, match="number 3"):
        Segment.of([row(3, "a"), row(3, "b")])
    with pytest.raises(UsageError, match="one number"):
        merge(str(tmp_path / "s"), [Segment.of([row(3, "a")]), Segment.of([row(3, "b")])], HEAD)


@pytest.mark.parametrize("wrong", [{"bits": b"x"}, {"sha256": b""}, {"commitment": bytes(31)}, {"features": b"no row"}])
def test_a_row_of_other_sizes_is_refused(wrong):
    with pytest.raises(UsageError, match="row of the index"):
        Segment.of([row(1, "a")._replace(**wrong)])


@given(st.data())
def test_a_flipped_bit_anywhere_is_noticed(tmp_path_factory, data):
    path = str(tmp_path_factory.mktemp("flip") / "s")
    digest = build(path, some_rows(TEXTS[:2]), HEAD)
    content = bytearray(Path(path).read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] ^= 1 << data.draw(st.integers(0, 7))
    Path(path).write_bytes(content)
    with pytest.raises(IndexDamaged):
        Segment.open(path, digest, HEAD)


@pytest.mark.parametrize("left", [0, 10, 33, 400, -1])
def test_a_cut_file_is_refused(tmp_path, left):
    path = tmp_path / "s"
    digest = build(str(path), some_rows(), HEAD)
    path.write_bytes(path.read_bytes()[:left])
    with pytest.raises(IndexDamaged):
        Segment.open(str(path), digest, HEAD)


def test_bytes_behind_the_end_are_refused(tmp_path):
    path = tmp_path / "s"
    digest = build(str(path), some_rows(), HEAD)
    path.write_bytes(path.read_bytes() + b"\0")
    with pytest.raises(IndexDamaged, match="cut or was added to"):
        Segment.open(str(path), digest, HEAD)


def test_a_swapped_file_is_refused(tmp_path):
    one, other = str(tmp_path / "a"), str(tmp_path / "b")
    digest = build(one, some_rows(), HEAD)
    build(other, some_rows(first=50), HEAD)
    os.replace(other, one)
    with pytest.raises(IndexDamaged, match="another one"):
        Segment.open(one, digest, HEAD)


def test_a_file_of_another_store_or_recipe_is_refused_by_name(tmp_path):
    path = str(tmp_path / "s")
    digest = build(path, some_rows(), HEAD)
    with pytest.raises(IndexDamaged, match="recipe") as caught:
        Segment.open(path, digest, {**HEAD, "recipe": "words-2"})
    assert "reindex" in str(caught.value)
    with pytest.raises(IndexDamaged, match="agent"):
        Segment.open(path, digest, {**HEAD, "agent": "aegis"})


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(IndexDamaged, match="cannot be read"):
        Segment.open(str(tmp_path / "s"), "0" * 64, HEAD)


@pytest.mark.parametrize("how", ["cut", "written", "replaced", "removed"])
def test_a_mapped_file_that_changes_meanwhile_is_noticed(tmp_path, monkeypatch, how):
    monkeypatch.setattr(layout, "IN_MEMORY", 0)
    path = tmp_path / "s"
    segment = Segment.open(str(path), build(str(path), some_rows(), HEAD), HEAD)
    content = path.read_bytes()
    if how == "cut":
        os.truncate(path, 10)
    elif how == "written":
        path.write_bytes(content + b"x")
    elif how == "replaced":
        (tmp_path / "t").write_bytes(content)
        os.replace(tmp_path / "t", path)
    else:
        path.unlink()
    with pytest.raises(IndexDamaged):
        segment.check()


def test_a_small_file_is_held_in_memory_whatever_becomes_of_it(tmp_path):
    path = tmp_path / "s"
    segment = Segment.open(str(path), build(str(path), some_rows(), HEAD), HEAD)
    os.truncate(path, 0)
    segment.check()
    assert same(segment.columns, Segment.of(some_rows()).columns)


def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path):
    (tmp_path / "s").mkdir()
    with pytest.raises(Exception, match="was not written"):
        build(str(tmp_path / "s"), some_rows(), HEAD)
    assert os.listdir(tmp_path) == ["s"]


def test_a_closed_segment_is_empty(tmp_path):
    segment = Segment.of(some_rows())
    segment.close()
    assert len(segment) == 0
    assert segment.labels == ()
