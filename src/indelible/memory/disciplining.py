"""The disciplines of the state directory, where everything that enters the log has to pass: whichever door it came through.

A slot is a memory like any other, and may be reviewed like any other. What is more: it is written as its number allows, it
is not put away but by a closing, and nothing takes its place. `refuse_save` and `refuse_note` say so of one change that is
about to be signed here; `enforce` says it of a transaction that a client signed, and takes nothing on its word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from indelible.entry import PAYLOAD_TYPE, Governed, Judged, Noted, split_leaf
from indelible.entry import Saved as SavedEntry
from indelible.errors import DisciplineError, IntegrityError
from indelible.memory.bound import AMENDED, BOUND, FACTS, check_putting_away, check_record
from indelible.seal.merkle import leaf_hash
from indelible.seal.note import pae
from indelible.sealed import Commitments, verify
from indelible.state.slot import GONE, LAWS, Slot, check_change, check_text, namespace_of_closed, refusal, slot_of_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indelible.entry import Entry
    from indelible.memory.accepting import Change
    from indelible.memory.facade import Memory
    from indelible.memory.writing import Writer
    from indelible.store.authority import Trust
    from indelible.store.follower import Latest, Table
    from indelible.store.store import Writing

_MENDING = frozenset({"restored", "forced"})
_WHY = {
    "archived": "is put away when its ticket is closed, and not by itself",
    "erased": "is in force, and is not erased",
    "unarchived": "was put away when its ticket was closed, and does not come back",
    "superseded": "is in force, and nothing takes its place",
}


class Present(NamedTuple):
    """What is under a slot's key now."""

    open: bool
    content: bytes | None = None
    """None where it is not open, or where the store has lost it."""


FREE = Present(open=False)


def refuse_save(
    key: str, content: bytes, present: Present, table: Table, *, how: str, amended: bool = False, closing: bool = False
) -> None:
    """Refuse a version that its discipline forbids.

    Args:
        amended: the owner stands behind it, in the same transaction.
        closing: slots are put away in the same transaction, and this is the record of that.

    Raises:
        DisciplineError: the slot, another one of its number, or a closing's record is there already.
        UsageError: it is no text for a slot.
    """
    if key.startswith(FACTS):
        check_record(key, table.get(key), AMENDED if amended else "")
        return
    found = slot_of_key(key)
    if found is None:
        _refuse_record(key, table.get(key), closing=closing)
        return
    namespace, slot = found
    check_text(slot, content)
    _refuse_double(namespace, slot, {row for row, latest in _rows(namespace, slot, table) if latest.state not in GONE})
    _refuse_change(slot, content, present, how=how, amended=amended)


def refuse_note(kind: str, key: str, latest: Latest) -> None:
    """Refuse to say of a slot what only a closing says, or nobody.

    Raises:
        DisciplineError: it is a slot, and bound.
    """
    check_putting_away(kind, key)
    found = slot_of_key(key)
    if found is not None and _is_bound(kind, is_open=latest.state not in GONE):
        raise _not_said(kind, found[1])


def present_of(latest: Latest | None, content: bytes | None) -> Present:
    """What is under a key, by its row and the content that was verified; None where it was not there or damaged."""
    return FREE if latest is None or latest.state in GONE else Present(open=True, content=content)


def enforce(
    memory: Memory, table: Table, writing: Writing, entries: Sequence[Entry], changes: Sequence[Change]
) -> None:
    """Hold what a client has signed against the disciplines, entry by entry, each after the ones before it.

    Raises:
        DisciplineError, UsageError: as `refuse_save` and `refuse_note` do.
    """
    if any(not isinstance(entry, Governed) and entry.key.startswith(BOUND) for entry in entries):
        _Course(memory.trust, table, writing, entries, changes).run()


