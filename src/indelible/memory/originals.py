"""What a copy may be a copy of: the patterns of every version that was not erased, and the Hopfield memory of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indelible.errors import IntegrityError, Malformed
from indelible.memory.indexing import row_of
from indelible.memory.versions import Versions
from indelible.recall.ascending import within
from indelible.recall.certify import Memory as Associative
from indelible.recall.index import Index
from indelible.recall.stored import patterns_of
from indelible.recall.thresholds import DEFAULT, Thresholds
from indelible.sealed import verify

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from indelible.memory.finding import Advance, Finder
    from indelible.memory.reading import Reader
    from indelible.recall.patterns import Patterns
    from indelible.recall.row import Row

BATCH = 4_096
_THRESHOLDS = "thresholds"


class Originals:
    """The originals of one reader's memory, kept up with the log that it follows."""

    def __init__(self, reader: Reader, finder: Finder) -> None:
        self._reader, self._finder = reader, finder
        self.versions = Versions()
        self._patterns: Patterns | None = None
        self._associative: Associative | None = None
        self._index: Index | None = None

    def refresh(self, advance: Advance | None = None) -> None:
        """Follow the log, and derive what the index lacks of older and archived versions.

        Raises:
            IntegrityError, Unchecked: the log cannot be followed.
        """
        index = self._finder.refresh(advance)
        with self._reader.following() as (table, reading, head):
            self._reader.follower.keep(table)
            self.versions.follow(reading, head, advance)
        if index is self._index and self._patterns is not None:
            return
        self._bind()
        self._catch_up(advance)
        seqs = self.versions.seqs()
        self._patterns = patterns_of(Index(*self._finder.shelf.asked(), seqs))
        self._associative, self._index = None, self._finder.refresh()

    def _bind(self) -> None:
        """Put aside what does not carry the commitment of its entry."""
        shelf = self._finder.shelf
        wrong = frozenset().union(*(self.versions.unlike(*pair) for pair in shelf.commitments()))
        if wrong:
            shelf.warn(f"{len(wrong)} rows do not belong to the entries that they name")
            shelf.forget(wrong)

    def _catch_up(self, advance: Advance | None) -> None:
        seqs = self.versions.seqs()
        missing = seqs[~within(seqs, self._finder.shelf.seqs())]
        for start in range(0, len(missing), BATCH):
            self._finder.shelf.add(list(self._rows(missing[start : start + BATCH])))
            if advance is not None:
                advance(min(start + BATCH, len(missing)), len(missing))

    def _rows(self, seqs: NDArray[np.uint64]) -> Iterator[Row]:
        """Of versions that are what was sealed; nothing can be vouched for that is not."""
        with self._reader.following() as (table, reading, _):
            self._reader.follower.keep(table)
            for seq in seqs.tolist():
                known, sealed = self.versions.get(seq), reading.sealed(seq)
                if known is None or sealed is None:
                    continue
                try:
                    verify(sealed, known.commitments, known.key)
                except IntegrityError:
                    continue
                yield row_of(seq, known.key, sealed, saved_at=known.at, commitment=known.commitments.content)

    def associative(self, prefix: str = "") -> Associative:
        """The Hopfield memory of all of them, or of those under a prefix alone. `refresh` comes first."""
        if self._patterns is None:
            self.refresh()
        patterns = self._patterns
        if patterns is None or prefix:
            return Associative(self._under(prefix), self.thresholds())
        if self._associative is None:
            self._associative = Associative(patterns, self.thresholds())
        return self._associative

    def _under(self, prefix: str) -> Patterns:
        """Chosen before texts with the same bytes become one: what may not be named takes nothing from what may."""
        patterns = self._patterns
        if patterns is None:
            return patterns_of(Index((), (), np.zeros(0, np.uint64)))
        return patterns.select(np.flatnonzero(within(patterns.seqs, self.versions.under(prefix))))

    def holding(self, digest: bytes, prefix: str) -> tuple[str, ...]:
        """The keys under `prefix` that have a version with this SHA-256, ascending."""
        patterns = self._patterns
        if patterns is None:
            return ()
        same = (patterns.digests == np.frombuffer(digest, np.uint8)).all(axis=1)
        found = (self.versions.get(int(seq)) for seq in patterns.seqs[same].tolist())
        return tuple(sorted({one.key for one in found if one is not None and one.key.startswith(prefix)}))

    def thresholds(self) -> Thresholds:
        """Those that this memory was calibrated with, or the ones that are shipped."""
        shelf = self._finder.shelf
        said = shelf.catalog.fact(_THRESHOLDS)
        try:
            return Thresholds.parse(said) if said else DEFAULT
        except Malformed:
            shelf.warn("its thresholds cannot be read: those that are shipped are used")
            return DEFAULT

    def calibrate(self) -> Thresholds:
        """Find the thresholds that fit what is in force, and keep them until the index is made anew.

        Raises:
            UsageError: there are too few texts. IntegrityError: one of them is not what was sealed.
        """
        from indelible.recall.calibrate import calibrate

        self._finder.refresh()
        present = self._finder.present
        live = (present.get(seq) for seq in present.seqs().tolist())
        found = calibrate([self._reader.fetch(one.key).content for one in live if one is not None])
        self._finder.shelf.catalog.set_fact(_THRESHOLDS, found.format())
        self._associative = None
        return found
