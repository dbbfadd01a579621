"""Inclusion and consistency proofs from the store's tiles, checked against the verified root before they are handed out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indelible.errors import Malformed, Missing
from indelible.seal.merkle import (
    ProofError,
    leaf_hash,
    node_hash,
    prove_consistency,
    prove_inclusion,
    root_of,
    verify_inclusion,
)
from indelible.seal.proof import TlogProof
from indelible.store.tiling import WIDTH

if TYPE_CHECKING:
    from indelible.store.follow import Head
    from indelible.store.store import Reading, Store

_HASH = 32
_TILE_LEVELS = 8
"""A tile of 256 hashes spans eight levels of the tree."""


class StoredHashes:
    """`reader(level, index)`: the hash of a complete subtree, from a full tile where there is one, else from the leaves."""

    def __init__(self, store: Store, agent: str, reading: Reading) -> None:
        self._store, self._agent, self._reading = store, agent, reading

    def __call__(self, level: int, index: int) -> bytes:
        tile_level, within = divmod(level, _TILE_LEVELS)
        width = 1 << within
        n, start = divmod(index * width, WIDTH)
        if (hashes := self._tile(tile_level, n)) is not None:
            return root_of(hashes[start : start + width])
        if level == _TILE_LEVELS and (hashes := self._tile(0, index)) is not None:
            return root_of(hashes)
        if level > _TILE_LEVELS:
            return node_hash(self(level - 1, 2 * index), self(level - 1, 2 * index + 1))
        return self._from_leaves(index << level, (index + 1) << level)

    def _tile(self, level: int, n: int) -> list[bytes] | None:
        tile = self._store.tile(self._agent, level, n)
        if tile is None or len(tile) != WIDTH * _HASH:
            return None
        return [tile[at : at + _HASH] for at in range(0, len(tile), _HASH)]

    def _from_leaves(self, start: int, end: int) -> bytes:
        leaves = [leaf_hash(leaf) for leaf in self._reading.leaves(start, end)]
        if len(leaves) != end - start:
            raise Missing(f"Entries {start} to {end} are not all there")
        return root_of(leaves)


def prove(store: Store, agent: str, reading: Reading, seq: int, head: Head) -> tuple[bytes, TlogProof]:
    """The leaf at `seq` with its inclusion proof under `head`.

    Raises:
        Missing, Malformed: the store's tiles or leaves do not lead to the verified root.
    """
    leaf = next(iter(reading.leaves(seq, seq + 1)), None)
    if leaf is None or head.note is None:
        raise Missing(f"Entry {seq} of {agent!r} is gone", seq=seq)
    hashes = prove_inclusion(seq, head.size, StoredHashes(store, agent, reading))
    try:
        verify_inclusion(leaf_hash(leaf), seq, head.size, hashes, head.root)
    except ProofError as exc:
        raise Malformed(
            "The store's tiles do not lead to the signed root", remedy="Run 'indelible audit' to see which", seq=seq
        ) from exc
    return leaf, TlogProof(seq, tuple(hashes), head.note, None)


def consistency(store: Store, agent: str, reading: Reading, old: int, size: int) -> list[bytes]:
    """Proof that the log of `size` continues the one of `old` (RFC 6962, 2.1.2); from 0 it is an error."""
    return prove_consistency(old, size, StoredHashes(store, agent, reading))
