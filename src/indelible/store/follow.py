"""From the pin to the head: the one way in which a log's leaves become this reader's knowledge.

Called with the follower's table locked and the store's snapshot taken after it, in that order, so
that what looks like a rollback is one. Nothing is kept unless every new leaf parsed strictly,
continued its key's chain, and hashed to a head signed by a key that the reader's own
configuration names.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from indelible.entry import SIGNATURE_SIZE, Governed, Judged, Noted, Saved, parse_entry
from indelible.errors import Forked, Malformed, Missing, PinLost, RolledBack, Unchecked, UsageError
from indelible.seal import checkpoint as checkpoints
from indelible.seal.merkle import Frontier
from indelible.seal.note import parse_note
from indelible.store.authority import ROOT, Authority, check_keys
from indelible.store.follower import Latest, Pin

if TYPE_CHECKING:
    from indelible.seal.checkpoint import Checkpoint
    from indelible.store.authority import Trust
    from indelible.store.follower import Table
    from indelible.store.store import Reading

BATCH = 50_000
"""Leaves folded between two flushes of the table: bounds the memory of a first follow."""
FIRST_USE, REPOSITORY, GIVEN = "first-use", "repository", "given"
UNVOUCHED = frozenset({FIRST_USE, REPOSITORY})
"""Origins of a pin that no word of the user stands behind: it is read by, and nothing is signed on top of it."""
_RESTORED = b'"type":"store-restored"'
_STATES = {"archived": "archived", "unarchived": "active", "superseded": "superseded", "erased": "erased"}


class Head(NamedTuple):
    """What a follow ended on."""

    frontier: Frontier
    note: bytes | None

    @property
    def size(self) -> int:
        return self.frontier.size

    @property
    def root(self) -> bytes:
        return self.frontier.root()


def follow(table: Table, reading: Reading, trust: Trust, *, signatures: bool = False) -> Head:
    """Bring the table up to the store's head, or raise and leave it as it was.

    Args:
        signatures: check every entry's signature too, not only the head's.

    Raises:
        Missing, RolledBack, Forked, BadSignature, Malformed: the store is not what was sealed.
        Unchecked: no key is known for this agent, or a pin is required and there is none.
    """
    given = trust.given_pin()
    head = _follow(table, reading, trust, given, signatures=signatures)
    pin = table.pin
    spoken = pin is not None and pin.origin == REPOSITORY and trust.given_by_user()
    if given is not None and pin is not None and (pin.given != mark_of(given) or spoken):
        table.pin = _hold_against(given, pin, head, reading, trust)
    if table.pin is not None and table.pin.origin in UNVOUCHED:
        _check_first_use(trust)
    return head


def _follow(table: Table, reading: Reading, trust: Trust, given: Checkpoint | None, *, signatures: bool) -> Head:
    note, pin = reading.head(), table.pin
    if pin is not None and note == pin.note:
        return Head(_frontier(pin, trust), note)
    if pin is not None:
        _check_pin(pin, trust)
    if note is None:
        _refuse_absence(pin, given, trust)
        return Head(Frontier(0, ()), None)
    checkpoint = checkpoints.parse(parse_note(note).text)
    if checkpoint.origin != trust.origin:
        raise Forked(f"The store's head is of {checkpoint.origin}, not of {trust.origin}")
    climb = _Climb(table, reading, trust, checkpoint, note, given, signatures=signatures)
    if pin is None:
        return climb.up(FIRST_USE if given is None else _vouched(trust))
    root = Frontier.from_bytes(pin.frontier).root()
    if checkpoint.size < pin.size or (checkpoint.size == pin.size and checkpoint.root != root):
        return climb.again(pin, None)
    try:
        return climb.up(pin.origin)
    except (Missing, Forked, Malformed) as error:
        return climb.again(pin, error)


def _frontier(pin: Pin, trust: Trust) -> Frontier:
    """What this reader itself had written down must make sense, before anything is held against it."""
    try:
        frontier = Frontier.from_bytes(pin.frontier)
    except (ValueError, Malformed) as exc:
        raise _broken(trust) from exc
    if frontier.size != pin.size:
        raise _broken(trust)
    return frontier


def _check_pin(pin: Pin, trust: Trust) -> None:
    _frontier(pin, trust)
    try:
        check_keys(pin)
    except (ValueError, UsageError, Malformed) as exc:
        raise _broken(trust) from exc


def _broken(trust: Trust) -> PinLost:
    return PinLost(
        f"The pin of {trust.origin} is not as this reader wrote it: what was accepted before cannot be compared",
        remedy="Give another reader's with 'indelible pin set FILE', or start again from what is there with 'indelible pin set --accept'",
    )


def _refuse_absence(pin: Pin | None, given: Checkpoint | None, trust: Trust) -> None:
    if pin is not None and pin.size:
        raise Missing(
            f"The log of {trust.origin} is gone; this reader has seen {pin.size} entries of it",
            remedy="Put a copy of the store back; if it was deleted on purpose, 'indelible init --anew' begins again",
        )
    if pin is None and given is None:
        _check_first_use(trust)
    if given is not None:
        raise Missing(f"The store has no log of {trust.origin}; the given pin stands at {given.size} entries")


def mark_of(given: Checkpoint) -> str:
    """How a pin that was given is remembered once the log was held against it."""
    return f"{given.size}:{given.root.hex()}"


def _vouched(trust: Trust) -> str:
    """What a given pin makes of a reader's own: one that only a repository names says more than nothing, and vouches for nothing."""
    return GIVEN if trust.given_by_user() else REPOSITORY


