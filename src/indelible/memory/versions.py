"""Every version that was saved and not erased since, by the number of the entry that saved it: for who asks what a copy is a copy of.

Recall ranks what is in force; a damaged copy may be of an older version, or of what was archived, and must not be taken for
something that only resembles it. All leaves are read once, and have to hash to the head that this reader verified.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from indelible.entry import Noted, Saved, parse_entry, split_leaf
from indelible.errors import Forked
from indelible.recall.ascending import ascending
from indelible.seal.merkle import Frontier, leaf_hash
from indelible.sealed import Commitments

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from indelible.store.follow import Head
    from indelible.store.store import Reading

BATCH = 4_096


class Version(NamedTuple):
    """One version that may still be there."""

    key: str
    version: int
    at: str
    commitments: Commitments


class Versions:
    """All of them up to the head that was last taken over."""

    def __init__(self) -> None:
        self._forget()

    def _forget(self) -> None:
        self._frontier = Frontier(0, ())
        self._by_seq: dict[int, Version] = {}
        self._of_key: dict[str, list[int]] = {}
        self._sorted: NDArray[np.uint64] | None = None

    def follow(self, reading: Reading, head: Head, advance: Callable[[int, int], None] | None = None) -> None:
        """Take over what is new; from the beginning where the log is another one.

        Raises:
            Forked: the leaves do not hash to the head.
        """
        if self._frontier.size == head.size and self._frontier.root() == head.root:
            return
        if self._frontier.size >= head.size or not self._take(reading, head, advance):
            self._forget()  # a lawful restore: nothing of the other log counts
            if not self._take(reading, head, advance):
                raise Forked("The entries do not hash to the signed head", size=head.size)

    def _take(self, reading: Reading, head: Head, advance: Callable[[int, int], None] | None) -> bool:
        """Read on to the head; False where that does not lead to its root."""
        frontier, start = self._frontier, self._frontier.size
        for first in range(start, head.size, BATCH):
            leaves = list(reading.leaves(first, min(first + BATCH, head.size)))
            frontier = frontier.extend(list(map(leaf_hash, leaves)))
            for leaf in leaves:
                self._put(parse_entry(split_leaf(leaf)[0]))
            if advance is not None:
                advance(first + len(leaves), head.size)
        self._frontier, self._sorted = frontier, None
        return frontier.size == head.size and frontier.root() == head.root

    def _put(self, entry: object) -> None:
        if isinstance(entry, Saved):
            commitments = Commitments(bytes.fromhex(entry.content), bytes.fromhex(entry.record))
            self._by_seq[entry.seq] = Version(entry.key, entry.version, entry.at, commitments)
            self._of_key.setdefault(entry.key, []).append(entry.seq)
        elif isinstance(entry, Noted) and entry.type == "erased":
            for seq in self._of_key.pop(entry.key, ()):
                del self._by_seq[seq]

    def seqs(self) -> NDArray[np.uint64]:
        """Their entries, ascending."""
        if self._sorted is None:
            self._sorted = ascending(self._by_seq)
        return self._sorted

    def get(self, seq: int) -> Version | None:
        return self._by_seq.get(seq)

    def under(self, prefix: str) -> NDArray[np.uint64]:
        """The entries of keys that begin with `prefix`, ascending."""
        return ascending([seq for key, seqs in self._of_key.items() if key.startswith(prefix) for seq in seqs])

    def unlike(self, seqs: NDArray[np.uint64], commitments: NDArray[np.uint8]) -> frozenset[int]:
        """Those of `seqs` (n,) to whose content the log commits by another than these `commitments` (n, 32)."""
        pairs = zip(seqs.tolist(), commitments, strict=True)
        return frozenset(
            seq
            for seq, commitment in pairs
            if (known := self._by_seq.get(seq)) is not None and known.commitments.content != commitment.tobytes()
        )
