"""From the pin to the head: the one way in which a log's leaves become this reader's knowledge.

Called with the follower's table locked and the store's snapshot taken after it, in that order, so
that what looks like a rollback is one. Nothing is kept unless every new leaf parsed strictly,
continued its key's chain, and hashed to a head signed by a key that the reader's own
configuration names.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple, Protocol

from indelible.entry import PAYLOAD_TYPE, SIGNATURE_SIZE, Entry, Governed, Noted, Saved, parse_entry
from indelible.errors import BadSignature, Forked, Malformed, Missing, PinLost, RolledBack, Unchecked, UsageError
from indelible.seal import checkpoint as checkpoints
from indelible.seal.merkle import Frontier
from indelible.seal.note import Verifier, open_note, pae, parse_note
from indelible.store.follower import Latest, Pin

if TYPE_CHECKING:
    from indelible.seal.checkpoint import Checkpoint
    from indelible.store.follower import Table
    from indelible.store.store import Reading

BATCH = 50_000
"""Leaves folded between two flushes of the table: bounds the memory of a first follow."""
_RESTORED = b'"type":"store-restored"'
_STATES = {"archived": "archived", "unarchived": "active", "superseded": "superseded", "erased": "erased"}


class Trust(Protocol):
    """Whose signatures count, looked up by the reader; asked only when there is something new."""

    origin: str

    def agent_keys(self) -> tuple[Verifier, ...]: ...
    def server_keys(self) -> tuple[Verifier, ...]: ...
    def owner_keys(self) -> tuple[Verifier, ...]: ...
    def given_pin(self) -> Checkpoint | None: ...
    def pin_required(self) -> bool: ...
    def proposal(self) -> str: ...


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
    note, pin, given = reading.head(), table.pin, trust.given_pin()
    if pin is not None and pin.size and given is not None and pin.given != mark_of(given):
        pin = table.pin = _hold_against(given, pin, reading, trust)
    if pin is not None and pin.origin == "first-use":
        _check_first_use(trust)
    if pin is not None and note == pin.note:
        return Head(Frontier.from_bytes(pin.frontier), note)
    if note is None:
        _refuse_absence(pin, given, trust)
        return Head(Frontier(0, ()), None)
    checkpoint = checkpoints.parse(parse_note(note).text)
    if checkpoint.origin != trust.origin:
        raise Forked(f"The store's head is of {checkpoint.origin}, not of {trust.origin}")
    climb = _Climb(table, reading, trust, checkpoint, note, given, signatures=signatures)
    if pin is None:
        if given is None:
            _check_first_use(trust)
        return climb.up("given" if climb.given is not None else "first-use")
    if checkpoint.size < pin.size or (
        checkpoint.size == pin.size and checkpoint.root != Frontier.from_bytes(pin.frontier).root()
    ):
        return climb.again(pin, None)
    try:
        return climb.up(pin.origin)
    except (Missing, Forked, Malformed) as error:
        return climb.again(pin, error)


def _refuse_absence(pin: Pin | None, given: Checkpoint | None, trust: Trust) -> None:
    if pin is not None and pin.size:
        raise Missing(
            f"The log of {trust.origin} is gone; this reader has seen {pin.size} entries of it",
            remedy="Put a copy of the store back; if it was deleted on purpose, 'indelible init --anew' begins again",
        )
    if given is not None:
        raise Missing(f"The store has no log of {trust.origin}; the given pin stands at {given.size} entries")


def mark_of(given: Checkpoint) -> str:
    """How a pin that was given is remembered once the log was held against it."""
    return f"{given.size}:{given.root.hex()}"


def _hold_against(given: Checkpoint, pin: Pin, reading: Reading, trust: Trust) -> Pin:
    """A reader that has a pin of its own was given another: the log must be a continuation of both."""
    _check_given(given, trust)
    hashes = [sha256(b"\0" + leaf).digest() for leaf in reading.leaves(0, given.size)]
    if len(hashes) < given.size:
        raise RolledBack(
            f"The store holds {len(hashes)} entries of {trust.origin}; the given pin stands at {given.size}",
            found=len(hashes),
        )
    if Frontier(0, ()).extend(hashes).root() != given.root:
        raise Forked(f"The log of {trust.origin} is not a continuation of the given pin at size {given.size}")
    return pin._replace(given=mark_of(given), origin="given" if pin.origin == "first-use" else pin.origin)


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
        self.agent = {key.key_id: key for key in trust.agent_keys()}
        self.named = frozenset(key.vkey for key in self.agent.values())
        self.signers = tuple(pin.signers.split()) if pin else ()
        for vkey in self.signers:
            self._admit(Verifier(vkey))
        self.server = {key.key_id: key for key in trust.server_keys()}
        self.owner = {key.key_id: key for key in trust.owner_keys()}
        self.given = given if pin is None else None
        self.held_against = mark_of(given) if given is not None else pin.given if pin is not None else ""
        self.revoked: dict[int, int] = _parse_revoked(pin.revoked) if pin else {}
        self.first = pin.first if pin else b""
        self.frontier = Frontier.from_bytes(pin.frontier) if pin else Frontier(0, ())
        self.restored: dict[str, Governed | None] = dict.fromkeys(pin.restored.split()) if pin else {}
        self.check_all = signatures or not self._signed_by_agent()

    def _admit(self, key: Verifier) -> None:
        self.agent[key.key_id] = key

    def _signed_by_agent(self) -> bool:
        """A server may attest an agent's log; what it says other hands signed is then checked one by one."""
        names = {signature.key_id for signature in parse_note(self.note).signatures}
        return bool(names & set(self.agent))

    def up(self, origin: str) -> Head:
        """Fold the new leaves, then check the root and its signature. `origin` is that of the pin it ends in."""
        if not self.agent and not self.server:
            raise Unchecked(
                f"No key is known for {self.trust.origin}, so its memory cannot be checked",
                remedy=self.trust.proposal()
                or "Trust its verifier key with 'indelible key trust VKEY' (its owner sees it with 'indelible key show')",
            )
        if self.given is not None:
            self._fold_to_given(self.given)
        self._fold(self.checkpoint.size)
        if self.frontier.root() != self.checkpoint.root:
            raise Forked(
                f"The entries of {self.trust.origin} do not hash to its signed head at size {self.checkpoint.size}"
            )
        self._check_head()
        self.table.pin = Pin(
            self.first,
            self.frontier.size,
            self.note,
            self.frontier.to_bytes(),
            " ".join(self.signers),
            _format_revoked(self.revoked),
            " ".join(self.restored),
            self.held_against,
            origin,
        )
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
        self.frontier, self.first, self.revoked, self.restored = Frontier(0, ()), b"", {}, {}
        try:
            head = self.up(pin.origin)
        except (Missing, Forked, Malformed) as exc:
            raise refusal from exc
        words = [word for leaf, word in self.restored.items() if word is not None and leaf not in pin.restored.split()]
        if self.first != pin.first or not any(
            word.index > pin.size or (word.index == pin.size and word.subject == root) for word in words
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
        origin, check_all, revoked = self.trust.origin, self.check_all, self.revoked
        apply, plain = self._apply, _fold_saved
        table = self.table
        for seq, leaf in enumerate(self.reading.leaves(start, stop), start):
            body = leaf[:-SIGNATURE_SIZE]
            entry = parse_entry(body)
            digest = sha256(b"\0" + leaf).digest()
            if entry.seq != seq or entry.origin != origin:
                raise Forked(f"Entry {seq} of {origin} says that it is entry {entry.seq} of {entry.origin}", seq=seq)
            if check_all or revoked or entry.__class__ is Governed:
                self._check_entry(entry, body, leaf[-SIGNATURE_SIZE:])
            if entry.__class__ is Saved:
                plain(table, entry, digest)
            else:
                apply(entry, digest)
            hashes.append(digest)
        return hashes

    def _check_entry(self, entry: Entry, body: bytes, signature: bytes) -> None:
        key_id = int(entry.by, 16)
        if self.revoked.get(key_id, entry.seq + 1) <= entry.seq:
            raise BadSignature(
                f"Entry {entry.seq} of {entry.origin} is by the key {entry.by}, which was revoked", seq=entry.seq
            )
        if isinstance(entry, Governed) and entry.type != "key-rotated":
            keys = self.owner
        elif isinstance(entry, Governed):
            keys = self.owner | self.agent
        else:
            keys = self.agent | self.server | self.owner
        key = keys.get(key_id)
        if key is None and entry.type == "key-rotated" and isinstance(entry, Governed) and entry.subject in self.named:
            return  # a reader that was told the new key alone: the head by that key vouches for the rotation that names it
        if key is None:
            raise BadSignature(
                f"Entry {entry.seq} ({entry.type}) of {entry.origin} is by the key {entry.by}, which is not trusted for that",
                remedy=self.trust.proposal()
                or "If you know that key, 'indelible key trust' it; else treat the store as altered",
                seq=entry.seq,
            )
        if not key.verify_raw(pae(PAYLOAD_TYPE, body), signature):
            raise BadSignature(
                f"The signature of entry {entry.seq} of {entry.origin} is not by the key it names", seq=entry.seq
            )

    def _apply(self, entry: Entry, digest: bytes) -> None:
        if isinstance(entry, Noted):
            _fold_noted(self.table, entry, digest)
        elif isinstance(entry, Governed):
            self._govern(entry, digest)

    def _govern(self, entry: Governed, digest: bytes) -> None:
        if entry.type == "key-rotated":
            key = _verifier(entry)
            if key.name != self.trust.origin:
                raise BadSignature(
                    f"Entry {entry.seq} hands the log to a key of another name, {key.name}", seq=entry.seq
                )
            self._admit(key)
            self.signers = put_first(entry.subject, self.signers)
        elif entry.type == "key-revoked":
            self.revoked[int(entry.subject, 16)] = entry.index
        else:
            self.restored[digest.hex()] = entry

    def _check_head(self) -> None:
        gone = {key_id for key_id, index in self.revoked.items() if index <= self.checkpoint.size}
        heads = {**self.server, **self.agent}
        if self.signers:  # once the log names the key in force, an earlier one signs no head any more
            in_force = Verifier(self.signers[0])
            heads = {**self.server, in_force.key_id: in_force}
        verifiers = tuple(key for key_id, key in heads.items() if key_id not in gone)
        try:
            _, signatures = open_note(self.note, verifiers)
        except BadSignature as error:
            error.remedy = self.trust.proposal() or error.remedy
            raise
        signed = {signature.key_id for signature in signatures}
        known = [*self.signers, *(key.vkey for key in self.agent.values())]
        self.signers = tuple(dict.fromkeys(known))
        for key_id, key in self.agent.items():
            if key_id in signed and key_id not in gone:
                self.signers = put_first(key.vkey, self.signers)


def put_first(vkey: str, signers: tuple[str, ...]) -> tuple[str, ...]:
    """`signers` with `vkey` at their head: the key in force, then those of before."""
    return (vkey, *(other for other in signers if other != vkey))


def _verifier(entry: Governed) -> Verifier:
    try:
        return Verifier(entry.subject)
    except UsageError as exc:
        raise Malformed(f"Entry {entry.seq} hands the log to something that is no key", seq=entry.seq) from exc


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


def _fold_noted(table: Table, entry: Noted, digest: bytes) -> None:
    last = table.get(entry.key)
    if last is None or entry.prev_seq != last.head_seq or entry.prev != last.head.hex() or entry.version > last.version:
        raise Malformed(f"Entry {entry.seq} does not continue the chain of its key", seq=entry.seq)
    state = _STATES.get(entry.type, last.state)
    table.put(entry.key, last._replace(head_seq=entry.seq, head=digest, state=state))


def _parse_revoked(text: str) -> dict[int, int]:
    pairs = (item.split(":") for item in text.split())
    return {int(key_id, 16): int(index) for key_id, index in pairs}


def _format_revoked(revoked: dict[int, int]) -> str:
    return " ".join(f"{key_id:08x}:{index}" for key_id, index in sorted(revoked.items()))
