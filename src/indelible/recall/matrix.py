"""The file of the vectors that are kept: one matrix, memory-mapped once it is large, with who made it.

    indelible-vectors-1 LF  size of the header in 12 digits LF
    header    JSON: {"maker": [name, size, digest], "facts": {...}, "blocks": {name: [type, shape, offset]}, "sha256": of all blocks}
    blocks    mean, codes, scales, lengths, signs (see `vectors`) and seqs, (n,) u64 ascending: which entry each row is of;
              little-endian, each beginning at a multiple of 64 bytes; offsets count from the first of them

Derived data, beside the index, and a secret like the texts: much of a text can be guessed from its vector. The digest of a file is the SHA-256 of its header, and thereby of all; whoever opens one knows it
from elsewhere, and says which facts (place, agent) it has to have. Vectors of another maker are an error, never a mix.
"""

from __future__ import annotations

import json
import mmap
import os
from hashlib import sha256
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indelible import files
from indelible.errors import IndexDamaged
from indelible.recall.embed import Maker, check_same
from indelible.recall.layout import IN_MEMORY, stamp_of
from indelible.recall.vectors import Packed, graded, mean_of, pack, unpack, z_scores
from indelible.seal.digest import same

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from numpy.typing import NDArray

    from indelible.recall.vectors import Floats

    Array = NDArray[Any]
    Seqs = NDArray[np.uint64]

MAGIC = b"indelible-vectors-1\n"
GROWTH = 4
"""The mean is taken anew when there are so many times as many rows as when it was last taken."""
_ALIGN = 64
_PREFIX = len(MAGIC) + 13
_TYPES = {"mean": "<f4", "codes": "|i1", "scales": "<f4", "lengths": "<f4", "signs": "<u8", "seqs": "<u8"}


class Matrix(NamedTuple):
    """Vectors, each of one entry."""

    seqs: Seqs
    """(n,) u64, ascending"""
    packed: Packed
    centred_at: int
    """How many rows there were when the mean was taken."""
    watched: tuple[str, tuple[int, ...]] = ("", ())
    """`(path, stamp)` of the file that it is mapped from; empty for one that is in memory."""

    def check(self) -> None:
        """That a mapped file is still the one that was checked; costs one `stat`.

        Raises:
            IndexDamaged: it was cut, written to, replaced or taken away.
        """
        path, stamp = self.watched
        if not path:
            return
        try:
            now = stamp_of(os.stat(path))
        except OSError as exc:
            raise IndexDamaged("The file of the vectors cannot be read any more", file=path) from exc
        if now != stamp:
            raise IndexDamaged("The file of the vectors was changed while it was in use", file=path)

    def nearness(self, query: Floats, seqs: Seqs) -> Floats:
        """(m,) f32: z-scored cosines of a question with the rows of these entries, NaN for those without one.

        Args:
            query: (d,) f32, a unit vector, as an embedder makes it of a question.
            seqs: (m,) u64, ascending.

        Raises:
            EmbedderFailed: the question is of another size. IndexDamaged: the file was changed under it.
        """
        self.check()
        found = np.full(len(seqs), np.nan, np.float32)
        if len(self.seqs):
            values, over = graded(self.packed, query)
            places = np.minimum(np.searchsorted(self.seqs, seqs), len(self.seqs) - 1)
            there = self.seqs[places] == seqs
            found[there] = z_scores(values, over)[places[there]]
        return found

    def lacking(self, seqs: Seqs) -> Seqs:
        """Those of these entries that have no row."""
        return np.setdiff1d(seqs, self.seqs)


def matrix_of(seqs: Seqs, rows: Floats) -> Matrix:
    """From (n,) numbers of entries, in any order, and their (n, d) unit vectors."""
    order = np.argsort(seqs, kind="stable")
    return Matrix(seqs[order].astype(np.uint64), pack(rows[order], mean_of(rows)), len(seqs))


def grown(old: Matrix, seqs: Seqs, rows: Floats, without: Seqs | None = None) -> Matrix:
    """A matrix with more rows, and without those of some entries; a row of the same entry is replaced.

    Where the mean stays, what was packed stays as it is; it is taken anew where the rows have become GROWTH times as many.
    """
    gone = np.concatenate([seqs, np.zeros(0, np.uint64) if without is None else without])
    keep = ~np.isin(old.seqs, gone)
    count = int(keep.sum()) + len(seqs)
    if count >= GROWTH * max(old.centred_at, 1):
        return matrix_of(
            np.concatenate([old.seqs[keep], seqs]), np.concatenate([unpack(_chosen(old.packed, keep)), rows])
        )
    more = pack(rows, old.packed.mean)
    together = np.concatenate([old.seqs[keep], seqs]).astype(np.uint64)
    order = np.argsort(together, kind="stable")
    kept = _chosen(old.packed, keep)
    joined = Packed(
        kept.mean, np.concatenate([kept.codes, more.codes]), np.concatenate([kept.scales, more.scales]),
        np.concatenate([kept.lengths, more.lengths]), np.hstack([kept.signs, more.signs]),
    )  # fmt: skip
    return Matrix(together[order], _chosen(joined, order), old.centred_at)


