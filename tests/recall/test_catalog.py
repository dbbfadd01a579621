"""The catalogue in the hands of several connections, of other files in its place, and of who edits it."""

from __future__ import annotations

import os
import threading
import time
from contextlib import closing
from typing import TYPE_CHECKING

import apsw
import pytest
from tests.recall.rows import row

from indelible.errors import Busy, IndexDamaged, UsageError
from indelible.recall.catalog import Catalog, Named
from indelible.recall.catalogfile import FILE, PATIENCE

if TYPE_CHECKING:
    from pathlib import Path

HEAD = {"recipe": "r", "place": "here", "agent": "eros"}
NAME, SHA256 = "seg-0123456789abcdef.idx", "0" * 64


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(tmp_path / "a.index")


def made(folder: str, count: int = 3) -> Catalog:
    catalog = Catalog(folder, HEAD)
    catalog.add([row(seq, f"text {seq}") for seq in range(count)])
    return catalog


def edit(folder: str, *statements: str) -> None:
    with closing(apsw.Connection(os.path.join(folder, FILE))) as connection:
        for statement in statements:
            connection.execute(statement)


def test_all_of_it_is_read_as_of_one_moment(folder: str) -> None:
    catalog = made(folder)
    catalog.swap(rows={1: 0}, by=Named(NAME, SHA256, 1))
    listed = catalog.listed()
    assert listed.segments == (Named(NAME, SHA256, 1),)
    assert [seq for _, seq, _ in listed.rows] == [1, 2]
    assert (listed.damaged, listed.foreign) == ({}, ())


def test_what_was_erased_meanwhile_does_not_come_back_in_a_segment(folder: str) -> None:
    catalog = made(folder)
    known = {number: seq for number, seq, _ in catalog.listed().rows}
    catalog.swap(rows={1: 0})
    assert not catalog.swap(rows=known, by=Named(NAME, SHA256, 3))
    assert not catalog.swap(segments=[NAME], by=Named(NAME, SHA256, 3))
    assert catalog.segments() == ()


def test_a_cleared_catalogue_is_the_same_file_and_others_go_on_with_it(folder: str) -> None:
    catalog, other = made(folder), Catalog(folder, HEAD)
    assert other.count() == 3
    before = os.stat(catalog.path).st_ino
    assert catalog.clear()
    other.add([row(7, "more")])
    assert [seq for _, seq, _ in catalog.listed().rows] == [7]
    assert os.stat(catalog.path).st_ino == before


def test_a_file_that_was_replaced_is_opened_anew(folder: str) -> None:
    catalog = made(folder)
    version = catalog.version
    for end in ("", "-wal", "-shm"):
        os.unlink(catalog.path + end)
    assert catalog.count() == 0
    catalog.add([row(9, "more")])
    assert catalog.version != version
    assert Catalog(folder, HEAD).count() == 1


@pytest.mark.parametrize(
    "name",
    [
        "/etc/passwd",
        "../../victim",
        "index.db",
        "seg-0123456789abcdef.idx.part0",
        "seg-0123456789ABCDEF.idx",
        "",
        "x\n",
    ],
)
def test_only_the_names_of_segments_are_read(folder: str, name: str) -> None:
    catalog = made(folder)
    with closing(apsw.Connection(catalog.path)) as connection:
        connection.execute("INSERT INTO segment VALUES (?, ?, 1)", (name, SHA256))
        connection.execute("INSERT INTO segment VALUES (?, 'x', 1)", (NAME,))
    listed = catalog.listed()
    assert (listed.segments, set(listed.foreign)) == ((), {name, NAME})


def test_nothing_outside_of_the_folder_is_taken_away(folder: str, tmp_path: Path) -> None:
    catalog = made(folder)
    (tmp_path / "victim").write_bytes(b"keep")
    for name in ("../victim", str(tmp_path / "victim"), "index.db"):
        catalog.remove(name)
    edit(folder, f"INSERT INTO segment VALUES ('../victim', '{SHA256}', 1)")
    catalog.clear()
    assert (tmp_path / "victim").read_bytes() == b"keep"
    assert catalog.count() == 0


