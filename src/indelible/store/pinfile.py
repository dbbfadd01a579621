"""The follower's file: made whole or not at all, opened for writing, or copied to memory where it cannot be written."""

from __future__ import annotations

import os

import apsw

from indelible.files import make_folder, publish_new, remove
from indelible.store.opening import Patience, uri_path
from indelible.store.pintable import make_tables

BUSY_MS = 10_000
CANNOT_WRITE = (apsw.CantOpenError, apsw.FullError, apsw.IOError, apsw.ReadOnlyError)
"""What the disk refuses; the reader goes on in memory, and says so."""
BUSY = (apsw.BusyError, apsw.LockedError)


def open_file(path: str) -> apsw.Connection:
    """The tables in `path`, for reading and writing.

    Raises:
        apsw.Error: CANNOT_WRITE, BUSY, or a file that is not the follower's.
    """
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_handler(Patience(BUSY_MS))
    connection.execute("PRAGMA synchronous=NORMAL")
    # A full disk then says so at COMMIT, where the reader can go on in memory.
    connection.execute("PRAGMA cache_spill=OFF")
    connection.config(
        apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1
    )  # a checkpoint at each end of a one-shot command costs four fsyncs
    return connection


def has_tables(connection: apsw.Connection) -> bool:
    """False for a file that lost them, or never had any."""
    return connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'pin'").fetchone() is not None


def create_file(path: str) -> None:
    """Make empty tables at `path` under a name of their own, and link them there; whoever is second uses the first one's.

    Raises:
        OSError, apsw.Error, UsageError, NotSaved: it could not be made; nothing is left at `path`.
    """
    make_folder(os.path.dirname(path))
    fresh = f"{path}.{os.getpid()}.{os.urandom(4).hex()}.tmp"
    os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0), 0o600))
    try:
        connection = apsw.Connection(fresh)
        connection.execute("PRAGMA journal_mode=WAL").fetchall()
        make_tables(connection)
        connection.close()
        publish_new(fresh, path)
    except FileExistsError:
        return
    finally:
        remove_file(fresh)


def copy_to_memory(path: str) -> apsw.Connection:
    """The tables of `path` as far as they can be read, in memory; empty ones where there is no file.

    Raises:
        apsw.Error: there is a file, and it cannot be read without passing over a part of it.
    """
    memory = apsw.Connection(":memory:")
    if os.path.exists(path):
        with _read_only(path) as disk, memory.backup("main", disk, "main") as copying:
            copying.step()
    make_tables(memory)
    return memory


class _read_only:  # noqa: N801 - reads as a word in a with statement
    """A connection that needs no -shm where the file was cleanly closed."""

    def __init__(self, path: str) -> None:
        wal = path + "-wal"
        if os.path.exists(wal) and os.path.getsize(wal):
            self._connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
            self._connection.set_busy_handler(Patience(BUSY_MS))
        else:
            uri = f"file:{uri_path(path)}?immutable=1"
            self._connection = apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)

    def __enter__(self) -> apsw.Connection:
        return self._connection

    def __exit__(self, *_: object) -> None:
        self._connection.close()


def remove_file(path: str) -> None:
    """Take the file and what SQLite puts beside it away."""
    for suffix in ("", "-wal", "-shm"):
        remove(path + suffix)
