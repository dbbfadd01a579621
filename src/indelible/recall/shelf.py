"""The files of one index, opened: its segments, mapped into memory, and the rows behind them.

    <folder>/index.db     `catalog`: which segments there are, by digest, and the newest rows
    <folder>/seg-….idx    `segment`: immutable, memory-mapped

All of it is derived from memories that this reader verified, and lies beside its follower. What is cut, altered, swapped or of
another memory is put aside with a word of it, and derived again by whoever asked.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from indelible.errors import IndexDamaged
from indelible.files import make_folder, remove
from indelible.recall.catalog import FILE, Catalog, Named
from indelible.recall.segment import Segment, build, merge

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from indelible.recall.row import Row

FEW = 1024
"""Rows that lie in no segment before they become one."""
TIER = 8
"""Segments of about one size that become one."""
SUFFIX = ".idx"


class Shelf:
    """The index in `folder`.

    Args:
        head: as of `Catalog`.
    """

    def __init__(self, folder: str, head: Mapping[str, str]) -> None:
        self.catalog = Catalog(folder, head)
        self.folder, self.head = folder, dict(head)
        self.warnings: list[str] = []
        """What was found damaged and put aside, for who reads to say aloud."""
        self._open: dict[str, Segment] = {}
        self._named: tuple[Named, ...] = ()
        self._rows: dict[int, Row] = {}
        """By their ids in the catalogue."""
        self._version: tuple[int, int] | None = None

    @property
    def segments(self) -> tuple[Segment, ...]:
        """Those that are sound, the biggest first."""
        return tuple(self._open[one.name] for one in self._named)

    @property
    def rows(self) -> tuple[Row, ...]:
        """Those that lie in no segment yet."""
        return tuple(self._rows.values())

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
        self._warn(fault.message)
        self.clear()

    def _refreshed(self) -> bool:
        version = self.catalog.version
        if version == self._version:
            return False
        self._named = self.catalog.segments()
        rows, damaged = self.catalog.rows()
        self._rows = dict(rows)
        if damaged:
            self._warn(f"{len(damaged)} rows in {FILE} are altered")
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
            self._warn(fault.message)
            self._open.pop(one.name, None)
            self.catalog.swap(segments=(one.name,))
            remove(self._path(one.name))
            return False
        return True

    def _warn(self, what: str) -> None:
        self.warnings.append(
            f"The index was not as it was written ({what}): what it lost is derived again from the memories"
        )

    def add(self, rows: Sequence[Row]) -> None:
        """Rows behind the others; many at once are a segment of their own."""
        if len(rows) < FEW:
            self.catalog.add(rows)
        else:
            self._write(lambda path: (build(path, rows, self.head), len(rows)))

    def settle(self) -> None:
        """Make a segment of many rows, and one of many small segments. Other processes may add, and do the same, meanwhile."""
        self.refresh()
        if len(self._rows) >= FEW:
            rows = tuple(self._rows.values())
            self._write(lambda path: (build(path, rows, self.head), len(rows)), rows=tuple(self._rows))
        while (some := _tier(self._named)) is not None:
            self._merge(some, None)

    def gather(self) -> None:
        """One segment of everything."""
        self.refresh()
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
        self.catalog.swap(rows=[number for number, row in self._rows.items() if row.seq in seqs])
        self.catalog.flush()
        self.refresh()

    def clear(self) -> None:
        """Take every file away."""
        self.close()
        self.catalog.clear()

    def close(self) -> None:
        for one in self._open.values():
            one.close()
        self._open, self._named, self._rows, self._version = {}, (), {}, None
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
