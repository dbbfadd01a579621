"""What this reader has verified: its pin, and the latest of each key, outside the store.

One small SQLite file for each (place, agent) in the user's state folder. It is written only after
the store has committed, and only from leaves that hashed to a signed head; every read is checked
against it. It runs with synchronous=NORMAL: losing its last step costs a second look, never a
wrong answer. Where it cannot be written (read-only home, full disk) it goes on in memory and says so.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

import apsw

from indelible.errors import PinLost

if TYPE_CHECKING:
    from collections.abc import Iterator


class Pin(NamedTuple):
    """The last head that this reader accepted, and what it knows of the log so far."""

    first: bytes
    """Leaf hash of the log's first entry: which log this is, not only how long."""
    size: int
    note: bytes
    """The checkpoint, as the store gave it: byte-equal means nothing is new."""
    frontier: bytes
    signers: str
    """The agent's verifier keys, the one in force first, with spaces between; empty until one was seen to sign."""
    revoked: str
    """`keyid:index` pairs, with spaces between: not trusted from that entry on."""
    origin: str
    """How it came to be: `first-use`, `given`, or `accepted`."""


class Glance(NamedTuple):
    """What a read of one key needs of the pin; the fields are those of `Pin`."""

    note: bytes
    signers: str
    revoked: str
    origin: str


class Latest(NamedTuple):
    """The verified present of one key."""

    head_seq: int
    head: bytes
    """Leaf hash of the last entry about this key."""
    saved_seq: int
    version: int
    content: bytes
    record: bytes
    state: str
    """`active`, `archived`, `superseded` or `erased`."""
    by: str
    at: str


_TABLES = """
CREATE TABLE IF NOT EXISTS pin (one INTEGER PRIMARY KEY CHECK (one = 1), first BLOB NOT NULL, size INTEGER NOT NULL,
    note BLOB NOT NULL, frontier BLOB NOT NULL, signers TEXT NOT NULL, revoked TEXT NOT NULL, origin TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS latest (key TEXT PRIMARY KEY, head_seq INTEGER NOT NULL, head BLOB NOT NULL, saved_seq INTEGER NOT NULL,
    version INTEGER NOT NULL, content BLOB NOT NULL, record BLOB NOT NULL, state TEXT NOT NULL, by TEXT NOT NULL, at TEXT NOT NULL)
    STRICT, WITHOUT ROWID;
"""
_ROW = "head_seq, head, saved_seq, version, content, record, state, by, at"
_PIN = "first, size, note, frontier, signers, revoked, p.origin"
_LOOK = f"SELECT p.note, p.signers, p.revoked, p.origin, {_ROW} FROM pin p LEFT JOIN latest l ON l.key = ?"
_PUT = f"INSERT OR REPLACE INTO latest(key, {_ROW}) VALUES (?,?,?,?,?,?,?,?,?,?)"
_WIDTH = len(Glance._fields)