class _Course:
    """The slots as they would be, after each entry of one transaction."""

    def __init__(
        self, trust: Trust, table: Table, writing: Writing, entries: Sequence[Entry], changes: Sequence[Change]
    ) -> None:
        self._trust, self._table, self._writing = trust, table, writing
        self._entries, self._changes = entries, changes
        self._present: dict[str, Present] = {}
        self._records: dict[str, set[str]] = {}
        """Namespace to the leaf hashes of the records of its closing, in this transaction."""

    def run(self) -> None:
        for at, entry in enumerate(self._entries):
            if isinstance(entry, Governed) or not entry.key.startswith(BOUND):
                continue
            try:
                self._take(at, entry)
            except DisciplineError as refused:
                refused.facts["key"] = entry.key
                raise

    def _take(self, at: int, entry: SavedEntry | Noted | Judged) -> None:
        if entry.key.startswith(FACTS):
            self._fact(at, entry)
        elif isinstance(entry, SavedEntry):
            self._save(at, entry)
        elif isinstance(entry, Noted):
            self._note(entry)
        else:
            self._judge(at, entry)

    def _fact(self, at: int, entry: SavedEntry | Noted | Judged) -> None:
        """A fact of the workflow comes with what is said of it."""
        if isinstance(entry, SavedEntry):
            after = self._entries[at + 1] if at + 1 < len(self._entries) else None
            is_said = isinstance(after, Noted) and after.key == entry.key
            said = AMENDED if self._amended(at) else after.type if is_said and after is not None else ""
            check_record(entry.key, self._table.get(entry.key), said)
        else:
            check_putting_away(entry.type, entry.key)

    def _save(self, at: int, entry: SavedEntry) -> None:
        leaf, sealed = self._changes[at]
        content = sealed.content if sealed is not None else b""
        found = slot_of_key(entry.key)
        if found is None:
            _refuse_record(entry.key, self._table.get(entry.key), closing=self._closes(at, leaf, entry.key))
            if namespace := namespace_of_closed(entry.key):
                self._records.setdefault(namespace, set()).add(leaf_hash(leaf).hex())
            return
        namespace, slot = found
        check_text(slot, content)
        _refuse_double(namespace, slot, self._open_beside(namespace, slot))
        amended = self._amended(at)
        _refuse_change(slot, content, self._at(entry.key), how=entry.how, amended=amended)
        self._present[entry.key] = Present(open=True, content=content)

    def _closes(self, at: int, leaf: bytes, key: str) -> bool:
        """Whether the next entry of this transaction puts a slot of that namespace away, by that very record."""
        after = self._entries[at + 1] if at + 1 < len(self._entries) else None
        if not isinstance(after, Noted) or after.type != "archived":
            return False
        found = slot_of_key(after.key)
        return found is not None and found[0] == namespace_of_closed(key) and after.digest == leaf_hash(leaf).hex()

    def _note(self, entry: Noted) -> None:
        found = slot_of_key(entry.key)
        if found is None:
            return
        namespace, slot = found
        is_open = self._at(entry.key).open
        closing = entry.type == "archived" and is_open and slot.number >= LAWS
        if closing and entry.digest in self._records.get(namespace, ()):
            self._present[entry.key] = FREE
        elif _is_bound(entry.type, is_open=is_open):
            raise _not_said(entry.type, slot)

    def _judge(self, at: int, entry: Judged) -> None:
        found = slot_of_key(entry.key)
        if found is not None and entry.type == "superseded" and self._at(entry.key).open:
            raise _not_said("superseded", found[1])
        if entry.type == "amended" and not (at and self._amended(at - 1)):
            raise DisciplineError(
                f"An amendment of {entry.key!r} does not stand behind a version beside it, or is not by an owner who is known here",
                remedy="Ask who runs the server to trust the owner's key: 'indelible key trust VKEY'", key=entry.key,
            )  # fmt: skip

    def _amended(self, at: int) -> bool:
        """Whether the entry after that one is the owner's word for the version that it saves."""
        judged = self._entries[at + 1] if at + 1 < len(self._entries) else None
        if (
            not isinstance(judged, Judged)
            or judged.type != "amended"
            or judged.key != getattr(self._entries[at], "key", "")
        ):
            return False
        return judged.digest == leaf_hash(self._changes[at].leaf).hex() and is_owners(
            self._trust, judged, self._changes[at + 1].leaf
        )

    def _at(self, key: str) -> Present:
        if key not in self._present:
            latest = self._table.get(key)
            self._present[key] = present_of(latest, self._content(key, latest))
        return self._present[key]

    def _content(self, key: str, latest: Latest | None) -> bytes | None:
        if latest is None or latest.state in GONE:
            return None
        try:
            sealed = self._writing.sealed(latest.saved_seq)
            if sealed is not None:
                verify(sealed, Commitments(latest.content, latest.record), key)
        except IntegrityError:
            return None
        return sealed.content if sealed is not None else None

    def _open_beside(self, namespace: str, slot: Slot) -> set[str]:
        keys = {key for key, _ in _rows(namespace, slot, self._table)}
        beside = {
            key
            for key in self._present
            if (found := slot_of_key(key)) and found[0] == namespace and found[1].number == slot.number
        }
        return {key for key in keys | beside if self._at(key).open}


