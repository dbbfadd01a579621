"""How a segment lies in a file.

    indelible-segment-1 LF  size of the header in 12 digits LF
    header                  JSON: {"blocks": {name: [shape, offset, SHA-256]}, "facts": {...}}
    blocks                  each array's elements, little-endian, beginning at a multiple of 64 bytes, zeros between them

The digest of a segment is the SHA-256 of its header, and thereby of all. Whoever opens one knows its digest from elsewhere
and says which facts it has to have (recipe, place, embedder); a file that is anything else is refused and its fault is named.
"""

from __future__ import annotations

import json
import mmap
import os
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indelible import files
from indelible.errors import IndexDamaged
from indelible.recall.columns import TYPES, Columns
from indelible.seal.digest import same

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indelible.recall.columns import Array

MAGIC = b"indelible-segment-1\n"
IN_MEMORY = 1 << 26
"""Bytes up to which a file is read rather than mapped: what was checked is then what is used, whatever becomes of the file."""
_ALIGN = 64
_PREFIX = len(MAGIC) + 13
_NO_DIGEST = "0" * 64

Shapes = dict[str, tuple[int, ...]]


class Opened(NamedTuple):
    """A file that is what it should be."""

    columns: Columns
    facts: dict[str, str]
    mapped: bool
    """Its pages are still those of the file."""
    stamp: tuple[int, ...]
    """`stamp_of` it when it was checked."""


class Draft:
    """A segment in the making: zeros of the right shapes, in a new file beside its place."""

    def __init__(self, path: str, shapes: Shapes, facts: Mapping[str, str]) -> None:
        self._path, self._shapes, self._facts = path, shapes, dict(facts)
        self._offsets, size = _offsets(shapes, len(self._header({})))
        self._temporary = files.write_temporary(path, b"", prefix=".tmp-segment-")
        try:
            with open(self._temporary, "r+b") as file:
                os.truncate(file.fileno(), size)
                self._map = mmap.mmap(file.fileno(), size)
        except OSError as exc:
            files.remove(self._temporary)
            raise files.not_written(path, exc) from exc
        self.columns = _columns(self._map, shapes, self._offsets)

    def finish(self) -> str:
        """Put it in its place, synced; gives its digest."""
        header = self._header(_digests(self._map, self._offsets, len(self._header({}))))
        self._map[: len(header)] = header
        self._map.flush()
        files.move(self._temporary, self._path)
        return sha256(header[_PREFIX:]).hexdigest()

    def drop(self) -> None:
        """Take the unfinished file away; nothing happens where it is finished."""
        files.remove(self._temporary)

    def _header(self, digests: Mapping[str, str]) -> bytes:
        """As long with digests as without."""
        offsets = getattr(self, "_offsets", {})
        blocks = {
            name: [list(shape), f"{offsets.get(name, 0):016}", digests.get(name, _NO_DIGEST)]
            for name, shape in self._shapes.items()
        }
        header = json.dumps({"blocks": blocks, "facts": self._facts}, sort_keys=True, separators=(",", ":")).encode()
        return MAGIC + b"%012d\n" % len(header) + header


def write(path: str, columns: Columns, facts: Mapping[str, str]) -> str:
    """Write a segment whole; gives its digest.

    Raises:
        NotSaved, DiskFull, ReadOnly: it could not be written; an old file of that name stands.
    """
    draft = Draft(path, {name: array.shape for name, array in columns._asdict().items()}, facts)
    try:
        for target, source in zip(draft.columns, columns, strict=True):
            target[...] = source
        return draft.finish()
    finally:
        draft.drop()