def _hold_against(given: Checkpoint, pin: Pin, head: Head, reading: Reading, trust: Trust) -> Pin:
    """A reader that has a pin of its own was given another: the log that was just verified must be a continuation of that too."""
    _check_given(given, trust)
    if given.size > head.size:
        raise RolledBack(
            f"The store holds {head.size} entries of {trust.origin}; the given pin stands at {given.size}",
            found=head.size,
        )
    hashes = [sha256(b"\0" + leaf).digest() for leaf in reading.leaves(0, head.size)]
    then = Frontier(0, ()).extend(hashes[: given.size])
    if then.root() != given.root or then.extend(hashes[given.size :]).root() != head.root:
        raise Forked(f"The log of {trust.origin} is not a continuation of the given pin at size {given.size}")
    return pin._replace(given=mark_of(given), origin=_vouched(trust) if pin.origin in UNVOUCHED else pin.origin)


def _check_given(given: Checkpoint, trust: Trust) -> None:
    if given.origin != trust.origin:
        raise Unchecked(
            f"The given pin is of {given.origin}, not of {trust.origin}", remedy="Give the pin of this agent"
        )
    if not given.size:
        raise UsageError(
            "The given pin is of an empty log, which proves nothing", remedy="Give a checkpoint of at least one entry"
        )


def _check_first_use(trust: Trust) -> None:
    if trust.pin_required():
        raise PinLost(
            f"A pin is required, and there is none for {trust.origin}",
            remedy="Give one with INDELIBLE_PIN or 'indelible pin set FILE'",
        )


