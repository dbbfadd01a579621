"""A write that was carried out before: the same operation id answers as the first time, and never means something else."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from indelible.entry import SAVED
from indelible.errors import ConflictError, DisciplineError, IntegrityError, Missing, NotFoundError
from indelible.memory.appending import Appender
from indelible.memory.results import Saved
from indelible.sealed import Commitments, verify

if TYPE_CHECKING:
    from indelible.memory.results import Version
    from indelible.memory.writing import Wish
    from indelible.store.follower import Latest
    from indelible.store.store import Writing


class Repeater(Appender):
    """What a write does where its operation, or a refusal of its bytes, stands in the log already."""

    def refuse_refused(self, key: str, content: bytes) -> None:
        """Refuse bytes under a key that a reviewer rejected or disputed as they are.

        Raises:
            DisciplineError: a reviewer did.
        """
        from indelible.memory.standing import standing

        latest = self.follower.look(key)[1]
        if latest is None or latest.head_seq == latest.saved_seq or latest.state == "erased":
            return
        try:
            loaded = self.fetch(key)
        except (IntegrityError, NotFoundError):
            return  # the save itself says so, or mends it
        review = standing(self, loaded).review
        if loaded.content == content and review.value in ("rejected", "disputed"):
            raise DisciplineError(
                f"{review.by} {review.value} this very text under {key!r}",
                remedy="Change it, or have a reviewer approve it: a refusal does not go away by saving it again", key=key,
            )  # fmt: skip

    def _repeated_save(self, wish: Wish, seq: int, latest: Latest | None, writing: Writing) -> Saved:
        """The operation is in the log already: check that it is this one, and answer as the first time."""
        version = self._done_before(wish.key, wish.op, seq, latest, writing)
        sealed = writing.sealed(seq)
        if version.type != SAVED or version.content is None or version.record is None:
            raise used(wish.op)
        if sealed is None:
            raise Missing(
                f"{wish.key!r} (version {version.version}) was sealed and is no longer in the store",
                key=wish.key,
                seq=seq,
            )
        verify(sealed, Commitments(version.content, version.record), wish.key)
        if sealed.content != wish.content:
            raise used(wish.op)
        return Saved(
            wish.key, version.version, seq, sha256(wish.content).hexdigest(), wish.op, repeated=True, masked=wish.masked
        )

    def _repeated_note(self, kind: str, key: str, op: str, seq: int, latest: Latest | None, writing: Writing) -> Saved:
        version = self._done_before(key, op, seq, latest, writing)
        if version.type != kind:
            raise used(op)
        return Saved(key, version.version, seq, "", op, repeated=True)

    def _done_before(self, key: str, op: str, seq: int, latest: Latest | None, writing: Writing) -> Version:
        """The index of operations only proposes: the entry must stand in the verified chain of this key, under this id."""
        erased = False
        for version in self._walk(key, latest, writing) if latest is not None else ():
            if version.type == "erased" and version.seq != seq:
                erased = True
            if version.seq == seq and version.op == op:
                if erased:
                    raise NotFoundError(
                        f"The operation {op!r} was carried out, and {key!r} was erased since", key=key, op=op
                    )
                return version
        raise used(op)


def used(op: str) -> ConflictError:
    """The refusal of an operation id that stands for another operation."""
    return ConflictError(f"The operation id {op!r} was already used for something else", remedy="Use a new one", op=op)
