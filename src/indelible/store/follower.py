"""What this reader has verified: its pin, and the latest of each key, outside the store.

One small SQLite file for each (place, agent) in the user's state folder. It is written only after
the store has committed, and only from leaves that hashed to a signed head; every read is checked
against it. It runs with synchronous=NORMAL: losing its last step costs a second look, never a
wrong answer. Where it cannot be written (read-only home, full disk) it goes on in memory and says so.
"""

from __future__ import annotations

import os
from _thread import RLock
from contextlib import contextmanager

import apsw

from indelible.errors import Busy, NotSaved, PinLost, StoreError, UsageError
from indelible.files import make_folder, remove
from indelible.light import TYPE_CHECKING, sha256
from indelible.store import pinfile
from indelible.store.pintable import Glance, Latest, Pin, Table, look, look_saved, look_under

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeVar

    T = TypeVar("T")

BESIDE = (".placed", ".placing", ".proposed", ".slots")
"""Ends of the names of what is remembered beside a follower's table."""

__all__ = ["Follower", "Glance", "Latest", "Pin", "Table", "name_of"]


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
        self._lock = RLock()

    def look(self, key: str) -> tuple[Glance | None, Latest | None]:
        """Pin and row in one snapshot.

        Raises:
            PinLost: a pin existed and is gone, empty or broken.
        """
        glance, latest = self._look(lambda connection: look(connection, key))
        return glance, latest if glance is not None else None

    def look_under(self, prefix: str) -> tuple[Glance | None, tuple[tuple[str, Latest], ...]]:
        """Pin, and the rows of every key that begins with `prefix`, in order, in one snapshot.

        Raises:
            PinLost: as `look`.
        """
        glance, rows = self._look(lambda connection: look_under(connection, prefix))
        return glance, rows or ()

    def look_saved(self, start: Callable[[Pin], int]) -> tuple[Pin, tuple[tuple[str, Latest], ...]] | None:
        """The whole pin, and the rows of keys saved at entry `start(pin)` or later, the oldest first; None where there is no pin.

        Raises:
            PinLost: as `look`.
        """
        return self._look(lambda connection: look_saved(connection, start))[1]

    def _look(self, ask: Callable[[apsw.Connection], tuple[Glance | None, T]]) -> tuple[Glance | None, T | None]:
        with self._lock:
            return self._ask(ask)

    def _ask(self, ask: Callable[[apsw.Connection], tuple[Glance | None, T]]) -> tuple[Glance | None, T | None]:
        connection = self._open()
        if connection is None:
            self._refuse_lost()
            return None, None
        try:
            glance, found = ask(connection)
        except pinfile.CANNOT_WRITE as exc:
            glance, found = ask(self._go_on_in_memory(str(exc)))
        except pinfile.BUSY as exc:
            raise self._busy() from exc
        except apsw.Error as exc:
            raise self._lost(str(exc)) from exc
        if glance is None:
            self._refuse_lost()
        return glance, found

    @contextmanager
    def locked(self) -> Iterator[Table]:
        """The table under its write lock; what is put is kept if the block ends well, and undone if not."""
        with self._lock:
            yield from self._locked()

    def _locked(self) -> Iterator[Table]:
        table = self._begin()
        try:
            if table.pin is None:
                self._refuse_lost()
            yield table
        except BaseException:
            if not table.released and table.connection.in_transaction:
                table.connection.execute("ROLLBACK")
            raise
        if not table.released:
            self.keep(table)

    def _begin(self) -> Table:
        try:
            connection = self._open() or self._create()
            if connection.readonly("main"):  # a read-only file system says so only at the first write
                connection = self._go_on_in_memory("its file is read-only")
            if connection.in_transaction:
                raise UsageError(
                    "This memory is being read or written by the very code that calls it",
                    remedy="End that 'with' block first",
                )
            connection.execute("BEGIN IMMEDIATE")
            return Table(connection)
        except pinfile.CANNOT_WRITE as exc:
            connection = self._go_on_in_memory(str(exc))
            connection.execute("BEGIN IMMEDIATE")
            return Table(connection)
        except pinfile.BUSY as exc:
            raise self._busy() from exc
        except apsw.Error as exc:
            raise self._lost(str(exc)) from exc

    def keep(self, table: Table) -> None:
        """Commit. A pin that cannot be kept is a warning, not a failed read or save: what was verified stays verified."""
        connection, table.released = table.connection, True
        try:
            table.flush()
            connection.execute("COMMIT")
            if table.fresh and not self.warning:
                self._remember(table)
        except (*pinfile.CANNOT_WRITE, OSError, NotSaved, UsageError) as exc:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            table.lay_over(self._go_on_in_memory(str(exc)))

    def _open(self) -> apsw.Connection | None:
        if self._pid != os.getpid():
            self._connection, self._pid = None, os.getpid()
        if self._connection is None and os.path.exists(self.path):
            self._connection = self._open_file()
        return self._connection

    def _open_file(self) -> apsw.Connection:
        try:
            connection = pinfile.open_file(self.path)
            if pinfile.has_tables(connection):
                return connection
            connection.close()
            self._refuse_lost()  # without a marker there never was a pin in it
            pinfile.remove_file(self.path)
            return self._create()
        except pinfile.CANNOT_WRITE as exc:
            return self._go_on_in_memory(str(exc))
        except pinfile.BUSY as exc:
            raise self._busy() from exc
        except apsw.Error as exc:
            raise self._lost(str(exc)) from exc

    def _create(self) -> apsw.Connection:
        try:
            pinfile.create_file(self.path)
            self._connection = pinfile.open_file(self.path)
        except (OSError, NotSaved, UsageError, *pinfile.CANNOT_WRITE) as exc:
            return self._go_on_in_memory(str(exc))
        return self._connection

    def _go_on_in_memory(self, reason: str) -> apsw.Connection:
        try:
            memory = pinfile.copy_to_memory(self.path)
        except pinfile.CANNOT_WRITE as exc:
            raise StoreError(
                f"What this reader knows of {self.agent!r} cannot be read ({_first_line(str(exc))})",
                remedy="Free some file handles or memory, and try again",
                path=self.path,
            ) from exc
        except apsw.Error as exc:
            raise self._lost(str(exc)) from exc
        self.warning = f"The pin could not be kept ({_first_line(reason)}): a rollback of this store before the next good run would not be noticed"
        self._connection = memory
        return memory

    def _remember(self, table: Table) -> None:
        if table.pin is not None and not os.path.exists(self.marker):
            make_folder(os.path.dirname(self.marker))
            handle = os.open(self.marker, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0), 0o600)
            try:
                os.write(handle, f"{self.place}\n{self.agent}\n".encode("utf-8", "surrogatepass"))
            finally:
                os.close(handle)

    def _refuse_lost(self) -> None:
        if os.path.exists(self.marker):
            raise self._lost("it is missing")

    def _busy(self) -> Busy:
        return Busy(f"Another process has been reading the log of {self.agent!r} for long", path=self.path)

    def _lost(self, reason: str) -> PinLost:
        return PinLost(
            f"The pin of {self.agent!r} at {self.place} is lost ({_first_line(reason)}): what was accepted before cannot be compared",
            remedy="Give another reader's with 'indelible pin set FILE', or start again from what is there with 'indelible pin set --accept'",
            agent=self.agent, place=self.place,
        )  # fmt: skip

    def beside(self) -> Follower:
        """A follower of the same log that begins from nothing, in a file of its own until `take_place` is called on it."""
        fresh = Follower(os.path.dirname(self.path), os.path.dirname(self.marker), self.place, self.agent)
        fresh.path = f"{self.path}.{os.getpid()}.new"
        fresh.marker = fresh.path + ".known"
        fresh.forget()
        return fresh

    def forget(self) -> None:
        """Take table and marker away: the next read is a first look. Only on the user's own word."""
        self.close()
        pinfile.remove_file(self.path)
        for beside in beside_of(self.path):
            remove(beside)
        remove(self.marker)

    def take_place(self, old: Follower) -> None:
        """Put what `beside` made in the place of `old`."""
        first = self.look("")[0]
        if self._connection is not None:
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        self.close()
        old.close()
        if first is None or self.warning or not os.path.exists(self.path):
            raise self._lost("the new one could not be kept")
        pinfile.remove_file(old.path)
        os.replace(self.path, old.path)
        make_folder(os.path.dirname(old.marker))
        os.replace(self.marker, old.marker)
        self.forget()

    def close(self) -> None:
        """End the connection; in a forked child it is only let go."""
        if self._connection is not None and self._pid == os.getpid():
            self._connection.close()
        self._connection = None


def _first_line(text: str) -> str:
    return text.splitlines()[0] if text else "no reason given"


def beside_of(path: str) -> list[str]:
    """What is remembered beside a follower's table, derived from it: lawful chains, proposals, which files were placed where."""
    folder, name = os.path.split(path)
    stem = name.removesuffix(".db") + "."
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    return [os.path.join(folder, one) for one in names if one.startswith(stem) and one.endswith(BESIDE)]
