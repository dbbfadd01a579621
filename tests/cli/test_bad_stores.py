"""A store that is no store, or cannot be used: one plain sentence, the right exit code, nothing lost."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from tests.cli.hands import FIRST, Kept, ended, refused, said, start

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Run

EVERY = (
    ("verify", "k"),
    ("verify", "--", "k"),
    ("load", "k"),
    ("list",),
    ("save", "k", "-"),
    ("history", "k"),
    ("archive", "k"),
    ("checkpoint",),
    ("init",),
)


def put(home: Path, content: bytes | None) -> Path:
    """Something in the store's place: a folder for None."""
    store = home / "data" / "indelible" / "store.db"
    store.parent.mkdir(parents=True, mode=0o700)
    if content is None:
        store.mkdir()
    else:
        store.write_bytes(content)
        store.chmod(0o600)
    return store


NO_STORES = {
    "folder": None, "empty": b"", "random": os.urandom(20_000), "text": b"# Memory\n" * 100, "half a header": b"SQLite format 3\x00" + b"\x00" * 20,
}  # fmt: skip


@pytest.mark.parametrize("what", NO_STORES)
def test_what_is_no_store_is_called_so_and_left_alone(home: Path, run: Run, what: str) -> None:
    store = put(home, NO_STORES[what])
    for words in EVERY:
        ran = run(*words, input=b"x")
        refused(ran, 1, str(store))
        assert ran.stdout == b""
    assert store.is_dir() if NO_STORES[what] is None else store.read_bytes() == NO_STORES[what]
    assert said(run("doctor", "--json"))["exit_code"] == 1


def test_another_programs_database_is_left_alone(home: Path, run: Run) -> None:
    import apsw

    store = put(home, b"")
    connection = apsw.Connection(str(store))
    connection.execute("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)")
    connection.close()
    before = store.read_bytes()
    for words in EVERY:
        refused(run(*words, input=b"x"), 1, str(store))
    assert store.read_bytes() == before


@pytest.mark.parametrize("place", ["/dev/null", "/", "."])
def test_a_place_that_can_be_no_store(run: Run, place: str) -> None:
    for words in (("list",), ("save", "k", "-"), ("init",)):
        ran = run(*words, "--store", place, input=b"x")
        assert ran.code in (1, 64), ran
        assert "Traceback" not in ran.err


def test_a_store_in_a_folder_that_is_a_file(home: Path, run: Run) -> None:
    (home / "work" / "file").write_bytes(b"x")
    for words in (("list",), ("save", "k", "-"), ("init",)):
        ran = run(*words, "--store", "file/store.db", input=b"x")
        assert ran.code in (1, 3), ran
        assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    "address", ["ftp://x", "http://", "http://[::1", "http://user:pw@127.0.0.1:1", "http://127.0.0.1:99999"]
)
def test_an_address_that_is_none(run: Run, address: str) -> None:
    ran = run("list", "--store", address, env={"INDELIBLE_API_KEY": "k" * 20})
    assert ran.code in (1, 3, 64), ran
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("size", [0, 100, 4096, 5000, 16_384])
def test_half_a_copy_is_refused(kept: Kept, size: int) -> None:
    kept.sql("PRAGMA wal_checkpoint(TRUNCATE)")
    copy = kept.store.read_bytes()
    kept.remove()
    kept.store.write_bytes(copy[:size])
    kept.store.chmod(0o600)
    for words in (("verify", "MEMORY.md"), ("load", "MEMORY.md"), ("list",), ("save", "MEMORY.md", "-")):
        ran = kept.run(*words, input=b"x")
        refused(ran, 2)
        assert FIRST not in ran.stdout


def test_a_store_copied_without_its_wal_is_an_older_store(kept: Kept) -> None:
    kept.sql("PRAGMA wal_checkpoint(TRUNCATE)")
    kept.save("MEMORY.md", b"second\n")
    kept.store.with_name("store.db-wal").unlink()
    kept.store.with_name("store.db-shm").unlink(missing_ok=True)
    refused(kept.run("verify", "MEMORY.md"), 2, "already accepted 2")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="giving a file away needs root")
def test_a_store_of_another_account_is_not_used(kept: Kept) -> None:
    os.chown(kept.store, 65534, 65534)
    for words in (("verify", "MEMORY.md"), ("load", "MEMORY.md"), ("save", "MEMORY.md", "-"), ("list",)):
        refused(kept.run(*words, input=b"x"), 1, "another account", "indelible serve")
    os.chown(kept.store, os.getuid(), os.getgid())
    assert kept.load("MEMORY.md") == FIRST


