"""What was handed out, held back, verified and saved: when, through which door, by which policy. Never content.

One small SQLite file for each log, in the user's state folder, `deliveries/NAME.db`, beside the store and not in it, so that
after an alarm or an erasure it can still be said what an agent was given, and why. Each delivery has a number that stays its
own for ever. The file is made at the first delivery; adding one costs a few microseconds and no fsync. What cannot be kept
holds nothing up: it is a warning.
"""

from __future__ import annotations

import os
from _thread import RLock

import apsw

from indelible.deliveries.row import ADD, COLUMNS, FORGOTTEN, FORMAT, Altered, from_row, to_row
from indelible.errors import IndelibleError
from indelible.light import TYPE_CHECKING
from indelible.store.opening import Patience, orphan

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from indelible.deliveries.row import Delivery

BUSY_MS = 1_000
MAX_WAL = 512 * 1024
"""A one-shot command that finds a longer -wal empties it, since each of them reads all of it."""
_PAGE = 1_000
_NAMED = 5
"""Altered deliveries that a warning names by their numbers; it counts the others."""
_LAST = "SELECT min(number) FROM (SELECT number FROM delivery WHERE {} ORDER BY number DESC LIMIT ?)"
BUSY = (apsw.BusyError, apsw.LockedError)


class Journal:
    """The deliveries of one log; `path` lies in the user's state folder. Safe in threads, and after a fork."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.warning = ""
        """Set where a delivery could not be kept, or a damaged file had to be put aside: said aloud by whoever adds."""
        self._connection: apsw.Connection | None = None
        self._identity: tuple[int, int] = (0, 0)
        self._pid = os.getpid()
        self._lock = RLock()

    def add(self, delivery: Delivery) -> int | None:
        """Keep one, and give its number; None where it could not be kept. Never raises, and waits a second at most."""
        return self.add_all((delivery,))

    def add_all(self, deliveries: Iterable[Delivery]) -> int | None:
        """Keep several at once, all or none, and give the number of the last; otherwise as `add`."""
        try:
            rows = [to_row(delivery) for delivery in deliveries]
            with self._lock:
                return self._add(rows)
        except BUSY:
            self.warning = "A delivery was not noted: another process has been writing to the journal for long"
        except (OSError, ValueError, OverflowError, IndelibleError, apsw.Error) as exc:
            self.warning = f"A delivery was not noted ({first_line(exc)})"
        return None

    def _add(self, rows: list[tuple[Any, ...]]) -> int:
        try:
            return self._insert(rows)
        except (apsw.CorruptError, apsw.NotADBError, apsw.SQLError) as exc:
            self._put_aside(first_line(exc))
            return self._insert(rows)

    def _insert(self, rows: list[tuple[Any, ...]]) -> int:
        connection = self._open(make=True)
        assert connection is not None  # noqa: S101 - it was made
        if len(rows) == 1:
            connection.execute(ADD, rows[0])
        else:
            with connection:
                connection.executemany(ADD, rows)
        return connection.last_insert_rowid()

    def read(
        self, after: int = 0, *, key: str | None = None, id: str | None = None, outcome: str | None = None,  # noqa: A002 - the column's name
        door: str | None = None, since: str | None = None, until: str | None = None, limit: int | None = None, last: int | None = None,
    ) -> Iterator[Delivery]:  # fmt: skip
        """What is kept and fits, in the order of the numbers.

        Args:
            after: only numbers above this one.
            since: RFC 3339 in UTC, included.
            until: likewise, excluded.
            limit: at most so many, from the beginning.
            last: at most so many, from the end.

        Nothing where there is no file, or none that can be read, and a row that somebody altered is passed over; `warning`
        then says so.
        """
        equal = {"key": key, "id": id, "outcome": outcome, "door": door}
        terms = [(f"{name} = ?", value) for name, value in equal.items() if value is not None]
        terms += [(term, value) for term, value in (("at >= ?", since), ("at < ?", until)) if value is not None]
        where = " AND ".join(["number > ?", *(term for term, _ in terms)])
        values = [value for _, value in terms]
        if last is not None:
            first = self._rows(_LAST.format(where), after, *values, last)
            after = max(after, (first[0][0] or 1) - 1) if first else after
        altered: list[object] = []
        left = limit
        while left is None or left > 0:
            page = _PAGE if left is None else min(_PAGE, left)
            rows = self._page(where, after, *values, page)
            for row in rows:
                try:
                    one = from_row(row)
                except Altered:
                    altered.append(row[0])
                    self.warning = _passed_over(altered)
                    continue
                yield one
                left = None if left is None else left - 1
            if len(rows) < page:
                return
            after = rows[-1][0]

    def get(self, number: int) -> Delivery | None:
        """The one of that number; None where there is none.

        Raises:
            Altered: somebody wrote to it, so that it cannot be read.
        """
        rows = self._page("number = ?", number, 1)
        return from_row(rows[0]) if rows else None

    def _page(self, where: str, *values: object) -> list[tuple[Any, ...]]:
        """Rows in the order of their numbers; of one that holds a text that is none, the number alone."""
        query = f"SELECT {{}} FROM delivery WHERE {where} ORDER BY number LIMIT ?"  # noqa: S608 - names, no values
        try:
            return self._rows(query.format(f"number, {COLUMNS}"), *values)
        except UnicodeDecodeError:
            return [self._row(number) for (number,) in self._rows(query.format("number"), *values)]

    def _row(self, number: object) -> tuple[Any, ...]:
        try:
            return self._rows(f"SELECT number, {COLUMNS} FROM delivery WHERE number = ?", number)[0]  # noqa: S608 - names, no values
        except (UnicodeDecodeError, IndexError):
            return (number,)

    def _rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        try:
            with self._lock:
                connection = self._open(make=False)
                return connection.execute(query, values).fetchall() if connection is not None else []
        except UnicodeDecodeError:
            raise
        except (OSError, ValueError, apsw.Error) as exc:
            self.warning = f"The journal of deliveries cannot be read ({first_line(exc)})"
            return []

    def forget_digests(self, key: str) -> int:
        """Take the digest of the text out of every delivery of an erased memory; gives how many there were.

        Raises:
            apsw.Error, OSError: they are still there, or may still be in the -wal.
        """
        return self._change("UPDATE delivery SET sha256 = ? WHERE key = ? AND length(sha256) > 0", FORGOTTEN, key)

    def prune(self, before: str) -> int:
        """Drop what was noted before that time; gives how many there were. No number is ever given again.

        Raises:
            apsw.Error, OSError: they are still there.
        """
        return self._change("DELETE FROM delivery WHERE at < ?", before, rewrite=True)

    def _change(self, statement: str, *values: object, rewrite: bool = False) -> int:
        with self._lock:
            connection = self._open(make=False)
            if connection is None:
                return 0
            connection.execute(statement, values)
            changed = connection.changes()
            if rewrite and changed:
                connection.execute("VACUUM")  # pages that were joined may hold rows in their free space too
            if busy := connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()[0][0]:
                raise apsw.BusyError(f"another process is reading {self.path} ({busy})")
            return changed

    def _open(self, *, make: bool) -> apsw.Connection | None:
        """The connection, on the file that is at `path` now; None where there is none and none is to be made."""
        if self._pid != os.getpid():
            orphan(self._connection)  # closing it here would drop the parent's locks
            self._connection, self._pid = None, os.getpid()
        try:
            status = os.lstat(self.path)
        except FileNotFoundError:
            if not make:
                return None
            from indelible.deliveries.file import make_file

            make_file(self.path)
            status = os.lstat(self.path)
        if self._connection is None or (status.st_dev, status.st_ino) != self._identity:
            self.close()
            self._connection = self._connect(status)
        return self._connection

    def _connect(self, status: os.stat_result) -> apsw.Connection:
        self._identity = (status.st_dev, status.st_ino)
        if status.st_mode & 0o170000 != 0o100000:
            raise apsw.NotADBError("it is no plain file")
        connection = apsw.Connection(self.path, flags=apsw.SQLITE_OPEN_READWRITE)
        connection.set_busy_handler(Patience(BUSY_MS))
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)  # which would cost a one-shot command fsyncs
        for setting in ("PRAGMA synchronous=NORMAL", "PRAGMA secure_delete=ON"):
            connection.execute(setting)
        found = connection.pragma("application_id")
        if found != FORMAT:
            connection.close()
            if found in range(FORMAT + 1, FORMAT + 255):
                raise ValueError(f"{self.path} is of a newer version of Indelible")
            raise apsw.NotADBError("it is not a journal of ours")
        self._empty_wal(connection)
        return connection

    def _empty_wal(self, connection: apsw.Connection) -> None:
        """A -wal that only one-shot commands write to is never begun anew by itself, as no one of them has seen it emptied."""
        try:
            if os.stat(self.path + "-wal").st_size > MAX_WAL:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except (OSError, *BUSY):
            return

    def _put_aside(self, reason: str) -> None:
        from indelible.deliveries.file import put_aside

        self.close()
        kept = put_aside(self.path, self._identity)
        if kept:
            self.warning = (
                f"The journal of deliveries was no good ({reason}) and is kept as {kept}; a new one was begun"
            )

    def close(self) -> None:
        """End the connection; in a forked child it is only let go."""
        with self._lock:
            if self._connection is not None:
                if self._pid == os.getpid():
                    self._connection.close()
                else:
                    orphan(self._connection)
            self._connection = None


def _passed_over(altered: list[object]) -> str:
    named = ", ".join(repr(number) for number in altered[:_NAMED])
    if len(altered) == 1:
        return f"Delivery {named} was altered and cannot be read"
    more = f" and {len(altered) - _NAMED} more" if len(altered) > _NAMED else ""
    return f"Deliveries {named}{more} were altered and cannot be read"


def first_line(exc: BaseException) -> str:
    """What an error says, on one line."""
    return (str(exc).splitlines() or [type(exc).__name__])[0]


def journal_of(state_dir: str, name: str) -> Journal:
    """The journal of the log whose follower is called `name`."""
    return Journal(os.path.join(state_dir, "deliveries", name + ".db"))
