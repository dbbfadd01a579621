"""Which files are opened as a store, which are refused and with what words, and what opening leaves behind."""

from __future__ import annotations

import os
import shutil
import socket
import stat
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import apsw
import pytest
from tests.support import SIDES, Bench, finish, or_refused, worker

from indelible.errors import IndelibleError, IntegrityError, NotFoundError, NotSaved, ReadOnly, StoreError
from indelible.store import opening, schema
from indelible.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

posix = pytest.mark.skipif(sys.platform == "win32", reason="modes, owners, links and fifos as POSIX has them")


def saved(bench: Bench, count: int = 3) -> None:
    with bench.memory(create=True) as memory:
        for number in range(count):
            memory.save(f"key {number}", b"content %d" % number)


def whole(bench: Bench) -> list[bytes]:
    """The contents that a reader gets, all of them verified."""
    with bench.memory() as memory:
        listing = memory.list()
        assert listing.findings == ()
        return [memory.load(item.key).content for item in listing.items]


# Odd paths.


def test_a_store_that_is_not_there_is_not_made_by_reading(bench: Bench) -> None:
    with pytest.raises(NotFoundError, match="indelible init"):
        bench.memory()
    assert os.listdir(os.path.dirname(bench.path)) == []


def test_a_folder_is_refused(bench: Bench) -> None:
    os.makedirs(bench.path)
    for create in (False, True):
        with pytest.raises(StoreError, match="a folder"):
            bench.memory(create=create)


@posix
@pytest.mark.parametrize("target", ["genuine", "dangling"])
def test_a_link_is_refused_and_nothing_is_made_behind_it(bench: Bench, target: str) -> None:
    saved(bench)
    behind = os.path.join(bench.root, target)
    if target == "genuine":
        os.rename(bench.path, behind)
    else:
        os.unlink(bench.path)
    os.symlink(behind, bench.path)
    before = sorted(os.listdir(bench.root))
    for create in (False, True):
        with pytest.raises(StoreError, match="link"):
            bench.memory(create=create)
    assert sorted(os.listdir(bench.root)) == before


@posix
@pytest.mark.parametrize("target", ["genuine", "dangling"])
def test_a_store_in_a_linked_folder_is_refused_and_nothing_is_made_behind_it(bench: Bench, target: str) -> None:
    """O-SEC-04: a repository that ships its memory folder as a link into somebody's home."""
    saved(bench)
    folder, behind = os.path.dirname(bench.path), os.path.join(bench.root, target)
    if target == "genuine":
        os.rename(folder, behind)
    else:
        shutil.rmtree(folder)
    os.symlink(behind, folder)
    before = sorted(os.listdir(bench.root)), os.path.exists(behind) and sorted(os.listdir(behind))
    for create in (False, True):
        with pytest.raises(IndelibleError, match="link"):
            bench.memory(create=create)
    assert (sorted(os.listdir(bench.root)), os.path.exists(behind) and sorted(os.listdir(behind))) == before


@posix
def test_an_older_copy_behind_a_linked_folder_is_no_first_use(bench: Bench) -> None:
    saved(bench)
    copy = bench.snapshot()
    with bench.memory() as memory:
        memory.save("key 1", b"new")
    shutil.rmtree(os.path.dirname(bench.path))
    os.symlink(copy, os.path.dirname(bench.path))
    with pytest.raises(IndelibleError):
        bench.memory().load("key 1")