def test_a_store_that_cannot_be_written_can_be_read(kept: Kept, plain_user: tuple[str, ...]) -> None:
    kept.store.parent.chmod(0o500)
    for side in ("", "-wal", "-shm"):
        path = kept.store.with_name(f"store.db{side}")
        if path.exists():
            path.chmod(0o400)
    try:
        assert ended(start("load", "MEMORY.md", cwd=kept.work, prefix=plain_user)).stdout == FIRST
        assert ended(start("verify", "MEMORY.md", cwd=kept.work, prefix=plain_user)).code == 0
        ran = ended(start("save", "MEMORY.md", kept.file("x", b"x"), cwd=kept.work, prefix=plain_user))
        refused(ran, 1, "writable")
        assert (
            said(ended(start("save", "MEMORY.md", kept.work / "x", "--json", cwd=kept.work, prefix=plain_user)))["slug"]
            == "read-only"
        )
    finally:
        kept.store.parent.chmod(0o700)


def test_a_store_that_cannot_be_read_could_not_be_checked(kept: Kept, plain_user: tuple[str, ...]) -> None:
    kept.store.chmod(0o000)
    for words in (("verify", "MEMORY.md"), ("load", "MEMORY.md"), ("list",)):
        ran = ended(start(*words, cwd=kept.work, prefix=plain_user))
        refused(ran, 1, str(kept.store))
    assert kept.store.exists()


def test_a_home_that_cannot_be_written_is_a_warning_for_a_reader(kept: Kept, plain_user: tuple[str, ...]) -> None:
    """A container with a read-only home: reading goes on; that the pin is not kept is said."""
    for folder in (kept.home / "state", kept.home / "config"):
        for parent, _, _ in os.walk(folder):
            os.chmod(parent, 0o500)
    ran = ended(start("verify", "MEMORY.md", cwd=kept.work, prefix=plain_user))
    assert ran.code == 0, ran
    for parent, _, _ in os.walk(kept.home / "state"):
        os.chmod(parent, 0o700)
    (kept.home / "config" / "indelible").chmod(0o700)


def test_a_data_folder_that_cannot_be_made_is_named(home: Path, run: Run, plain_user: tuple[str, ...]) -> None:
    (home / "data").mkdir(mode=0o500)
    ran = ended(start("init", cwd=home / "work", prefix=plain_user))
    refused(ran, 1, str(home / "data"))
    assert not (home / "data" / "indelible").exists()


@pytest.mark.skipif(os.name != "posix", reason="a folder in use cannot be removed elsewhere")
def test_a_working_folder_that_is_gone_is_said(kept: Kept) -> None:
    gone = kept.work / "gone"
    (kept.work / "file").write_bytes(b"x")
    for words in (
        ("verify", "MEMORY.md"),
        ("load", "MEMORY.md"),
        ("save", "k", "../file"),
        ("init",),
        ("adopt",),
        ("doctor",),
    ):
        gone.mkdir()
        prefix = ("sh", "-c", 'cd gone && rmdir ../gone && exec "$@"', "sh")
        refused(ended(start(*words, cwd=kept.work, prefix=prefix)), 64, "folder")


@pytest.mark.skipif(os.name != "posix", reason="paths are bytes where the system is POSIX")
def test_a_store_whose_path_is_no_utf8_is_refused_in_words(run: Run) -> None:
    for words in (("init",), ("list",), ("verify", "k")):
        ran = run(*words, "--store", os.fsdecode(b"a\xff.db"))
        assert ran.code in (3, 64), ran
        assert "Traceback" not in ran.err


def test_stray_files_beside_the_store_are_not_read(kept: Kept) -> None:
    before = kept.run("list").out
    for name in ("store.db.bak", "store.db.123.new", ".tmp-1-abc"):
        (kept.store.parent / name).write_bytes(os.urandom(100))
    assert kept.run("list").out == before
    assert kept.load("MEMORY.md") == FIRST


@pytest.mark.parametrize("behind", ["DELETE FROM entry", "UPDATE entry SET leaf = x'00'"])
def test_a_verify_looks_at_the_entry_too_and_a_save_signs_on_top_of_no_gap(kept: Kept, behind: str) -> None:
    kept.sql(behind)
    refused(kept.run("verify", "MEMORY.md"), 2)
    refused(kept.run("save", "MEMORY.md", input=b"more"), 2)
    if behind.startswith("DELETE"):
        refused(kept.run("save", "another", input=b"more"), 2)