def write(path: str, matrix: Matrix, maker: Maker, facts: Mapping[str, str]) -> str:
    """Write a file whole; gives its digest.

    Raises:
        NotSaved, DiskFull, ReadOnly: it could not be written; an old file of that name stands.
    """
    blocks = _blocks(matrix)
    offsets = _offsets(blocks)
    listed = {name: [_TYPES[name], list(block.shape), offsets[name]] for name, block in blocks.items()}
    told = {
        "maker": list(maker),
        "facts": dict(facts),
        "centred_at": matrix.centred_at,
        "blocks": listed,
        "sha256": _digest(blocks),
    }
    header = json.dumps(told, sort_keys=True, separators=(",", ":")).encode()
    temporary = files.write_temporary(path, MAGIC + b"%012d\n" % len(header) + header, prefix=".tmp-vectors-")
    try:
        with open(temporary, "r+b") as file:
            for name, block in blocks.items():
                file.seek(_base(len(header)) + offsets[name])
                file.write(_bytes(block))
            file.flush()
            os.fsync(file.fileno())
        files.move(temporary, path)
    except OSError as exc:
        raise files.not_written(path, exc) from exc
    finally:
        files.remove(temporary)
    return sha256(header).hexdigest()


def read(path: str, digest: str, maker: Maker, facts: Mapping[str, str]) -> Matrix:
    """Open a file and check it, every byte.

    Args:
        digest: 64 hex digits, as `write` gave it.
        maker: who would make the vectors of questions.
        facts: those that it must have been written with.

    Raises:
        IndexDamaged: missing, cut, altered, another file, or with other facts. EmbedderChanged: it is of another maker.
    """
    try:
        with open(path, "rb") as file:
            stamp = stamp_of(os.fstat(file.fileno()))
            mapped = stamp[2] > IN_MEMORY
            whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if mapped else file.read()
    except OSError as exc:
        raise IndexDamaged("The file of the vectors cannot be read", file=path) from exc
    told = _told(path, whole, digest)
    if told["facts"] != dict(facts):
        raise IndexDamaged("The file of the vectors is of another store, agent or recipe", file=path)
    check_same(Maker(*told["maker"]), maker)
    listed, base = told["blocks"].items(), _base(told["size"])
    if len(whole) != base + max(offset + prod(shape) * np.dtype(kind).itemsize for _, (kind, shape, offset) in listed):
        raise IndexDamaged(f"The file of the vectors is cut or was added to: {len(whole)} bytes", file=path)
    blocks = {
        name: np.frombuffer(whole, kind, prod(shape), base + offset).reshape(shape)
        for name, (kind, shape, offset) in listed
    }
    if not same(bytes.fromhex(_digest(blocks)), bytes.fromhex(told["sha256"])):
        raise IndexDamaged("The file of the vectors was altered", file=path)
    seqs = blocks.pop("seqs")
    return Matrix(seqs, Packed(**blocks), told["centred_at"], (path, stamp) if mapped else ("", ()))


def _told(path: str, whole: bytes | mmap.mmap, digest: str) -> dict[str, Any]:
    if whole[: len(MAGIC)] != MAGIC:
        raise IndexDamaged("The file of the vectors is none, or one of another version", file=path)
    size = whole[len(MAGIC) : _PREFIX - 1]
    header = whole[_PREFIX : _PREFIX + int(size)] if size.isdigit() else b""
    if not same(sha256(header).digest(), bytes.fromhex(digest)):
        raise IndexDamaged(
            "The file of the vectors is another one than was written, or its header was altered", file=path
        )
    return {**json.loads(header), "size": len(header)}


def _chosen(packed: Packed, rows: Array) -> Packed:
    """Some rows, by a mask or by their places."""
    return Packed(
        packed.mean,
        packed.codes[rows],
        packed.scales[rows],
        packed.lengths[rows],
        np.ascontiguousarray(packed.signs[:, rows]),
    )


def _blocks(matrix: Matrix) -> dict[str, Array]:
    given = {**matrix.packed._asdict(), "seqs": matrix.seqs}
    return {name: np.ascontiguousarray(given[name], kind) for name, kind in _TYPES.items()}


def _digest(blocks: Mapping[str, Array]) -> str:
    whole = sha256()
    for name in _TYPES:
        whole.update(_bytes(blocks[name]))
    return whole.hexdigest()


def _bytes(block: Array) -> memoryview:
    return block.reshape(-1).view(np.uint8).data


def _offsets(blocks: Mapping[str, Array]) -> dict[str, int]:
    offsets, at = {}, 0
    for name, block in blocks.items():
        offsets[name] = at
        at = _up(at + block.nbytes)
    return offsets


def _base(header: int) -> int:
    """Where the first block begins, behind a header of so many bytes."""
    return _up(_PREFIX + header)


def _up(at: int) -> int:
    return -(-at // _ALIGN) * _ALIGN
