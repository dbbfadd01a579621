"""What an index consists of: its segments by name and digest, and the rows that are in none of them yet.

One SQLite file, appended to within a save. It is derived data: it runs with synchronous=OFF, and what a power cut or an edit
takes from it is derived again from the memories themselves. Each row carries a check (BLAKE2b-64 of its packed bytes).
Several processes and threads use it at once; each method is one transaction. Imports no numpy: every save passes here.
"""

from __future__ import annotations

import math
import os
import re
from contextlib import contextmanager
from hashlib import blake2b
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from indelible.errors import IndexDamaged, Malformed, NotSaved, UsageError
from indelible.files import remove
from indelible.recall import leftovers
from indelible.recall.catalogfile import EMPTY, CatalogFile, writing
from indelible.recall.row import pack, unpack

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import apsw

    from indelible.recall.row import Row

_CHECK = 8
_ADD = "INSERT OR REPLACE INTO row(seq, packed) VALUES (?, ?)"
_SEGMENTS = "SELECT name, sha256, rows FROM segment ORDER BY rows DESC, name"
_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)


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


class Catalog(CatalogFile):
    """The catalogue in a folder; see `CatalogFile`, also for what every method raises."""

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
            found: list[tuple[Any, ...]] = [] if connection is None else list(connection.execute("SELECT id FROM row"))
        return len(found)

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

    def flush(self, *, patient: bool = True) -> bool:
        """Leave nothing of what was deleted in the -wal; False where somebody still reads it there."""
        with self.opened() as connection:
            if connection is None:
                return True
            vain = self._in_vain
            self._in_vain = vain if patient else math.inf
            try:
                found: list[tuple[Any, ...]] = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            finally:
                self._in_vain = max(vain, self._in_vain) if patient else vain
        return not any(busy for busy, *_ in found)

    def clear(self) -> bool:
        """Leave nothing in it, and none of the files that it named; False where somebody still reads what was in it.

        A file that is no catalogue is taken away.
        """
        flushed = True
        try:
            with self.opened() as connection:
                if connection is not None:
                    with writing(connection):
                        names = [name for (name,) in connection.execute("SELECT name FROM segment")]
                        connection.execute(EMPTY)
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


@contextmanager
def _reading(connection: apsw.Connection) -> Iterator[None]:
    connection.execute("BEGIN")
    try:
        yield
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


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
        packed: list[tuple[Any, ...]] = connection.execute("SELECT packed FROM row WHERE id = ?", (number,)).fetchall()
        row = _row(seq, packed[0][0]) if packed else None
        if row is None:
            damaged[number] = seq
        else:
            sound.append((number, seq, row))
    return tuple(sound), damaged


def _holds(connection: apsw.Connection, rows: Mapping[int, int]) -> bool:
    """Whether all of these rows are there still: what was erased meanwhile does not come back in a segment."""
    return not rows or rows.items() <= dict(connection.execute("SELECT id, seq FROM row")).items()


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
