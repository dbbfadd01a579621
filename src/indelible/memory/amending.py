"""What is done to slots beyond a save: the owner amends one, and a ticket's slots are closed. Each is one transaction."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from indelible.entry import METHODS, Judged, Noted, check_text
from indelible.errors import BadSignature, ConflictError, IntegrityError, UsageError
from indelible.memory.bound import is_amendable
from indelible.memory.deciding import Decider, derived_op
from indelible.memory.disciplining import present_of, refuse_save
from indelible.memory.results import Saved
from indelible.memory.writing import Wish
from indelible.sealed import commit
from indelible.state.slot import GONE, namespace_of_closed
from indelible.store.follower import Latest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from indelible.record import Record
    from indelible.screening import Screened
    from indelible.seal.merkle import Frontier
    from indelible.seal.note import Signer
    from indelible.store.follower import Table
    from indelible.store.store import Writing


class Amendment(NamedTuple):
    """Who stands behind a version that no discipline would let through."""

    by: Signer
    method: str
    reason: str


class Amender(Decider):
    """A memory whose slots can be amended and closed."""

    def amend(
        self, key: str, content: bytes | Screened, *, by: Signer, reason: str, method: str = "human",
        record: Callable[[Record | None], Record] | None = None, based_on: str | None = None, op: str | None = None,
    ) -> Saved:  # fmt: skip
        """Save a slot's next version whatever its discipline says, with the owner's word for it in the same transaction.

        Args:
            by: the owner's key, which this reader has to know as one.
            method: `human` where it is kept under a passphrase, else `process`.
            based_on: as for `save`.

        Raises:
            BadSignature: that is no owner's key that is known here.
            UsageError: the key is no slot's, or the content is no text for one.
            ConflictError: the slot changed since it was read.
        """
        check_text(key, "key")
        if not is_amendable(key) or method not in METHODS:
            raise UsageError(f"{key!r} is no slot", remedy="Other memories are not amended: 'indelible save KEY FILE'")
        if by.vkey not in {owner.vkey for owner in self.trust.owner_keys()}:
            raise BadSignature(
                f"The key {by.name}+{by.key_id:08x} may not amend a slot of {self.origin}",
                remedy="The owner's key does that, and this reader must trust it: 'indelible key create --role owner'",
            )
        screened = self.admit(content, {"key": key, "reason": reason, "operation id": op or ""})
        wish = Wish(
            key, screened.content, record, based_on, "saved", reason, allow_empty=False, op=op or self.new_op(),
            repeatable=op is not None, masked=tuple(map(str, screened.found)),
        )  # fmt: skip
        amendment = Amendment(by, method, reason)
        return self._do(wish.op, lambda: self._amend(wish, amendment), key)

    def _amend(self, wish: Wish, amendment: Amendment) -> Saved:
        from indelible.memory.entering import best_origin

        key = wish.key
        with self.follower.locked() as table, self.store.writing(self.agent) as writing:
            frontier, latest = self._frontier(table, writing), table.get(key)
            repeated = writing.find_op(wish.op) if wish.repeatable else None
            if repeated is not None:
                return self._repeated_save(wish, repeated, latest, writing)
            bound = None
            try:
                before = self._present(key, latest, writing)
            except IntegrityError:  # what the owner looks at and replaces may be damaged
                wish = wish._replace(how="forced")
                bound = best_origin(self._walk(key, latest, writing), writing) if latest is not None else None
                before = self._restorable(key, wish.content, latest, writing)
            self._check_wish(wish, before)
            present = present_of(latest, before.content if before is not None else None)
            refuse_save(key, wish.content, present, table, how=wish.how, amended=True)
            self._check_standing(latest, frontier, writing)
            sealed = self._seal(wish, latest, before, bound)
            commitments = commit(sealed)
            entry = self._saved_entry(wish, commitments, latest, frontier.size)
            leaf = self._append(writing, entry, frontier, sealed, table)
            row = Latest(entry.seq, leaf, entry.seq, entry.version, *commitments, "active", entry.by, entry.at)
            self._stand_behind(key, row, amendment, wish.op, frontier.append(leaf), table, writing)
        return Saved(key, entry.version, entry.seq, sha256(wish.content).hexdigest(), wish.op, masked=wish.masked)

    def _stand_behind(  # noqa: PLR0917 - what the entry is about, and where it goes
        self, key: str, row: Latest, amendment: Amendment, op: str, frontier: Frontier, table: Table, writing: Writing
    ) -> None:  # fmt: skip
        by, method, reason = amendment
        entry = Judged(
            self._clock(), f"{by.key_id:08x}", row.head.hex(), key, method, derived_op(op, "amended"), self.origin,
            row.head.hex(), row.head_seq, reason, frontier.size, None, "amended", "amend", row.version,
        )  # fmt: skip
        leaf = self._append(writing, entry, frontier, None, table, by=by, head_by=self.signer)
        table.put(key, row._replace(head_seq=entry.seq, head=leaf))

    def close_slots(
        self, key: str, content: bytes, slots: Mapping[str, int], *, reason: str | None = None, op: str | None = None,
        record: Callable[[Record | None], Record] | None = None,
    ) -> Saved:  # fmt: skip
        """Seal the record of a closing under `key`, and put the slots away that it holds.

        Args:
            content: the record.
            slots: the keys that are put away, and the entry that saved what the record holds of each.

        Raises:
            ConflictError: one of them changed since, or is closed already.
            DisciplineError: there is such a record already.
        """
        check_text(key, "key")
        if namespace_of_closed(key) is None:
            raise UsageError(f"{key!r} is no place for the record of a closing")
        screened = self.admit(content, {"key": key, "reason": reason or "", "operation id": op or ""})
        wish = Wish(
            key, screened.content, record, "", "saved", reason, allow_empty=False, op=op or self.new_op(),
            repeatable=op is not None, masked=tuple(map(str, screened.found)),
        )  # fmt: skip
        return self._do(wish.op, lambda: self._close(wish, slots), key)

    def _close(self, wish: Wish, slots: Mapping[str, int]) -> Saved:
        with self.follower.locked() as table, self.store.writing(self.agent) as writing:
            frontier, latest = self._frontier(table, writing), table.get(wish.key)
            repeated = writing.find_op(wish.op) if wish.repeatable else None
            if repeated is not None:
                return self._repeated_save(wish, repeated, latest, writing)
            refuse_save(wish.key, wish.content, present_of(None, None), table, how=wish.how, closing=True)
            rows = {key: self._still(key, seq, table) for key, seq in slots.items()}
            self._check_standing(latest, frontier, writing)
            sealed = self._seal(wish, latest, None, None)
            commitments = commit(sealed)
            entry = self._saved_entry(wish, commitments, latest, frontier.size)
            leaf = self._append(writing, entry, frontier, sealed, table)
            table.put(
                wish.key, Latest(entry.seq, leaf, entry.seq, entry.version, *commitments, "active", entry.by, entry.at)
            )
            frontier = frontier.append(leaf)
            for key, row in rows.items():
                frontier = frontier.append(self._put_away(key, row, leaf.hex(), wish, frontier, table, writing))
        return Saved(wish.key, entry.version, entry.seq, sha256(wish.content).hexdigest(), wish.op, masked=wish.masked)

    @staticmethod
    def _still(key: str, seq: int, table: Table) -> Latest:
        row = table.get(key)
        if row is None or row.state in GONE or row.saved_seq != seq:
            raise ConflictError(
                f"{key!r} changed while the ticket was closed", remedy="Look at it, and close again", key=key
            )
        return row

    def _put_away(  # noqa: PLR0917 - what the entry is about, and where it goes
        self, key: str, row: Latest, record: str, wish: Wish, frontier: Frontier, table: Table, writing: Writing
    ) -> bytes:  # fmt: skip
        note = Noted(
            self._clock(), self._by(), record, key, derived_op(wish.op, key), self.origin, row.head.hex(), row.head_seq, wish.reason,
            frontier.size, "archived", row.version,
        )  # fmt: skip
        leaf = self._append(writing, note, frontier, None, table)
        table.put(key, row._replace(head_seq=note.seq, head=leaf, state="archived"))
        return leaf
