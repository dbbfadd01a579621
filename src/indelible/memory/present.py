"""Which version of which memory is in force, by the number of the entry that saved it: the reader's own table, as arrays.

The index knows entries by their numbers alone. Which of them are live, what key each is of, and to what content the log commits,
is taken from the follower's table and never from the index. A million memories take 100 bytes each; what changed since the table
was read lies over them in dictionaries.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indelible.entry import Governed, parse_entry, split_leaf
from indelible.recall.ascending import ascending, united, within

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from indelible.recall.ascending import Numbers
    from indelible.store.follower import Table
    from indelible.store.pintable import Latest
    from indelible.store.store import Reading

IN_FORCE = frozenset({"active", "superseded"})
"""States that a log gives such a memory: what was approved is not out of force for the agent's own word that it is superseded."""
FEW = 5_000
"""New entries that are looked at one by one; of more the whole table is read again."""
_AT_ONCE = 4_096
_DIGEST = 32


class Live(NamedTuple):
    """One memory in force."""

    key: str
    commitment: bytes


class _Read(NamedTuple):
    """The table as it was read, in the order of the keys' bytes."""

    text: bytes
    """The keys in UTF-8, one behind the other."""
    ends: NDArray[np.int64]
    """(n + 1,): where each of them ends, after a first 0."""
    numbers: Numbers
    """(n,)"""
    commitments: NDArray[np.uint8]
    """(n, 32)"""
    order: NDArray[np.intp]
    """(n,): the places in the order of the numbers."""
    ascending: Numbers
    """(n,): the numbers in their order."""

    def key(self, place: int) -> bytes:
        start, end = self.ends[place : place + 2].tolist()
        return self.text[start:end]

    def place_of(self, key: bytes) -> int:
        """The place of the first key that is not before this one."""
        return bisect_left(range(len(self.numbers)), key, key=self.key)

    def places(self, numbers: Numbers) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Where each number stands, and whether it stands there at all."""
        found = np.minimum(np.searchsorted(self.ascending, numbers), max(len(self.order) - 1, 0))
        if not len(self.order):
            return np.zeros(len(numbers), np.intp), np.zeros(len(numbers), np.bool_)
        return self.order[found], self.ascending[found] == numbers


class Present:
    """What is in force, up to entry `size` of the log whose head is `note`."""

    def __init__(self) -> None:
        self.size, self.note = 0, b""
        self.erased = False
        """Whether something was erased in what was taken over, for whoever keeps rows of it; who looks sets it back."""
        self._read, _ = _read(iter(()))
        self._new: dict[int, Live] = {}
        self._new_of: dict[str, int | None] = {}
        """Of each key that changed: the entry that is in force now."""
        self._gone: set[int] = set()
        """Entries of `_read` that are not in force any more."""
        self._sorted: Numbers | None = None
        self._last = b""
        """The newest entry, so that another log is told from a longer one."""

    def __len__(self) -> int:
        return len(self._read.numbers) - len(self._gone) + len(self._new)

    def follow(self, table: Table, reading: Reading, size: int, note: bytes) -> None:
        """Take over what is new. The table has followed the log to `size` already."""
        few = 0 < self.size <= size <= self.size + FEW and len(self._new_of) <= FEW
        if few and self._is_continued(reading):
            for key in _keys_of(reading.leaves(self.size, size)):
                self._put(key, table.get(key))
        else:
            self._read, self.erased = _read(table.present(IN_FORCE | {"erased"}))
            self._new, self._new_of, self._gone = {}, {}, set()
        self.size, self.note, self._sorted = size, note, None
        self._last = _leaf(reading, size - 1)

    def _is_continued(self, reading: Reading) -> bool:
        """Whether the log that was looked at is the beginning of this one: a lawful restore puts another one in its place."""
        return _leaf(reading, self.size - 1) == self._last

    def _put(self, key: str, latest: Latest | None) -> None:
        before = self._seq_of(key)
        if before is not None and self._new.pop(before, None) is None:
            self._gone.add(before)
        if latest is not None and latest.state == "erased":
            self.erased = True
        self._new_of[key] = None
        if latest is not None and latest.state in IN_FORCE:
            self._new_of[key] = latest.saved_seq
            if latest.saved_seq in self._gone:
                self._gone.remove(latest.saved_seq)  # it is in force again, as it was read
            else:
                self._new[latest.saved_seq] = Live(key, latest.content)

    def _seq_of(self, key: str) -> int | None:
        if key in self._new_of:
            return self._new_of[key]
        sought = key.encode()
        place = self._read.place_of(sought)
        there = place < len(self._read.numbers) and self._read.key(place) == sought
        return int(self._read.numbers[place]) if there else None

    def seqs(self) -> Numbers:
        """Numbers of the entries that saved what is in force, ascending."""
        if self._sorted is None:
            kept = np.delete(self._read.ascending, np.searchsorted(self._read.ascending, ascending(self._gone)))
            self._sorted = united((kept, ascending(self._new)))
        return self._sorted

    def get(self, seq: int) -> Live | None:
        if seq in self._new or seq in self._gone:
            return self._new.get(seq)
        places, there = self._read.places(np.array([seq], np.uint64))
        if not there[0]:
            return None
        return Live(self._read.key(int(places[0])).decode(), self._read.commitments[places[0]].tobytes())

    def unlike(self, seqs: Numbers, commitments: NDArray[np.uint8]) -> Numbers:
        """Those of `seqs` (n,) that are in force, and to whose content the log commits by another than these `commitments` (n, 32)."""
        places, there = self._read.places(seqs)
        other = (self._read.commitments[places[there]] != commitments[there]).any(axis=1)
        wrong = [seq for seq in seqs[there][other].tolist() if seq not in self._new and seq not in self._gone]
        for place in np.flatnonzero(within(seqs, ascending(self._new))).tolist():
            seq = int(seqs[place])
            if self._new[seq].commitment != commitments[place].tobytes():
                wrong.append(seq)
        return np.array(wrong, np.uint64)

    def under(self, prefix: str) -> tuple[int, ...]:
        """The entries of the keys that begin with `prefix`."""
        sought = prefix.encode()
        first = self._read.place_of(sought)
        last = self._read.place_of(sought + b"\xff")
        read = (seq for seq in self._read.numbers[first:last].tolist() if seq not in self._gone)
        return (*read, *(seq for seq, live in self._new.items() if live.key.startswith(prefix)))


def _read(rows: Iterator[tuple[str, int, bytes, str]]) -> tuple[_Read, bool]:
    """`(what is in force, whether anything was erased)` of the rows of a table, which come in the order of their keys."""
    texts, lengths, numbers, commitments, erased = [], [0], [], [np.zeros((0, _DIGEST), np.uint8)], False
    while some := list(islice(rows, _AT_ONCE)):
        live = [row for row in some if row[3] in IN_FORCE]
        erased = erased or len(live) < len(some)
        keys = [row[0].encode() for row in live]
        texts.append(b"".join(keys))
        lengths += map(len, keys)
        numbers += [row[1] for row in live]
        commitments.append(np.frombuffer(b"".join([row[2] for row in live]), np.uint8).reshape(-1, _DIGEST))
    found = np.array(numbers, np.uint64)
    order = np.argsort(found, kind="stable")
    ends = np.cumsum(np.array(lengths, np.int64))
    return _Read(b"".join(texts), ends, found, np.concatenate(commitments), order, found[order]), erased


def _keys_of(leaves: Iterable[bytes]) -> set[str]:
    entries = (parse_entry(split_leaf(leaf)[0]) for leaf in leaves)
    return {entry.key for entry in entries if not isinstance(entry, Governed)}


def _leaf(reading: Reading, seq: int) -> bytes:
    return next(iter(reading.leaves(seq, seq + 1)), b"") if seq >= 0 else b""
