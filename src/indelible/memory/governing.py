"""What changes the ground that a log stands on: a pin that is set, a key that changes, a store that was lawfully restored.

None of it happens silently: a pin is set only on the user's own word, and the rest are signed entries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indelible.entry import Governed, parse_entry, split_leaf
from indelible.errors import NotFoundError, PinLost, UsageError
from indelible.seal.merkle import Frontier

if TYPE_CHECKING:
    from indelible.memory.facade import Memory
    from indelible.seal.checkpoint import Checkpoint
    from indelible.seal.note import Signer
    from indelible.store.follow import Head
    from indelible.store.follower import Pin


class _TrustGiven:
    """The reader's trust, with another pin."""

    def __init__(self, memory: Memory, given: Checkpoint | None) -> None:
        self._trust, self._given = memory.trust, given
        self.origin = memory.trust.origin
        self.given_by_user = lambda: True
        self.proposal = self._trust.proposal
        trust = self._trust
        self.agent_keys, self.server_keys, self.owner_keys = trust.agent_keys, trust.server_keys, trust.owner_keys
        self.reviewer_keys, self.open_reviewers = trust.reviewer_keys, trust.open_reviewers

    def given_pin(self) -> Checkpoint | None:
        return self._given

    def pin_required(self) -> bool:
        return False


def present_pin(memory: Memory) -> Pin | None:
    """What this reader has accepted so far. Raises `PinLost` where it had a pin and has none."""
    with memory.follower.locked() as table:
        return table.pin


def set_pin(memory: Memory, given: Checkpoint | None) -> Head:
    """Follow the log from nothing, against `given` or against nothing at all, and accept where that leads.

    The pin of before stays in force until the new one is whole.

    Raises:
        IntegrityError: the store is not a continuation of `given`.
        NotFoundError: the store has no log of this agent.
    """
    if given is not None and not given.size:
        raise UsageError(
            "That pin is of an empty log, which proves nothing", remedy="Give a checkpoint of at least one entry"
        )
    if given is not None and given.origin != memory.origin:
        raise UsageError(f"That pin is of {given.origin}, not of {memory.origin}", remedy="Name the agent with --agent")
    fresh = _beside(memory, given)
    try:
        with fresh.following(signatures=True) as (table, _, head):
            if table.pin is None:
                raise NotFoundError(
                    f"{memory.agent!r} has no log at {memory.store.place}",
                    remedy="If its store was deleted on purpose, 'indelible init --anew' begins again",
                    agent=memory.agent,
                )
            table.pin = table.pin._replace(origin="accepted" if given is None else "given")
        fresh.follower.take_place(memory.follower)
    finally:
        fresh.follower.forget()
    return head


def restore_store(memory: Memory, owner: Signer, *, reason: str) -> Governed:
    """Accept an older copy that the owner put back: an entry that names what is given up, signed by the owner.

    Raises:
        PinLost: this reader does not know what is given up.
        UsageError: the store is not behind; there is nothing to accept.
    """
    old = present_pin(memory)
    if old is None:
        raise PinLost(
            f"This reader has no pin of {memory.agent!r}, so nothing is given up",
            remedy="Accept what is there with 'indelible pin set --accept'",
        )
    fresh = _beside(memory, None)
    try:
        with fresh.following(signatures=True) as (table, _, head):
            table.pin = _accepted(memory, table.pin, old, head)
        _hand_on(fresh, table.pin, old, owner, reason)
        entry = fresh.govern(
            "store-restored", Frontier.from_bytes(old.frontier).root().hex(), old.size, by=owner, reason=reason
        )
        for item in old.revoked.split():
            if item not in table.pin.revoked.split():  # a thief is not let in again because a disk died
                key_id, index = item.split(":")
                fresh.govern("key-revoked", key_id, min(int(index), entry.seq), by=owner, reason=reason)
        fresh.follower.take_place(memory.follower)
    finally:
        fresh.follower.forget()
    return entry


