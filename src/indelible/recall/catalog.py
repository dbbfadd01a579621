"""What an index consists of: its segments by name and digest, and the rows that are in none of them yet.

One SQLite file, appended to within a save. It is derived data: it runs with synchronous=OFF, and what a power cut or an edit
takes from it is derived again from the memories themselves. Each row carries a check (BLAKE2b-64 of its packed bytes).
Several processes and threads use it at once; each method is one transaction. Imports no numpy: every save passes here.
"""

from __future__ import annotations

import os
import re
import stat
import time
from _thread import RLock
from contextlib import contextmanager
from hashlib import blake2b
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw

from indelible.errors import Busy, DiskFull, IndexDamaged, Malformed, NotSaved, ReadOnly, UsageError
from indelible.files import make_folder, not_written, remove
from indelible.recall import leftovers
from indelible.recall.leftovers import CATALOG as FILE
from indelible.recall.row import pack, unpack

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from indelible.recall.row import Row

PATIENCE = 1.0
"""Seconds that another process's write is waited for."""
_CHECK = 8
_TABLES = {
    "head": "CREATE TABLE head    (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID",
    "segment": "CREATE TABLE segment (name TEXT PRIMARY KEY, sha256 TEXT NOT NULL, rows INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    "fact": "CREATE TABLE fact    (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID",
    "vector": "CREATE TABLE vector  (seq INTEGER PRIMARY KEY, packed BLOB NOT NULL) STRICT",
    "row": "CREATE TABLE row     (id INTEGER PRIMARY KEY, seq INTEGER UNIQUE NOT NULL, packed BLOB NOT NULL) STRICT",
}
_EMPTY = "; ".join(f"DELETE FROM {name}" for name in _TABLES)
_ANYTHING = "SELECT 1 FROM row UNION SELECT 1 FROM segment"
_ADD = "INSERT OR REPLACE INTO row(seq, packed) VALUES (?, ?)"
_SEGMENTS = "SELECT name, sha256, rows FROM segment ORDER BY rows DESC, name"
_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)
_RECIPE = "recipe"
_DAMAGED = (apsw.CorruptError, apsw.NotADBError, apsw.SQLError, apsw.MismatchError, apsw.ConstraintError)
_FOREIGN = "{} is {}, and nothing of the index"


class Named(NamedTuple):
    """A segment as the catalogue names it."""

    name: str
    sha256: str
    rows: int


class Listed(NamedTuple):
    """All that a catalogue holds at one moment."""

    segments: tuple[Named, ...]
    rows: tuple[tuple[int, int, Row | None], ...]
    """`(id, seq, row)` in their order; None for what the reader knows already."""
    damaged: Mapping[int, int]
    """Ids and entries of the rows that are altered."""
    foreign: tuple[str, ...]
    """Names of segments that cannot be such: nothing of them is opened or taken away."""


