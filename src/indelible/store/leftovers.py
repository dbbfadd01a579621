"""What lies in the unused parts of a SQLite file's pages: rows that were moved or deleted may still be there.

`secure_delete` overwrites a row where it stood last. When pages are split or joined SQLite copies rows to other pages and
leaves the copies in what becomes free space there; only a VACUUM rewrites that. (https://sqlite.org/fileformat2.html, 1.6)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

_HEADER = 100
"""Bytes of the file's own header, before that of its first page."""
_NODES = {2: 12, 5: 12, 10: 8, 13: 8}
"""Kinds of b-tree pages, and how long their headers are."""


def unused(path: str) -> Iterator[bytes]:
    """The unused parts that are not all zeros, page by page; of the freelist whole pages.

    Raises:
        OSError: the file cannot be read.
    """
    with open(path, "rb") as file:
        header = file.read(_HEADER)
        size = int.from_bytes(header[16:18], "big")
        size = 65_536 if size == 1 else size
        if size < 512:  # no page was ever written
            return
        free = _freelist(file, size, int.from_bytes(header[32:36], "big"))
        file.seek(0)
        number = 1
        while page := file.read(size):
            gap = page if number in free else _gap(page, _HEADER if number == 1 else 0)
            if gap.strip(b"\0"):
                yield gap
            number += 1


def _freelist(file: BinaryIO, size: int, trunk: int) -> set[int]:
    """The numbers of all free pages, from the first trunk page on."""
    free: set[int] = set()
    while trunk and trunk not in free:
        free.add(trunk)
        file.seek((trunk - 1) * size)
        page = file.read(size)
        count = min(int.from_bytes(page[4:8], "big"), size // 4 - 2)
        free.update(int.from_bytes(page[8 + 4 * at : 12 + 4 * at], "big") for at in range(count))
        trunk = int.from_bytes(page[:4], "big")
    return free


def _gap(page: bytes, start: int) -> bytes:
    """The bytes between the cell pointers and the cells of a b-tree page, and its free blocks; of another page nothing."""
    length = _NODES.get(page[start])
    if length is None:
        return b""
    cells = int.from_bytes(page[start + 3 : start + 5], "big")
    content = int.from_bytes(page[start + 5 : start + 7], "big") or 65_536
    gap = page[start + length + 2 * cells : content]
    block = int.from_bytes(page[start + 1 : start + 3], "big")
    while 0 < block <= len(page) - 4:
        following, size = (
            int.from_bytes(page[block : block + 2], "big"),
            int.from_bytes(page[block + 2 : block + 4], "big"),
        )
        gap += b"\0" * (-len(gap) % 8) + page[block + 4 : block + size]
        if following <= block:
            break
        block = following
    return gap
