"""An embedder's nearness of a question to each memory in force; where there can be none, recall goes on by words, and says why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indelible.errors import EmbedderChanged, EmbedderFailed, IndelibleError, IndexDamaged, UsageError
from indelible.recall.vectorshelf import VectorShelf

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from indelible.memory.finding import Advance
    from indelible.memory.present import Present
    from indelible.memory.reading import Reader
    from indelible.recall.catalog import Catalog
    from indelible.recall.embed import Embedder, Maker
    from indelible.recall.index import Index
    from indelible.recall.matrix import Matrix
    from indelible.recall.vectors import Floats

AT_ONCE = 32
"""Memories whose vectors a question may wait for; more of them are made by `reindex`."""
BATCH = 64
_CANNOT = (EmbedderChanged, EmbedderFailed, UsageError)
"""Another one made what is kept; it is not to be had; the settings name none that may be used. Words go on without it."""
_LACKING = "{} memories have no vector yet and are found by their words alone: 'indelible reindex' makes them"


class Nearing:
    """The vectors beside one index.

    Args:
        embedder: called when it is first needed.
    """

    def __init__(self, reader: Reader, catalog: Catalog, present: Present, embedder: Callable[[], Embedder]) -> None:
        self._reader, self._present, self._make = reader, present, embedder
        self._embedder: Embedder | None = None
        self.shelf = VectorShelf(catalog)

    @property
    def embedder(self) -> Embedder:
        """The one that is set.

        Raises:
            UsageError: there is no such embedder. EmbedderFailed: it is not installed.
        """
        if self._embedder is None:
            self._embedder = self._make()
        return self._embedder

    def nearness(self, query: str, index: Index, advance: Advance | None) -> tuple[Floats | None, tuple[str, ...]]:
        """`(scores, warnings)`: z-scored cosines aligned with `index.seqs`, None where there can be none."""
        try:
            maker = self.embedder.maker
            if not maker.size or not len(index.seqs):
                return None, ()
            matrix, left = self._caught_up(maker, index.seqs, advance)
            asked = self.embedder.embed([query], query=True)[0]
            return matrix.nearness(asked, index.seqs), (_LACKING.format(left),) if left else ()
        except _CANNOT as fault:
            return None, (f"Recall goes by words alone: {fault}",)

    def _caught_up(self, maker: Maker, seqs: NDArray[np.uint64], advance: Advance | None) -> tuple[Matrix, int]:
        try:
            matrix = self.shelf.matrix(maker)
        except IndexDamaged:
            self.shelf.clear()
            matrix = self.shelf.matrix(maker)
        lacking = matrix.lacking(seqs)
        if 0 < len(lacking) <= AT_ONCE:
            return self._made(maker, lacking, advance), 0
        return matrix, len(lacking)

    def rebuild(self, advance: Advance | None) -> tuple[str, ...]:
        """Make the vectors of everything in force anew; gives what kept that from being done."""
        try:
            maker = self.embedder.maker
            self.shelf.clear()
            if maker.size:
                self._made(maker, self._present.seqs(), advance)
        except _CANNOT as fault:
            return (f"No vectors were made: {fault}",)
        return ()

    def _made(self, maker: Maker, seqs: NDArray[np.uint64], advance: Advance | None) -> Matrix:
        for start in range(0, len(seqs), BATCH):
            texts = list(self._texts(seqs[start : start + BATCH]))
            if texts:
                rows = self.embedder.embed([text for _, text in texts])
                self.shelf.add(maker, np.array([seq for seq, _ in texts], np.uint64), rows)
            if advance is not None:
                advance(min(start + BATCH, len(seqs)), len(seqs))
        return self.shelf.matrix(maker)

    def _texts(self, seqs: NDArray[np.uint64]) -> Iterator[tuple[int, str]]:
        """Verified texts; what is not what was sealed gets no vector."""
        for seq in seqs.tolist():
            live = self._present.get(seq)
            try:
                loaded = self._reader.fetch(live.key) if live is not None else None
            except IndelibleError:
                continue
            if loaded is not None and loaded.seq == seq:
                yield seq, loaded.content.decode("utf-8", "replace")

    def close(self) -> None:
        if self._embedder is not None:
            self._embedder.close()
            self._embedder = None
