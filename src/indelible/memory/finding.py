"""What one reader searches in: its index, kept up with the log that it follows.

Each use follows the log first, as every read does. A memory in force that the index lacks is fetched, verified, and derived; a
row that is not bound to what the log says of its entry is put aside. So what was trimmed or put in is missed by nobody: the list
of what has to be there is the follower's, and a row counts only under the commitment that a signed entry holds.
"""

from __future__ import annotations

import os
from _thread import RLock
from functools import wraps
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indelible import files
from indelible.errors import Busy, IndexDamaged, IntegrityError, NotFoundError, UsageError
from indelible.memory.indexing import catalog_of, row_of
from indelible.memory.nearing import Nearing
from indelible.memory.pinned import hand_out
from indelible.memory.present import Present
from indelible.recall import leftovers
from indelible.recall.ascending import ascending, within
from indelible.recall.index import Index
from indelible.recall.segment import build
from indelible.recall.shelf import Shelf
from indelible.sealed import Sealed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Concatenate, ParamSpec, TypeAlias, TypeVar

    from numpy.typing import NDArray

    from indelible.memory.reading import Reader
    from indelible.recall.row import Row
    from indelible.store.follower import Latest, Pin
    from indelible.store.store import Reading

    Advance: TypeAlias = Callable[[int, int], None]
    """Told how many are done, and of how many."""
    P = ParamSpec("P")
    R = TypeVar("R")

BATCH = 4_096
"""Rows that are derived before they are kept."""
TRIES = 4
"""How often the index is looked at again where another process changed it meanwhile."""
_BAD_ROWS = "{} rows do not belong to the entries that they name"


class _Due(NamedTuple):
    """A memory that the index lacks."""

    key: str
    latest: Latest


class Reindexed(NamedTuple):
    """What a rebuilt index holds."""

    memories: int
    size: int
    """Bytes of its files."""
    findings: tuple[IntegrityError, ...]
    """Memories that are not what was sealed, and are not in it."""
    warnings: tuple[str, ...]


class Checked(NamedTuple):
    """What comes of deriving an index a second time."""

    same: bool
    memories: int
    findings: tuple[IntegrityError, ...]
    """Memories that are not what was sealed, and are not in it."""
    warnings: tuple[str, ...]


def _alone(method: Callable[Concatenate[Finder, P], R]) -> Callable[Concatenate[Finder, P], R]:
    """One thread at a time."""

    @wraps(method)
    def within(finder: Finder, *args: P.args, **options: P.kwargs) -> R:
        with finder.lock:
            return method(finder, *args, **options)

    return within


