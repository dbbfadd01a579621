"""The Merkle tree over a log, grown leaf by leaf, with each full tile of 256 hashes as it is completed.

Only the roots of full tiles and the leaf hashes of the last, open one are kept: a million entries take 4,000 hashes.
The hashes of the complete subtrees above and within the open tile, one after the other, are the frontier of the whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indelible.seal.merkle import EMPTY_FRONTIER, Frontier, root_of

if TYPE_CHECKING:
    from collections.abc import Iterator

WIDTH = 256

_BITS = 8
_LEVELS = 8


class Tree:
    """The tree of the first `size` entries."""

    def __init__(self) -> None:
        self.size = 0
        self._open: list[bytes] = []
        self._full: list[bytes] = []

    def add(self, leaf_hash: bytes) -> tuple[int, bytes] | None:
        """Append one leaf hash; where it completes a tile of level 0, `(n, hashes)` of that tile."""
        row = self._open
        row.append(leaf_hash)
        self.size += 1
        if len(row) < WIDTH:
            return None
        self._full.append(root_of(row))
        self._open = []
        return len(self._full) - 1, b"".join(row)

    def root(self) -> bytes:
        """The root over all of them."""
        above, within = EMPTY_FRONTIER.extend(self._full), EMPTY_FRONTIER.extend(self._open)
        return Frontier(self.size, above.hashes + within.hashes).root()

    def upper_tiles(self) -> Iterator[tuple[int, int, bytes]]:
        """`(level, n, hashes)` of every full tile above level 0."""
        level, row = 1, self._full
        while len(row) >= WIDTH:
            tiles = [row[at : at + WIDTH] for at in range(0, len(row) - WIDTH + 1, WIDTH)]
            for n, hashes in enumerate(tiles):
                yield level, n, b"".join(hashes)
            level, row = level + 1, [root_of(hashes) for hashes in tiles]


def is_full_tile(level: int, n: int, size: int) -> bool:
    """Whether a log of this size has completed that tile."""
    return level in range(_LEVELS) and 0 <= n < size >> _BITS * (level + 1)
