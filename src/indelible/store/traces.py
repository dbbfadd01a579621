"""Traces of erased bytes: what is looked for in a file, and where it stands there.

A text is known again by pieces of 24 bytes, at whatever place it stands and wherever a page ends in it: the file is looked at
every 8 bytes, and so nothing of 31 bytes or more that stands together can be missed. Of the middle of a long text only one
such run in every 1,024 bytes is taken: what SQLite leaves of that are whole pages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PIECE = 24
STEP = 8
SURE = PIECE + STEP - 1
"""Bytes from which on a remnant cannot be missed."""
LEAST = 8
"""A shorter text stands everywhere by chance."""
NEAR = 4096
"""How much of a text's beginning and end is taken whole: what can stand in a page beside other rows."""
FAR = 1024
_DISTINCT = 6


class Traces:
    """What is looked for.

    Args:
        innocent: bytes that stand in other places rightly (names, paths): pieces of them are not looked for.
    """

    __slots__ = ("_innocent", "pieces", "short")

    def __init__(self, innocent: bytes = b"") -> None:
        self._innocent = innocent
        self.pieces: set[bytes] = set()
        self.short: set[bytes] = set()

    def __bool__(self) -> bool:
        return bool(self.pieces or self.short)

    def add(self, data: bytes) -> bool:
        """Look for `data`; False where nothing of it could be told from bytes that are there by chance."""
        if len(data) < SURE:
            if len(data) < LEAST or not _is_distinct(data) or data in self._innocent:
                return False
            self.short.add(data)
            return True
        found = {piece for at in _places(len(data)) if _is_distinct(piece := data[at : at + PIECE])}
        if self._innocent:
            found = {piece for piece in found if piece not in self._innocent}
        self.pieces |= found
        return bool(found)

    def find(self, data: bytes) -> list[tuple[int, bytes]]:
        """`(offset, piece)` of every piece that stands in `data`, in order."""
        pieces = self.pieces
        found = [
            (at, data[at : at + PIECE])
            for at in range(0, len(data) - PIECE + 1, STEP)
            if data[at : at + PIECE] in pieces
        ]
        if not self.short:
            return found
        return sorted([*found, *((at, text) for text in self.short for at in _each(data, text))])

    def within(self, data: bytes, wanted: set[bytes]) -> set[bytes]:
        """Those of the pieces `wanted` that stand anywhere in `data`."""
        long = {data[at : at + PIECE] for at in range(len(data) - PIECE + 1)} & wanted
        return long | {text for text in wanted if len(text) != PIECE and text in data}


def _places(size: int) -> Iterator[int]:
    """Where the pieces begin that are taken of a text of that size."""
    end = size - PIECE + 1
    yield from range(min(end, NEAR))
    for at in range(NEAR, end - NEAR, FAR):
        yield from range(at, at + STEP)
    yield from range(max(NEAR, end - NEAR), end)


def _is_distinct(piece: bytes) -> bool:
    """Rows of dashes, spaces and zeros are everywhere."""
    return len(set(piece)) >= _DISTINCT


def _each(data: bytes, text: bytes) -> Iterator[int]:
    at = data.find(text)
    while at >= 0:
        yield at
        at = data.find(text, at + 1)