def name_of(place: str, agent: str) -> str:
    """The file name, without suffix, of what is known about `agent` at `place`."""
    return sha256(f"{place}\0{agent}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


class Follower:
    """The table of one agent's log at one place.

    Args:
        folder: where followers are kept, made 0700 when first written.
        known: a folder elsewhere that remembers that a pin existed, so that a lost one is noticed.
    """

    def __init__(self, folder: str, known: str, place: str, agent: str) -> None:
        name = name_of(place, agent)
        self.path = os.path.join(folder, name + ".db")
        self.marker = os.path.join(known, name)
        self.place, self.agent = place, agent
        self.warning = ""
        """Set where the pin cannot be kept: said aloud by whoever reads."""
        self._connection: apsw.Connection | None = None
        self._pid = os.getpid()

    def look(self, key: str) -> tuple[Glance | None, Latest | None]:
        """Pin and row in one statement, and so in one snapshot.

        Raises:
            PinLost: a pin existed and is gone, empty or broken.
        """
        connection = self._open()
        if connection is None:
            self._refuse_lost()
            return None, None
        try:
            row = connection.execute(_LOOK, (key,)).fetchone()
        except apsw.Error as exc:
            raise self._lost(str(exc)) from exc
        if row is None:
            self._refuse_lost()
            return None, None
        return Glance._make(row[:_WIDTH]), (None if row[_WIDTH] is None else Latest._make(row[_WIDTH:]))

    @contextmanager
    def locked(self) -> Iterator[Table]:
        """The table under its write lock; what is put is kept if the block ends well, and undone if not."""
        connection = self._open() or self._create()
        try:
            connection.execute("BEGIN IMMEDIATE")
        except (apsw.ReadOnlyError, apsw.FullError, apsw.IOError, apsw.CantOpenError) as exc:
            connection = self._go_on_in_memory(str(exc))
            connection.execute("BEGIN IMMEDIATE")
        except apsw.Error as exc:
            raise self._lost(str(exc)) from exc
        try:
            table = Table(connection)
            if table.pin is None:
                self._refuse_lost()
            yield table
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        self._keep(connection, table)

    def _keep(self, connection: apsw.Connection, table: Table) -> None:
        """A pin that cannot be kept is a warning, not a failed read or save: what was verified stays verified."""
        try:
            table.flush()
            connection.execute("COMMIT")
            if table.fresh:
                self._remember(table)
        except (apsw.FullError, apsw.IOError, apsw.ReadOnlyError, OSError) as exc:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            self._go_on_in_memory(str(exc))

    def _open(self) -> apsw.Connection | None:
        if self._pid != os.getpid():
            self._connection, self._pid = None, os.getpid()
        if self._connection is None and os.path.exists(self.path):
            self._connection = self._connect(apsw.SQLITE_OPEN_READWRITE)
        return self._connection

    def _connect(self, flags: int) -> apsw.Connection:
        try:
            connection = apsw.Connection(self.path, flags=flags)
            connection.set_busy_timeout(10_000)
            connection.execute("PRAGMA synchronous=NORMAL")
            return connection
        except apsw.CantOpenError:
            return self._go_on_in_memory("its file cannot be opened")
        except apsw.Error as exc:
            raise self._lost(str(exc)) from exc

    def _create(self) -> apsw.Connection:
        try:
            os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0), 0o600))
            connection = self._connect(apsw.SQLITE_OPEN_READWRITE)
            connection.execute("PRAGMA journal_mode=WAL").fetchall()
            _make_tables(connection)
        except (OSError, apsw.FullError, apsw.IOError, apsw.ReadOnlyError) as exc:
            return self._go_on_in_memory(str(exc))
        self._connection = connection
        return connection

    def _go_on_in_memory(self, reason: str) -> apsw.Connection:
        memory = apsw.Connection(":memory:")
        try:
            disk = apsw.Connection(self.path, flags=apsw.SQLITE_OPEN_READONLY)
            with memory.backup("main", disk, "main") as copying:
                copying.step()
            disk.close()
        except apsw.Error:
            memory = apsw.Connection(":memory:")
        _make_tables(memory)
        self.warning = f"The pin could not be kept ({reason.splitlines()[0]}): a rollback of this store before the next good run would not be noticed"
        self._connection = memory
        return memory

    def _remember(self, table: Table) -> None:
        if table.pin is not None and not os.path.exists(self.marker):
            os.makedirs(os.path.dirname(self.marker), mode=0o700, exist_ok=True)
            text = f"{self.place}\n{self.agent}\n{table.pin.first.hex()}\n"
            handle = os.open(self.marker, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0), 0o600)
            try:
                os.write(handle, text.encode("utf-8", "surrogatepass"))
            finally:
                os.close(handle)

    def _refuse_lost(self) -> None:
        if os.path.exists(self.marker):
            raise self._lost("it is missing")

    def _lost(self, reason: str) -> PinLost:
        return PinLost(
            f"The pin of {self.agent!r} at {self.place} is lost ({reason.splitlines()[0]}): what was accepted before cannot be compared",
            remedy="Give another reader's with 'indelible pin set FILE', or start again from what is there with 'indelible pin set --accept'",
            agent=self.agent, place=self.place,
        )

    def beside(self) -> Follower:
        """A follower of the same log that begins from nothing, in a file of its own until `take_place` is called on it."""
        fresh = Follower(os.path.dirname(self.path), os.path.dirname(self.marker), self.place, self.agent)
        fresh.path = f"{self.path}.{os.getpid()}.new"
        fresh.marker = fresh.path + ".known"
        fresh.forget()
        return fresh

    def take_place(self, old: Follower) -> None:
        """Put what `beside` made in the place of `old`."""
        first = self.look("")[0]
        self.close()
        old.close()
        if first is None or not os.path.exists(self.path):
            raise self._lost("the new one could not be kept")
        for suffix in ("-wal", "-shm"):
            if os.path.lexists(old.path + suffix):
                os.unlink(old.path + suffix)
        os.replace(self.path, old.path)
        os.makedirs(os.path.dirname(old.marker), mode=0o700, exist_ok=True)
        os.replace(self.marker, old.marker)

    def forget(self) -> None:
        """Drop pin, table and marker: the next read is a first use. Only on the user's own word."""
        self.close()
        for path in (self.path, self.path + "-wal", self.path + "-shm", self.marker):
            if os.path.lexists(path):
                os.unlink(path)

    def close(self) -> None:
        if self._connection is not None and self._pid == os.getpid():
            self._connection.close()
        self._connection = None