def read(path: str, digest: str, facts: Mapping[str, str], *, mapped: bool | None = None) -> Opened:
    """Open and check a segment, every byte of it.

    Args:
        path: of the file; a link is followed.
        digest: 64 hex digits, as `write` gave it.
        facts: those that it must have been written with; it may have more.
        mapped: whether it stays in the file; None leaves that to its size.

    Raises:
        IndexDamaged: missing, cut, altered, another segment, or with other facts.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0))
        try:
            stamp = stamp_of(os.fstat(descriptor))
            mapped = stamp[2] > IN_MEMORY if mapped is None else mapped and stamp[2] > 0
            whole = mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ) if mapped else _read_all(descriptor)
        finally:
            os.close(descriptor)
    except OSError as exc:
        raise IndexDamaged(f"A file of the index cannot be read ({exc.strerror})", file=path) from exc
    columns, found = _check(path, whole, digest)
    _compare_facts(path, found, facts)
    return Opened(columns, found, mapped, stamp)


def stamp_of(stat: os.stat_result) -> tuple[int, ...]:
    """What changes when a file is written to, cut or replaced."""
    return stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns


def _read_all(descriptor: int) -> bytes:
    with open(descriptor, "rb", closefd=False) as file:
        return file.read()


def _check(path: str, whole: bytes | mmap.mmap, digest: str) -> tuple[Columns, dict[str, str]]:
    if whole[: len(MAGIC)] != MAGIC:
        raise IndexDamaged("A file of the index is no segment, or one of another version", file=path)
    size = whole[len(MAGIC) : _PREFIX - 1]
    header = whole[_PREFIX : _PREFIX + int(size)] if size.isdigit() else b""
    if not same(sha256(header).digest(), bytes.fromhex(digest)):
        raise IndexDamaged("A file of the index is another one than was written, or its header was altered", file=path)
    told = json.loads(header)
    shapes = {name: tuple(told["blocks"][name][0]) for name in Columns._fields}
    offsets = {name: int(told["blocks"][name][1]) for name in Columns._fields}
    if len(whole) != _end(shapes, offsets):
        raise IndexDamaged(f"A file of the index is cut or was added to: {len(whole)} bytes", file=path)
    for name, actual in _digests(whole, offsets, _PREFIX + len(header)).items():
        if not same(bytes.fromhex(actual), bytes.fromhex(told["blocks"][name][2])):
            raise IndexDamaged(f"A file of the index was altered: its block {name}", file=path, block=name)
    return _columns(whole, shapes, offsets), told["facts"]


def _compare_facts(path: str, found: Mapping[str, str], wanted: Mapping[str, str]) -> None:
    for name, value in wanted.items():
        if found.get(name) != value:
            raise IndexDamaged(f"A file of the index has another {name} than this store's", file=path, fact=name)


def _digests(whole: bytes | mmap.mmap, offsets: Mapping[str, int], header: int) -> dict[str, str]:
    """SHA-256 of each block, with the zeros behind it (before the first one, too), on as many threads as help."""
    view = memoryview(whole)
    inner = list(offsets.values())[1:]
    spans = zip((header, *inner), (*inner, len(view)), strict=True)
    with ThreadPoolExecutor(2) as pool:
        done = pool.map(lambda span: sha256(view[span[0] : span[1]]).hexdigest(), spans)
        return dict(zip(offsets, done, strict=True))


def _offsets(shapes: Shapes, header: int) -> tuple[dict[str, int], int]:
    """Where each block begins, and where the last one ends."""
    offsets, at = {}, header
    for name, shape in shapes.items():
        offsets[name] = at = -(-at // _ALIGN) * _ALIGN
        at += _size(name, shape)
    return offsets, at


def _end(shapes: Shapes, offsets: Mapping[str, int]) -> int:
    return max(offsets[name] + _size(name, shape) for name, shape in shapes.items())


def _size(name: str, shape: tuple[int, ...]) -> int:
    return prod(shape) * np.dtype(TYPES[name]).itemsize


def _columns(whole: bytes | mmap.mmap, shapes: Shapes, offsets: Mapping[str, int]) -> Columns:
    def view(name: str) -> Array:
        return np.frombuffer(whole, TYPES[name], prod(shapes[name]), offsets[name]).reshape(shapes[name])

    return Columns(*(view(name) for name in Columns._fields))