class Catalog:
    """The catalogue in `folder`, made when something is first added.

    Args:
        head: facts that all of it has to be of: the recipe, the store's place, the agent, the first entry of the log.
        patience: seconds that another process's write is waited for; whoever waited in vain does not do so again for as long.
        claims: whether what is of another memory or recipe is taken away; else it is an error.

    Raises by every method:
        IndexDamaged: the file is not as it was written, or of another memory.
        UsageError: a link, a folder or the like is where it should be. Busy, DiskFull, ReadOnly, NotSaved: it cannot be used now.
    """

    def __init__(
        self, folder: str, head: Mapping[str, str], *, patience: float = PATIENCE, claims: bool = True
    ) -> None:
        self.folder, self.head = folder, dict(head)
        self.path = os.path.join(folder, FILE)
        self.patience, self.claims = patience, claims
        self.warnings: list[str] = []
        """What was found, for who reads to say aloud."""
        self._connection: apsw.Connection | None = None
        self._file: tuple[int, int] = (0, 0)
        """Device and inode of what is open."""
        self._pid, self._lock = os.getpid(), RLock()
        self._began = self._in_vain = 0.0

    def _open(self, *, create: bool) -> apsw.Connection | None:
        if self._pid != os.getpid():
            self._connection, self._pid = None, os.getpid()
        found = self._found()
        if self._connection is not None and found == self._file:
            return self._connection
        self.close()  # the file was taken away, or another one was put in its place
        if found is None and not create:
            return None
        self.check_folder()
        if found is None:
            self._create()
        self._connection = self._connected()
        self._file = self._found() or (0, 0)
        return self._connection

    def _found(self) -> tuple[int, int] | None:
        """Device and inode of the file; None where there is none."""
        try:
            found = os.lstat(self.path)
        except FileNotFoundError:
            return None
        except NotADirectoryError:
            raise UsageError(
                _FOREIGN.format(self.folder, "a file"), remedy="Remove it by hand", file=self.folder
            ) from None
        except OSError as exc:
            raise not_written(self.path, exc) from exc
        if not stat.S_ISREG(found.st_mode):
            raise UsageError(
                _FOREIGN.format(self.path, _kind(found.st_mode)), remedy="Remove it by hand", file=self.path
            )
        return found.st_dev, found.st_ino

    def check_folder(self) -> None:
        """Refuse a link: nothing outside of the folder is ever opened or removed."""
        if os.path.islink(self.folder):
            raise UsageError(_FOREIGN.format(self.folder, "a link"), remedy="Remove it by hand", file=self.folder)

    def make_folder(self) -> None:
        """Make the folder."""
        self.check_folder()
        make_folder(self.folder)

    def _create(self) -> None:
        self.make_folder()
        # Not opened where it is there: closing a second handle would drop the locks that SQLite holds on the first.
        how = os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0)
        try:
            os.close(os.open(self.path, how, 0o600))
        except FileExistsError:
            return
        except OSError as exc:
            raise not_written(self.path, exc) from exc

    def _connected(self) -> apsw.Connection:
        with self._faults():
            connection = apsw.Connection(self.path)
            try:
                connection.set_busy_handler(self._wait)
                for pragma in ("journal_mode=WAL", "synchronous=OFF", "secure_delete=ON", "trusted_schema=OFF"):
                    connection.execute(f"PRAGMA {pragma}").fetchall()
                self._claim(connection)
            except BaseException:
                connection.close()
                raise
        return connection

    def _wait(self, tried: int) -> bool:
        """Whether to try again, after a moment. What waited in vain is not waited for again at once."""
        now = time.monotonic()
        if not tried:
            self._began = now
        if now < self._in_vain or now - self._began >= self.patience:
            self._in_vain = self._in_vain if now < self._in_vain else now + PATIENCE
            return False
        time.sleep(min(0.001 * (tried + 1), 0.025))
        return True

    def _claim(self, connection: apsw.Connection) -> None:
        """Make the tables; what another recipe or another store left is taken away: nothing of it is of use here."""
        if self._is_ours(connection):
            return
        with _writing(connection):
            if self._is_ours(connection):
                return
            if not _schema(connection):
                connection.execute("; ".join(_TABLES.values()))
            head = dict(connection.execute("SELECT name, value FROM head"))
            other = sorted(name for name in self.head.keys() - {_RECIPE} if head.get(name) != self.head[name])
            if not head and not connection.execute(_ANYTHING).fetchall():
                other = []
            elif not self.claims:
                raise IndexDamaged(f"{FILE} is of another memory or recipe", file=self.path)
            if other:
                self.warnings.append(f"{FILE} is that of another memory, by its {' and its '.join(other)}")
            connection.execute(_EMPTY)
            connection.executemany("INSERT INTO head VALUES (?, ?)", self.head.items())

    def _is_ours(self, connection: apsw.Connection) -> bool:
        schema = _schema(connection)
        if schema and schema != _TABLES:
            raise IndexDamaged(f"{FILE} is not as it was written (its tables are others)", file=self.path)
        return bool(schema) and dict(connection.execute("SELECT name, value FROM head")) == self.head

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except _DAMAGED as exc:
            self.close()
            raise IndexDamaged(f"{FILE} is not as it was written ({str(exc).splitlines()[0]})", file=self.path) from exc
        except apsw.BusyError as exc:
            raise Busy(f"{FILE} is held by another process", file=self.path) from exc
        except apsw.FullError as exc:
            raise DiskFull(f"{FILE} cannot grow", remedy="Free some room on that disk", file=self.path) from exc
        except apsw.ReadOnlyError as exc:
            raise ReadOnly(f"{FILE} cannot be written", file=self.path) from exc
        except apsw.Error as exc:
            self.close()
            raise NotSaved(
                f"{FILE} cannot be used ({exc})", remedy="Check the folder, its rights and its disk", file=self.path
            ) from exc

    def take_warnings(self) -> tuple[str, ...]:
        """What was found since the last time."""
        found, self.warnings = tuple(self.warnings), []
        return found

    @contextmanager
    def opened(self, *, create: bool = False) -> Iterator[apsw.Connection | None]:
        """The connection, for what else of an index is kept in the file; None where there is no file. Other threads wait."""
        with self._lock:
            connection = self._open(create=create)
            with self._faults():
                yield connection

    @contextmanager
    def writing(self) -> Iterator[apsw.Connection]:
        """The connection within one transaction, undone if the block fails; the file is made."""
        with self.opened(create=True) as connection:
            if connection is None:
                raise NotSaved(f"{self.path} cannot be made")
            with _writing(connection):
                yield connection

    @property
    def version(self) -> tuple[int, ...]:
        """Another value once anything was committed, by whichever process."""
        with self.opened() as connection:
            if connection is None:
                return (-1,)
            return (*self._file, int(connection.pragma("data_version")), connection.total_changes())

    def add(self, rows: Iterable[Row]) -> None:
        """Put rows behind all others; a row of the same entry is replaced."""
        packed = [(row.seq, _checked(pack(row))) for row in rows]
        with self.opened(create=True) as connection:
            if connection is not None:
                with connection:
                    connection.executemany(_ADD, packed)

    def listed(self, known: Mapping[int, int] = MappingProxyType({})) -> Listed:
        """All of it, as of one moment.

        Args:
            known: the entries of rows that were read before, by id: for these there is None. What an entry's row holds never changes.
        """
        with self.opened() as connection:
            if connection is None:
                return Listed((), (), {}, ())
            with _reading(connection):
                segments, foreign = _segments(connection)
                rows, damaged = _rows(connection, known)
        return Listed(segments, rows, damaged, foreign)

    def segments(self) -> tuple[Named, ...]:
        """Those that are named now."""
        with self.opened() as connection:
            return _segments(connection)[0] if connection is not None else ()

    def count(self) -> int:
        with self.opened() as connection:
            found = connection.execute("SELECT count(*) FROM row").fetchall() if connection is not None else []
        return sum(int(count) for (count,) in found)

    def swap(
        self, *, segments: Iterable[str] = (), rows: Mapping[int, int] = MappingProxyType({}), by: Named | None = None
    ) -> bool:
        """Name a segment in the place of others and of rows; False, and nothing done, where one of those is gone already.

        Args:
            rows: entries by id.
        """
        old = tuple(segments)
        with self.writing() as connection:
            there = {name for (name,) in connection.execute("SELECT name FROM segment")}
            if not there.issuperset(old) or (by is not None and not _holds(connection, rows)):
                return False
            connection.executemany("DELETE FROM segment WHERE name = ?", ((name,) for name in old))
            connection.executemany("DELETE FROM row WHERE id = ? AND seq = ?", rows.items())
            if by is not None:
                connection.execute("INSERT INTO segment VALUES (?, ?, ?)", by)
        return True

    def fact(self, name: str) -> str:
        """What was kept under a name; empty for nothing, and where it cannot be read."""
        try:
            with self.opened() as connection:
                found = list(connection.execute("SELECT value FROM fact WHERE name = ?", (name,))) if connection else []
        except (NotSaved, UsageError, IndexDamaged):
            return ""
        return str(found[0][0]) if found else ""

    def set_fact(self, name: str, value: str) -> None:
        """Keep a value under a name."""
        with self.opened(create=True) as connection:
            if connection is not None:
                connection.execute("INSERT OR REPLACE INTO fact VALUES (?, ?)", (name, value))

    def flush(self) -> bool:
        """Leave nothing of what was deleted in the -wal; False where somebody still reads it there."""
        with self.opened() as connection:
            found = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall() if connection is not None else []
        return not any(busy for busy, *_ in found)

    def clear(self) -> bool:
        """Leave nothing in it, and none of the files that it named; False where somebody still reads what was in it.

        A file that is no catalogue is taken away.
        """
        flushed = True
        try:
            with self.opened() as connection:
                if connection is not None:
                    with _writing(connection):
                        names = [name for (name,) in connection.execute("SELECT name FROM segment")]
                        connection.execute(_EMPTY)
                        connection.executemany("INSERT INTO head VALUES (?, ?)", self.head.items())
                    for name in names:
                        self.remove(name)
            flushed = self.flush()
        except IndexDamaged:
            self._take_away()
        self.remove(leftovers.VECTORS)
        leftovers.tidy(self.folder, {one.name for one in self.segments()})
        return flushed

    def _take_away(self) -> None:
        """The file is of no use to anybody: whoever has it open sees that another one is in its place."""
        with self._lock:
            self.close()
            self.check_folder()
            leftovers.drop_all(self.folder)

    def remove(self, name: str) -> None:
        """Take a file of ours away; nothing is done for what cannot be the name of one."""
        if (leftovers.SEGMENT.fullmatch(name) or name == leftovers.VECTORS) and not os.path.islink(self.folder):
            remove(os.path.join(self.folder, name))

    def close(self) -> None:
        with self._lock:
            if self._connection is not None and self._pid == os.getpid():
                self._connection.close()
            self._connection = None


