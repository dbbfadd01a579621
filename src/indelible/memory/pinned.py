"""The read of one key when nothing is new: the store's head is byte for byte the pinned one.

The first step of every load, and all that a `verify` of an unchanged store needs: no JSON, no
signature, one statement on each side. Imports almost nothing, since hooks and openings wait for it.
"""

from __future__ import annotations

from indelible.errors import Malformed, Missing, NotFoundError, RevokedKey
from indelible.light import TYPE_CHECKING
from indelible.memory.results import Loaded
from indelible.seal.merkle import leaf_hash
from indelible.sealed import Commitments, verify

if TYPE_CHECKING:
    from indelible.sealed import Sealed
    from indelible.store.follower import Follower, Glance, Latest, Pin
    from indelible.store.store import Reading, Store


def read_pinned(store: Store, follower: Follower, agent: str, key: str, given: str) -> Loaded | None:
    """The memory, or None where the head is not the pinned one and must be followed first.

    Args:
        given: the mark of the pin that the settings give; another one than the log was held against leads to None.

    The follower is read before the store: the pin is written only after a commit, so a store that
    then seems older than the pin is older.

    Raises:
        as `hand_out`; PinLost.
    """
    pin, latest = follower.look(key)
    if pin is None or (given and given != pin.given):
        return None
    note, sealed = store.peek(agent, latest.saved_seq if latest else None)
    return hand_out(key, agent, latest, sealed, pin) if note == pin.note else None


def leaf_at(reading: Reading, log: str, seq: int, expected: bytes | None, **facts: str) -> bytes:
    """The stored leaf of one entry, which must be there and have the hash that this reader knows of it.

    Args:
        log: its name, for the refusal.
        expected: the hash; None where only the presence counts.

    Raises:
        Missing: it is gone. Malformed: it was altered.
    """
    leaf = next(iter(reading.leaves(seq, seq + 1)), None)
    if leaf is None:
        raise Missing(f"Entry {seq} of {log} is gone", seq=seq, **facts)
    if expected is not None and leaf_hash(leaf) != expected:
        raise Malformed(f"Entry {seq} of {log} was altered", seq=seq, **facts)
    return leaf


def hand_out(key: str, agent: str, latest: Latest | None, sealed: Sealed | None, pin: Glance | Pin | None) -> Loaded:
    """Check a version against the reader's own table, and give it. Whether it applies is for the gate to say.

    Raises:
        NotFoundError: never saved, or erased. Missing: sealed, and gone.
        DigestMismatch: altered. RevokedKey: saved by a revoked key.
    """
    if latest is None or pin is None:
        raise NotFoundError(f"Nothing is saved under {key!r} for {agent!r}", key=key, agent=agent)
    if latest.state == "erased":
        raise NotFoundError(f"{key!r} was erased", key=key, agent=agent, erased=True)
    if sealed is None:
        raise Missing(
            f"{key!r} (version {latest.version}) was sealed and is no longer in the store",
            key=key,
            seq=latest.saved_seq,
        )
    verify(sealed, Commitments(latest.content, latest.record), key)
    if pin.revoked and is_revoked(latest.by, latest.saved_seq, pin.revoked):
        raise RevokedKey(
            f"{key!r} was saved by the key {latest.by}, which is no longer trusted from that entry on", key=key
        )
    return Loaded(
        key,
        latest.version,
        sealed.content,
        sealed.body,
        sealed.salt,
        latest,
        latest.saved_seq,
        pin.origin,
        latest.by,
        f"{pin.signer} {pin.former}",
        pin.note,
        pin.revoked,
    )


def is_revoked(by: str, seq: int, revoked: str) -> bool:
    """Whether the key id `by` was not trusted any more at entry `seq`; `revoked` as in `Pin`."""
    return any(
        key_id == by and seq >= int(index) for key_id, _, index in (item.partition(":") for item in revoked.split())
    )