def note_refusal(memory: Writer, key: str, refused: DisciplineError) -> None:
    """Write down that somebody tried: when, through which door, and what kept it from happening. Never content."""
    from indelible.deliveries.row import Delivery

    gate = memory.gate
    if gate.journal is not None:
        why = ((refused.slug, refused.message),)
        gate.journal.add(
            Delivery(
                memory.now(), gate.door, key, outcome="refused", agent=memory.agent, reader=memory.agent, reasons=why
            )
        )


def is_owners(trust: Trust, entry: Judged, leaf: bytes) -> bool:
    """Whether an owner whom this reader knows did sign that entry."""
    body, signature = split_leaf(leaf)
    owners = {key.key_id: key for key in trust.owner_keys()}
    key = owners.get(int(entry.by, 16))
    return key is not None and key.verify_raw(pae(PAYLOAD_TYPE, body), signature)


def _rows(namespace: str, slot: Slot, table: Table) -> list[tuple[str, Latest]]:
    """Keys of slots that have the same number."""
    return [row for row in table.keys(prefix=f"{namespace}/{slot.number:02}_") if slot_of_key(row[0]) is not None]


def _refuse_double(namespace: str, slot: Slot, there: set[str]) -> None:
    other = next((key for key in sorted(there) if key != f"{namespace}/{slot.name}"), None)
    if other is not None:
        name = other.rpartition("/")[2]
        raise refusal(
            slot, None, f"would be a second slot {slot.number:02}: there is {name}",
            "Use that one, or another number: the order of the numbers is the order of reading",
        )  # fmt: skip


def _refuse_change(slot: Slot, content: bytes, present: Present, *, how: str, amended: bool) -> None:
    if not present.open or amended:
        return
    if present.content is None:
        raise refusal(
            slot, None, "is damaged in the store, and nothing but its very bytes may be put in their place",
            f"'indelible state repair' puts them back where the file still has them; else the owner amends it: 'indelible state amend {slot.name} FILE'",
        )  # fmt: skip
    if content == present.content and how in _MENDING:
        return  # the bytes that were sealed, put back into a store that had lost them
    check_change(slot, present.content, content)


def _refuse_record(key: str, latest: Latest | None, *, closing: bool) -> None:
    if namespace_of_closed(key) is None:
        return
    if latest is None and not closing:
        raise DisciplineError(
            f"{key!r} is the place of the record of a closing, and only a closing writes one", remedy="'indelible state close' ends a ticket; save what you have to say under a key of its own",
            slot=key, key=key,
        )  # fmt: skip
    if latest is not None and (latest.state != "erased" or not closing):
        raise DisciplineError(
            f"{key!r} is the record of a closing, and is written once", remedy="Save what you have to say under a key of its own",
            slot=key, key=key,
        )  # fmt: skip


def _is_bound(kind: str, *, is_open: bool) -> bool:
    return kind == "unarchived" or (is_open and kind in _WHY)


def _not_said(kind: str, slot: Slot) -> DisciplineError:
    remedy = (
        f"Write it anew: 'indelible state write {slot.name} FILE'"
        if kind == "unarchived"
        else f"Laws stay in force; the owner amends them: 'indelible state amend {slot.name} FILE --reason TEXT'"
        if slot.is_law
        else "Close the ticket with all of its slots: 'indelible state close'"
    )
    return refusal(slot, None, _WHY[kind], remedy)
