"""The index of a memory that several processes and threads use, and in whose folder others put what they like."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import pytest

from indelible.errors import Busy, NotFoundError
from indelible.memory.finding import Finder
from indelible.memory.indexing import index_folder

if TYPE_CHECKING:
    from tests.support import Bench

    from indelible.memory import Memory


@pytest.fixture
def memory(bench: Bench) -> Memory:
    made = bench.memory(create=True)
    made.save("deploy", b"Deploy the billing service with make deploy")
    made.save("tea", b"Tea is in the cupboard beside the window")
    return made


def keys(memory: Memory, query: str) -> list[str]:
    return [one.key for one in memory.recall(query).delivered]


def catalog(memory: Memory) -> str:
    return os.path.join(index_folder(memory.follower), "index.db")


def test_a_locked_catalogue_holds_up_a_save_for_a_moment_and_a_recall_for_a_second(memory: Memory) -> None:
    assert keys(memory, "billing") == ["deploy"]
    with closing(apsw.Connection(catalog(memory))) as other:
        other.execute("BEGIN IMMEDIATE")
        begun = time.monotonic()
        memory.save("more", b"The billing ledger is closed")
        saved = time.monotonic()
        found = memory.recall("ledger")
        ended = time.monotonic()
        assert saved - begun < 0.5
        assert ended - saved < 2
        assert [one.key for one in found.delivered] == ["more"]
        assert "could not be kept" in found.warnings[0]
    assert memory.recall("ledger").warnings == ()


def test_a_row_that_was_not_kept_is_found_once_when_another_process_kept_it(bench: Bench, memory: Memory) -> None:
    assert keys(memory, "billing") == ["deploy"]
    with bench.memory() as second, closing(apsw.Connection(catalog(memory))) as other:
        other.execute("BEGIN IMMEDIATE")
        memory.save("more", b"The billing ledger is closed")
        assert keys(memory, "ledger") == ["more"]
        other.execute("COMMIT")
        assert keys(second, "ledger") == ["more"]
        for _ in range(2):
            assert keys(memory, "ledger") == ["more"]
        assert memory.check_index().same


def test_threads_share_a_memory(memory: Memory) -> None:
    faults: list[object] = []

    def work(number: int) -> None:
        try:
            for step in range(6):
                memory.save(f"{number}/{step}", f"drawer {number} holds ledger q{number}x{step}q".encode())
                assert f"{number}/{step}" in keys(memory, f"q{number}x{step}q")
                if step == 3:
                    memory.erase(f"{number}/0")
                    assert memory.check_index().same
                if step == 4 and number == 1:
                    memory.reindex()
        except Exception as exc:  # noqa: BLE001 - whatever it is, it is a fault
            faults.append(exc)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []


def test_a_reindex_elsewhere_disturbs_nobody(bench: Bench, memory: Memory) -> None:
    with bench.memory() as other:
        for number in range(12):
            memory.save(f"note-{number}", f"Item {number} lies in drawer q{number}q".encode())
            other.reindex()
            found = memory.recall(f"q{number}q")
            assert found.delivered[0].key == f"note-{number}"
            assert found.warnings == ()
            assert memory.check_index().same
            assert memory.check_index().warnings == ()


def test_check_leaves_out_what_is_saved_meanwhile(
    bench: Bench, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = Finder._again
    with bench.memory() as other:

        def moved(self: Finder, *args: object) -> object:
            other.save("tea", b"Coffee is in the drawer")
            other.reindex()
            return again(self, *args)  # type: ignore[arg-type]

        monkeypatch.setattr(Finder, "_again", moved)
        assert memory.check_index().same


def test_check_that_finds_no_moment_to_compare_says_so(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Finder, "_is_same", lambda *_: None)
    with pytest.raises(Busy, match="changed by other processes"):
        memory.check_index()


def test_check_sees_a_row_that_says_something_else(memory: Memory) -> None:
    memory.end_index()
    finder = memory.indexed.finder
    finder.refresh()
    one = finder.shelf.rows[0]
    finder.shelf.catalog.add([one._replace(order=99, group=7)])
    assert not memory.check_index().same
    memory.reindex()
    assert memory.check_index().same


def test_erase_says_what_somebody_still_reads(memory: Memory) -> None:
    memory.reindex()
    memory.save("safe", b"The code of the safe is 4711-0815-zebra")
    assert keys(memory, "zebra") == ["safe"]
    with closing(apsw.Connection(catalog(memory))) as reader:
        reader.execute("BEGIN").fetchall()
        reader.execute("SELECT count(*) FROM row").fetchall()
        begun = time.monotonic()
        assert "index.db-wal" in " ".join(memory.erase("safe").warnings)
        assert time.monotonic() - begun < 2.5
    memory.save("more", b"The billing ledger is closed")
    assert keys(memory, "ledger") == ["more"]
    memory.end_index()
    assert b"zebra" not in b"".join(one.read_bytes() for one in Path(index_folder(memory.follower)).iterdir())


@pytest.mark.parametrize("use", ["erase", "reindex"])
def test_a_check_that_was_killed_leaves_nothing_behind(memory: Memory, use: str) -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    left = Path(f"{index_folder(memory.follower)}.{process.pid}.check")
    left.mkdir()
    (left / f"seg-{process.pid:08x}00000000.idx").write_bytes(b"cupboard")
    if use == "erase":
        memory.erase("tea")
    else:
        memory.reindex()
    assert not left.exists()


@pytest.mark.parametrize("what", ["folder", "link", "pipe", "linked folder"])
def test_what_is_in_the_way_is_named_and_recall_goes_on(memory: Memory, tmp_path: Path, what: str) -> None:
    memory.reindex()
    memory.end_index()
    folder, path = index_folder(memory.follower), catalog(memory)
    elsewhere = tmp_path / "elsewhere"
    if what == "linked folder":
        os.rename(folder, elsewhere)
        (elsewhere / "precious").write_bytes(b"x")
        os.symlink(elsewhere, folder)
    else:
        os.rename(path, elsewhere)
        {
            "folder": lambda: os.mkdir(path),
            "link": lambda: os.symlink(elsewhere, path),
            "pipe": lambda: os.mkfifo(path),
        }[what]()
    before = sorted(os.listdir(elsewhere)) if elsewhere.is_dir() else elsewhere.read_bytes()
    for _ in range(2):
        found = memory.recall("billing")
        assert [one.key for one in found.delivered] == ["deploy"]
        assert "Remove it by hand" in found.warnings[0]
    memory.save("more", b"The billing ledger is closed")
    assert keys(memory, "ledger") == ["more"]
    assert any("Remove it by hand" in one for one in memory.reindex().warnings)
    assert memory.erase("tea").warnings
    assert keys(memory, "cupboard") == []
    assert (sorted(os.listdir(elsewhere)) if elsewhere.is_dir() else elsewhere.read_bytes()) == before


def test_the_index_of_another_agent_is_said_aloud(memory: Memory) -> None:
    memory.end_index()
    with closing(apsw.Connection(catalog(memory))) as connection:
        connection.execute("UPDATE head SET value = 'other' WHERE name = 'agent'")
    memory.save("more", b"The billing ledger is closed")
    found = memory.recall("ledger")
    assert [one.key for one in found.delivered] == ["more"]
    assert "that of another memory, by its agent" in found.warnings[0]
    assert memory.recall("ledger").warnings == ()


WORK = """
import sys, pathlib
from tests.support import bench_at
number, bench = int(sys.argv[2]), bench_at(pathlib.Path(sys.argv[1]))
with bench.memory() as memory:
    for step in range(15):
        key = f"{number}/{step % 4}"
        memory.save(key, f"drawer {number} holds ledger q{number}x{step}q".encode())
        found = memory.recall(f"q{number}x{step}q")
        assert key in [one.key for one in found.delivered], (key, found)
        assert not [one for one in found.warnings if "-wal" not in one], found.warnings
        if step % 5 == number % 5:
            memory.erase(key)
        elif step % 5 == 4:
            memory.reindex() if number % 2 else memory.check_index()
"""


def test_processes_save_recall_erase_and_reindex_at_once(bench: Bench, memory: Memory) -> None:
    memory.end_index()
    root = Path(__file__).parents[2]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(root), str(root / "src")])}
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORK, bench.root, str(number)], env=environment, stderr=subprocess.PIPE, cwd=root
        )
        for number in range(5)
    ]
    assert [worker.communicate(timeout=120)[1].decode()[-800:] for worker in workers] == [""] * 5
    assert memory.check_index().same
    assert keys(memory, "billing") == ["deploy"]
    with pytest.raises(NotFoundError):
        memory.fetch("nothing")
