"""The vectors of one index: a matrix in a file, the newest rows in the catalogue, and who made them.

    vectors.bin           `matrix`: most of them, memory-mapped
    index.db, vector      those that came since, as f32, until there are enough for the file to be written anew
    index.db, fact        `maker` and the digest of the file

All are of one maker. Another one is an error until `clear`, and never a mix.
"""

from __future__ import annotations

import json
import os
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from indelible.errors import IndexDamaged
from indelible.files import remove
from indelible.recall.embed import Maker, check_same
from indelible.recall.matrix import Matrix, grown, matrix_of, read, write

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indelible.recall.catalog import Catalog
    from indelible.recall.vectors import Floats

FILE = "vectors.bin"
FEW = 512
"""Rows that lie in the catalogue before the file is written anew."""
_MAKER, _DIGEST = "maker", "vectors"
_SET = "INSERT OR REPLACE INTO fact VALUES (?, ?)"
_ADD = "INSERT OR REPLACE INTO vector VALUES (?, ?)"
_CHECK = 8


class VectorShelf:
    """The vectors that a catalogue lists."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._path = os.path.join(catalog.folder, FILE)
        self._matrix: Matrix | None = None
        self._version: tuple[int, int] | None = None

    def matrix(self, maker: Maker) -> Matrix:
        """All of them; of no rows where nothing was kept.

        Raises:
            EmbedderChanged: they are of another maker. IndexDamaged: the file is not what was written.
        """
        version = self._catalog.version
        if self._matrix is None or version != self._version:
            self._matrix, self._version = self._read(maker), version
        else:
            self._check(maker)
        return self._matrix

    def _check(self, maker: Maker) -> None:
        known = self._catalog.fact(_MAKER)
        if known:
            check_same(Maker(*json.loads(known)), maker)

    def _read(self, maker: Maker) -> Matrix:
        self._check(maker)
        digest = self._catalog.fact(_DIGEST)
        kept = read(self._path, digest, maker, self._catalog.head) if digest else _nothing(maker.size)
        seqs, rows = self._rows(maker.size)
        return grown(kept, seqs, rows) if len(seqs) else kept

    def add(self, maker: Maker, seqs: NDArray[np.uint64], rows: Floats) -> Matrix:
        """Keep (n,) entries' (n, d) unit vectors; gives all of them.

        Raises:
            as `matrix`; NotSaved, DiskFull, ReadOnly: they could not be written.
        """
        matrix = grown(self.matrix(maker), seqs, rows)
        if self._put(maker, seqs, rows) >= FEW:
            self._write(matrix, maker)
        self._matrix, self._version = matrix, self._catalog.version
        return matrix

    def _write(self, matrix: Matrix, maker: Maker) -> None:
        """The whole matrix, and then nothing of it in the catalogue. Cut in between, the old digest refuses the new file."""
        digest = write(self._path, matrix, maker, self._catalog.head)
        with self._catalog.opened(create=True) as connection:
            if connection is not None:
                with connection:
                    connection.execute(_SET, (_DIGEST, digest))
                    connection.execute("DELETE FROM vector")

    def forget(self, seqs: frozenset[int]) -> None:
        """Leave nothing of these entries' vectors."""
        known = self._catalog.fact(_MAKER)
        if not known:
            return
        maker = Maker(*json.loads(known))
        gone = np.array(sorted(seqs), np.uint64)
        try:
            matrix = self.matrix(maker)
        except IndexDamaged:
            self.clear()
            return
        if np.isin(gone, matrix.seqs).any():
            nothing = np.zeros((0, maker.size), np.float32)
            self._write(grown(matrix, np.zeros(0, np.uint64), nothing, without=gone), maker)
            self._matrix = None

    def clear(self) -> None:
        """Forget all of them, and who made them."""
        self._matrix = None
        remove(self._path)
        with self._catalog.opened() as connection:
            if connection is not None:
                connection.execute("DELETE FROM fact WHERE name IN (?, ?)", (_MAKER, _DIGEST))
                connection.execute("DELETE FROM vector")

    def _rows(self, size: int) -> tuple[NDArray[np.uint64], Floats]:
        """Those in the catalogue; one of another size was altered, and is left out: who lacks it derives it again."""
        with self._catalog.opened() as connection:
            found = list(connection.execute("SELECT seq, packed FROM vector")) if connection else []
        sound = [(seq, packed) for seq, packed in found if _is_sound(packed, size)]
        rows = np.frombuffer(b"".join(packed[_CHECK:] for _, packed in sound), "<f4").reshape(-1, size)
        return np.array([seq for seq, _ in sound], np.uint64), rows

    def _put(self, maker: Maker, seqs: NDArray[np.uint64], rows: Floats) -> int:
        """Gives how many lie there then."""
        packed = (np.ascontiguousarray(row, "<f4").tobytes() for row in rows)
        count = 0
        with self._catalog.opened(create=True) as connection:
            if connection is not None:
                with connection:
                    connection.execute(_SET, (_MAKER, json.dumps(list(maker))))
                    connection.executemany(
                        _ADD, ((seq, _checked(one)) for seq, one in zip(seqs.tolist(), packed, strict=True))
                    )
                    count = sum(int(one) for (one,) in connection.execute("SELECT count(*) FROM vector"))
        return count


def _nothing(size: int) -> Matrix:
    return matrix_of(np.zeros(0, np.uint64), np.zeros((0, size), np.float32))


def _checked(packed: bytes) -> bytes:
    return blake2b(packed, digest_size=_CHECK).digest() + packed


def _is_sound(packed: bytes, size: int) -> bool:
    return len(packed) == _CHECK + 4 * size and blake2b(packed[_CHECK:], digest_size=_CHECK).digest() == packed[:_CHECK]
