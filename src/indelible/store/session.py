"""One view of a log at a server, and what is to be added to it: kept here until all of it can be sent at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indelible.errors import Unchecked
from indelible.seal.digest import Digest
from indelible.seal.note import to_base64

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indelible.sealed import Sealed
    from indelible.store.remote import RemoteStore

_ROWS = 256
"""Versions asked for at one time by whoever asks for more than one."""


class Session:
    """One view of the log: the head of its first moment, below which nothing changes but by an erasure."""

    def __init__(self, store: RemoteStore) -> None:
        self._store = store
        self._note, self.extent = store.look()
        self._rows: dict[int, Sealed | None] = {}
        self._asked = 0
        self.changes: list[tuple[bytes, Sealed | None]] = []
        self._mends: list[tuple[int, Sealed]] = []
        self._new_note = b""
        self.size = 0
        """The entry at which the changes begin."""
        self.op = ""

    @property
    def end(self) -> int:
        """The size of the log after the changes."""
        return self.size + len(self.changes)

    def head(self) -> bytes | None:
        return self._note

    def leaves(self, start: int, end: int) -> Iterator[bytes]:
        return self._store.leaves(start, end)

    def sealed(self, seq: int) -> Sealed | None:
        """One version; whoever asks for several gets those behind it in the same request."""
        if seq not in self._rows:
            self._asked += 1
            note, rows, through = self._store.rows(seq, 1 if self._asked == 1 else _ROWS)
            if seq not in rows and note != self._note:
                raise Unchecked(
                    f"Not checked: the log at {self._store.host} moved on while it was read", remedy="Read it again"
                )
            self._rows = {number: rows.get(number) for number in range(seq, max(through, seq + 1))}
        return self._rows.pop(seq)

    def find_op(self, op: str) -> int | None:
        seq = self._store.document("/v1/operation", {"op": op}).get("seq")
        return seq if isinstance(seq, int) and not isinstance(seq, bool) else None

    def append(self, seq: int, leaf: bytes, op: str, sealed: Sealed | None) -> None:
        if not self.changes:
            self.size, self.op = seq, op
        self.changes.append((leaf, sealed))

    def drop(self, seqs: tuple[int, ...]) -> None:
        """The server drops what the erasing entry speaks of."""

    def mend(self, seq: int, sealed: Sealed) -> None:
        self._mends.append((seq, sealed))

    def set_head(self, note: bytes) -> None:
        self._new_note = note

    def body(self) -> dict[str, object]:
        """What `/v1/commit` takes."""
        return {
            "expected": "" if self._note is None else Digest.of(self._note).hex,
            "changes": [
                {"leaf": to_base64(leaf), "sealed": None if sealed is None else _members(sealed)}
                for leaf, sealed in self.changes
            ],
            "note": to_base64(self._new_note),
            "mends": [{"seq": seq, "sealed": _members(sealed)} for seq, sealed in self._mends],
        }


def _members(sealed: Sealed) -> dict[str, str]:
    return {name: to_base64(value) for name, value in sealed._asdict().items()}
