"""The index of an open memory: a save adds its row, an erasure leaves nothing, and recall searches. Opened when first used."""

from __future__ import annotations

import os
from _thread import RLock
from typing import TYPE_CHECKING

from indelible.errors import IndelibleError
from indelible.memory.indexing import catalog_of, note_saved, row_of
from indelible.recall.leftovers import tidy_checks

if TYPE_CHECKING:
    from indelible.memory.finding import Finder
    from indelible.memory.originals import Originals
    from indelible.memory.reading import Reader
    from indelible.sealed import Sealed


HURRY = 0.05
"""Seconds that a save waits for who is writing to the index: what it cannot note, the next recall derives."""


class Indexed:
    """The index of one reader's memory. Several threads may share it."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._catalog = catalog_of(reader.follower)
        self._catalog.patience, self._catalog.claims = HURRY, False
        self._lock = RLock()
        self._finder: Finder | None = None
        self._originals: Originals | None = None

    @property
    def finder(self) -> Finder:
        """What is searched in; numpy is imported only now."""
        with self._lock:
            if self._finder is None:
                from indelible.memory.finding import Finder

                self._finder = Finder(self._reader)
            return self._finder

    @property
    def originals(self) -> Originals:
        """What a copy may be a copy of."""
        if self._originals is None:
            from indelible.memory.originals import Originals

            self._originals = Originals(self._reader, self.finder)
        return self._originals

    def note(self, seq: int, key: str, sealed: Sealed, *, saved_at: str, commitment: bytes) -> None:
        """Add what was saved; where it cannot be kept, the next recall derives it."""
        note_saved(self._catalog, row_of(seq, key, sealed, saved_at=saved_at, commitment=commitment))

    def sweep(self) -> str:
        """Leave nothing of what was erased; gives what kept that from being done, or ""."""
        tidy_checks(self._catalog.folder)
        if not os.path.lexists(self._catalog.folder):
            return ""
        try:
            return self.finder.sweep()
        except (IndelibleError, OSError) as fault:
            return f"Something of it may still be in the index ({fault}): 'indelible reindex' makes that anew"

    def close(self) -> None:
        self._catalog.close()
        if self._finder is not None:
            self._finder.close()
