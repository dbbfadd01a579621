"""What one reader searches in: its index, kept up with the log that it follows.

Each use follows the log first, as every read does. A memory in force that the index lacks is fetched, verified, and derived; a
row that is not bound to what the log says of its entry is put aside. So what was trimmed or put in is missed by nobody: the list
of what has to be there is the follower's, and a row counts only under the commitment that a signed entry holds.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indelible.errors import IntegrityError, Malformed, NotFoundError, UsageError
from indelible.memory.indexing import catalog_of, row_of
from indelible.memory.nearing import Nearing
from indelible.memory.pinned import hand_out
from indelible.memory.present import Present
from indelible.recall.ascending import ascending, within
from indelible.recall.index import Index
from indelible.recall.shelf import Shelf
from indelible.sealed import Sealed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    from numpy.typing import NDArray

    from indelible.memory.reading import Reader
    from indelible.recall.certify import Memory as Associative
    from indelible.recall.row import Row
    from indelible.recall.thresholds import Thresholds
    from indelible.store.follower import Latest, Pin
    from indelible.store.store import Reading

    Advance: TypeAlias = Callable[[int, int], None]
    """Told how many are done, and of how many."""

BATCH = 4_096
"""Rows that are derived before they are kept."""
_THRESHOLDS = "thresholds"
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


class Finder:
    """The index of one reader's memory.

    Args:
        folder: where it lies; by default beside the follower.
    """

    def __init__(self, reader: Reader, folder: str = "") -> None:
        self._reader = reader
        catalog = catalog_of(reader.follower, folder)
        self.shelf, self.present = Shelf(catalog), Present()
        self.nearing = Nearing(reader, catalog, self.present, reader.embedder)
        self.broken: dict[int, IntegrityError] = {}
        """Memories that are not what was sealed, by entry: nothing is derived from such."""
        self._bound = np.zeros(0, np.uint64)
        self._index: Index | None = None
        self._associative: Associative | None = None

    def refresh(self, advance: Advance | None = None) -> Index:
        """The index of what is in force now.

        Raises:
            IntegrityError, Unchecked: the log cannot be followed.
        """
        moved = self._follow()
        changed = self.shelf.refresh()
        if moved or changed or self._index is None:
            self._sweep()
            self._bind()
            self._catch_up(advance)
            self.shelf.settle()
            self._associative = None
            self._index = Index(*self.shelf.asked(), self.present.seqs())
        return self._index

    @property
    def associative(self) -> Associative:
        """The Hopfield memory of what is in force; made when first asked for. `refresh` comes first."""
        if self._associative is None and self._index is not None:
            from indelible.recall.certify import Memory as Associative
            from indelible.recall.stored import patterns_of

            self._associative = Associative(patterns_of(self._index), self.thresholds())
        if self._associative is None:
            raise UsageError("The index was not looked at yet")
        return self._associative

    def holding(self, digest: bytes) -> tuple[int, ...]:
        """The entries in force whose content has this SHA-256."""
        wanted = np.frombuffer(digest, np.uint8)
        found = (
            part.segment.columns.seqs[(part.segment.columns.digests == wanted).all(axis=1)]
            for part in (self._index.parts if self._index is not None else ())
            if len(part.segment)
        )
        return tuple(int(seq) for seqs in found for seq in seqs.tolist() if self.present.get(int(seq)) is not None)

    def thresholds(self) -> Thresholds:
        """Those that this memory was calibrated with, or the ones that are shipped."""
        from indelible.recall.thresholds import DEFAULT, Thresholds

        said = self.shelf.catalog.fact(_THRESHOLDS)
        try:
            return Thresholds.parse(said) if said else DEFAULT
        except Malformed:
            self.shelf.warn("its thresholds cannot be read: those that are shipped are used")
            return DEFAULT

    def calibrate(self) -> Thresholds:
        """Find the thresholds that fit what is stored here, and keep them until the index is made anew.

        Raises:
            UsageError: there are too few texts. IntegrityError: one of them is not what was sealed.
        """
        from indelible.recall.calibrate import calibrate

        self.refresh()
        live = (self.present.get(seq) for seq in self.present.seqs().tolist())
        found = calibrate([self._reader.fetch(one.key).content for one in live if one is not None])
        self.shelf.catalog.set_fact(_THRESHOLDS, found.format())
        self._associative = None
        return found

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

    def _sweep(self) -> None:
        """Where something was erased, leave nothing in the files of what is not in force."""
        if self.present.erased:
            dead = self._dead()
            if len(dead):
                self.shelf.forget(frozenset(dead.tolist()))
                self.nearing.shelf.forget(frozenset(dead.tolist()))
            self.present.erased = False

    def _dead(self) -> NDArray[np.uint64]:
        """Entries that have a row and are not in force."""
        kept = self.shelf.seqs()
        return kept[~within(kept, self.present.seqs())]

    def sweep(self) -> None:
        """Leave nothing of what was erased in the index.

        Raises:
            IntegrityError, Unchecked: the log cannot be followed. OSError, NotSaved, apsw.Error: it could not be written.
        """
        self._follow()
        self.shelf.refresh()
        self._sweep()
        self._index = None

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

    def rebuild(self, advance: Advance | None = None) -> Reindexed:
        """Derive all of it again from the memories, as one segment.

        Raises:
            IntegrityError, Unchecked: the log cannot be followed.
        """
        self.shelf.clear()
        self._bound, self.broken, self._index = np.zeros(0, np.uint64), {}, None
        self.refresh(advance)
        self.shelf.gather()
        self._index = None
        warnings = (*self.take_warnings(), *self.nearing.rebuild(advance))
        findings = tuple(self.broken.values())
        return Reindexed(len(self.present) - len(findings), self.shelf.size(), findings, warnings)

    def check(self, advance: Advance | None = None) -> Checked:
        """Whether the index is what deriving all of it again makes. It is put into one segment by that, and else left as it is.

        Raises:
            IntegrityError, Unchecked: the log cannot be followed.
        """
        self.refresh(advance)
        dead = self._dead()
        self.shelf.forget(frozenset(dead.tolist()))
        self.shelf.gather()
        folder = f"{self.shelf.folder}.{os.getpid()}.check"
        fresh = Finder(self._reader, folder)
        try:
            fresh.refresh(advance)
            fresh.shelf.gather()
            same = self.shelf.digests() == fresh.shelf.digests()
        finally:
            fresh.shelf.clear()
            with suppress(OSError):
                os.rmdir(folder)
        self._index = None
        findings = tuple(fresh.broken.values())
        return Checked(same, len(self.present) - len(findings), findings, self.take_warnings())

    def close(self) -> None:
        self.nearing.close()
        self.shelf.close()
        self._index = self._associative = None