class Finder:
    """The index of one reader's memory. Several threads may share it.

    Args:
        folder: where it lies; by default beside the follower.
    """

    def __init__(self, reader: Reader, folder: str = "") -> None:
        self._reader = reader
        self.lock = RLock()
        catalog = catalog_of(reader.follower, folder)
        self.shelf, self.present = Shelf(catalog), Present()
        self.nearing = Nearing(reader, catalog, self.present, reader.embedder)
        self.broken: dict[int, IntegrityError] = {}
        """Memories that are not what was sealed, by entry: nothing is derived from such."""
        self._erased: frozenset[int] = frozenset()
        """Entries of which something could not be taken away yet."""
        self._bound = np.zeros(0, np.uint64)
        self._index: Index | None = None

    @_alone
    def refresh(self, advance: Advance | None = None) -> Index:
        """The index of what is in force now.

        Raises:
            IntegrityError, Unchecked: the log cannot be followed.
        """
        moved = self._follow()
        changed = self.shelf.refresh()
        if moved or changed or self._index is None:
            if left := self._sweep():
                self.shelf.say(left)
            for _ in range(TRIES):
                self._bind()
                self._catch_up(advance)
                if not self.shelf.settle():
                    break
            self._index = Index(*self.shelf.asked(), self.present.seqs())
        return self._index

    def under(self, prefix: str) -> Index:
        """As `refresh` made it, of the keys that begin with `prefix` alone: what is rare is counted among these."""
        return Index(*self.shelf.asked(), ascending(self.present.under(prefix)))

    def still_broken(self, seen: set[int], prefix: str) -> tuple[IntegrityError, ...]:
        """What under `prefix` could not be derived since it is not what was sealed, but for the entries in `seen`; what was mended is let go."""
        found = []
        for seq in tuple(self.broken):
            live = self.present.get(seq)
            if live is not None and (seq in seen or not live.key.startswith(prefix)):
                continue
            try:
                if live is not None:
                    self._reader.fetch(live.key)
            except IntegrityError as finding:
                found.append(finding)
                continue
            except NotFoundError:
                pass
            del self.broken[seq]
            self._index = None  # it is derived at the next use
        return tuple(found)

    def take_warnings(self) -> tuple[str, ...]:
        """What was found damaged since the last time, and put aside."""
        found, self.shelf.warnings = tuple(self.shelf.warnings), []
        return found

    def _follow(self) -> bool:
        reader, present = self._reader, self.present
        glance, _ = reader.follower.look("")
        if (
            glance is not None
            and glance.note == present.note
            and reader.store.peek(reader.agent, None).note == glance.note
        ):
            return False
        with reader.following() as (table, reading, head):
            if head.note == present.note:
                return False
            present.follow(table, reading, head.size, head.note or b"")
        return True

    def _sweep(self) -> str:
        """Where something was erased, leave nothing in the files of what is not in force; gives what kept that from being done, or ""."""
        if not self.present.erased:
            return ""
        dead = frozenset(self._dead().tolist()) | self._erased
        left = self.nearing.shelf.forget(dead) if dead else ""
        left = (self.shelf.forget(dead) if dead else "") or left
        self.present.erased, self._erased = bool(left), dead if left else frozenset()
        return left

    def _dead(self) -> NDArray[np.uint64]:
        """Entries that have a row and are not in force."""
        kept = self.shelf.seqs()
        return kept[~within(kept, self.present.seqs())]

    @_alone
    def sweep(self) -> str:
        """Leave nothing of what was erased in the index; gives what kept that from being done, or "".

        Raises:
            IntegrityError, Unchecked: the log cannot be followed.
        """
        leftovers.tidy_checks(self.shelf.folder)
        self._follow()
        self.shelf.refresh()
        self._index = None
        unread = self.shelf.unread and f"What is in the index could not be looked through ({self.shelf.unread})"
        return self._sweep() or unread

    def _bind(self) -> None:
        """Put aside what does not carry the commitment that the log holds for its entry."""
        wrong = [
            seq for seqs, commitments in self._unbound() for seq in self.present.unlike(seqs, commitments).tolist()
        ]
        if wrong:
            self.shelf.warn(_BAD_ROWS.format(len(wrong)))
            self.shelf.forget(frozenset(wrong))
        self._bound = self.shelf.seqs()

    def _unbound(self) -> Iterator[tuple[NDArray[np.uint64], NDArray[np.uint8]]]:
        for seqs, commitments in self.shelf.commitments():
            new = ~within(seqs, self._bound)
            if new.any():
                yield seqs[new], commitments[new]

    def _catch_up(self, advance: Advance | None) -> None:
        """Derive what is in force and not in the index."""
        present = self.present.seqs()
        missing = present[~within(present, self.shelf.seqs())]
        missing = missing[~within(missing, ascending(self.broken))]
        if not len(missing):
            return
        for start in range(0, len(missing), BATCH):
            rows = []
            for done, row in enumerate(self._derived(missing[start : start + BATCH]), start + 1):
                if row is not None:
                    rows.append(row)
                if advance is not None:
                    advance(done, len(missing))
            self.shelf.add(rows)

    def _derived(self, seqs: NDArray[np.uint64]) -> Iterator[Row | None]:
        """The row of each of some memories in force, of which a million are never in memory at once; None for one that has none."""
        reader = self._reader
        with reader.following() as (table, reading, _):
            found = (
                (live.key, table.get(live.key)) for seq in seqs.tolist() if (live := self.present.get(seq)) is not None
            )
            due = [_Due(key, latest) for key, latest in found if latest is not None]
            pin = table.pin
            reader.follower.keep(table)  # what follows may take long, and needs the store's snapshot alone
            yield from (self._row(one, reading, pin) for one in due)

    def _row(self, due: _Due, reading: Reading, pin: Pin | None) -> Row | None:
        latest = due.latest
        try:
            loaded = hand_out(due.key, self._reader.agent, latest, reading.sealed(latest.saved_seq), pin)
        except NotFoundError:
            return None
        except IntegrityError as finding:
            self.broken[latest.saved_seq] = finding
            return None
        sealed = Sealed(loaded.salt, loaded.body, loaded.content)
        return row_of(latest.saved_seq, due.key, sealed, saved_at=latest.at, commitment=latest.content)

    @_alone
    def rebuild(self, advance: Advance | None = None) -> Reindexed:
        """Derive all of it again from the memories, as one segment. What keeps that from being kept is among the warnings.

        Raises:
            IntegrityError, Unchecked: the log cannot be followed.
        """
        leftovers.tidy_checks(self.shelf.folder)
        self.shelf.take_away()
        self._bound, self.broken, self._index = np.zeros(0, np.uint64), {}, None
        self.refresh(advance)
        self.shelf.gather()
        self._index = None
        warnings = (*self.take_warnings(), *self.nearing.rebuild(advance))
        findings = tuple(self.broken.values())
        return Reindexed(len(self.present) - len(findings), self.shelf.size(), findings, warnings)

    @_alone
    def check(self, advance: Advance | None = None) -> Checked:
        """Whether the index is what deriving all of it again makes. It is left as it is.

        Both are compared as of one moment, whatever is saved meanwhile; what is saved anew while it is derived is left out.

        Raises:
            IntegrityError, Unchecked: the log cannot be followed. Busy: other processes changed its files all the time.
            NotSaved, DiskFull, ReadOnly: there is no room beside the index for a second one.
        """
        leftovers.tidy_checks(self.shelf.folder)
        self.broken, self._index = {}, None
        for _ in range(TRIES):
            self.refresh(advance)
            try:
                same = self._is_same(advance)
            except (IndexDamaged, UsageError):  # made part of another segment while it was read
                self._index = None
                continue
            findings = tuple(self.broken.values())
            return Checked(same, len(self.present) - len(findings), findings, self.take_warnings())
        raise Busy("The index was changed by other processes all the time that it was compared")

    def _is_same(self, advance: Advance | None) -> bool:
        folder = leftovers.check_folder(self.shelf.folder)
        files.make_folder(folder)
        path = os.path.join(folder, leftovers.segment_name())
        seen: list[int] = []
        try:
            derived = build(path, self._again(seen, advance), self.shelf.head)
            live = ascending({*seen, *self.broken})
            return self.shelf.digest(path, live) == (derived if seen else "")
        finally:
            leftovers.drop_folder(folder)

    def _again(self, seen: list[int], advance: Advance | None) -> Iterator[Row]:
        """The rows of what is in force, derived; their entries are put into `seen`."""
        present = self.present.seqs()
        for start in range(0, len(present), BATCH):
            some = present[start : start + BATCH]
            wanted = set(some.tolist())
            for done, row in enumerate(self._derived(some), start + 1):
                if row is not None and row.seq in wanted:
                    seen.append(row.seq)
                    yield row
                if advance is not None:
                    advance(done, len(present))

    @_alone
    def close(self) -> None:
        self.nearing.close()
        self.shelf.close()
        self._index = None