def _accepted(memory: Memory, found: Pin | None, old: Pin, head: Head) -> Pin:
    if found is None:
        raise NotFoundError(f"{memory.agent!r} has no log at {memory.store.place}", agent=memory.agent)
    if head.size >= old.size:
        raise UsageError(
            f"The store of {memory.agent!r} is not behind what was accepted: there is nothing to restore",
            remedy="If it was altered, put a good copy back first",
        )
    if found.first != old.first:
        raise UsageError(
            "The copy is of another log: it does not begin with the same entry", remedy="Put a copy of this log back"
        )
    return found._replace(origin="accepted")


def _hand_on(fresh: Memory, found: Pin, old: Pin, owner: Signer, reason: str) -> None:
    """Where the key was changed after the copy was made, the log is handed to the key in force again."""
    signer = fresh.signer
    if found.signer != signer.vkey and old.signer == signer.vkey:
        fresh.govern("key-rotated", signer.vkey, 0, by=owner, head_by=signer, reason=reason)


def rotate(memory: Memory, old: Signer, new: Signer, *, reason: str) -> None:
    """Hand the log to a new key; signed by the old one (or the owner), the head after it by the new one. Once more changes nothing."""
    pin = present_pin(memory)
    if pin is None or pin.signer != new.vkey:
        memory.govern("key-rotated", new.vkey, 0, by=old, head_by=new, reason=reason)


def revoke(memory: Memory, owner: Signer, stolen: str, new: Signer, *, from_seq: int, reason: str) -> tuple[str, ...]:
    """Trust the key id `stolen` no longer from entry `from_seq` on, nor any key that it handed the log to since; hand the log to `new`.

    All of it is signed by the owner. A revocation that was cut between its entries is ended by doing it again.
    Gives the key ids that are revoked.
    """
    rotate(memory, owner, new, reason=reason)
    return _revoke_all(memory, owner, stolen, from_seq, reason, head_by=new)


def _revoke_all(
    memory: Memory, owner: Signer, stolen: str, from_seq: int, reason: str, *, head_by: Signer | None = None
) -> tuple[str, ...]:
    fallen = _with_successors(memory, stolen, from_seq)
    pin = present_pin(memory)
    known = [item.split(":")[0] for item in pin.revoked.split()] if pin is not None else []
    for key_id, seq in fallen.items():
        if key_id not in known:
            memory.govern("key-revoked", key_id, seq, by=owner, head_by=head_by, reason=reason)
    return tuple(fallen)


def _with_successors(memory: Memory, stolen: str, from_seq: int) -> dict[str, int]:
    """The keys that fall with a stolen one, and from which entry on: whom it appointed, it may have appointed itself."""
    fallen = {stolen: from_seq}
    with memory.following() as (_, reading, head):
        for leaf in reading.leaves(from_seq, head.size) if from_seq < head.size else ():
            if b'"type":"key-rotated"' not in leaf:
                continue
            entry = parse_entry(split_leaf(leaf)[0])
            if isinstance(entry, Governed) and fallen.get(entry.by, entry.seq + 1) <= entry.seq:
                fallen[entry.subject.split("+")[-2]] = entry.seq
    return fallen


def revoke_former(memory: Memory, owner: Signer, stolen: str, *, from_seq: int, reason: str) -> tuple[str, ...]:
    """Trust a key that the log has left already no longer from entry `from_seq` on.

    Raises:
        UsageError: the agent never had a key of that id.
    """
    with memory.following() as (table, _, _):
        known = f"{table.pin.signer} {table.pin.former}" if table.pin is not None else ""
    if f"+{stolen}+" not in known:
        raise UsageError(
            f"{memory.agent!r} has no key {stolen!r} that is known here",
            remedy="'indelible history KEY' shows which keys signed",
        )
    return _revoke_all(memory, owner, stolen, from_seq, reason)


def _beside(memory: Memory, given: Checkpoint | None) -> Memory:
    """The same memory with an empty table of its own, held against `given` alone."""
    return memory.beside(_TrustGiven(memory, given))
