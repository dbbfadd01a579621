"""The vectors of one index: a matrix in a file, the newest rows in the catalogue, and who made them.

    vectors.bin           `matrix`: most of them, memory-mapped
    index.db, vector      those that came since, as f32, until there are enough for the file to be written anew
    index.db, fact        `maker` and the digest of the file

All are of one maker. Another one is an error until `clear`, and never a mix.
"""

from __future__ import annotations

import json
import os
import re
from _thread import RLock
from contextlib import suppress
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from indelible.errors import IndexDamaged, NotSaved, UsageError
from indelible.recall.embed import Maker, check_same
from indelible.recall.leftovers import VECTORS as FILE
from indelible.recall.matrix import Matrix, grown, matrix_of, read, write

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indelible.recall.catalog import Catalog
    from indelible.recall.vectors import Floats

FEW = 512
"""Rows that lie in the catalogue before the file is written anew."""
_MAKER, _DIGEST = "maker", "vectors"
_SET = "INSERT OR REPLACE INTO fact VALUES (?, ?)"
_ADD = "INSERT OR REPLACE INTO vector VALUES (?, ?)"
_CHECK = 8
_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)
_LEFT = "Something of it may still be among the vectors ({}): 'indelible reindex' makes them anew"


class VectorShelf:
    """The vectors that a catalogue lists. Several processes and threads use it at once."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._path = os.path.join(catalog.folder, FILE)
        self._matrix: Matrix | None = None
        self._version: tuple[int, ...] | None = None
        self._lock = RLock()

    def matrix(self, maker: Maker) -> Matrix:
        """All of them; of no rows where nothing was kept. Where nothing can be read now, those that were known.

        Raises:
            EmbedderChanged: they are of another maker. IndexDamaged: the file is not what was written.
            UsageError: something else is where the index should be.
        """
        with self._lock:
            try:
                return self._current(maker)
            except NotSaved:
                known = self._matrix
                return known if known is not None and known.packed.mean.shape == (maker.size,) else _nothing(maker.size)

    def _current(self, maker: Maker) -> Matrix:
        version = self._catalog.version
        if self._matrix is not None and version == self._version:
            self._check(maker)
            try:
                self._matrix.check()
                return self._matrix
            except IndexDamaged:
                self._matrix = None
        self._matrix, self._version = self._read(maker), version
        return self._matrix

    def _check(self, maker: Maker) -> None:
        if (known := self._maker()) is not None:
            check_same(known, maker)

    def _maker(self) -> Maker | None:
        """Who made what is kept."""
        said = self._catalog.fact(_MAKER)
        try:
            name, size, digest = json.loads(said) if said else (None, None, None)
        except (ValueError, TypeError) as exc:
            raise IndexDamaged("Who made the vectors cannot be read") from exc
        if not said:
            return None
        if not (isinstance(name, str) and isinstance(size, int) and isinstance(digest, str)):
            raise IndexDamaged("Who made the vectors cannot be read")
        return Maker(name, size, digest)

    def _read(self, maker: Maker) -> Matrix:
        try:
            return self._found(maker)
        except IndexDamaged:
            with self._catalog.writing():  # another process may have been between its file and its digest
                return self._found(maker)

    def _found(self, maker: Maker) -> Matrix:
        self._check(maker)
        digest = self._catalog.fact(_DIGEST)
        if digest and (os.path.islink(self._path) or not _SHA256.fullmatch(digest)):
            raise IndexDamaged("The file of the vectors is a link, or named by no digest", file=self._path)
        kept = read(self._path, digest, maker, self._catalog.head) if digest else _nothing(maker.size)
        seqs, rows = self._rows(maker.size)
        return grown(kept, seqs, rows) if len(seqs) else kept

    def add(self, maker: Maker, seqs: NDArray[np.uint64], rows: Floats) -> Matrix:
        """Keep (n,) entries' (n, d) unit vectors; gives all of them. What the disk does not take serves this process.

        Raises:
            as `matrix`.
        """
        with self._lock:
            matrix = grown(self.matrix(maker), seqs, rows)
            with suppress(NotSaved, OSError):
                if self._put(maker, seqs, rows) >= FEW:
                    self._write(maker)
            self._matrix = matrix
            with suppress(NotSaved):
                self._version = self._catalog.version
            return matrix

    def _write(self, maker: Maker, without: NDArray[np.uint64] | None = None) -> None:
        """The whole matrix, and then nothing of it in the catalogue. Cut in between, the old digest refuses the new file."""
        with self._catalog.writing() as connection:
            matrix = self._found(maker)  # with what others added
            if without is not None:
                nothing = np.zeros((0, maker.size), np.float32)
                matrix = grown(matrix, np.zeros(0, np.uint64), nothing, without=without)
            digest = write(self._path, matrix, maker, self._catalog.head)
            connection.execute(_SET, (_DIGEST, digest))
            connection.execute("DELETE FROM vector")

    def forget(self, seqs: frozenset[int]) -> str:
        """Leave nothing of these entries' vectors; gives what kept that from being done, or ""."""
        gone = np.array(sorted(seqs), np.uint64)
        with self._lock:
            try:
                known = self._maker()
                if known is not None and np.isin(gone, self._current(known).seqs).any():
                    self._matrix = None
                    self._write(known, gone)
            except (IndexDamaged, NotSaved, OSError):
                return self._cleared()
            except UsageError as fault:
                return _LEFT.format(fault)
        return ""

    def clear(self) -> None:
        """Forget all of them, and who made them; what cannot be forgotten now is that of another maker, or is refused."""
        with self._lock:
            self._cleared()

    def _cleared(self) -> str:
        self._matrix = None
        self._catalog.remove(FILE)
        try:
            with self._catalog.opened() as connection:
                if connection is not None:
                    connection.execute("DELETE FROM fact WHERE name IN (?, ?)", (_MAKER, _DIGEST))
                    connection.execute("DELETE FROM vector")
        except (IndexDamaged, NotSaved) as fault:
            return _LEFT.format(fault)
        return ""

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
        with self._catalog.writing() as connection:
            connection.execute(_SET, (_MAKER, json.dumps(list(maker))))
            connection.executemany(_ADD, ((seq, _checked(one)) for seq, one in zip(seqs.tolist(), packed, strict=True)))
            count = sum(int(one) for (one,) in connection.execute("SELECT count(*) FROM vector"))
        return count


def _nothing(size: int) -> Matrix:
    return matrix_of(np.zeros(0, np.uint64), np.zeros((0, size), np.float32))


def _checked(packed: bytes) -> bytes:
    return blake2b(packed, digest_size=_CHECK).digest() + packed


def _is_sound(packed: bytes, size: int) -> bool:
    return len(packed) == _CHECK + 4 * size and blake2b(packed[_CHECK:], digest_size=_CHECK).digest() == packed[:_CHECK]
