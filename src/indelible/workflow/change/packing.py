"""A pack file with its index, as git reads them: many objects in two files. Plain, without deltas: gitformat-pack, version 2.

pack   "PACK" 2 <count> { <kind and size> <content, compressed> } <digest of it all>
index  ff "tOc" 2, how many names begin with up to each byte, names, CRC-32s, offsets, far offsets, the pack's digest, its own
"""

from __future__ import annotations

import os
from struct import pack

from indelible.files import not_written
from indelible.light import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from hashlib import _Hash
    from types import TracebackType
    from typing import Self

_KINDS = {"commit": 1, "tree": 2, "blob": 3, "tag": 4}
_HEAD = 12
_FLAG = 1 << 31
_FAR = _FLAG
"""Offsets from here on stand in a table of their own, and their place there, with the flag, in the usual one."""
_PIECE = 1 << 20


class _Entry(NamedTuple):
    name: bytes
    crc: int
    offset: int


class PackFile:
    """A pack that is being written; readable once its `with` has ended well.

    Args:
        folder: of objects.
        form: `sha1` or `sha256`.

    Raises:
        NotSaved, DiskFull: there is no room for it.
    """

    def __init__(self, folder: str, form: str) -> None:
        self._folder, self._form = os.path.join(folder, "pack"), form
        self._path = os.path.join(self._folder, "pack-held")
        self._entries: list[_Entry] = []
        self._at = _HEAD

    def __enter__(self) -> Self:
        try:
            os.makedirs(self._folder, exist_ok=True)
            self._file = open(f"{self._path}.part", "w+b")
            self._file.write(b"\0" * _HEAD)
        except OSError as exc:
            raise not_written(self._folder, exc, "The folder") from exc
        return self

    def add(self, name: str, kind: str, content: bytes) -> None:
        """An object, once."""
        from zlib import compress, crc32

        data = _sized(_KINDS[kind], len(content)) + compress(content, 1)
        try:
            self._file.write(data)
        except OSError as exc:
            raise not_written(self._folder, exc, "The folder") from exc
        self._entries.append(_Entry(bytes.fromhex(name), crc32(data), self._at))
        self._at += len(data)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None and self._entries:
                self._finish()
        except OSError as exc:
            raise not_written(self._folder, exc, "The folder") from exc
        finally:
            self._file.close()

    def _finish(self) -> None:
        from hashlib import sha1, sha256

        hashing: Callable[[], _Hash] = sha256 if self._form == "sha256" else lambda: sha1(usedforsecurity=False)
        file, whole = self._file, hashing()
        file.seek(0)
        file.write(pack(">4sII", b"PACK", 2, len(self._entries)))
        file.seek(0)
        while piece := file.read(_PIECE):
            whole.update(piece)
        file.write(whole.digest())
        file.close()
        index, own = _index(sorted(self._entries)) + whole.digest(), hashing()
        own.update(index)
        with open(f"{self._path}.idx", "wb") as out:
            out.write(index + own.digest())
        os.replace(f"{self._path}.part", f"{self._path}.pack")


def _sized(kind: int, size: int) -> bytes:
    """The kind and the size: four bits, and then seven in each byte, the low ones first."""
    first, size = kind << 4 | size & 15, size >> 4
    found = bytearray()
    while size:
        found.append(first | 128)
        first, size = size & 127, size >> 7
    return bytes((*found, first))


def _index(entries: Sequence[_Entry]) -> bytes:
    """The index without its two digests."""
    counts = [0] * 256
    for one in entries:
        counts[one.name[0]] += 1
    upto = [sum(counts[: byte + 1]) for byte in range(256)]
    far = [one.offset for one in entries if one.offset >= _FAR]
    places = iter(range(len(far)))
    near = [one.offset if one.offset < _FAR else _FLAG | next(places) for one in entries]
    number = len(entries)
    return b"".join((
        b"\377tOc", pack(">I256I", 2, *upto), *(one.name for one in entries), pack(f">{number}I", *(one.crc for one in entries)),
        pack(f">{number}I", *near), pack(f">{len(far)}Q", *far),
    ))  # fmt: skip
