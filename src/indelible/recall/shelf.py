"""The files of one index, opened: its segments, mapped into memory, and the rows behind them.

    <folder>/index.db     `catalog`: which segments there are, by digest, and the newest rows
    <folder>/seg-….idx    `segment`: immutable, memory-mapped

All of it is derived from memories that this reader verified, and lies beside its follower. What is cut, altered, swapped or of
another memory is put aside with a word of it, and derived again by whoever asked.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from indelible.errors import IndexDamaged
from indelible.recall import leftovers, shelved
from indelible.recall.ascending import united, within
from indelible.recall.catalog import Catalog, Named
from indelible.recall.catalogfile import FILE
from indelible.recall.segment import Segment, build, merge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from indelible.recall.row import Row

FEW = 1024
"""Rows that lie in no segment before they become one."""
CHUNK = 64
"""Rows of those that become a segment in memory, so that one more row makes none of the others be read again."""


class Shelf:
    """The index that a catalogue lists."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self.folder, self.head = catalog.folder, catalog.head
        self.warnings: list[str] = []
        """What was found damaged and put aside, for who reads to say aloud."""
        self.unread = ""
        """What kept the files from being read when that was last tried."""
        self._open: dict[str, Segment] = {}
        self._named: tuple[Named, ...] = ()
        self._rows: dict[int, Row] = {}
        """By their ids in the catalogue."""
        self._chunks: dict[tuple[int, ...], Segment] = {}
        """By the ids of their rows."""
        self._unkept: dict[int, Row] = {}
        """Rows that the disk did not take, by entry: they serve this process, and are derived again by the next."""
        self._version: tuple[int, ...] | None = None
        self._untangled: tuple[str, ...] = ()
        """Segments that have no entry in common."""
        self._unflushed = False
        """What was deleted may lie in the -wal, since somebody was reading there."""

    @property
    def segments(self) -> tuple[Segment, ...]:
        """Those that are sound, the biggest first."""
        return tuple(self._open[one.name] for one in self._named if one.name in self._open)

    @property
    def rows(self) -> tuple[Row, ...]:
        """Those that lie in no segment yet."""
        return tuple(self._behind().values())

    def _behind(self) -> dict[int, Row]:
        """The rows, those that are kept by their ids, and the others by numbers below zero."""
        twice = shelved.entries_in(self.segments, [row.seq for row in self._rows.values()])
        kept = {number: row for number, row in self._rows.items() if row.seq not in twice}
        return kept | {-1 - seq: row for seq, row in self._unkept.items()}

    def asked(self) -> tuple[tuple[Segment, ...], tuple[Row, ...]]:
        """What an `Index` is made of: segments in files and in memory, and the rows behind them."""
        rest = self._chunked()
        return (*self.segments, *self._chunks.values()), rest

    def _chunked(self) -> tuple[Row, ...]:
        """Make segments in memory of most rows; gives the rest."""
        behind = self._behind()
        ids = tuple(behind)
        whole = [ids[at : at + CHUNK] for at in range(0, len(ids) - CHUNK + 1, CHUNK)]
        self._chunks = {
            some: self._chunks.get(some) or Segment.of([behind[number] for number in some]) for some in whole
        }
        return tuple(behind[number] for number in ids[len(whole) * CHUNK :])

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
        """Read what was changed since, by whichever process; True where anything was. What cannot be read now is as it was."""
        self.unread = ""
        try:
            return self._refreshed()
        except IndexDamaged as fault:
            self.unread = self.put_aside(fault)
            return True
        except shelved.CANNOT_KEEP as fault:
            self.unread = str(fault)
            self.say(shelved.KEEPS_NOT.format(fault))
            return False

    def put_aside(self, fault: IndexDamaged) -> str:
        """Begin anew, and say why; gives what kept that from being done, or ""."""
        self.warn(fault.message)
        return self.take_away()

    def _refreshed(self) -> bool:
        changed = False
        for _ in range(shelved.TRIES):
            version = self.catalog.version
            if version != self._version:
                self._read()
                changed = True
            faults = {one: fault for one in self._named if (fault := self._fault(one)) is not None}
            if not faults:
                self._version = version
                kept = self._kept(tuple(self._unkept)) if changed else ()
                self._unkept = {seq: row for seq, row in self._unkept.items() if seq not in kept}
                return changed
            self._drop(faults)
            self._version, changed = None, True
        self._named = tuple(one for one in self._named if one.name in self._open)
        return True

    def _read(self) -> None:
        listed = self.catalog.listed({number: row.seq for number, row in self._rows.items()})
        self._named = listed.segments
        self._rows = {number: self._rows[number] if row is None else row for number, _, row in listed.rows}
        if listed.damaged:
            self.warn(f"{len(listed.damaged)} rows in {FILE} are altered")
        if listed.foreign:
            self.warn(f"{FILE} names {len(listed.foreign)} files that are no segments of it")
        for said in self.catalog.take_warnings():
            self.warn(said)
        if listed.damaged or listed.foreign:
            self.catalog.swap(segments=listed.foreign, rows=listed.damaged)
        for name in self._open.keys() - {one.name for one in self._named}:
            del self._open[name]  # not closed: another thread may be asking it

    def _kept(self, seqs: Sequence[int]) -> set[int]:
        """Those of these entries that have a row in a file."""
        return {row.seq for row in self._rows.values()}.intersection(seqs) | shelved.entries_in(
            self._open.values(), seqs
        )

    def _fault(self, one: Named) -> IndexDamaged | None:
        """What is wrong with a segment; what was altered under an open mapping counts like what is found so at opening."""
        try:
            if one.name in self._open:
                self._open[one.name].check()
            elif os.path.islink(self._path(one.name)):
                return IndexDamaged("A file of the index is a link")
            else:
                self._open[one.name] = Segment.open(self._path(one.name), one.sha256, self.head)
        except IndexDamaged as fault:
            self._open.pop(one.name, None)
            return fault
        return None

    def _drop(self, faults: dict[Named, IndexDamaged]) -> None:
        """Put aside what the catalogue still names: what it does not was made part of another segment meanwhile."""
        still = frozenset(self.catalog.segments())
        for one, fault in faults.items():
            if one in still and self.catalog.swap(segments=(one.name,)):
                self.warn(fault.message)
                self.catalog.remove(one.name)

    def warn(self, what: str) -> None:
        """Say that something was put aside."""
        self.say(f"The index was not as it was written ({what}): what it lost is derived again from the memories")

    def say(self, words: str) -> None:
        """For who reads to say aloud, once."""
        if words not in self.warnings:
            self.warnings.append(words)

    def add(self, rows: Sequence[Row]) -> None:
        """Rows behind the others; many at once are a segment of their own. What the disk does not take serves this process."""
        try:
            if len(rows) < FEW:
                self.catalog.add(rows)
            else:
                self._write(lambda path: (build(path, rows, self.head), len(rows)))
        except shelved.CANNOT_KEEP as exc:
            self.say(shelved.KEEPS_NOT.format(exc))
        except IndexDamaged as fault:
            self.put_aside(fault)
        self.refresh()
        kept = self._kept([row.seq for row in rows])
        self._unkept.update((row.seq, row) for row in rows if row.seq not in kept)

    def settle(self) -> bool:
        """Make a segment of many rows, and one of many small segments; True where anything changed, by this or another process."""
        version = self._version
        try:
            self._settled()
            leftovers.tidy(self.folder, {one.name for one in self.catalog.segments()})
            if self._unflushed:
                self._unflushed = not self.catalog.flush(patient=False)
        except shelved.CANNOT_KEEP:
            pass  # it works as it is, only slower
        except IndexDamaged as fault:
            self.put_aside(fault)
        return self._without_bad_rows() or version != self._version

    def _without_bad_rows(self) -> bool:
        """Put aside rows that are none, though they have their check; True where there were such."""
        try:
            Segment.of(self._chunked())
        except shelved.NO_ROW:
            bad = {number: row.seq for number, row in self._rows.items() if not shelved.is_row(row)}
            self.warn(f"{len(bad)} rows in {FILE} are none")
            self._rows = {number: row for number, row in self._rows.items() if number not in bad}
            try:
                self.catalog.swap(rows=bad)
            except (IndexDamaged, *shelved.CANNOT_KEEP) as exc:
                self.say(shelved.KEEPS_NOT.format(exc))
            return True
        return False

    def _settled(self) -> None:
        self._untangle()
        if len(self._rows) >= FEW:
            self._pour()
        while (some := shelved.tier(self._named, FEW)) is not None:
            if not self._merge(some, None):
                return

    def _pour(self) -> None:
        """A segment of the rows."""
        rows = tuple(self._rows.values())
        self._write(
            lambda path: (build(path, rows, self.head), len(rows)),
            rows={number: row.seq for number, row in self._rows.items()},
        )

    def _untangle(self) -> None:
        """What two processes derived at once counts once: where it lies in the biggest segment."""
        seen, names = np.zeros(0, np.uint64), tuple(one.name for one in self._named)
        for one in self._named if names != self._untangled else ():
            if one.name not in self._open:
                return
            seqs = self._open[one.name].columns.seqs
            if len(twice := seqs[within(seqs, seen)]):
                self._merge([one], frozenset(twice.tolist()))
            seen = united((seen, seqs))
        self._untangled = tuple(one.name for one in self._named)
        kept = shelved.entries_in(self.segments, [row.seq for row in self._rows.values()])
        if rows := {number: row.seq for number, row in self._rows.items() if row.seq in kept}:
            self.catalog.swap(rows=rows)
            self.refresh()

    def gather(self) -> None:
        """One segment of everything; where that cannot be kept, it stays in several."""
        self.refresh()
        try:
            self._untangle()
            if self._rows:
                self._pour()
            if len(self._named) > 1:
                self._merge(self._named, None)
        except shelved.CANNOT_KEEP as exc:
            self.say(shelved.KEEPS_NOT.format(exc))
        except IndexDamaged as fault:
            self.put_aside(fault)

    def digest(self, path: str, live: NDArray[np.uint64]) -> str:
        """As `shelved.digest_of` what this process has read."""
        return shelved.digest_of(path, [*self.segments, Segment.of(self.rows)], self.head, live)

    def _merge(self, some: Sequence[Named], without: frozenset[int] | None) -> bool:
        opened = [self._open[one.name] for one in some]
        return self._write(
            lambda path: merge(path, opened, self.head, without=without or frozenset()),
            segments=tuple(one.name for one in some),
        )

    def _write(
        self,
        make: Callable[[str], tuple[str, int]],
        *,
        segments: tuple[str, ...] = (),
        rows: dict[int, int] | None = None,
    ) -> bool:
        """A new segment in the place of others and of rows; nobody sees half of it. False where one of those is gone already."""
        self.catalog.make_folder()
        name, done = leftovers.segment_name(), False
        try:
            sha256, count = make(self._path(name))
            named = Named(name, sha256, count) if count else None
            done = self.catalog.swap(segments=segments, rows=rows or {}, by=named)
        finally:
            if not done:
                self.catalog.remove(name)
        for old in segments if done else ():
            self._open.pop(old, None)
            self.catalog.remove(old)
        self._version = None
        self.refresh()
        return done

    def forget(self, seqs: frozenset[int]) -> str:
        """Leave nothing of these entries in any file; gives what kept that from being done, or ""."""
        self._unkept = {seq: row for seq, row in self._unkept.items() if seq not in seqs}
        self._chunks = {}
        try:
            for _ in range(shelved.TRIES):
                self.refresh()
                if self._forgotten(seqs):
                    break
            else:
                return shelved.LEFT.format("other processes change it all the time")
            self._unflushed = not self.catalog.flush()
            leftovers.tidy(self.folder, {one.name for one in self.catalog.segments()})
        except IndexDamaged as fault:
            if left := self.put_aside(fault):
                return shelved.LEFT.format(left)
        except shelved.CANNOT_KEEP as exc:
            self._version = None
            return shelved.LEFT.format(exc)
        self.refresh()
        return ""

    def unflushed(self) -> str:
        """What of the deleted may still lie in the -wal, since somebody reads there, in words; it is tried again at each use."""
        return shelved.STAYS.format(self.catalog.path) if self._unflushed else ""

    def flush(self) -> None:
        """Leave nothing of what was deleted in the -wal, if nobody reads there now."""
        try:
            self._unflushed = not self.catalog.flush(patient=False)
        except (IndexDamaged, *shelved.CANNOT_KEEP):
            self._unflushed = True

    def _forgotten(self, seqs: frozenset[int]) -> bool:
        """Whether there was nothing of them any more; it is looked at again until that is so."""
        held = [one for one in self._named if one.name in self._open and self._open[one.name].holds(seqs)]
        for one in held:
            if one.name in self._open:  # another process may have been quicker
                self._merge_or_drop(one, seqs)
        if gone := {number: row.seq for number, row in self._rows.items() if row.seq in seqs}:
            self.catalog.swap(rows=gone)
            self._version = None
        return not held and not gone

    def _merge_or_drop(self, one: Named, seqs: frozenset[int]) -> None:
        """A segment without some entries; where there is no room for that, none: it is derived again."""
        try:
            self._merge([one], seqs)
        except shelved.CANNOT_KEEP:
            if self.catalog.swap(segments=(one.name,)):
                self.catalog.remove(one.name)
            self._version = None

    def size(self) -> int:
        """Bytes of its files."""
        return shelved.size_of(self.folder)

    def take_away(self) -> str:
        """Begin anew; gives what kept that from being done, which is also said, or ""."""
        try:
            self.clear()
        except (IndexDamaged, *shelved.CANNOT_KEEP) as exc:
            self.say(shelved.KEEPS_NOT.format(exc))
            return str(exc)
        return ""

    def clear(self) -> None:
        """Take all of it away.

        Raises:
            IndexDamaged, UsageError, NotSaved, DiskFull, ReadOnly: it could not be done.
        """
        self.close()
        if not self.catalog.clear():
            self._unflushed = True

    def close(self) -> None:
        self._open, self._named, self._rows, self._unkept, self._version = {}, (), {}, {}, None
        self.catalog.close()

    def _path(self, name: str) -> str:
        return os.path.join(self.folder, name)