@contextmanager
def _writing(connection: apsw.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


@contextmanager
def _reading(connection: apsw.Connection) -> Iterator[None]:
    connection.execute("BEGIN")
    try:
        yield
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _schema(connection: apsw.Connection) -> dict[str, str]:
    return dict(connection.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL"))


def _segments(connection: apsw.Connection) -> tuple[tuple[Named, ...], tuple[str, ...]]:
    """`(segments, names that are none)`."""
    found = [Named(*one) for one in connection.execute(_SEGMENTS)]
    sound = [one for one in found if leftovers.SEGMENT.fullmatch(one.name) and _SHA256.fullmatch(one.sha256)]
    return tuple(sound), tuple(one.name for one in found if one not in sound)


def _rows(
    connection: apsw.Connection, known: Mapping[int, int]
) -> tuple[tuple[tuple[int, int, Row | None], ...], dict[int, int]]:
    sound: list[tuple[int, int, Row | None]] = []
    damaged: dict[int, int] = {}
    listed: list[tuple[Any, ...]] = connection.execute("SELECT id, seq FROM row ORDER BY id").fetchall()
    for number, seq in listed:
        if known.get(number) == seq:
            sound.append((number, seq, None))
            continue
        packed = connection.execute("SELECT packed FROM row WHERE id = ?", (number,)).fetchall()
        row = _row(seq, packed[0][0]) if packed else None
        if row is None:
            damaged[number] = seq
        else:
            sound.append((number, seq, row))
    return tuple(sound), damaged


def _holds(connection: apsw.Connection, rows: Mapping[int, int]) -> bool:
    """Whether all of these rows are there still: what was erased meanwhile does not come back in a segment."""
    return not rows or rows.items() <= dict(connection.execute("SELECT id, seq FROM row")).items()


def _kind(mode: int) -> str:
    return "a link" if stat.S_ISLNK(mode) else "a folder" if stat.S_ISDIR(mode) else "a pipe or a device"


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
