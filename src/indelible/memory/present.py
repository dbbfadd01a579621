"""Which version of which memory is in force, by the number of the entry that saved it: the reader's own table, as arrays.

The index knows entries by their numbers alone. Which of them are live, what key each is of, and to what content the log commits,
is taken from the follower's table and never from the index.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indelible.entry import Governed, parse_entry, split_leaf

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from indelible.store.follower import Table
    from indelible.store.pintable import Latest
    from indelible.store.store import Reading

IN_FORCE = frozenset({"active", "superseded"})
"""States that a log gives such a memory: what was approved is not out of force for the agent's own word that it is superseded."""
FEW = 5_000
"""New entries that are looked at one by one; of more the whole table is read again."""


class Live(NamedTuple):
    """One memory in force."""

    key: str
    commitment: bytes


class Present:
    """What is in force, up to entry `size` of the log whose head is `note`."""

    def __init__(self) -> None:
        self.size, self.note = 0, b""
        self.erased = False
        """Whether something was erased in what was taken over, for whoever keeps rows of it; who looks sets it back."""
        self._live: dict[int, Live] = {}
        self._seq_of: dict[str, int] = {}
        self._sorted: NDArray[np.uint64] | None = None
        self._last = b""
        """The newest entry, so that another log is told from a longer one."""

    def __len__(self) -> int:
        return len(self._live)

    def follow(self, table: Table, reading: Reading, size: int, note: bytes) -> None:
        """Take over what is new. The table has followed the log to `size` already."""
        if self.size == 0 or size < self.size or size - self.size > FEW or not self._is_continued(reading):
            rows = list(table.present(IN_FORCE | {"erased"}))
            self._live = {seq: Live(key, content) for key, seq, content, state in rows if state in IN_FORCE}
            self.erased = len(self._live) < len(rows)
            self._seq_of = {live.key: seq for seq, live in self._live.items()}
        else:
            for key in _keys_of(reading.leaves(self.size, size)):
                self._put(key, table.get(key))
        self.size, self.note, self._sorted = size, note, None
        self._last = _leaf(reading, size - 1)

    def _is_continued(self, reading: Reading) -> bool:
        """Whether the log that was looked at is the beginning of this one: a lawful restore puts another one in its place."""
        return _leaf(reading, self.size - 1) == self._last

    def _put(self, key: str, latest: Latest | None) -> None:
        before = self._seq_of.pop(key, None)
        if before is not None:
            self._live.pop(before, None)
        if latest is not None and latest.state == "erased":
            self.erased = True
        if latest is not None and latest.state in IN_FORCE:
            self._live[latest.saved_seq] = Live(key, latest.content)
            self._seq_of[key] = latest.saved_seq

    def seqs(self) -> NDArray[np.uint64]:
        """Numbers of the entries that saved what is in force, ascending."""
        if self._sorted is None:
            self._sorted = np.fromiter(self._live, np.uint64, len(self._live))
            self._sorted.sort()
        return self._sorted

    def get(self, seq: int) -> Live | None:
        return self._live.get(seq)

    def under(self, prefix: str) -> tuple[int, ...]:
        """The entries of the keys that begin with `prefix`."""
        return tuple(seq for key, seq in self._seq_of.items() if key.startswith(prefix))


def _keys_of(leaves: Iterable[bytes]) -> set[str]:
    entries = (parse_entry(split_leaf(leaf)[0]) for leaf in leaves)
    return {entry.key for entry in entries if not isinstance(entry, Governed)}


def _leaf(reading: Reading, seq: int) -> bytes:
    return next(iter(reading.leaves(seq, seq + 1)), b"") if seq >= 0 else b""
