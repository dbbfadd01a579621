"""The one funnel for writes: follow inside the write lock, sign from the verified frontier, commit once, then pin."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from indelible.entry import GOVERNED, PAYLOAD_TYPE, Entry, Governed, Noted, check_text, format_entry, parse_entry, split_leaf
from indelible.entry import Saved as SavedEntry
from indelible.errors import ConflictError, DisciplineError, IntegrityError, Missing, NotFoundError, PinLost, UsageError
from indelible.memory.reading import Reader
from indelible.memory.results import Saved
from indelible.seal.checkpoint import Checkpoint
from indelible.seal.merkle import Frontier
from indelible.seal.note import Verifier, pae, sign_note
from indelible.sealed import SALT_SIZE, Commitments, Sealed, commit, verify
from indelible.store.follow import follow, put_first
from indelible.store.follower import Latest, Pin

if TYPE_CHECKING:
    from collections.abc import Callable

    from indelible.record import Record
    from indelible.seal.note import Signer
    from indelible.store.follower import Table
    from indelible.store.store import Writing

OWN = "own"
"""Origin of a pin whose log this reader began, or whose present state its user accepted or was given."""


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
        fresh = op is None
        op = op or self.new_op()
        check_text(op, "operation id")
        with self.follower.locked() as table:
            with self.store.writing(self.agent) as writing:
                frontier = self._frontier(table, writing)
                repeated = None if fresh else writing.find_op(op)
                if repeated is not None:
                    return self._repeat(key, content, op, repeated, writing)
                latest = table.get(key)
                before = self._present(key, latest, writing)
                self._check_conflict(key, before, based_on, how)
                if not content and before is not None and before.content and not allow_empty:
                    raise DisciplineError(f"{key!r} holds {len(before.content)} bytes and would be emptied",
                                          remedy="Say --allow-empty if that is meant; the old content is kept", key=key)
                sealed = self._seal(key, content, record, latest, before)
                commitments = commit(sealed)
                entry = self._saved_entry(key, commitments, latest, frontier.size, how, reason, op)
                leaf, digest = self._append(writing, entry, frontier, sealed, table)
            table.put(key, Latest(entry.seq, digest, entry.seq, entry.version, *commitments, "active", entry.by, entry.at))
        self._settle(repeated=False)
        return Saved(key, entry.version, entry.seq, sha256(content).hexdigest(), op, warnings=tuple(filter(None, [self.warning])))

    def note(self, kind: str, key: str, *, reason: str | None = None, digest: str | None = None, op: str | None = None) -> Saved:
        """Say something about a memory: `archived`, `unarchived`, `superseded`, `erased`.

        Raises:
            NotFoundError: nothing is saved under this key, or it was erased.
        """
        check_text(key, "key")
        op = op or self.new_op()
        with self.follower.locked() as table:
            with self.store.writing(self.agent) as writing:
                frontier = self._frontier(table, writing)
                repeated = writing.find_op(op)
                latest = table.get(key)
                if repeated is not None and latest is not None:
                    return Saved(key, latest.version, repeated, "", op, repeated=True)
                if latest is None or latest.state == "erased":
                    raise NotFoundError(f"Nothing is saved under {key!r} for {self.agent!r}", key=key, agent=self.agent)
                entry = Noted(self._clock(), self._by(), digest, key, op, self.origin, latest.head.hex(), latest.head_seq,
                              reason, frontier.size, kind, latest.version)
                gone = tuple(v.seq for v in self._walk(key, latest, writing) if v.type == "saved") if kind == "erased" else ()
                leaf, leaf_digest = self._append(writing, entry, frontier, None, table)
                writing.drop(gone)
            state = {"archived": "archived", "unarchived": "active", "superseded": "superseded", "erased": "erased"}.get(kind, latest.state)
            table.put(key, latest._replace(head_seq=entry.seq, head=leaf_digest, state=state))
        self._settle(repeated=False)
        return Saved(key, latest.version, entry.seq, "", op)

    def govern(self, kind: str, subject: str, index: int, *, by: Signer, head_by: Signer | None = None, reason: str | None = None) -> Governed:
        """Say something about the log itself, signed by `by` (the old key, or the owner).

        Args:
            head_by: who signs the head after it: the new key of a rotation; by default the agent's present one.
        """
        if kind not in GOVERNED:
            raise UsageError(f"{kind!r} is not something that is said about a log")
        with self.follower.locked() as table, self.store.writing(self.agent) as writing:
            frontier = self._frontier(table, writing)
            entry = Governed(self._clock(), f"{by.key_id:08x}", index, self.new_op(), self.origin, reason, frontier.size, subject, kind)
            self._append(writing, entry, frontier, None, table, by=by, head_by=head_by)
        return entry

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
            raise PinLost(f"The log of {self.agent!r} at {self.store.place} {what} by this reader, and a save would sign all of it",
                          remedy="Give a pin with 'indelible pin set FILE', or accept what is there with 'indelible pin set --accept'",
                          agent=self.agent)
        return head.frontier

    def _present(self, key: str, latest: Latest | None, writing: Writing) -> Sealed | None:
        """The version before this one, verified: what is built upon is checked first."""
        if latest is None or latest.state == "erased":
            return None
        sealed = writing.sealed(latest.saved_seq)
        if sealed is None:
            raise Missing(f"{key!r} (version {latest.version}) was sealed and is no longer in the store", key=key, seq=latest.saved_seq)
        verify(sealed, Commitments(latest.content, latest.record), key)
        return sealed

    def _check_conflict(self, key: str, before: Sealed | None, based_on: str | None, how: str) -> None:
        if based_on is None or how == "forced":
            return
        actual = sha256(before.content).hexdigest() if before is not None else ""
        expected = based_on.removeprefix("sha256:")
        if expected != actual:
            raise ConflictError(f"{key!r} changed since it was read: it was sha256:{expected or '(nothing)'} and is sha256:{actual or '(nothing)'}",
                                remedy="Load it again and put your change on top, or say --force: that is recorded",
                                key=key, based_on=expected, actual=actual)

    def _seal(self, key: str, content: bytes, record: Callable[[Record | None], Record] | None, latest: Latest | None, before: Sealed | None) -> Sealed:
        from dataclasses import replace

        from indelible.record import Record, draft

        earlier = Record.from_body(before.body) if before is not None else None
        if record is not None:
            made = record(earlier)
        elif earlier is not None:
            made = self.revise(earlier, content)
        else:
            made = draft(key, content, now=self._clock(), author=f"agent:{self.agent}", agent=self.agent, team=self.team,
                         random=self._entropy(10))
        version = latest.version + 1 if latest is not None else 1
        if made.revision != version or made.key != key:
            made = replace(made, revision=version, key=key)
        return Sealed(self._entropy(SALT_SIZE), made.to_body(), content)

    def revise(self, earlier: Record, content: bytes) -> Record:
        """The plain next version of `earlier`. An expiry that has passed was the old content's and does not go on."""
        from dataclasses import replace

        from indelible.record import next_revision

        now = self._clock()
        made = next_revision(earlier, content, now=now, author=f"agent:{self.agent}")
        expires = made.validity.expires_at
        return replace(made, validity=replace(made.validity, expires_at=None)) if expires is not None and expires <= now else made

    def _saved_entry(self, key: str, commitments: Commitments, latest: Latest | None, seq: int, how: str, reason: str | None, op: str) -> SavedEntry:
        prev, prev_seq = (latest.head.hex(), latest.head_seq) if latest else (None, None)
        version = latest.version + 1 if latest else 1
        return SavedEntry(self._clock(), self._by(), commitments.content.hex(), how, key, op, self.origin, prev, prev_seq, reason,
                          commitments.record.hex(), seq, "saved", version)

    def _by(self) -> str:
        return f"{self._signer().key_id:08x}"

    def _append(
        self, writing: Writing, entry: Entry, frontier: Frontier, sealed: Sealed | None, table: Table,
        *, by: Signer | None = None, head_by: Signer | None = None,
    ) -> tuple[bytes, bytes]:  # fmt: skip
        """Sign, append, and move the head: the store's part in its transaction, the pin in the follower's."""
        signer = self._signer()
        body = format_entry(entry)
        leaf = body + (by or signer).sign_raw(pae(PAYLOAD_TYPE, body))
        digest = sha256(b"\0" + leaf).digest()
        grown = frontier.append(digest)
        text = Checkpoint(self.origin, grown.size, grown.root(), ()).format()
        note = sign_note(text, head_by or signer)
        writing.append(entry.seq, leaf, entry.op, sealed)
        writing.set_head(note)
        table.pin = self._pin_after(table.pin, entry, digest, grown, note, head_by or signer)
        return leaf, digest

    def _pin_after(self, pin: Pin | None, entry: Entry, digest: bytes, grown: Frontier, note: bytes, head_by: Signer) -> Pin:
        signers = tuple(pin.signers.split()) if pin else ()
        if head_by.name == self.origin:
            signers = put_first(head_by.vkey, signers)
        revoked = pin.revoked if pin else ""
        if isinstance(entry, Governed) and entry.type == "key-revoked":
            revoked = f"{revoked} {entry.subject}:{entry.index}".strip()
        first, origin = (pin.first, pin.origin) if pin else (digest, OWN)
        return Pin(first, grown.size, note, grown.to_bytes(), " ".join(signers), revoked, origin)

    def _repeat(self, key: str, content: bytes, op: str, seq: int, writing: Writing) -> Saved:
        """The operation is in the log already: check that it is this one, and answer as the first time."""
        leaf = next(iter(writing.leaves(seq, seq + 1)), None)
        entry = parse_entry(split_leaf(leaf)[0]) if leaf else None
        sealed = writing.sealed(seq)
        if not isinstance(entry, SavedEntry) or entry.op != op:
            raise IntegrityError(f"The store's index of operations points {op!r} at entry {seq}, which is another", seq=seq)
        if entry.key != key or sealed is None or sealed.content != content:
            raise ConflictError(f"The operation id {op!r} was already used for another save", remedy="Use a new one", op=op)
        self._settle(repeated=True)
        return Saved(key, entry.version, seq, sha256(content).hexdigest(), op, repeated=True)

    def _settle(self, *, repeated: bool) -> None:
        """A repeat may follow a commit whose fsync failed: make sure of it now."""
        settle = getattr(self.store, "settle", None)
        if repeated and settle is not None:
            settle()


def vkey_id(vkey: str) -> str:
    """The eight hex digits by which entries name a key."""
    return f"{Verifier(vkey).key_id:08x}"
