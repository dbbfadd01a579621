"""The index of an open memory: a save adds its row, an erasure leaves nothing, and recall searches. Opened when first used."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import apsw

from indelible.errors import IndelibleError
from indelible.memory.indexing import catalog_of, note_saved, row_of

if TYPE_CHECKING:
    from indelible.memory.finding import Finder
    from indelible.memory.reading import Reader
    from indelible.sealed import Sealed


class Indexed:
    """The index of one reader's memory."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._catalog = catalog_of(reader.follower)
        self._finder: Finder | None = None

    @property
    def finder(self) -> Finder:
        """What is searched in; numpy is imported only now."""
        if self._finder is None:
            from indelible.memory.finding import Finder

            self._finder = Finder(self._reader)
        return self._finder

    def note(self, seq: int, key: str, sealed: Sealed, *, saved_at: str, commitment: bytes) -> None:
        """Add what was saved; where it cannot be kept, the next recall derives it."""
        note_saved(self._catalog, row_of(seq, key, sealed, saved_at=saved_at, commitment=commitment))

    def sweep(self) -> str:
        """Leave nothing of what was erased; gives what kept that from being done, or ""."""
        if not os.path.isdir(self._catalog.folder):
            return ""
        try:
            self.finder.sweep()
        except (IndelibleError, OSError, apsw.Error) as fault:
            return f"Something of it may still be in the index ({fault}): 'indelible reindex' makes that anew"
        return ""

    def close(self) -> None:
        self._catalog.close()
        if self._finder is not None:
            self._finder.close()
