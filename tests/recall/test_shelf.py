"""The files of one index under several processes, an attacker and a disk that takes nothing."""

from __future__ import annotations

import os
from contextlib import closing
from hashlib import blake2b
from typing import TYPE_CHECKING

import apsw
import numpy as np
import pytest
from tests.recall.rows import row

from indelible.errors import DiskFull
from indelible.recall import layout, shelf
from indelible.recall.catalog import Catalog
from indelible.recall.catalogfile import FILE
from indelible.recall.row import pack
from indelible.recall.shelf import Shelf

if TYPE_CHECKING:
    from pathlib import Path

HEAD = {"recipe": "r", "place": "here", "agent": "eros"}


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(tmp_path / "a.index")


def opened(folder: str, **head: str) -> Shelf:
    made = Shelf(Catalog(folder, HEAD | head))
    made.refresh()
    return made


def filled(folder: str, *seqs: int) -> Shelf:
    made = opened(folder)
    made.add([row(seq, f"text {seq}") for seq in seqs])
    return made


def held(some: Shelf) -> list[int]:
    """As it is searched in."""
    segments, rows = some.asked()
    return sorted([*(int(seq) for segment in segments for seq in segment.columns.seqs), *(one.seq for one in rows)])


def segment_of(some: Shelf) -> str:
    return next(os.path.join(some.folder, name) for name in os.listdir(some.folder) if name.endswith(".idx"))


def test_a_row_that_the_disk_did_not_take_and_another_process_kept_counts_once(folder: str) -> None:
    """A lock on the catalogue, while it is let go of again by the next use."""
    first, second = filled(folder, 1), opened(folder)
    with closing(apsw.Connection(first.catalog.path)) as other:
        other.execute("BEGIN IMMEDIATE")
        first.add([row(2, "text 2")])
        assert held(first) == [1, 2]
        assert "could not be kept" in first.warnings[0]
    second.add([row(2, "text 2")])
    first.refresh()
    assert held(first) == held(second) == [1, 2]
    second.gather()
    first.refresh()
    assert held(first) == [1, 2]
    assert not first.settle()


def test_a_segment_that_was_made_part_of_another_is_no_damage(folder: str) -> None:
    first, second = filled(folder, 1, 2), opened(folder)
    first.gather()
    second.refresh()
    first.add([row(3, "text 3")])
    first.gather()
    second._open.clear()
    second.refresh()
    assert held(second) == [1, 2, 3]
    assert (first.warnings, second.warnings) == ([], [])


def test_what_another_process_makes_is_not_taken_away(folder: str) -> None:
    first, second = filled(folder, 1, 2), opened(folder)
    making = os.path.join(folder, f".tmp-segment-{os.getppid()}-0123456789abcdef")
    with open(making, "wb") as file:
        file.write(b"half")
    second.forget(frozenset([1]))
    second.clear()
    assert os.path.exists(making)
    first.refresh()
    assert held(first) == []


def test_what_was_forgotten_does_not_come_back_by_a_segment_that_was_in_the_making(folder: str) -> None:
    first, second = filled(folder, 1, 2), opened(folder)
    second.forget(frozenset([1]))
    first._pour()
    first.refresh()
    assert held(first) == [2]
    assert [name for name in os.listdir(folder) if name.endswith(".idx")] == []


