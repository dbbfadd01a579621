"""`Memory`: save, load, verify, list, history, archive, restore, erase, checkpoint, proof."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indelible.errors import Busy, NotFoundError
from indelible.memory.pinned import leaf_at
from indelible.memory.results import Verified, compare
from indelible.memory.writing import Wish, Writer

if TYPE_CHECKING:
    from typing import Self

    from indelible.memory.results import Loaded, Saved
    from indelible.record import Record
    from indelible.seal.proof import TlogProof


class Memory(Writer):
    """One agent's memory in one store. Make one with `indelible.open_memory`, or with its parts."""

    def verify(self, key: str, local: bytes | None = None) -> Verified:
        """Check one memory, the last entry about it, and what is new in the log it stands in; compare a local copy.

        Raises:
            IntegrityError: anything at all is not what was sealed; here a finding is never let pass.
            NotFoundError: nothing is saved under this key.
        """
        loaded = self.load(key, held=True)
        if loaded.finding is not None:
            raise loaded.finding
        with self.store.reading(self.agent) as reading:
            leaf_at(reading, self.origin, loaded.latest.head_seq, loaded.latest.head, key=key)
        return compare(loaded, local)

    def archive(self, key: str, *, reason: str | None = None, op: str | None = None) -> Saved:
        """Put a memory away: kept, verifiable, no longer handed out."""
        return self.note("archived", key, reason=reason, op=op)

    def unarchive(self, key: str, *, reason: str | None = None, op: str | None = None) -> Saved:
        """Bring an archived memory back."""
        return self.note("unarchived", key, reason=reason, op=op)

    def erase(self, key: str, *, reason: str | None = None, op: str | None = None) -> Saved:
        """Take content, record and salt of every version away; entries and proofs stand."""
        erased = self.note("erased", key, reason=reason, op=op)
        try:
            self.store.settle(purge=True)
        except Busy as busy:
            return erased._replace(warnings=(*erased.warnings, f"A copy may still be in the store's -wal: {busy}"))
        return erased

    def restore(self, key: str, version: int, *, reason: str | None = None, op: str | None = None) -> Saved:
        """Save an older version again as the newest one: its very bytes, and the class of origin that it had.

        Raises:
            IntegrityError: that version is not what was sealed. NotFoundError: there is none.
        """
        older = self.load(key, version, held=True)
        from indelible.memory.entering import check_texts

        check_texts(self.secrets, {"reason": reason, "operation id": op})
        wish = Wish(
            key, older.content, lambda _: self._again(older), None, "restored", reason or f"version {version}", allow_empty=True,
            op=op or self.new_op(), repeatable=op is not None, again=True,
        )  # fmt: skip
        return self._do(wish.op, lambda: self._save(wish))

    def _again(self, older: Loaded) -> Record:
        from dataclasses import replace

        record = self.revise(older.record, older.content)
        return replace(record, origin=replace(record.origin, class_=older.record.origin.class_))

    def checkpoint(self) -> bytes:
        """The head of the log, verified: a C2SP signed note that another reader can use as a pin.

        Raises:
            NotFoundError: nothing was ever saved.
        """
        with self.following() as (_, _, head):
            if head.note is None:
                raise NotFoundError(
                    f"{self.agent!r} has no log at {self.store.place} yet",
                    remedy="Save something first",
                    agent=self.agent,
                )
            return head.note

    def proof(self, key: str, version: int | None = None) -> tuple[bytes, TlogProof]:
        """`(leaf, proof)`: the entry that saved a version, and its inclusion in the signed head (C2SP tlog-proof)."""
        from indelible.memory.proving import prove

        loaded = self.load(key, version, held=True)
        with self.following() as (_, reading, head):
            return prove(self.store, self.agent, reading, loaded.seq, head)

    def close(self) -> None:
        self.follower.close()
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
