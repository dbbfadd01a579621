"""What every write has in common: it is signed from the verified frontier, appended, and moves head and pin together."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, TypeVar

from indelible.entry import GOVERNED, PAYLOAD_TYPE, Entry, Governed
from indelible.errors import BadSignature, Busy, PinLost, UsageError
from indelible.memory.bodies import checked_body
from indelible.memory.reading import Reader
from indelible.seal.checkpoint import Checkpoint
from indelible.seal.merkle import Frontier
from indelible.seal.note import pae, sign_note
from indelible.store.follow import UNVOUCHED, follow
from indelible.store.follower import Pin
from indelible.store.store import HeadMoved

if TYPE_CHECKING:
    from collections.abc import Callable

    from indelible.seal.note import Signer
    from indelible.sealed import Sealed
    from indelible.store.follower import Table
    from indelible.store.store import Writing

OWN = "own"
"""Origin of a pin whose log this reader began, or whose present state its user accepted or was given."""

ATTEMPTS = 16
"""How often a write to a server is done again because another one was first."""
T = TypeVar("T")


class Appender(Reader):
    """A reader that can also sign: one entry, one head, one pin at a time."""

    @property
    def signer(self) -> Signer:
        """The agent's own signing key, made at its first use."""
        return self._signer()

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
            subject: for a restore the root given up; the root that it stands behind is put to it here.
            head_by: who signs the head after it: the new key of a rotation; by default the agent's present one.
        """
        if kind not in GOVERNED:
            raise UsageError(f"{kind!r} is not something that is said about a log")
        if reason:
            from indelible.memory.entering import check_texts

            check_texts(self.secrets, {"reason": reason})

        def write() -> Governed:
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
                    subject + frontier.root().hex() if kind == "store-restored" else subject,
                    kind,
                )
                self._append(writing, entry, frontier, None, table, by=by, head_by=head_by)
            return entry

        return self._insist(write)

    def _insist(self, write: Callable[[], T]) -> T:
        """Do a write again where another writer of a server was first."""
        for _ in range(ATTEMPTS):
            try:
                return write()
            except HeadMoved:
                continue
        raise Busy(f"Other writers of {self.agent!r} were first {ATTEMPTS} times in a row")

    def _check_authority(self, kind: str, by: Signer, pin: Pin | None) -> None:
        in_force = [pin.signer] if pin is not None and pin.signer else []
        allowed = {key.vkey for key in self.trust.owner_keys()} | (set(in_force) if kind == "key-rotated" else set())
        if by.vkey not in allowed:
            raise BadSignature(
                f"The key {by.name}+{by.key_id:08x} may not sign a {kind} of {self.origin}",
                remedy="The owner's key does that, and this reader must trust it: 'indelible key create --role owner'",
            )

    def begin(self) -> None:
        """Before the very first entry, remember that this reader saw the log empty: a crash right after it then locks nobody out."""
        if self._begun:
            return
        if self.follower.look("")[0] is None and self.store.peek(self.agent, None).note is None:
            with self.follower.locked() as table:
                if table.pin is None and self.trust.given_pin() is None:
                    table.pin = Pin(b"", 0, b"", Frontier(0, ()).to_bytes(), "", "", "", "", "", OWN)
        self._begun = True

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
        if pin.origin in UNVOUCHED:
            what = "has only been seen, never accepted" if had_pin else "was never seen"
            raise PinLost(
                f"The log of {self.agent!r} at {self.store.place} {what} by this reader, and a save would sign all of it",
                remedy="Give a pin with 'indelible pin set FILE', or accept what is there with 'indelible pin set --accept'",
                agent=self.agent,
            )
        return head.frontier

    def _by(self) -> str:
        return f"{self._signer().key_id:08x}"

    def _append(
        self, writing: Writing, entry: Entry, frontier: Frontier, sealed: Sealed | None, table: Table,
        *, by: Signer | None = None, head_by: Signer | None = None,
    ) -> bytes:  # fmt: skip
        """Sign, append, and move the head: the store's part in its transaction, the pin in the follower's. Gives the leaf hash."""
        signer = self._signer()
        self._check_in_force(table.pin, head_by or signer, entry)
        body = checked_body(entry)
        leaf = body + (by or signer).sign_raw(pae(PAYLOAD_TYPE, body))
        return self._put(writing, entry, leaf, frontier, sealed, table=table, head_by=head_by or signer)

    def _put(
        self, writing: Writing, entry: Entry, leaf: bytes, frontier: Frontier, sealed: Sealed | None, *, table: Table, head_by: Signer
    ) -> bytes:  # fmt: skip
        """Append what is signed already, under a new head. Gives the leaf hash."""
        digest = sha256(b"\0" + leaf).digest()
        grown = frontier.append(digest)
        text = Checkpoint(self.origin, grown.size, grown.root(), ()).format()
        note = sign_note(text, head_by)
        writing.append(entry.seq, leaf, entry.op, sealed)
        writing.set_head(note)
        table.pin = self._pin_after(table.pin, entry, digest, grown, note, head_by)
        return digest

    def _check_in_force(self, pin: Pin | None, head_by: Signer, entry: Entry) -> None:
        """A key that the log has left, or never knew, must not sign its head: every reader would refuse it."""
        rotated = isinstance(entry, Governed) and entry.type == "key-rotated"
        if (
            pin is not None
            and pin.signer
            and head_by.name == self.origin
            and not rotated
            and head_by.vkey != pin.signer
        ):
            raise BadSignature(
                f"The key {head_by.key_id:08x} is not the one in force for {self.origin}",
                remedy="Use the key of the last rotation: INDELIBLE_KEY_FILE, or 'indelible key recover FILE'",
            )

    def _pin_after(
        self, pin: Pin | None, entry: Entry, digest: bytes, grown: Frontier, note: bytes, head_by: Signer
    ) -> Pin:
        signer, former = (pin.signer, pin.former) if pin else ("", "")
        if head_by.name == self.origin and head_by.vkey != signer:
            known = f"{signer} {former}".split()
            signer, former = head_by.vkey, " ".join(vkey for vkey in known if vkey != head_by.vkey)
        revoked, restored = (pin.revoked, pin.restored) if pin else ("", "")
        if isinstance(entry, Governed) and entry.type == "key-revoked":
            revoked = f"{revoked} {entry.subject}:{entry.index}".strip()
        if isinstance(entry, Governed) and entry.type == "store-restored":
            restored = f"{restored} {digest.hex()}".strip()
        first, origin = (pin.first or digest, pin.origin) if pin else (digest, OWN)
        given = pin.given if pin else ""
        return Pin(first, grown.size, note, grown.to_bytes(), signer, former, revoked, restored, given, origin)