@pytest.mark.parametrize("fault", ["cut", "altered", "gone", "link"])
def test_a_large_segment_that_is_changed_while_it_is_mapped_is_dropped_and_named(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    monkeypatch.setattr(layout, "IN_MEMORY", 0)
    some = filled(folder, 1, 2)
    some.gather()
    assert held(some) == [1, 2]
    path = segment_of(some)
    if fault == "cut":
        os.truncate(path, 100)
    elif fault == "altered":
        with open(path, "r+b") as file:
            file.seek(-1, os.SEEK_END)
            file.write(b"\xff")
    elif fault == "gone":
        os.unlink(path)
    else:
        os.rename(path, tmp_path / "elsewhere.idx")
        os.symlink(tmp_path / "elsewhere.idx", path)
        some._open.clear()
    assert some.refresh()
    assert held(some) == []
    assert "not as it was written" in some.warnings[0]
    assert not os.path.lexists(path)
    assert (tmp_path / "elsewhere.idx").exists() == (fault == "link")


@pytest.mark.parametrize("name", ["place", "agent", "recipe"])
@pytest.mark.parametrize("what", ["catalogue", "segment"])
def test_files_of_another_memory_or_recipe_are_not_read(folder: str, tmp_path: Path, name: str, what: str) -> None:
    mine, other = filled(folder, 1), Shelf(Catalog(str(tmp_path / "b.index"), {**HEAD, name: "other"}))
    other.add([row(7, "theirs")])
    for one in (mine, other):
        one.gather()
    target, source = segment_of(mine), segment_of(other)
    if what == "catalogue":
        other.close()
        mine.close()
        os.replace(other.catalog.path, mine.catalog.path)
        os.replace(source, os.path.join(folder, os.path.basename(source)))
    else:
        os.replace(source, target)
        digest = other.catalog.segments()[0].sha256
        with closing(apsw.Connection(mine.catalog.path)) as connection:
            connection.execute("UPDATE segment SET sha256 = ?", (digest,))
    again = opened(folder)
    assert held(again) == []
    assert bool(again.warnings) == (what == "segment" or name != "recipe")


def test_a_row_with_a_good_check_that_is_none_is_put_aside(folder: str) -> None:
    """Whoever can write the catalogue can compute a row's check."""
    some = filled(folder, 1, 2)
    packed = pack(row(2, "text")._replace(features=b"\xff\xff\xff\xff\xff\xff\xff"))
    with closing(apsw.Connection(some.catalog.path)) as connection:
        connection.execute(
            "UPDATE row SET id = 9, packed = ? WHERE seq = 2", (blake2b(packed, digest_size=8).digest() + packed,)
        )
    again = opened(folder)
    assert again.settle()
    assert held(again) == [1]
    assert "1 rows in index.db are none" in again.warnings[0]


@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE row SET packed = x''",
        "UPDATE row SET packed = zeroblob(4)",
        "UPDATE row SET packed = CAST(packed || x'00' AS BLOB)",
        "UPDATE row SET seq = seq + 100000",
        "UPDATE row SET seq = -seq",
    ],
)
def test_edited_rows_are_named_and_dropped(folder: str, edit: str) -> None:
    filled(folder, 1, 2).close()
    with closing(apsw.Connection(os.path.join(folder, FILE))) as connection:
        connection.execute(edit)
    again = opened(folder)
    assert held(again) == []
    assert "2 rows in index.db are altered" in again.warnings[0]
    assert again.catalog.count() == 0


def test_a_disk_that_takes_nothing_leaves_an_index_in_memory(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    some = filled(folder, 1)

    def full(*_: object, **__: object) -> None:
        raise DiskFull("No room")

    monkeypatch.setattr(shelf, "build", full)
    monkeypatch.setattr(shelf, "FEW", 2)
    some.add([row(seq, f"text {seq}") for seq in range(2, 200)])
    some.settle()
    some.gather()
    assert held(some) == list(range(1, 200))
    assert "could not be kept (No room" in some.warnings[0]
    assert len(some.warnings) == 1


def test_a_segment_that_cannot_be_rewritten_without_what_was_erased_is_dropped(
    folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    some = filled(folder, 1, 2)
    some.gather()

    def full(*_: object, **__: object) -> None:
        raise DiskFull("No room")

    monkeypatch.setattr(shelf, "merge", full)
    assert some.forget(frozenset([1])) == ""
    assert held(some) == []
    assert [name for name in os.listdir(folder) if name.endswith(".idx")] == []


def test_the_digest_of_what_was_read_is_that_of_one_segment_of_it(folder: str, tmp_path: Path) -> None:
    some = filled(folder, *range(1, 40))
    some.gather()
    some.add([row(seq, f"text {seq}") for seq in range(40, 60)])
    live = np.arange(2, 60, dtype=np.uint64)
    one = some.digest(str(tmp_path / "one"), live)
    other = opened(str(tmp_path / "b.index"))
    other.add([row(seq, f"text {seq}") for seq in reversed(range(2, 60))])
    assert other.digest(str(tmp_path / "two"), live) == one
    assert some.digest(str(tmp_path / "three"), live[1:]) != one
