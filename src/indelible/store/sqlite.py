"""A store in one SQLite file, through apsw (ADR 0001), in WAL mode with synchronous=FULL.

One connection reads, and is opened read-only; one writes, opened when first needed. A connection
is never carried over a fork, and is given up after any I/O error.
"""

from __future__ import annotations

import os
from _thread import RLock
from contextlib import contextmanager

import apsw

from indelible.errors import Busy, Malformed, NotFoundError, OutcomeUnknown
from indelible.light import TYPE_CHECKING
from indelible.sealed import Sealed
from indelible.store import opening
from indelible.store.faults import mapped
from indelible.store.schema import SEQ_BITS, SEQ_MASK
from indelible.store.store import Snapshot
from indelible.store.tiling import complete_tiles

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    from indelible.store.store import Reading, Writing
    from indelible.store.traces import Traces

_PEEK = f"""SELECT 0, note, 0, 0 FROM log WHERE agent = ?1
UNION ALL SELECT 1, salt, body, content FROM record WHERE id = ((SELECT id FROM log WHERE agent = ?1) << {SEQ_BITS} | ?2)"""


class SqliteStore:
    """A store at `path`. Nothing is written by opening or reading it.

    Raises:
        NotFoundError: there is no file, and `create` was not asked for.
        StoreError: a folder, not a store, of a newer format, somebody else's, a link.
    """

    def __init__(self, path: str, *, create: bool = False, busy_ms: int = opening.BUSY_MS) -> None:
        self.path = os.path.abspath(path)
        opening.refuse_odd_paths(self.path)
        if not os.path.lexists(self.path):
            if not create:
                raise NotFoundError(f"There is no store at {self.path}", remedy="Run 'indelible init' to make one")
            opening.create(self.path)
        self.place = self.path
        self._busy_ms = busy_ms
        self._reader: apsw.Connection | None = None
        self._writer: apsw.Connection | None = None
        self._dropped: Traces | None = None
        """Of what was taken away since the last purge."""
        self._pid = os.getpid()
        self._lock = RLock()
        with self._lock, mapped(self.path):
            self._read()

    def _read(self) -> apsw.Connection:
        self._leave_parent()
        if self._reader is None:
            self._reader = opening.connect(self.path, write=False, busy_ms=self._busy_ms)
        return self._reader

    def _write(self) -> apsw.Connection:
        self._leave_parent()
        if self._writer is None:
            self._writer = opening.connect(self.path, write=True, busy_ms=self._busy_ms)
        return self._writer

    def _leave_parent(self) -> None:
        """After a fork the child drops the parent's handles without closing them: closing would drop its locks."""
        if self._pid != os.getpid():
            opening.orphan(self._reader, self._writer)
            self._reader = self._writer = None
            self._pid = os.getpid()

    def agents(self) -> tuple[str, ...]:
        with self._lock, mapped(self.path):
            return tuple(row[0] for row in self._read().execute("SELECT agent FROM log ORDER BY agent"))

    def peek(self, agent: str, seq: int | None) -> Snapshot:
        """The head and one version in one statement, and so in one snapshot."""
        with self._lock, mapped(self.path):
            rows = self._read().execute(_PEEK, (agent, -1 if seq is None else seq)).fetchall()
        if not rows or rows[0][0]:
            return Snapshot(None, None)
        note = rows[0][1]
        if note.__class__ is not bytes:
            raise _odd(agent, "head")
        if len(rows) == 1:
            return Snapshot(note, None)
        _, salt, body, content = rows[1]
        if salt.__class__ is body.__class__ is content.__class__ is bytes:
            return Snapshot(note, Sealed(salt, body, content))
        raise _odd(agent, f"version at entry {seq}", seq=seq)

    @contextmanager
    def reading(self, agent: str) -> Iterator[Reading]:
        """One snapshot: BEGIN takes none by itself, so the head is read at once."""
        with self._lock, mapped(self.path):
            connection = self._read()
            connection.execute("BEGIN")
            try:
                yield _Session(connection, agent)
            finally:
                connection.execute("ROLLBACK")

    @contextmanager
    def writing(self, agent: str) -> Iterator[Writing]:
        """One transaction under the write lock, from BEGIN IMMEDIATE to COMMIT and its one fsync.

        Raises:
            Busy, DiskFull, ReadOnly, NotSaved: nothing was saved.
            OutcomeUnknown: the commit failed in a way that may have saved.
        """
        with self._lock, mapped(self.path):
            connection = self._write()
            connection.execute("BEGIN IMMEDIATE")
            session = _Session(connection, agent, self._dropped)
            try:
                yield session
            except BaseException:
                self._undo(connection)
                raise
            self._commit(connection, session)
            self._dropped = session.dropped or self._dropped

    def _undo(self, connection: apsw.Connection) -> None:
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        except apsw.Error:
            self.give_up()

    def _commit(self, connection: apsw.Connection, session: _Session) -> None:
        try:
            connection.execute("COMMIT")
        except (apsw.BusyError, apsw.FullError):
            self._undo(connection)
            raise
        except apsw.Error as exc:
            self.give_up()
            raise OutcomeUnknown(
                "The disk reported an error while the save was being made durable: it may or may not have been saved",
                remedy="Repeat it with the same --op-id: that makes one version either way",
                op=session.op,
            ) from exc

    def give_up(self) -> None:
        """After an I/O error no handle is trusted again: the next call opens afresh and verifies."""
        opening.orphan(self._reader, self._writer)
        self._reader = self._writer = None

    def settle(self, *, purge: bool = False) -> None:
        """Make what is in the WAL durable: for a repeated operation whose first outcome was unknown.

        Args:
            purge: empty the WAL too, and write the file anew where a copy of what was erased lies in it, so that none stays.

        Raises:
            Busy: a reader of long standing still needs the WAL.
            DiskFull: there is no room to write the file anew.
        """
        self._checkpoint("TRUNCATE" if purge else "FULL")
        if purge:
            if self._is_left():
                with self._lock, mapped(self.path):
                    self._write().execute("VACUUM")
                self._checkpoint("TRUNCATE")
            self._dropped = None

    def _is_left(self) -> bool:
        """Whether unused parts of the file hold what was taken away; where that is not known here, they may."""
        from indelible.store.leftovers import unused

        traces = self._dropped
        return traces is None or any(traces.find(gap) for gap in unused(self.path))

    def _checkpoint(self, mode: str) -> None:
        with self._lock, mapped(self.path):
            answer = self._write().execute(f"PRAGMA wal_checkpoint({mode})").fetchone()
        if answer is None or answer[0]:
            raise Busy(
                f"Another process is reading {self.path} for long",
                remedy="Do it again when it has ended",
                path=self.path,
            )

    def tile(self, agent: str, level: int, n: int) -> bytes | None:
        with self._lock, mapped(self.path):
            row = (
                self._read()
                .execute(
                    "SELECT hashes FROM tile JOIN log ON log.id = tile.log WHERE agent = ? AND level = ? AND n = ?",
                    (agent, level, n),
                )
                .fetchone()
            )
        return row[0] if row and row[0].__class__ is bytes else None

    def extent(self, agent: str) -> tuple[int, int]:
        """One past the last row of `entry` and of `record`: more than the head's size means stray rows."""
        with self._lock, mapped(self.path):
            row = (
                self._read()
                .execute(
                    f"""SELECT (SELECT max(id) FROM entry WHERE id >= l.id << {SEQ_BITS} AND id < (l.id + 1) << {SEQ_BITS}),
                           (SELECT max(id) FROM record WHERE id >= l.id << {SEQ_BITS} AND id < (l.id + 1) << {SEQ_BITS})
                    FROM log l WHERE agent = ?""",
                    (agent,),
                )
                .fetchone()
            )
        ends = [0 if last is None else (last & SEQ_MASK) + 1 for last in (row or (None, None))]
        return ends[0], ends[1]

    def close(self) -> None:
        self._leave_parent()
        for connection in (self._reader, self._writer):
            if connection is not None:
                connection.close()
        self._reader = self._writer = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Session:
    """Rows of one agent's log, inside one transaction of one connection."""

    def __init__(self, connection: apsw.Connection, agent: str, dropped: Traces | None = None) -> None:
        self._execute = connection.execute
        self.dropped = dropped
        self._agent = agent
        self._size = 0
        self.op = ""
        row = self._execute("SELECT id, note FROM log WHERE agent = ?", (agent,)).fetchone()
        self._id: int | None = row[0] if row else None
        self._note: bytes | None = row[1] if row else None
        if row is not None and self._note.__class__ is not bytes:
            raise _odd(agent, "head")

    def head(self) -> bytes | None:
        return self._note

    def leaves(self, start: int, end: int) -> Iterator[bytes]:
        """Leaves `start` to `end`, in order; ends early where one is missing."""
        if self._id is None:
            return
        base = self._id << SEQ_BITS
        rows = self._execute(
            "SELECT id, leaf FROM entry WHERE id >= ? AND id < ? ORDER BY id", (base + start, base + end)
        )
        for expected, (row_id, leaf) in enumerate(rows, base + start):
            if row_id != expected:
                return
            if leaf.__class__ is not bytes:
                raise _odd(self._agent, f"entry {expected - base}", seq=expected - base)
            yield leaf

    def sealed(self, seq: int) -> Sealed | None:
        if self._id is None:
            return None
        row = self._execute(
            "SELECT salt, body, content FROM record WHERE id = ?", (self._id << SEQ_BITS | seq,)
        ).fetchone()
        if row is None:
            return None
        if not all(part.__class__ is bytes for part in row):
            raise _odd(self._agent, f"version at entry {seq}", seq=seq)
        return Sealed(*row)

    def find_op(self, op: str) -> int | None:
        row = self._execute("SELECT seq FROM op WHERE log = ? AND op = ?", (self._id, op)).fetchone()
        return row[0] if row and row[0].__class__ is int else None

    def append(self, seq: int, leaf: bytes, op: str, sealed: Sealed | None) -> None:
        """Add the entry, its version if it has one, its operation id, and the tiles that it completes."""
        if self._id is None:
            self._execute("INSERT INTO log(agent, note) VALUES (?, x'')", (self._agent,))
            self._id = next(iter(self._execute("SELECT id FROM log WHERE agent = ?", (self._agent,))))[0]
        row_id = self._id << SEQ_BITS | seq
        self._execute("INSERT INTO entry VALUES (?, ?)", (row_id, leaf))
        if sealed is not None:
            self._execute("INSERT INTO record VALUES (?, ?, ?, ?)", (row_id, *sealed))
        self._execute("INSERT INTO op VALUES (?, ?, ?)", (self._id, op, seq))
        self.op = op
        for level, n, hashes in complete_tiles(seq + 1, self.leaves, self._tile):
            self._execute("INSERT OR REPLACE INTO tile VALUES (?, ?, ?, ?)", (self._id, level, n, hashes))

    def _tile(self, level: int, n: int) -> bytes:
        row = self._execute(
            "SELECT hashes FROM tile WHERE log = ? AND level = ? AND n = ?", (self._id, level, n)
        ).fetchone()
        return row[0] if row and row[0].__class__ is bytes else b""

    def drop(self, seqs: tuple[int, ...]) -> None:
        """Take salt, body and content away, and overwrite their bytes in the file."""
        if self._id is None or not seqs:
            return
        from indelible.store.traces import Traces

        self.dropped = self.dropped or Traces()
        for seq in seqs:
            row_id = self._id << SEQ_BITS | seq
            for row in self._execute("SELECT salt, body, content FROM record WHERE id = ?", (row_id,)):
                self.dropped.add(b"".join(part for part in row if part.__class__ is bytes))
            self._execute("DELETE FROM record WHERE id = ?", (row_id,))

    def mend(self, seq: int, sealed: Sealed) -> None:
        """Put back a version whose bytes are known again."""
        if self._id is not None:
            self._execute("INSERT OR REPLACE INTO record VALUES (?, ?, ?, ?)", (self._id << SEQ_BITS | seq, *sealed))

    def set_head(self, note: bytes) -> None:
        self._execute("UPDATE log SET note = ? WHERE id = ?", (note, self._id))


def _odd(agent: str, what: str, seq: int | None = None) -> Malformed:
    """SQLite checks a column's type when it writes, not when it reads: one changed byte makes another of it."""
    return Malformed(f"The {what} of {agent!r} is not stored as bytes", agent=agent, seq=seq)
