"""Indelible as the measurements use it: a memory made of its parts, and a quick way to fill one.

The key comes from a fixed seed, so that a process which a measurement starts finds the same store its own.
"""

from __future__ import annotations

import os
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING

from indelible.entry import PAYLOAD_TYPE, Saved, format_entry, origin_of
from indelible.memory import Memory
from indelible.record import draft
from indelible.seal.checkpoint import Checkpoint
from indelible.seal.merkle import leaf_hash
from indelible.seal.note import Signer, Verifier, pae, sign_note
from indelible.sealed import SALT_SIZE, Sealed, commit
from indelible.settings import now
from indelible.store.follower import Follower
from indelible.store.sqlite import SqliteStore
from indelible.trust import LocalTrust

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from indelible.memory.gating import Gate
    from indelible.recall.embed import Embedder
    from indelible.seal.merkle import Frontier

AGENT, TEAM = "eros", "local"
ORIGIN = origin_of(TEAM, AGENT)
SIGNER = Signer(ORIGIN, sha256(b"a key for measuring with").digest())
KEY = Verifier(SIGNER.vkey)
REVIEWER = Signer("indelible-reviewer/measurer", sha256(b"a reviewer's key for measuring with").digest())
BATCH = 1_000


class Keys:
    """A key folder with one agent's key in it."""

    def verifiers(self, name: str) -> tuple[Verifier, ...]:
        return (KEY,) if name == ORIGIN else ()

    def owners(self) -> tuple[Verifier, ...]:
        return ()

    def servers(self) -> tuple[Verifier, ...]:
        return ()

    def reviewers(self) -> tuple[Verifier, ...]:
        return (Verifier(REVIEWER.vkey),)

    def open_reviewers(self) -> frozenset[int]:
        return frozenset()


def store_path(folder: str) -> str:
    """The store's file under `folder`."""
    return os.path.join(folder, "store", "store.db")


def open_memory(
    folder: str, reader: str = "first", *, create: bool = False, gate: Gate | None = None, indexes: bool = True,
    embedder: Callable[[], Embedder] | None = None,
) -> Memory:  # fmt: skip
    """The memory under `folder`, opened afresh by `reader`, whose pin is kept there too."""
    store = SqliteStore(store_path(folder), create=create)
    own = os.path.join(folder, "readers", reader)
    follower = Follower(os.path.join(own, "state"), os.path.join(own, "known"), store.place, AGENT)
    return Memory(
        store, follower, LocalTrust(ORIGIN, Keys()), agent=AGENT, team=TEAM, signer=lambda: SIGNER, clock=now, gate=gate,
        indexes=indexes, embedder=embedder,
    )  # fmt: skip


def fill(memory: Memory, items: Iterable[tuple[str, bytes]]) -> None:
    """Save many new keys, a thousand to a transaction.

    Every entry is sealed, signed and chained as `save` does it; only the head is signed once for each transaction and
    not for each entry, and the reader follows at the end. What lies in the store afterwards is what saves would leave;
    all of it is in the main file, as almost all of a store that grew slowly is.
    """
    memory.begin()
    with memory.following() as (_, _, head):
        frontier = head.frontier
    waiting = iter(items)
    while batch := list(islice(waiting, BATCH)):
        frontier = _append(memory, batch, frontier)
    with memory.following():
        pass
    memory.store.settle(purge=True)


def _append(memory: Memory, batch: list[tuple[str, bytes]], frontier: Frontier) -> Frontier:
    by, at = f"{SIGNER.key_id:08x}", now()
    with memory.store.writing(AGENT) as writing:
        for key, content in batch:
            record = draft(key, content, agent=AGENT, author=f"agent:{AGENT}", now=at, random=os.urandom(10), team=TEAM)
            sealed = Sealed(os.urandom(SALT_SIZE), record.to_body(), content)
            content_commitment, record_commitment = (part.hex() for part in commit(sealed))
            entry = Saved(at, by, content_commitment, "saved", key, memory.new_op(), ORIGIN, None, None, None, record_commitment,
                          frontier.size, "saved", 1)  # fmt: skip
            body = format_entry(entry)
            leaf = body + SIGNER.sign_raw(pae(PAYLOAD_TYPE, body))
            writing.append(entry.seq, leaf, entry.op, sealed)
            frontier = frontier.append(leaf_hash(leaf))
        writing.set_head(sign_note(Checkpoint(ORIGIN, frontier.size, frontier.root(), ()).format(), SIGNER))
    return frontier
