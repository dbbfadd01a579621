"""The files of one index, opened: its segments, mapped into memory, and the rows behind them.

    <folder>/index.db     `catalog`: which segments there are, by digest, and the newest rows
    <folder>/seg-….idx    `segment`: immutable, memory-mapped

All of it is derived from memories that this reader verified, and lies beside its follower. What is cut, altered, swapped or of
another memory is put aside with a word of it, and derived again by whoever asked.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import apsw
import numpy as np

from indelible.errors import IndexDamaged, NotSaved, UsageError
from indelible.files import make_folder, remove
from indelible.recall.ascending import united, within
from indelible.recall.catalog import FILE, Catalog, Named
from indelible.recall.segment import Segment, build, merge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from indelible.recall.row import Row

FEW = 1024
"""Rows that lie in no segment before they become one."""
CHUNK = 64
"""Rows of those that become a segment in memory, so that one more row makes none of the others be read again."""
LEFT_OVER = 3600
"""Seconds after which a file that no catalogue names is what a process left that was killed."""
TIER = 8
"""Segments of about one size that become one."""
SUFFIX = ".idx"
_CANNOT_KEEP = (
    apsw.CantOpenError,
    apsw.FullError,
    apsw.IOError,
    apsw.ReadOnlyError,
    apsw.BusyError,
    OSError,
    NotSaved,
    UsageError,
)


class Shelf:
    """The index that a catalogue lists."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self.folder, self.head = catalog.folder, catalog.head
        self.warnings: list[str] = []
        """What was found damaged and put aside, for who reads to say aloud."""
        self._open: dict[str, Segment] = {}
        self._named: tuple[Named, ...] = ()
        self._rows: dict[int, Row] = {}
        """By their ids in the catalogue."""
        self._chunks: dict[tuple[int, ...], Segment] = {}
        """By the ids of their rows."""
        self._unkept: dict[int, Row] = {}
        """Rows that the disk did not take, by entry: they serve this process, and are derived again by the next."""
        self._version: tuple[int, int] | None = None
        self._untangled: tuple[str, ...] = ()
        """Segments that have no entry in common."""

    @property
    def segments(self) -> tuple[Segment, ...]:
        """Those that are sound, the biggest first."""
        return tuple(self._open[one.name] for one in self._named)

    @property
    def rows(self) -> tuple[Row, ...]:
        """Those that lie in no segment yet."""
        return (*self._rows.values(), *self._unkept.values())

    def asked(self) -> tuple[tuple[Segment, ...], tuple[Row, ...]]:
        """What an `Index` is made of: segments in files and in memory, and the rows behind them."""
        ids = tuple(self._rows)
        whole = [ids[at : at + CHUNK] for at in range(0, len(ids) - CHUNK + 1, CHUNK)]
        self._chunks = {
            some: self._chunks.get(some) or Segment.of([self._rows[number] for number in some]) for some in whole
        }
        rest = [self._rows[number] for number in ids[len(whole) * CHUNK :]]
        return (*self.segments, *self._chunks.values()), (*rest, *self._unkept.values())

    def seqs(self) -> NDArray[np.uint64]:
        """The entries that have a row, ascending."""
        return united(seqs for seqs, _ in self.commitments())

    def commitments(self) -> Iterator[tuple[NDArray[np.uint64], NDArray[np.uint8]]]:
        """Entries and what each row says the log commits to: `(n,)` and `(n, 32)`."""
        for segment in self.segments:
            yield segment.columns.seqs, segment.columns.commitments
        if rows := self.rows:
            yield (
                np.fromiter((row.seq for row in rows), np.uint64, len(rows)),
                np.frombuffer(b"".join(row.commitment for row in rows), np.uint8).reshape(-1, 32),
            )

    def refresh(self) -> bool:
        """Read what was changed since, by whichever process; True where anything was."""
        try:
            changed = self._refreshed()
        except IndexDamaged as fault:
            self.put_aside(fault)
            return True
        damaged = [self._sound(one) for one in self._named]
        if not all(damaged):
            self._named = tuple(one for one in self._named if one.name in self._open)
        return changed or not all(damaged)

    def put_aside(self, fault: IndexDamaged) -> None:
        """Begin anew, and say why."""
        self.warn(fault.message)
        self.clear()

    def _refreshed(self) -> bool:
        version = self.catalog.version
        if version == self._version:
            return False
        self._named = self.catalog.segments()
        rows, damaged = self.catalog.rows({number: row.seq for number, row in self._rows.items()})
        self._rows = {number: self._rows[number] if row is None else row for number, row in rows}
        if damaged:
            self.warn(f"{len(damaged)} rows in {FILE} are altered")
            self.catalog.swap(rows=damaged)
        for name in self._open.keys() - {one.name for one in self._named}:
            self._open.pop(name).close()
        self._version = self.catalog.version
        return True

    def _sound(self, one: Named) -> bool:
        """Whether a segment is as it was written; what was altered under an open mapping counts like what is found so at opening."""
        try:
            if one.name in self._open:
                self._open[one.name].check()
            else:
                self._open[one.name] = Segment.open(self._path(one.name), one.sha256, self.head)
        except IndexDamaged as fault:
            self.warn(fault.message)
            self._open.pop(one.name, None)
            self.catalog.swap(segments=(one.name,))
            remove(self._path(one.name))
            return False
        return True

    def warn(self, what: str) -> None:
        """Say that something was put aside."""
        self.warnings.append(
            f"The index was not as it was written ({what}): what it lost is derived again from the memories"
        )

    def add(self, rows: Sequence[Row]) -> None:
        """Rows behind the others; many at once are a segment of their own."""
        try:
            if len(rows) < FEW:
                self.catalog.add(rows)
            else:
                self._write(lambda path: (build(path, rows, self.head), len(rows)))
        except _CANNOT_KEEP as exc:
            self._unkept.update((row.seq, row) for row in rows)
            self.warnings.append(f"The index could not be kept ({exc}): the next recall derives it again")
        except IndexDamaged as fault:
            self.put_aside(fault)
            self._unkept.update((row.seq, row) for row in rows)
        self.refresh()

    def settle(self) -> None:
        """Make a segment of many rows, and one of many small segments. Other processes may add, and do the same, meanwhile."""
        try:
            self._settled()
            self._tidy(LEFT_OVER)
        except _CANNOT_KEEP:
            return  # it works as it is, only slower

    def _settled(self) -> None:
        self._untangle()
        if len(self._rows) >= FEW:
            rows = tuple(self._rows.values())
            self._write(lambda path: (build(path, rows, self.head), len(rows)), rows=tuple(self._rows))
        while (some := _tier(self._named)) is not None:
            self._merge(some, None)

    def _untangle(self) -> None:
        """What two processes derived at once counts once: where it lies in the biggest segment."""
        seen, names = np.zeros(0, np.uint64), tuple(one.name for one in self._named)
        for one in self._named if names != self._untangled else ():
            seqs = self._open[one.name].columns.seqs
            if len(twice := seqs[within(seqs, seen)]):
                self._merge([one], frozenset(twice.tolist()))
            seen = united((seen, seqs))
        self._untangled = tuple(one.name for one in self._named)
        numbers = np.fromiter(self._rows, np.int64, len(self._rows))
        seqs = np.fromiter((row.seq for row in self._rows.values()), np.uint64, len(self._rows))
        if twice_rows := [
            number for segment in self.segments for number in numbers[within(seqs, segment.columns.seqs)].tolist()
        ]:
            self.catalog.swap(rows=twice_rows)
            self.refresh()

    def gather(self) -> None:
        """One segment of everything."""
        self.refresh()
        self._untangle()
        if self._rows:
            rows = tuple(self._rows.values())
            self._write(lambda path: (build(path, rows, self.head), len(rows)), rows=tuple(self._rows))
        if len(self._named) > 1:
            self._merge(self._named, None)

    def _merge(self, some: Sequence[Named], without: frozenset[int] | None) -> None:
        opened = [self._open[one.name] for one in some]
        self._write(
            lambda path: merge(path, opened, self.head, without=without or frozenset()),
            segments=tuple(one.name for one in some),
        )

    def _write(
        self, make: Callable[[str], tuple[str, int]], *, segments: tuple[str, ...] = (), rows: tuple[int, ...] = ()
    ) -> None:
        """A new segment in the place of others and of rows; nobody sees half of it."""
        make_folder(self.folder)
        name = f"seg-{os.urandom(8).hex()}{SUFFIX}"
        sha256, count = make(self._path(name))
        named = Named(name, sha256, count) if count else None
        done = self.catalog.swap(segments=segments, rows=rows, by=named)
        for old in segments if done else ():
            if old in self._open:
                self._open.pop(old).close()
            remove(self._path(old))
        if not done or named is None:
            remove(self._path(name))
        self._version = None
        self.refresh()

    def forget(self, seqs: frozenset[int]) -> None:
        """Leave nothing of these entries in any file."""
        self.refresh()
        for one in self._named:
            if self._open[one.name].holds(seqs):
                self._merge([one], seqs)
        self._unkept = {seq: row for seq, row in self._unkept.items() if seq not in seqs}
        self.catalog.swap(rows=[number for number, row in self._rows.items() if row.seq in seqs])
        self.catalog.flush()
        self._tidy(0)
        self.refresh()

    def _tidy(self, age: float) -> None:
        """Take away what a killed process left: files that the catalogue does not name, and that are so many seconds old."""
        named = {one.name for one in self.catalog.segments()}
        for entry in os.scandir(self.folder) if os.path.isdir(self.folder) else ():
            begun = entry.name.startswith((".tmp-", "seg-")) and entry.name not in named
            if begun and time.time() - entry.stat(follow_symlinks=False).st_mtime >= age:
                remove(entry.path)

    def digests(self) -> tuple[str, ...]:
        """SHA-256 of each segment's file: once gathered, of everything."""
        return tuple(one.sha256 for one in self._named)

    def size(self) -> int:
        """Bytes of its files."""
        try:
            return sum(
                entry.stat().st_size for entry in os.scandir(self.folder) if entry.is_file(follow_symlinks=False)
            )
        except OSError:
            return 0

    def clear(self) -> None:
        """Take every file away."""
        self.close()
        self.catalog.clear()

    def close(self) -> None:
        for one in self._open.values():
            one.close()
        self._open, self._named, self._rows, self._unkept, self._version = {}, (), {}, {}, None
        self.catalog.close()

    def _path(self, name: str) -> str:
        return os.path.join(self.folder, name)


def _tier(named: Sequence[Named]) -> list[Named] | None:
    """The first TIER segments of about one size, if there are so many."""
    sizes: dict[int, list[Named]] = {}
    for one in named:
        tier = sizes.setdefault((max(one.rows // FEW, 1).bit_length() - 1) // 3, [])
        tier.append(one)
        if len(tier) == TIER:
            return tier
    return None