@pytest.mark.parametrize(
    "statements",
    [
        ("DROP TABLE head",),
        ("DROP TABLE segment", "CREATE VIEW segment AS SELECT 'a' name, 'b' sha256, 1 rows"),
        ("CREATE TRIGGER t BEFORE INSERT ON row BEGIN SELECT RAISE(IGNORE); END",),
        ("CREATE TRIGGER t BEFORE DELETE ON row BEGIN SELECT RAISE(ABORT, 'no'); END",),
        ("DROP TABLE row", "CREATE TABLE row (id INTEGER PRIMARY KEY, seq INTEGER, packed BLOB CHECK(length(packed) < 3))"),
        ("ALTER TABLE fact ADD COLUMN more TEXT",),
    ],
    ids=["no-head", "view", "ignored", "aborted", "check", "column"],
)  # fmt: skip
def test_other_tables_are_refused_and_clearing_makes_new_ones(folder: str, statements: tuple[str, ...]) -> None:
    made(folder).close()
    edit(folder, *statements)
    catalog = Catalog(folder, HEAD)
    with pytest.raises(IndexDamaged, match="its tables are others"):
        catalog.listed()
    catalog.clear()
    catalog.add([row(1, "text")])
    assert catalog.count() == 1


@pytest.mark.parametrize("what", ["folder", "link", "pipe", "linked folder", "file as the folder"])
def test_what_is_no_file_of_ours_is_refused_by_name_and_stays(folder: str, tmp_path: Path, what: str) -> None:
    elsewhere, path = tmp_path / "elsewhere", os.path.join(folder, FILE)
    made(str(elsewhere)).close()
    before = sorted(os.listdir(elsewhere))
    if what == "linked folder":
        os.symlink(elsewhere, folder)
    elif what == "file as the folder":
        (tmp_path / "a.index").write_bytes(b"x")
    else:
        os.mkdir(folder)
        {
            "folder": lambda: os.mkdir(path),
            "link": lambda: os.symlink(elsewhere / FILE, path),
            "pipe": lambda: os.mkfifo(path),
        }[what]()
    catalog = Catalog(folder, HEAD)
    for use in (catalog.listed, catalog.clear, lambda: catalog.add([row(1, "text")])):
        with pytest.raises(UsageError, match="by hand"):
            use()
    assert catalog.fact("maker") == ""
    assert sorted(os.listdir(elsewhere)) == before


@pytest.mark.parametrize("name", ["place", "agent"])
def test_that_of_another_memory_is_named_and_taken_away_but_not_by_a_save(folder: str, name: str) -> None:
    made(folder).close()
    hurried = Catalog(folder, {**HEAD, name: "other"}, claims=False)
    with pytest.raises(IndexDamaged, match="of another memory"):
        hurried.add([row(1, "text")])
    catalog = Catalog(folder, {**HEAD, name: "other"})
    assert catalog.listed().rows == ()
    assert name in catalog.take_warnings()[0]
    assert catalog.take_warnings() == ()


def test_that_of_another_recipe_is_taken_away_without_a_word(folder: str) -> None:
    made(folder).close()
    catalog = Catalog(folder, {**HEAD, "recipe": "newer"})
    assert (catalog.listed().rows, catalog.take_warnings()) == ((), ())


@pytest.mark.parametrize(("patience", "least", "most"), [(0.05, 0.04, 0.5), (PATIENCE, 0.9, 2.0)])
def test_another_processs_write_is_waited_for_only_so_long_and_not_twice(
    folder: str, patience: float, least: float, most: float
) -> None:
    made(folder).close()
    catalog = Catalog(folder, HEAD, patience=patience)
    with closing(apsw.Connection(catalog.path)) as other:
        other.execute("BEGIN IMMEDIATE")
        spent = []
        for _ in range(2):
            begun = time.monotonic()
            with pytest.raises(Busy):
                catalog.add([row(9, "more")])
            spent.append(time.monotonic() - begun)
        assert least <= spent[0] < most
        assert spent[1] < least
        assert catalog.count() == 3


def test_what_is_deleted_and_read_elsewhere_is_told(folder: str) -> None:
    catalog = made(folder)
    with closing(apsw.Connection(catalog.path)) as reader:
        reader.execute("BEGIN").fetchall()
        reader.execute("SELECT count(*) FROM row").fetchall()
        catalog.swap(rows={1: 0})
        assert not catalog.flush(patient=False)
    assert catalog.flush()
    assert os.path.getsize(catalog.path + "-wal") == 0


def test_threads_share_a_catalogue(folder: str) -> None:
    catalog, faults = made(folder), []

    def work(number: int) -> None:
        try:
            for step in range(20):
                catalog.add([row(100 * number + step, "text")])
                catalog.listed()
                catalog.set_fact("a", str(step))
        except Exception as exc:  # noqa: BLE001 - whatever it is, it is a fault
            faults.append(exc)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert catalog.count() == 83
