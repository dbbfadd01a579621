"""Where sealed memory lives: one protocol, and nothing in it is trusted.

A store keeps, for each agent, a log (leaves, full tiles of 256 hashes, the head checkpoint) and
the sealed versions. It answers with bytes; the follower decides what they are worth.
"""

from __future__ import annotations

from indelible.light import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from indelible.sealed import Sealed


class Snapshot(NamedTuple):
    """The head and one version, read in one instant."""

    note: bytes | None
    """The head checkpoint as stored, or None where the agent has no log."""
    sealed: Sealed | None


class HeadMoved(Exception):
    """Another writer was first, where a store cannot hold a lock (a server): follow, and write again."""


class Reading(Protocol):
    """One view of one agent's log that does not move while it is held."""

    def head(self) -> bytes | None: ...
    def leaves(self, start: int, end: int) -> Iterator[bytes]: ...
    def sealed(self, seq: int) -> Sealed | None: ...


class Writing(Reading, Protocol):
    """The same under the write lock: all of it is committed together, or none."""

    def find_op(self, op: str) -> int | None: ...
    def append(self, seq: int, leaf: bytes, op: str, sealed: Sealed | None) -> None: ...
    def drop(self, seqs: tuple[int, ...]) -> None: ...
    def mend(self, seq: int, sealed: Sealed) -> None: ...
    def set_head(self, note: bytes) -> None: ...


class Store(Protocol):
    """A place that holds logs and sealed versions."""

    place: str
    """What tells this store from another one for a reader: a real path or an address."""

    def agents(self) -> tuple[str, ...]: ...
    def peek(self, agent: str, seq: int | None) -> Snapshot: ...
    def reading(self, agent: str) -> AbstractContextManager[Reading]: ...
    def writing(self, agent: str) -> AbstractContextManager[Writing]: ...
    def tile(self, agent: str, level: int, n: int) -> bytes | None: ...
    def extent(self, agent: str) -> tuple[int, int]: ...
    def settle(self, *, purge: bool = False) -> None: ...
    def close(self) -> None: ...
