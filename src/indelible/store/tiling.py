"""Full tiles of 256 hashes (C2SP tlog-tiles), written when the leaf that completes one is appended.

Tiles serve proofs; nothing is signed from them. What lies beyond the last full tile is hashed
again from the leaves, which are at most 255.
"""

from __future__ import annotations

from indelible.light import TYPE_CHECKING
from indelible.seal.merkle import leaf_hash, root_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

WIDTH = 256


def complete_tiles(
    size: int, leaves: Callable[[int, int], Iterable[bytes]], tile: Callable[[int, int], bytes]
) -> Iterator[tuple[int, int, bytes]]:
    """`(level, n, hashes)` for every tile that a log of `size` leaves has just completed, lowest level first."""
    if size % WIDTH:
        return
    hashes = b"".join(leaf_hash(leaf) for leaf in leaves(size - WIDTH, size))
    level, count = 0, size // WIDTH
    yield level, count - 1, hashes
    while count % WIDTH == 0:
        level += 1
        hashes = b"".join(_root(tile(level - 1, n)) for n in range(count - WIDTH, count))
        count //= WIDTH
        yield level, count - 1, hashes


def _root(hashes: bytes) -> bytes:
    return root_of([hashes[at : at + 32] for at in range(0, len(hashes), 32)])