def _make_tables(connection: apsw.Connection) -> None:
    for _ in connection.execute(_TABLES):
        pass


class Table:
    """Pin and rows inside one transaction; rows that were put lie over those on disk until flushed."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._execute, self._executemany = connection.execute, connection.executemany
        row = self._execute(f"SELECT {_PIN} FROM pin p").fetchone()
        self.pin: Pin | None = Pin._make(row) if row else None
        self._before = self.pin
        self._laid: dict[str, Latest] = {}
        self._stored = self.pin is not None
        """Whether rows may be on disk: a first follow then looks none up."""

    @property
    def fresh(self) -> bool:
        return self._before is None

    def get(self, key: str) -> Latest | None:
        row = self._laid.get(key)
        if row is None and self._stored:
            found = self._execute(f"SELECT {_ROW} FROM latest WHERE key = ?", (key,)).fetchone()
            return Latest._make(found) if found else None
        return row

    def put(self, key: str, row: Latest) -> None:
        self._laid[key] = row

    def keys(self, after: str = "", limit: int = -1, prefix: str = "") -> list[tuple[str, Latest]]:
        """Rows in order of their keys, from the first one after `after`."""
        self.flush()
        found = self._execute(
            f"SELECT key, {_ROW} FROM latest WHERE key > ? AND substr(key, 1, ?) = ? ORDER BY key LIMIT ?", (after, len(prefix), prefix, limit)
        )
        return [(row[0], Latest._make(row[1:])) for row in found]

    def count(self) -> int:
        self.flush()
        return int(self._execute("SELECT count(*) FROM latest").fetchone()[0])

    def flush(self) -> None:
        if self._laid:
            self._executemany(_PUT, ((key, *row) for key, row in self._laid.items()))
            self._laid, self._stored = {}, True
        if self.pin is not None and self.pin is not self._before:
            self._execute("INSERT OR REPLACE INTO pin VALUES (1,?,?,?,?,?,?,?)", self.pin)

    def reset(self) -> None:
        """Forget everything in this transaction: for following from nothing again."""
        self._execute("DELETE FROM latest")
        self._laid, self._stored, self.pin = {}, False, None