class _Climb:
    """One following of one log. Lives as long as the call."""

    def __init__(
        self,
        table: Table,
        reading: Reading,
        trust: Trust,
        checkpoint: Checkpoint,
        note: bytes,
        given: Checkpoint | None,
        *,
        signatures: bool,
    ) -> None:
        self.table, self.reading, self.trust = table, reading, trust
        self.checkpoint, self.note = checkpoint, note
        pin = table.pin
        self.authority = Authority(trust, pin)
        self.given = given if pin is None else None
        self.held_against = mark_of(self.given) if self.given is not None else pin.given if pin is not None else ""
        self.first = pin.first if pin else b""
        self.frontier = Frontier.from_bytes(pin.frontier) if pin else Frontier(0, ())
        self.check_all = signatures or not self.authority.is_agents(note)

    def up(self, origin: str) -> Head:
        """Fold the new leaves, then check the root and its signature. `origin` is that of the pin it ends in."""
        authority = self.authority
        if authority.knows_nobody():
            raise Unchecked(
                f"No key is known for {self.trust.origin}, so its memory cannot be checked",
                remedy="Trust its verifier key with 'indelible key trust VKEY' ('indelible key show' says it where the agent is)",
            )
        if self.given is not None:
            self._fold_to_given(self.given)
        self._fold(self.checkpoint.size)
        if self.frontier.root() != self.checkpoint.root:
            raise Forked(
                f"The entries of {self.trust.origin} do not hash to its signed head at size {self.checkpoint.size}"
            )
        authority.check_head(self.note, self.checkpoint.size)
        self.table.pin = Pin(
            self.first, self.frontier.size, self.note, self.frontier.to_bytes(), authority.signer, authority.former,
            authority.revoked_text, " ".join(authority.restored), self.held_against, origin,
        )  # fmt: skip
        return Head(self.frontier, self.note)

    def _fold_to_given(self, given: Checkpoint) -> None:
        _check_given(given, self.trust)
        if given.size > self.checkpoint.size:
            raise RolledBack(
                f"The store holds {self.checkpoint.size} entries of {self.trust.origin}; the given pin stands at {given.size}"
            )
        self._fold(given.size)
        if self.frontier.root() != given.root:
            raise Forked(f"The log of {self.trust.origin} is not a continuation of the given pin at size {given.size}")

    def again(self, pin: Pin, error: Missing | Forked | Malformed | None) -> Head:
        """From nothing: the log is not a continuation of the pin, which is lawful only where the owner said so since.

        The word is a `store-restored` that names what is given up, and that this reader has not accepted before.
        """
        refusal = error or self._rolled_back(pin)
        if not any(_RESTORED in leaf for leaf in self.reading.leaves(0, self.checkpoint.size)):
            raise refusal
        root = Frontier.from_bytes(pin.frontier).root().hex()
        self.table.reset()
        self.frontier, self.first = Frontier(0, ()), b""
        self.authority.forget()
        try:
            head = self.up(pin.origin)
        except (Missing, Forked, Malformed) as exc:
            raise refusal from exc
        words = [
            word
            for leaf, word in self.authority.restored.items()
            if word is not None and leaf not in pin.restored.split()
        ]
        if self.first != pin.first or not any(
            word.index > pin.size or (word.index == pin.size and word.subject[:ROOT] == root) for word in words
        ):
            raise refusal
        return head

    def _rolled_back(self, pin: Pin) -> RolledBack | Forked:
        if self.checkpoint.size < pin.size:
            return RolledBack(
                f"The store holds {self.checkpoint.size} entries of {self.trust.origin}; this reader has already accepted {pin.size}",
                accepted=pin.size,
                found=self.checkpoint.size,
            )
        return Forked(
            f"The log of {self.trust.origin} is another one than this reader accepted, at size {pin.size}",
            accepted=pin.size,
        )

    def _fold(self, end: int) -> None:
        while self.frontier.size < end:
            start, stop = self.frontier.size, min(end, self.frontier.size + BATCH)
            hashes = self._fold_batch(start, stop)
            if len(hashes) != stop - start:
                raise Missing(f"Entry {start + len(hashes)} of {self.trust.origin} is gone", seq=start + len(hashes))
            if not self.first:
                self.first = hashes[0]
            self.frontier = self.frontier.extend(hashes)
            self.table.flush()

    def _fold_batch(self, start: int, stop: int) -> list[bytes]:
        hashes: list[bytes] = []
        origin, check_all, authority = self.trust.origin, self.check_all, self.authority
        plain, noted = _fold_saved, _fold_noted
        table = self.table
        for seq, leaf in enumerate(self.reading.leaves(start, stop), start):
            body = leaf[:-SIGNATURE_SIZE]
            entry = parse_entry(body)
            digest = sha256(b"\0" + leaf).digest()
            if entry.seq != seq or entry.origin != origin:
                raise Forked(f"Entry {seq} of {origin} says that it is entry {entry.seq} of {entry.origin}", seq=seq)
            if check_all or authority.revoked or entry.__class__ is Governed:
                authority.check(entry, body, leaf[-SIGNATURE_SIZE:])
            if isinstance(entry, Saved):
                plain(table, entry, digest)
            elif isinstance(entry, Governed):
                authority.learn(entry, digest, self.frontier.extend(hashes).root())
            else:
                noted(table, entry, digest)
            hashes.append(digest)
        return hashes


def _fold_saved(table: Table, entry: Saved, digest: bytes) -> None:
    key, seq = entry.key, entry.seq
    last = table.get(key)
    if last is None:
        if entry.prev is not None or entry.version != 1:
            raise Malformed(f"Entry {seq} continues a key that has no beginning", seq=seq)
    elif entry.prev_seq != last.head_seq or entry.version != last.version + 1 or entry.prev != last.head.hex():
        raise Malformed(f"Entry {seq} does not continue the chain of its key", seq=seq)
    try:
        content, record = bytes.fromhex(entry.content), bytes.fromhex(entry.record)
    except ValueError as exc:
        raise Malformed(f"Entry {seq} holds a commitment that is not hex", seq=seq) from exc
    if len(content) != 32 or len(record) != 32:
        raise Malformed(f"Entry {seq} holds a commitment of another size", seq=seq)
    table.put(key, Latest(seq, digest, seq, entry.version, content, record, "active", entry.by, entry.at))


def _fold_noted(table: Table, entry: Noted | Judged, digest: bytes) -> None:
    last = table.get(entry.key)
    if last is None or entry.prev_seq != last.head_seq or entry.prev != last.head.hex() or entry.version > last.version:
        raise Malformed(f"Entry {entry.seq} does not continue the chain of its key", seq=entry.seq)
    state = _STATES.get(entry.type, last.state)
    table.put(entry.key, last._replace(head_seq=entry.seq, head=digest, state=state))
