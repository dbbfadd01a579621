"""The audit's own tree: its roots are those of RFC 6962, its tiles those of the store."""

from __future__ import annotations

from hashlib import sha256

import pytest

from indelible.audit.tree import WIDTH, Tree, is_full_tile
from indelible.seal.merkle import EMPTY_ROOT, root_of


def grown(size: int) -> tuple[Tree, list[bytes], list[tuple[int, bytes]]]:
    """A tree over `size` leaf hashes, those, and the tiles that it closed."""
    hashes = [sha256(b"%d" % number).digest() for number in range(size)]
    tree, tiles = Tree(), []
    for leaf in hashes:
        tree.open.append(leaf)
        if len(tree.open) == WIDTH:
            tiles.append(tree.close())
    return tree, hashes, tiles


@pytest.mark.parametrize("size", [0, 1, 2, 3, 255, 256, 257, 511, 512, 700])
def test_the_root_is_that_of_rfc_6962(size: int) -> None:
    tree, hashes, _ = grown(size)
    assert tree.size == size
    assert tree.root() == root_of(hashes)


def test_the_root_at_an_earlier_size_is_that_of_the_log_then() -> None:
    tree, hashes, _ = grown(300)
    for size in (257, 280, 300):
        assert tree.root(size) == root_of(hashes[:size])


def test_an_empty_tree_has_the_root_of_nothing() -> None:
    assert Tree().root() == EMPTY_ROOT


def test_tiles_hold_the_hashes_of_what_is_below_them() -> None:
    tree, hashes, tiles = grown(WIDTH * WIDTH + 5)
    assert [n for n, _ in tiles] == list(range(WIDTH))
    assert tiles[3][1] == b"".join(hashes[3 * WIDTH : 4 * WIDTH])
    ((level, n, above),) = tree.upper_tiles()
    assert (level, n) == (1, 0)
    assert above[:32] == root_of(hashes[:WIDTH])
    assert len(above) == WIDTH * 32


@pytest.mark.parametrize(
    ("level", "n", "size", "full"),
    [(0, 0, 255, False), (0, 0, 256, True), (0, 1, 511, False), (1, 0, 65_535, False), (1, 0, 65_536, True),
     (0, -1, 256, False), (-1, 0, 256, False), (8, 0, 2**62, False), (7, 0, 2**63, False)],
)  # fmt: skip
def test_a_tile_is_there_when_its_last_hash_is(level: int, n: int, size: int, full: bool) -> None:
    assert is_full_tile(level, n, size) is full
