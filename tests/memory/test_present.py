"""What is in force, as the index is told it: read whole, or followed entry by entry, it is the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from indelible.memory.present import IN_FORCE, Present
from indelible.store.pintable import Latest

if TYPE_CHECKING:
    from collections.abc import Iterator

KEYS = ("a", "a/1", "a/10", "a/2", "b", "나", "나무", "🔒")
STATES = ("active", "superseded", "archived", "erased")
changes = st.lists(st.tuples(st.sampled_from(KEYS), st.sampled_from(STATES)), max_size=30)


class Rows:
    """A follower's table, as far as it is asked here."""

    def __init__(self) -> None:
        self.latest: dict[str, Latest] = {}

    def change(self, seq: int, key: str, state: str) -> None:
        """An entry: a save, or a word about the version that is there."""
        before = self.latest.get(key)
        saved = before.saved_seq if before is not None and (state != "active" or seq % 3 == 0) else seq
        content = saved.to_bytes(32, "big")
        self.latest[key] = Latest(seq, b"", saved, 1, content, b"", state, "", "")

    def get(self, key: str) -> Latest | None:
        return self.latest.get(key)

    def present(self, states: frozenset[str]) -> Iterator[tuple[str, int, bytes, str]]:
        for key in sorted(self.latest, key=str.encode):
            row = self.latest[key]
            if row.state in states:
                yield key, row.saved_seq, row.content, row.state


class Followed(Present):
    """One that is told of changes as `follow` tells of them."""

    def put(self, key: str, latest: Latest | None) -> None:
        self._put(key, latest)
        self._sorted = None


def whole(rows: Rows) -> Followed:
    found = Followed()
    found.follow(rows, Nothing(), 1, b"")  # type: ignore[arg-type]
    return found


class Nothing:
    """A log of which nothing is read."""

    def leaves(self, start: int, end: int) -> Iterator[bytes]:
        del start, end
        return iter(())


@settings(max_examples=200)
@given(changes, changes)
def test_what_is_followed_is_what_is_read_at_once(before: list[tuple[str, str]], after: list[tuple[str, str]]) -> None:
    rows = Rows()
    for seq, (key, state) in enumerate(before):
        rows.change(seq, key, state)
    followed = whole(rows)
    for seq, (key, state) in enumerate(after, len(before)):
        rows.change(seq, key, state)
        followed.put(key, rows.get(key))
    live = {row.saved_seq: key for key, row in rows.latest.items() if row.state in IN_FORCE}
    read = whole(rows)
    for found in (followed, read):
        assert found.seqs().tolist() == sorted(live)
        assert len(found) == len(live)
        assert {seq: one.key for seq in range(70) if (one := found.get(seq)) is not None} == live
        assert all(found.get(seq).commitment == seq.to_bytes(32, "big") for seq in live)  # type: ignore[union-attr]
        for prefix in ("", "a", "a/1", "나", "z"):
            assert set(found.under(prefix)) == {seq for seq, key in live.items() if key.startswith(prefix)}


@given(changes, st.sets(st.integers(0, 40)))
def test_what_carries_another_commitment_is_named(made: list[tuple[str, str]], altered: set[int]) -> None:
    rows = Rows()
    half = len(made) // 2
    for seq, (key, state) in enumerate(made[:half]):
        rows.change(seq, key, state)
    followed = whole(rows)
    for seq, (key, state) in enumerate(made[half:], half):
        rows.change(seq, key, state)
        followed.put(key, rows.get(key))
    seqs = np.arange(41, dtype=np.uint64)[::-1]
    commitments = np.array(
        [list((seq + 1000 * (seq in altered)).to_bytes(32, "big")) for seq in seqs.tolist()], np.uint8
    )
    assert set(followed.unlike(seqs, commitments).tolist()) == altered & set(followed.seqs().tolist())
