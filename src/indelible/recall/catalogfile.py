"""The file of a catalogue: found, opened, claimed, and its faults named; whoever holds it is waited for only so long.

What is no file of ours (a link, a folder, a pipe) is refused and left. A file with other tables than ours, or with views or
triggers, is damaged: no SQL of it runs. One that was replaced while it was open is opened anew. Imports no numpy.
"""

from __future__ import annotations

import os
import stat
import time
from _thread import RLock
from contextlib import contextmanager
from typing import TYPE_CHECKING

import apsw

from indelible.errors import Busy, DiskFull, IndexDamaged, NotSaved, ReadOnly, UsageError
from indelible.files import make_folder, not_written
from indelible.recall import leftovers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FILE = leftovers.CATALOG
PATIENCE = 1.0
"""Seconds that another process's write is waited for."""
_TABLES = {
    "head": "CREATE TABLE head    (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID",
    "segment": "CREATE TABLE segment (name TEXT PRIMARY KEY, sha256 TEXT NOT NULL, rows INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    "fact": "CREATE TABLE fact    (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID",
    "vector": "CREATE TABLE vector  (seq INTEGER PRIMARY KEY, packed BLOB NOT NULL) STRICT",
    "row": "CREATE TABLE row     (id INTEGER PRIMARY KEY, seq INTEGER UNIQUE NOT NULL, packed BLOB NOT NULL) STRICT",
}
EMPTY = "DELETE FROM head; DELETE FROM segment; DELETE FROM fact; DELETE FROM vector; DELETE FROM row"
_ANYTHING = "SELECT 1 FROM row UNION SELECT 1 FROM segment"
_RECIPE = "recipe"
_DAMAGED = (apsw.CorruptError, apsw.NotADBError, apsw.SQLError, apsw.MismatchError, apsw.ConstraintError)
_FOREIGN = "{} is {}, and nothing of the index"


class CatalogFile:
    """The file of the catalogue in `folder`, made when something is first added.

    Args:
        head: facts that all of it has to be of: the recipe, the store's place, the agent.
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
        with writing(connection):
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
            connection.execute(EMPTY)
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
            with writing(connection):
                yield connection

    def close(self) -> None:
        with self._lock:
            if self._connection is not None and self._pid == os.getpid():
                self._connection.close()
            self._connection = None


@contextmanager
def writing(connection: apsw.Connection) -> Iterator[None]:
    """One transaction, undone if the block fails."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _schema(connection: apsw.Connection) -> dict[str, str]:
    return dict(connection.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL"))


def _kind(mode: int) -> str:
    return "a link" if stat.S_ISLNK(mode) else "a folder" if stat.S_ISDIR(mode) else "a pipe or a device"
