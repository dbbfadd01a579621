"""The one funnel for writes: follow inside the write lock, sign from the verified frontier, commit once, then pin."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from indelible.entry import GOVERNED, PAYLOAD_TYPE, SAVED, Entry, Governed, Noted, check_text, format_entry
from indelible.entry import Saved as SavedEntry
from indelible.errors import (
    BadSignature,
    Busy,
    ConflictError,
    DisciplineError,
    IntegrityError,
    Missing,
    NotFoundError,
    PinLost,
    UsageError,
)
from indelible.memory.reading import Reader
from indelible.memory.results import Saved
from indelible.seal.checkpoint import Checkpoint
from indelible.seal.merkle import Frontier
from indelible.seal.note import Verifier, pae, sign_note
from indelible.sealed import SALT_SIZE, Commitments, Sealed, commit, verify
from indelible.store.follow import follow, put_first
from indelible.store.follower import Latest, Pin
from indelible.store.store import HeadMoved

if TYPE_CHECKING:
    from collections.abc import Callable

    from indelible.memory.results import Version
    from indelible.record import Record
    from indelible.seal.note import Signer
    from indelible.store.follower import Table
    from indelible.store.store import Writing

OWN = "own"
"""Origin of a pin whose log this reader began, or whose present state its user accepted or was given."""


STATES = {"archived": "archived", "unarchived": "active", "superseded": "superseded", "erased": "erased"}
"""What an entry about a memory makes of its state."""
ATTEMPTS = 16
"""How often a write to a server is done again because another one was first."""


class Writer(Reader):
    """What can be done to memory. Every method is one transaction and one fsync of the store."""

    def save(
        self, key: str, content: bytes, *, record: Callable[[Record | None], Record] | None = None, based_on: str | None = None,
        how: str = "saved", reason: str | None = None, allow_empty: bool = False, op: str | None = None,
    ) -> Saved:  # fmt: skip
        """Seal `content` as the next version of `key`.

        Args:
            record: makes what is known about it, given the record of the version before; by default a plain one.
            based_on: sha256 (64 hex digits) of the version that the writer had read; "" for "there was none".
            how: `saved`, `forced`, `imported` or `restored`; it stands in the log.
            op: operation id; a repeat of it adds nothing and answers as the first time.

        Raises:
            ConflictError: the memory changed since it was read, or the operation id was used for something else.
            DisciplineError: nothing over something, without `allow_empty`.
            IntegrityError: the store is not what was sealed, and so is not built upon.
            NotSaved: certainly nothing happened. OutcomeUnknown: repeat it with the same `op`.
        """
        check_text(key, "key")
        if content.__class__ is not bytes:
            raise UsageError(
                f"Content is bytes, and this is {type(content).__name__}",
                remedy="Encode text first; nothing is guessed",
            )
        wish = Wish(
            key, content, record, based_on, how, reason, allow_empty, op or self.new_op(), repeatable=op is not None
        )
        return self._do(wish.op, lambda: self._save(wish))

    def note(
        self, kind: str, key: str, *, reason: str | None = None, digest: str | None = None, op: str | None = None
    ) -> Saved:
        """Say something about a memory: `archived`, `unarchived`, `superseded`, `erased`.

        Raises:
            NotFoundError: nothing is saved under this key, or it was erased.
            ConflictError: the operation id was used for something else.
        """
        check_text(key, "key")
        operation = op or self.new_op()
        return self._do(operation, lambda: self._note(kind, key, reason, digest, operation))

    def govern(
        self,
        kind: str,
        subject: str,
        index: int,
        *,
        by: Signer,
        head_by: Signer | None = None,
        reason: str | None = None,
    ) -> Governed:
        """Say something about the log itself, signed by `by` (the old key, or the owner).

        Args:
            head_by: who signs the head after it: the new key of a rotation; by default the agent's present one.
        """
        if kind not in GOVERNED:
            raise UsageError(f"{kind!r} is not something that is said about a log")
        with self.follower.locked() as table, self.store.writing(self.agent) as writing:
            frontier = self._frontier(table, writing)
            self._check_authority(kind, by, table.pin)
            entry = Governed(
                self._clock(),
                f"{by.key_id:08x}",
                index,
                self.new_op(),
                self.origin,
                reason,
                frontier.size,
                subject,
                kind,
            )
            self._append(writing, entry, frontier, None, table, by=by, head_by=head_by)
        return entry

    def _check_authority(self, kind: str, by: Signer, pin: Pin | None) -> None:
        in_force = pin.signers.split()[:1] if pin is not None else []
        allowed = {key.vkey for key in self.trust.owner_keys()} | (set(in_force) if kind == "key-rotated" else set())
        if by.vkey not in allowed:
            raise BadSignature(
                f"The key {by.name}+{by.key_id:08x} may not sign a {kind} of {self.origin}",
                remedy="The owner's key does that, and this reader must trust it: 'indelible key create --role owner'",
            )

    def _do(self, op: str, write: Callable[[], Saved]) -> Saved:
        """One write, done again where another writer of a server was first; a repeat is made durable once more."""
        check_text(op, "operation id")
        self.begin()
        for _ in range(ATTEMPTS):
            try:
                saved = write()
            except HeadMoved:
                continue
            if saved.repeated:
                self.store.settle()
            return saved
        raise Busy(f"Other writers of {self.agent!r} were first {ATTEMPTS} times in a row")

    def begin(self) -> None:
        """Before the very first entry, remember that this reader saw the log empty: a crash right after it then locks nobody out."""
        if self._begun:
            return
        if self.follower.look("")[0] is None and self.store.peek(self.agent, None).note is None:
            with self.follower.locked() as table:
                if table.pin is None and self.trust.given_pin() is None:
                    table.pin = Pin(b"", 0, b"", Frontier(0, ()).to_bytes(), "", "", "", "", OWN)
        self._begun = True

    def _save(self, wish: Wish) -> Saved:
        key = wish.key
        with self.follower.locked() as table:
            with self.store.writing(self.agent) as writing:
                frontier = self._frontier(table, writing)
                latest = table.get(key)
                repeated = writing.find_op(wish.op) if wish.repeatable else None
                if repeated is not None:
                    return self._repeated_save(wish, repeated, latest, writing)
                before = (
                    self._restorable(wish, latest, writing)
                    if wish.how in ("restored", "forced")
                    else self._present(key, latest, writing)
                )
                self._check_wish(wish, before)
                sealed = self._seal(wish, latest, before)
                commitments = commit(sealed)
                entry = self._saved_entry(wish, commitments, latest, frontier.size)
                digest = self._append(writing, entry, frontier, sealed, table)
            table.put(
                key, Latest(entry.seq, digest, entry.seq, entry.version, *commitments, "active", entry.by, entry.at)
            )
        warnings = (self.warning,) if self.warning else ()
        return Saved(key, entry.version, entry.seq, sha256(wish.content).hexdigest(), wish.op, warnings=warnings)

    def _note(self, kind: str, key: str, reason: str | None, digest: str | None, op: str) -> Saved:
        with self.follower.locked() as table:
            with self.store.writing(self.agent) as writing:
                frontier = self._frontier(table, writing)
                latest = table.get(key)
                repeated = writing.find_op(op)
                if repeated is not None:
                    return self._repeated_note(kind, key, op, repeated, latest, writing)
                if latest is None or latest.state == "erased":
                    raise NotFoundError(f"Nothing is saved under {key!r} for {self.agent!r}", key=key, agent=self.agent)
                entry = Noted(
                    self._clock(),
                    self._by(),
                    digest,
                    key,
                    op,
                    self.origin,
                    latest.head.hex(),
                    latest.head_seq,
                    reason,
                    frontier.size,
                    kind,
                    latest.version,
                )
                gone = (
                    tuple(v.seq for v in self._walk(key, latest, writing) if v.type == "saved")
                    if kind == "erased"
                    else ()
                )
                leaf = self._append(writing, entry, frontier, None, table)
                writing.drop(gone)
            table.put(key, latest._replace(head_seq=entry.seq, head=leaf, state=STATES.get(kind, latest.state)))
        return Saved(key, latest.version, entry.seq, "", op)

    @property
    def signer(self) -> Signer:
        """The agent's own signing key, made at its first use."""
        return self._signer()

    def new_op(self) -> str:
        """A fresh operation id, ordered in time so that its index grows at one end (RFC 9562, version 7)."""
        from time import time_ns

        raw = bytearray((time_ns() // 1_000_000).to_bytes(6, "big") + self._entropy(10))
        raw[6], raw[8] = raw[6] & 0x0F | 0x70, raw[8] & 0x3F | 0x80
        text = raw.hex()
        return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))

    def _frontier(self, table: Table, writing: Writing) -> Frontier:
        """Follow under the write lock. A writer that never had a pin would sign whatever it finds: it is refused."""
        had_pin = table.pin is not None
        head = follow(table, writing, self.trust)
        pin = table.pin
        if pin is None:
            return Frontier(0, ())
        if pin.origin == "first-use":
            what = "has only been seen, never accepted" if had_pin else "was never seen"
            raise PinLost(
                f"The log of {self.agent!r} at {self.store.place} {what} by this reader, and a save would sign all of it",
                remedy="Give a pin with 'indelible pin set FILE', or accept what is there with 'indelible pin set --accept'",
                agent=self.agent,
            )
        return head.frontier

    def _present(self, key: str, latest: Latest | None, writing: Writing) -> Sealed | None:
        """The version before this one, verified: what is built upon is checked first."""
        if latest is None or latest.state == "erased":
            return None
        sealed = writing.sealed(latest.saved_seq)
        if sealed is None:
            raise Missing(
                f"{key!r} (version {latest.version}) was sealed and is no longer in the store",
                key=key,
                seq=latest.saved_seq,
            )
        verify(sealed, Commitments(latest.content, latest.record), key)
        return sealed

    def _restorable(self, wish: Wish, latest: Latest | None, writing: Writing) -> Sealed | None:
        """What a restore or a forced save builds on may be altered or gone; where the new bytes are the sealed ones, they are put back there too."""
        try:
            return self._present(wish.key, latest, writing)
        except IntegrityError:
            sealed = writing.sealed(latest.saved_seq) if latest else None
        if latest is not None and sealed is not None:
            original = sealed._replace(content=wish.content)
            try:
                verify(original, Commitments(latest.content, latest.record), wish.key)
            except IntegrityError:
                return None
            writing.mend(latest.saved_seq, original)
            return original
        return None

    def _check_wish(self, wish: Wish, before: Sealed | None) -> None:
        """No silent loss: of a version that the writer had not read, or of everything."""
        if wish.based_on is not None and wish.how != "forced":
            actual = sha256(before.content).hexdigest() if before is not None else ""
            expected = wish.based_on.removeprefix("sha256:").lower()
            if expected != actual:
                raise ConflictError(
                    f"{wish.key!r} changed since it was read: it was sha256:{expected or '(nothing)'} and is sha256:{actual or '(nothing)'}",
                    remedy="Load it again and put your change on top, or say --force: that is recorded",
                    key=wish.key,
                    based_on=expected,
                    actual=actual,
                )
        if not wish.content and before is not None and before.content and not wish.allow_empty:
            raise DisciplineError(
                f"{wish.key!r} holds {len(before.content)} bytes and would be emptied",
                remedy="Say --allow-empty if that is meant; the old content is kept",
                key=wish.key,
            )

    def _seal(self, wish: Wish, latest: Latest | None, before: Sealed | None) -> Sealed:
        if wish.record is None and latest is None:
            from indelible.record.draft import plain_body

            body = plain_body(
                wish.key,
                wish.content,
                now=self._clock(),
                author=f"agent:{self.agent}",
                agent=self.agent,
                team=self.team,
                random=self._entropy(10),
            )
            return Sealed(self._entropy(SALT_SIZE), body, wish.content)
        from dataclasses import replace

        from indelible.record import Record, draft

        earlier = Record.from_body(before.body) if before is not None else None
        if wish.record is not None:
            made = wish.record(earlier)
        elif earlier is not None:
            made = self.revise(earlier, wish.content)
        else:
            made = draft(
                wish.key,
                wish.content,
                now=self._clock(),
                author=f"agent:{self.agent}",
                agent=self.agent,
                team=self.team,
                random=self._entropy(10),
            )
        version = latest.version + 1 if latest is not None else 1
        if made.revision != version or made.key != wish.key:
            made = replace(made, revision=version, key=wish.key)
        return Sealed(self._entropy(SALT_SIZE), made.to_body(), wish.content)

    def revise(self, earlier: Record, content: bytes) -> Record:
        """The plain next version of `earlier`. An expiry that has passed was the old content's and does not go on."""
        from dataclasses import replace

        from indelible.record import instant, next_revision

        now = self._clock()
        made = next_revision(earlier, content, now=now, author=f"agent:{self.agent}")
        expires = made.validity.expires_at
        return (
            replace(made, validity=replace(made.validity, expires_at=None))
            if expires is not None and instant(expires) <= instant(now)
            else made
        )

    def _saved_entry(self, wish: Wish, commitments: Commitments, latest: Latest | None, seq: int) -> SavedEntry:
        prev, prev_seq = (latest.head.hex(), latest.head_seq) if latest else (None, None)
        version = latest.version + 1 if latest else 1
        return SavedEntry(
            self._clock(),
            self._by(),
            commitments.content.hex(),
            wish.how,
            wish.key,
            wish.op,
            self.origin,
            prev,
            prev_seq,
            wish.reason,
            commitments.record.hex(),
            seq,
            "saved",
            version,
        )

    def _by(self) -> str:
        return f"{self._signer().key_id:08x}"

    def _append(
        self, writing: Writing, entry: Entry, frontier: Frontier, sealed: Sealed | None, table: Table,
        *, by: Signer | None = None, head_by: Signer | None = None,
    ) -> bytes:  # fmt: skip
        """Sign, append, and move the head: the store's part in its transaction, the pin in the follower's. Gives the leaf hash."""
        signer = self._signer()
        self._check_in_force(table.pin, head_by or signer, entry)
        body = format_entry(entry)
        leaf = body + (by or signer).sign_raw(pae(PAYLOAD_TYPE, body))
        digest = sha256(b"\0" + leaf).digest()
        grown = frontier.append(digest)
        text = Checkpoint(self.origin, grown.size, grown.root(), ()).format()
        note = sign_note(text, head_by or signer)
        writing.append(entry.seq, leaf, entry.op, sealed)
        writing.set_head(note)
        table.pin = self._pin_after(table.pin, entry, digest, grown, note, head_by or signer)
        return digest

    def _check_in_force(self, pin: Pin | None, head_by: Signer, entry: Entry) -> None:
        """A key that the log has left, or never knew, must not sign its head: every reader would refuse it."""
        rotated = isinstance(entry, Governed) and entry.type == "key-rotated"
        if (
            pin is not None
            and pin.signers
            and head_by.name == self.origin
            and not rotated
            and head_by.vkey != pin.signers.split()[0]
        ):
            raise BadSignature(
                f"The key {head_by.key_id:08x} is not the one in force for {self.origin}",
                remedy="Use the key of the last rotation: INDELIBLE_KEY_FILE, or 'indelible key recover FILE'",
            )

    def _pin_after(
        self, pin: Pin | None, entry: Entry, digest: bytes, grown: Frontier, note: bytes, head_by: Signer
    ) -> Pin:
        signers = tuple(pin.signers.split()) if pin else ()
        if head_by.name == self.origin:
            signers = put_first(head_by.vkey, signers)
        revoked, restored = (pin.revoked, pin.restored) if pin else ("", "")
        if isinstance(entry, Governed) and entry.type == "key-revoked":
            revoked = f"{revoked} {entry.subject}:{entry.index}".strip()
        if isinstance(entry, Governed) and entry.type == "store-restored":
            restored = f"{restored} {digest.hex()}".strip()
        first, origin = (pin.first or digest, pin.origin) if pin else (digest, OWN)
        given = pin.given if pin else ""
        return Pin(first, grown.size, note, grown.to_bytes(), " ".join(signers), revoked, restored, given, origin)

    def _repeated_save(self, wish: Wish, seq: int, latest: Latest | None, writing: Writing) -> Saved:
        """The operation is in the log already: check that it is this one, and answer as the first time."""
        version = self._done_before(wish.key, wish.op, seq, latest, writing)
        sealed = writing.sealed(seq)
        if version.type != SAVED or version.content is None or version.record is None:
            raise _used(wish.op)
        if sealed is None:
            raise Missing(
                f"{wish.key!r} (version {version.version}) was sealed and is no longer in the store",
                key=wish.key,
                seq=seq,
            )
        verify(sealed, Commitments(version.content, version.record), wish.key)
        if sealed.content != wish.content:
            raise _used(wish.op)
        return Saved(wish.key, version.version, seq, sha256(wish.content).hexdigest(), wish.op, repeated=True)

    def _repeated_note(self, kind: str, key: str, op: str, seq: int, latest: Latest | None, writing: Writing) -> Saved:
        version = self._done_before(key, op, seq, latest, writing)
        if version.type != kind:
            raise _used(op)
        return Saved(key, version.version, seq, "", op, repeated=True)

    def _done_before(self, key: str, op: str, seq: int, latest: Latest | None, writing: Writing) -> Version:
        """The index of operations only proposes: the entry must stand in the verified chain of this key, under this id."""
        for version in self._walk(key, latest, writing) if latest is not None else ():
            if version.seq == seq and version.op == op:
                return version
        raise _used(op)


class Wish(NamedTuple):
    """One save, as it was asked for."""

    key: str
    content: bytes
    record: Callable[[Record | None], Record] | None
    based_on: str | None
    how: str
    reason: str | None
    allow_empty: bool
    op: str
    repeatable: bool
    """False where the operation id was made up just now, and so cannot be in the log."""


def _used(op: str) -> ConflictError:
    return ConflictError(f"The operation id {op!r} was already used for something else", remedy="Use a new one", op=op)


def vkey_id(vkey: str) -> str:
    """The eight hex digits by which entries name a key."""
    return f"{Verifier(vkey).key_id:08x}"
