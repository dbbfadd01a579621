"""What an index consists of: its segments by name and digest, and the rows that are in none of them yet.

One SQLite file, appended to within a save. It is derived data: it runs with synchronous=OFF, and what a power cut or an edit
takes from it is derived again from the memories themselves. Each row carries a check (BLAKE2b-64 of its packed bytes).
Imports no numpy: every save passes here.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from hashlib import blake2b
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw

from indelible.errors import IndexDamaged, Malformed
from indelible.files import make_folder, remove
from indelible.recall.row import pack, unpack

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from indelible.recall.row import Row

FILE = "index.db"
BUSY_MS = 5_000
_CHECK = 8
_TABLES = """
CREATE TABLE IF NOT EXISTS head    (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS segment (name TEXT PRIMARY KEY, sha256 TEXT NOT NULL, rows INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS fact    (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS vector  (seq INTEGER PRIMARY KEY, packed BLOB NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS row     (id INTEGER PRIMARY KEY, seq INTEGER UNIQUE NOT NULL, packed BLOB NOT NULL) STRICT;
"""
_ADD = "INSERT OR REPLACE INTO row(seq, packed) VALUES (?, ?)"


class Named(NamedTuple):
    """A segment as the catalogue names it."""

    name: str
    sha256: str
    rows: int


class Catalog:
    """The catalogue in `folder`, made when something is first added.

    Args:
        head: facts that all of it has to be of: the recipe, the store's place, the agent, the first entry of the log.

    Raises by every method:
        IndexDamaged: the file is none of ours, or cannot be read. apsw.Error: it is busy, or the disk refuses.
    """

    def __init__(self, folder: str, head: Mapping[str, str]) -> None:
        self.folder, self.head = folder, dict(head)
        self.path = os.path.join(folder, FILE)
        self._connection: apsw.Connection | None = None
        self._pid = os.getpid()

    def _open(self, *, create: bool) -> apsw.Connection | None:
        if self._pid != os.getpid():
            self._connection, self._pid = None, os.getpid()
        if self._connection is not None or not (create or os.path.exists(self.path)):
            return self._connection
        with self._faults():
            self._connection = self._connected()
        return self._connection

    def _connected(self) -> apsw.Connection:
        make_folder(self.folder)
        handle = os.open(self.path, os.O_CREAT | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0), 0o600)
        os.close(handle)
        connection = apsw.Connection(self.path)
        connection.set_busy_timeout(BUSY_MS)
        for pragma in ("journal_mode=WAL", "synchronous=OFF", "secure_delete=ON", "trusted_schema=OFF"):
            connection.execute(f"PRAGMA {pragma}").fetchall()
        connection.execute(_TABLES)
        self._claim(connection)
        return connection

    def _claim(self, connection: apsw.Connection) -> None:
        """What another recipe or another store left is taken away: nothing of it is of use here."""
        if dict(connection.execute("SELECT name, value FROM head")) == self.head:
            return
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(
            "DELETE FROM head; DELETE FROM segment; DELETE FROM row; DELETE FROM fact; DELETE FROM vector"
        )
        connection.executemany("INSERT INTO head VALUES (?, ?)", self.head.items())
        connection.execute("COMMIT")

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except (apsw.CorruptError, apsw.NotADBError, apsw.SQLError, apsw.MismatchError) as exc:
            self.close()
            raise IndexDamaged(f"{FILE} is not as it was written ({str(exc).splitlines()[0]})", file=self.path) from exc

    @contextmanager
    def opened(self, *, create: bool = False) -> Iterator[apsw.Connection | None]:
        """The connection, for what else of an index is kept in the file; None where there is no file."""
        connection = self._open(create=create)
        with self._faults():
            yield connection

    @property
    def version(self) -> tuple[int, int]:
        """Another value once anything was committed, by whichever process."""
        connection = self._open(create=False)
        if connection is None:
            return (-1, -1)
        with self._faults():
            return int(connection.pragma("data_version")), connection.total_changes()

    def add(self, rows: Iterable[Row]) -> None:
        """Put rows behind all others; a row of the same entry is replaced."""
        connection = self._open(create=True)
        packed = [(row.seq, _checked(pack(row))) for row in rows]
        if connection is not None:
            with self._faults(), connection:
                connection.executemany(_ADD, packed)

    def segments(self) -> tuple[Named, ...]:
        connection = self._open(create=False)
        if connection is None:
            return ()
        with self._faults():
            return tuple(
                Named(*one)
                for one in connection.execute("SELECT name, sha256, rows FROM segment ORDER BY rows DESC, name")
            )

    def rows(
        self, known: Mapping[int, int] = MappingProxyType({})
    ) -> tuple[tuple[tuple[int, Row | None], ...], tuple[int, ...]]:
        """`(rows, damaged)`: each with its id, in their order; and the ids of those that are altered.

        Args:
            known: the entries of rows that were read before, by id: for these there is None. What an entry's row holds never changes.
        """
        connection = self._open(create=False)
        sound: list[tuple[int, Row | None]] = []
        damaged: list[int] = []
        if connection is not None:
            with self._faults():
                listed: list[tuple[Any, ...]] = connection.execute("SELECT id, seq FROM row ORDER BY id").fetchall()
                for number, seq in listed:
                    if known.get(number) == seq:
                        sound.append((number, None))
                        continue
                    packed = connection.execute("SELECT packed FROM row WHERE id = ?", (number,)).fetchone()
                    row = _row(seq, packed[0]) if packed else None
                    (damaged.append(number) if row is None else sound.append((number, row)))
        return tuple(sound), tuple(damaged)

    def count(self) -> int:
        connection = self._open(create=False)
        if connection is None:
            return 0
        with self._faults():
            return sum(int(count) for (count,) in connection.execute("SELECT count(*) FROM row"))

    def swap(self, *, segments: Iterable[str] = (), rows: Iterable[int] = (), by: Named | None = None) -> bool:
        """Name a segment in the place of others and of rows; False, and nothing done, where one of those is gone already."""
        connection = self._open(create=True)
        old = tuple(segments)
        if connection is None:
            return False
        with self._faults():
            connection.execute("BEGIN IMMEDIATE")
            try:
                there = {name for (name,) in connection.execute("SELECT name FROM segment")}
                if not there.issuperset(old):
                    return False
                connection.executemany("DELETE FROM segment WHERE name = ?", ((name,) for name in old))
                connection.executemany("DELETE FROM row WHERE id = ?", ((number,) for number in rows))
                if by is not None:
                    connection.execute("INSERT INTO segment VALUES (?, ?, ?)", by)
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
        return True

    def fact(self, name: str) -> str:
        """What was kept under a name; empty for nothing."""
        with self.opened() as connection:
            found = list(connection.execute("SELECT value FROM fact WHERE name = ?", (name,))) if connection else []
        return str(found[0][0]) if found else ""

    def set_fact(self, name: str, value: str) -> None:
        """Keep a value under a name."""
        with self.opened(create=True) as connection:
            if connection is not None:
                connection.execute("INSERT OR REPLACE INTO fact VALUES (?, ?)", (name, value))

    def flush(self) -> None:
        """Leave nothing of what was deleted in the -wal."""
        connection = self._open(create=False)
        if connection is not None:
            with self._faults():
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def clear(self) -> None:
        """Take every file of the folder away."""
        self.close()
        try:
            names = os.listdir(self.folder)
        except OSError:
            return
        for name in names:
            remove(os.path.join(self.folder, name))

    def close(self) -> None:
        if self._connection is not None and self._pid == os.getpid():
            self._connection.close()
        self._connection = None


def _checked(packed: bytes) -> bytes:
    return blake2b(packed, digest_size=_CHECK).digest() + packed


def _row(seq: int, packed: bytes) -> Row | None:
    """The row, if its bytes have their check and it is the one of that entry."""
    if blake2b(packed[_CHECK:], digest_size=_CHECK).digest() != packed[:_CHECK]:
        return None
    try:
        row = unpack(packed[_CHECK:])
    except Malformed:
        return None
    return row if row.seq == seq else None
