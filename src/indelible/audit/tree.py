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
    """The tree of the entries so far."""

    def __init__(self) -> None:
        self.open: list[bytes] = []
        """Leaf hashes that are in no full tile yet. Append here, and call `close` when there are `WIDTH` of them."""
        self._full: list[bytes] = []

    @property
    def size(self) -> int:
        """Entries so far."""
        return len(self._full) * WIDTH + len(self.open)

    def close(self) -> tuple[int, bytes]:
        """End the open tile. Returns its number and its hashes."""
        row = self.open
        self._full.append(root_of(row))
        self.open = []
        return len(self._full) - 1, b"".join(row)

    def root(self, size: int | None = None) -> bytes:
        """The root over the first `size` entries, which must end in the open tile; over all of them if it is None."""
        size = self.size if size is None else size
        above = EMPTY_FRONTIER.extend(self._full)
        within = EMPTY_FRONTIER.extend(self.open[: size - len(self._full) * WIDTH])
        return Frontier(size, above.hashes + within.hashes).root()

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