@posix
@pytest.mark.parametrize("kind", ["fifo", "socket", "device"])
def test_what_is_not_a_plain_file_is_refused_at_once(bench: Bench, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if kind == "fifo":
        os.mkfifo(bench.path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as listening:
            monkeypatch.chdir(os.path.dirname(bench.path))  # the name of a socket is short
            listening.bind("store.db")
    elif os.geteuid():
        pytest.skip("making a device needs root")
    else:
        os.mknod(bench.path, stat.S_IFCHR | 0o600, os.makedev(1, 3))
    with pytest.raises(StoreError, match="not a plain file"):
        bench.memory()


@posix
def test_a_store_of_another_account_is_refused_with_a_way_out(bench: Bench) -> None:
    if os.geteuid():
        pytest.skip("giving a file away needs root")
    saved(bench)
    os.chown(bench.path, 12345, 12345)
    with pytest.raises(StoreError, match=r"another account.*indelible serve"):
        bench.memory()


def test_a_store_below_a_file_is_refused(bench: Bench) -> None:
    open(os.path.join(bench.root, "file"), "wb").close()
    for create in (False, True):
        with pytest.raises(IndelibleError) as refused:
            SqliteStore(os.path.join(bench.root, "file", "store.db"), create=create)
        assert refused.value.exit_code in {1, 3}


@pytest.mark.parametrize(
    "content", [b"", b"SQLite", b"# MEMORY.md\n" * 400, bytes(8192)], ids=["nothing", "six bytes", "text", "zeros"]
)
def test_a_file_that_is_no_store_is_refused_and_left_as_it_is(bench: Bench, content: bytes) -> None:
    with open(bench.path, "wb") as file:
        file.write(content)
    for create in (False, True):
        with pytest.raises(StoreError, match="not an Indelible store"):
            bench.memory(create=create)
    with open(bench.path, "rb") as file:
        assert file.read() == content


def test_random_bytes_are_refused(bench: Bench) -> None:
    with open(bench.path, "wb") as file:
        file.write(b"SQLite format 3\0" + os.urandom(20000))
    with pytest.raises((StoreError, IntegrityError)):
        bench.memory()


def test_another_programs_database_is_refused(bench: Bench) -> None:
    with closing(apsw.Connection(bench.path)) as raw:
        raw.execute("CREATE TABLE log (id INTEGER PRIMARY KEY, agent TEXT, note BLOB)")
    with pytest.raises(StoreError, match="not an Indelible store"):
        bench.memory()


@pytest.mark.parametrize("part", [0.1, 0.5, 0.9, 0.999])
def test_half_a_copy_serves_no_altered_memory(bench: Bench, part: float) -> None:
    saved(bench, 300)
    bench.close()  # or the checkpoint may be held up by a reader, and leave everything in the -wal
    bench.sql("PRAGMA wal_checkpoint(TRUNCATE)")
    os.truncate(bench.path, int(os.path.getsize(bench.path) * part))
    with or_refused(1, 2), bench.memory() as memory:
        listing = memory.list()
        assert listing.findings
        for item in listing.items:
            assert memory.load(item.key).content == f"content {item.key.removeprefix('key ')}".encode()


def test_the_main_file_without_its_wal_is_a_rollback(bench: Bench) -> None:
    """`cp store.db` alone forgets what is still in the -wal."""
    saved(bench)
    for side in SIDES[1:]:
        os.unlink(bench.path + side)
    with pytest.raises(IntegrityError):
        whole(bench)


def test_a_store_of_a_newer_format_is_never_written_into(bench: Bench) -> None:
    saved(bench)
    bench.sql("PRAGMA user_version = 99")
    with pytest.raises(StoreError, match="Upgrade Indelible"):
        bench.memory()
    with pytest.raises(StoreError, match="Upgrade Indelible"):
        bench.memory(create=True)
    bench.sql(f"PRAGMA user_version = {OLD}")
    assert len(whole(bench)) == 3


@pytest.mark.parametrize("version", [0, -1, -(2**31)])
def test_a_store_of_a_format_that_never_was_is_refused_and_not_upgraded(bench: Bench, version: int) -> None:
    saved(bench)
    bench.sql(f"PRAGMA user_version = {version}")
    with pytest.raises((StoreError, IntegrityError)):
        bench.memory()
    assert [name for name in os.listdir(os.path.dirname(bench.path)) if "bak" in name] == []


@pytest.mark.parametrize("name", ["a b", "a%20b", "q?x=1", "h#1", "메모리", "😀", "'\"", "-rf", "semi;colon"])
def test_a_path_with_odd_characters_works(bench: Bench, name: str) -> None:
    path = os.path.join(bench.root, name, f"{name}.db")
    with SqliteStore(path, create=True) as store:
        assert store.agents() == ()
    with SqliteStore(path) as store:
        assert store.agents() == ()


def test_a_very_deep_folder_works(bench: Bench) -> None:
    path = os.path.join(bench.root, *["folder"] * 40, "store.db")
    with SqliteStore(path, create=True) as store:
        assert store.agents() == ()


# What opening leaves behind.


@posix
def test_every_file_is_private_under_any_umask(bench: Bench) -> None:
    os.rmdir(os.path.dirname(bench.path))
    before = os.umask(0)
    try:
        saved(bench)
        bench.memory("second").load("key 1")
    finally:
        os.umask(before)
    wide = []
    for folder, folders, files in os.walk(bench.root):
        wide += [
            os.path.join(folder, name)
            for name in folders
            if name in {"store", "followers", "known"} and os.stat(os.path.join(folder, name)).st_mode & 0o077
        ]
        wide += [os.path.join(folder, name) for name in files if os.stat(os.path.join(folder, name)).st_mode & 0o177]
    assert wide == []


def test_a_new_store_leaves_nothing_beside_it(bench: Bench) -> None:
    bench.memory(create=True).close()
    assert set(os.listdir(os.path.dirname(bench.path))) <= {"store.db", "store.db-wal", "store.db-shm"}


def test_what_a_crash_left_of_a_store_being_made_is_swept(bench: Bench) -> None:
    folder = os.path.dirname(bench.path)
    left = f".store.db.{2**22 + 1}.abcd.new"
    open(os.path.join(folder, left), "wb").close()
    open(os.path.join(folder, f".store.db.{os.getpid()}.abcd.new"), "wb").close()
    bench.memory(create=True).close()
    assert left not in os.listdir(folder)
    assert f".store.db.{os.getpid()}.abcd.new" in os.listdir(folder)


def test_opening_and_reading_write_nothing(bench: Bench) -> None:
    saved(bench)
    bench.memory("second").load("key 1")
    bench.close()

    def state() -> dict[str, tuple[int, int]]:
        return {
            side: (os.stat(bench.path + side).st_size, os.stat(bench.path + side).st_mtime_ns) for side in ("", "-wal")
        }

    before = state()
    for reader in ("first", "second"):
        with bench.memory(reader) as memory:
            memory.load("key 1")
            memory.list()
            memory.history("key 2")
    assert state() == before


def test_a_store_that_somebody_took_out_of_wal_mode_is_put_back(bench: Bench) -> None:
    saved(bench)
    assert bench.sql("PRAGMA journal_mode = delete") == [("delete",)]
    bench.memory().save("x", b"x")
    bench.close()
    assert bench.sql("PRAGMA journal_mode") == [("wal",)]


# Read-only file systems.


@pytest.fixture
def read_only(bench: Bench, small_disk: Callable[[str, str], str]) -> Iterator[Callable[[], None]]:
    """The store's folder on a file system that `read_only()` remounts so."""
    folder = small_disk(os.path.dirname(bench.path), "8m")

    def remount(how: str = "ro") -> None:
        bench.close()
        subprocess.run(["mount", "-o", f"remount,{how}", folder], check=True)

    return remount  # type: ignore[return-value]


def test_on_a_read_only_disk_a_cleanly_closed_store_is_read(bench: Bench, read_only: Callable[[], None]) -> None:
    saved(bench)
    bench.sql("PRAGMA wal_checkpoint(TRUNCATE)")
    assert os.listdir(os.path.dirname(bench.path)) == ["store.db"]
    read_only()
    assert len(whole(bench)) == 3
    assert bench.memory("second").load("key 2").content == b"content 2"


def test_on_a_read_only_disk_a_leftover_wal_is_read_or_refused_but_never_passed_over(
    bench: Bench, read_only: Callable[[], None]
) -> None:
    saved(bench)
    bench.sql("PRAGMA wal_checkpoint(TRUNCATE)")
    with bench.memory() as memory:
        memory.save("key 2", b"new")
    shm = bench.path + "-shm"
    if os.path.exists(shm):
        os.unlink(shm)
    assert os.path.getsize(bench.path + "-wal") > 0
    read_only()
    with pytest.raises(StoreError, match=r"read-only file system.*[Cc]opy"):
        bench.memory("second").load("key 2")


def test_on_a_read_only_disk_a_save_says_read_only(bench: Bench, read_only: Callable[[], None]) -> None:
    saved(bench)
    read_only()
    with bench.memory() as memory:
        with pytest.raises(ReadOnly, match="Reads go on"):
            memory.save("x", b"x")
        assert memory.load("key 1").content == b"content 1"


def test_on_a_read_only_disk_no_store_is_made(bench: Bench, read_only: Callable[[], None]) -> None:
    read_only()
    with pytest.raises(NotSaved):
        bench.memory(create=True)


# Formats. (O-XFER-04: an upgrade opens an empty store.)


OLD = schema.FORMAT
"""The format that the next program finds."""


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """`program("newer")`: from now on this program is one format further on; `program("older")`: it is itself again."""

    def be(age: str) -> None:
        steps = (*schema.STEPS, "CREATE TABLE newer (id INTEGER PRIMARY KEY) STRICT")[: OLD + (age == "newer")]
        monkeypatch.setattr("indelible.store.opening.STEPS", steps)
        monkeypatch.setattr("indelible.store.opening.FORMAT", len(steps))

    return be


def backups(bench: Bench) -> list[str]:
    folder = os.path.dirname(bench.path)
    return sorted(name for name in os.listdir(folder) if ".bak" in name)


def test_an_older_store_is_brought_up_with_everything_in_it_and_a_backup_beside_it(
    bench: Bench, program: Callable[[str], None]
) -> None:
    saved(bench)
    program("newer")
    assert whole(bench) == [b"content 0", b"content 1", b"content 2"]
    assert bench.sql("PRAGMA user_version") == [(OLD + 1,)]
    assert backups(bench) == [f"store.db.format{OLD}.bak"]
    backup = os.path.join(os.path.dirname(bench.path), backups(bench)[0])
    assert os.stat(backup).st_mode & 0o777 == 0o600
    with bench.memory() as memory:
        memory.save("key 3", b"content 3")
    program("older")
    with pytest.raises(StoreError, match="Upgrade Indelible"):
        bench.memory()
    with SqliteStore(backup) as store:
        assert store.agents() == ("eros",)


def test_an_upgrade_that_is_killed_in_the_middle_is_undone_and_taken_up_again(
    bench: Bench, program: Callable[[str], None]
) -> None:
    saved(bench)
    code, said, errors = finish(worker(bench, "die_upgrading"))
    assert (code, said) == (78, []), errors
    assert len(whole(bench)) == 3
    program("newer")
    assert len(whole(bench)) == 3
    assert bench.sql("PRAGMA user_version") == [(OLD + 1,)]
    assert len(backups(bench)) == 1


def test_an_upgrade_is_taken_once_by_two_who_open_at_once(bench: Bench, program: Callable[[str], None]) -> None:
    saved(bench)
    program("newer")
    for _ in range(2):
        with closing(apsw.Connection(bench.path)) as raw:
            opening._advance(raw, OLD)
    assert len(whole(bench)) == 3


def test_two_processes_that_make_one_store_at_once_share_it(bench: Bench) -> None:
    with bench.memory(create=True) as first, bench.memory(create=True) as second:
        first.save("a", b"a")
        assert second.load("a").content == b"a"
