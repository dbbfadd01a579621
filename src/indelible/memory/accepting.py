"""What a server does with memory beside what everybody does: look at it at once, and take in what a client has signed.

A client sends leaves, sealed versions and the head that follows from them. The server's own follower
goes over all of it as over any store, before anything is written: nothing is taken on the client's word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from indelible.entry import HOW, Governed, Judged, Noted, check_text, parse_entry, split_leaf
from indelible.entry import Saved as SavedEntry
from indelible.errors import (
    AccessDenied,
    ConflictError,
    DisciplineError,
    IndelibleError,
    IntegrityError,
    NotSaved,
    SecretRefused,
    UsageError,
)
from indelible.memory.bound import FACTS
from indelible.memory.disciplining import enforce, note_refusal
from indelible.memory.entering import best_origin, bind_origin, check_texts, texts_of
from indelible.memory.pinned import read_pinned
from indelible.seal import checkpoint
from indelible.seal.digest import Digest
from indelible.seal.note import parse_note
from indelible.sealed import Commitments, verify
from indelible.store.follow import follow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indelible.entry import Entry
    from indelible.memory.facade import Memory
    from indelible.memory.results import Loaded
    from indelible.sealed import Sealed
    from indelible.store.follower import Latest, Pin, Table
    from indelible.store.store import Writing

MAX_CHANGES = 256
"""Entries in one transaction."""
MAX_LEAF = 16_384
MAX_NOTE = 16_384
MAX_BODY = 262_144
"""Bytes of a record's body."""

_NOTED = frozenset({"archived", "unarchived", "erased"})
"""What an agent may say of any memory; the other types are said of facts of the workflow alone."""
_DECIDED = frozenset({"approve", "reject"})
"""What is a reviewer's to say, and never the agent's."""


class StaleHead(ConflictError):
    """Another writer was first: follow, sign again, and send again."""

    slug = "head-moved"


class Refused(UsageError):
    """A transaction that does not hold together, or is not signed by who may sign it."""

    slug = "commit-refused"
    http_status = 422


class NotEnrolled(AccessDenied):
    """The server does not know the key that signed."""

    slug = "not-enrolled"


class Change(NamedTuple):
    """One entry, with the version that it saves if it saves one."""

    leaf: bytes
    sealed: Sealed | None


class Mend(NamedTuple):
    """The bytes of a key's present version, where the store has lost them."""

    seq: int
    sealed: Sealed


class Accepted(NamedTuple):
    """A transaction that is in the log."""

    size: int
    repeated: bool
    """It was there already, and nothing was added."""


def fetch_at_once(memory: Memory, key: str) -> Loaded | None:
    """The memory under `key` if nothing new has to be followed for it, without a wait for any lock; else None.

    Raises:
        As `Memory.fetch` does.
    """
    check_text(key, "key")
    return read_pinned(memory.store, memory.follower, memory.agent, key, memory._given)  # noqa: SLF001 - fetch's first step


def accept(
    memory: Memory, expected: str, changes: tuple[Change, ...], note: bytes, mends: tuple[Mend, ...] = ()
) -> Accepted:
    """Add what a client has signed, all of it or nothing.

    Args:
        expected: SHA-256 (64 hex digits) of the head note that the client built upon; "" where there was no log.
        note: the head that follows from it, signed by the agent.
        mends: versions that are altered or gone in the store, and whose bytes the client has.

    Raises:
        StaleHead: the head is another one by now.
        NotEnrolled: the agent's key that signed is not known here.
        Refused: a signature, a chain, a commitment or the root is not right.
        SecretRefused: there is what looks like a secret in it.
        DisciplineError: the discipline of a slot forbids it.
        ConflictError: the operation id was used for something else.
        IntegrityError: the store is not what was sealed, and so is not built upon.
    """
    entries = _parse(memory, changes)
    memory.begin()
    with memory.follower.locked() as table, memory.store.writing(memory.agent) as writing:
        head = follow(table, writing, memory.trust)
        repeated = _find(writing, entries, changes, head.size)
        if repeated is None:
            if expected != ("" if head.note is None else Digest.of(head.note).hex):
                raise StaleHead("Another writer was first: the head of the log is another one by now", size=head.size)
            _require_enrolled(memory, table.pin, entries, note)
            _refuse_own_review(memory, table.pin, entries)
            _screen(memory, table, writing, entries, changes)
            _bind_origins(memory, table, writing, entries, changes)
            _mend(table, writing, mends)
            _discipline(memory, table, writing, entries, changes)
            _follow_on(memory, table, _Proposal(writing, head.size, changes, note), head.size + len(changes))
            for seq, (entry, change) in enumerate(zip(entries, changes, strict=True), head.size):
                writing.append(seq, change.leaf, entry.op, change.sealed)
            writing.drop(_erased(memory, table, writing, entries))
            writing.set_head(note)
    if repeated is not None or any(entry.type == "erased" for entry in entries):
        _settle(memory, purge=repeated is None)
    return repeated or Accepted(head.size + len(changes), repeated=False)


def _discipline(
    memory: Memory, table: Table, writing: Writing, entries: tuple[Entry, ...], changes: tuple[Change, ...]
) -> None:
    """Refuse what a slot's discipline forbids, as every other door does, and write down that it was tried."""
    try:
        enforce(memory, table, writing, entries, changes)
    except DisciplineError as refused:
        note_refusal(memory, str(refused.facts.get("key", "")), refused)
        raise


def _settle(memory: Memory, *, purge: bool) -> None:
    """A repeat may follow a failed fsync, and what was erased may still lie in the -wal: see to both as far as readers let us."""
    if purge:
        memory.indexed.sweep()  # what stays is derived again without it by the next recall
    try:
        memory.store.settle(purge=purge)
    except NotSaved:  # what is erased is erased; only its last copies could not be overwritten now
        if not purge:
            raise


def _mend(table: Table, writing: Writing, mends: tuple[Mend, ...]) -> None:
    """Put back the bytes of present versions, if they are the very bytes that the log commits to."""
    for seq, sealed in mends:
        try:
            leaf = next(iter(writing.leaves(seq, seq + 1)), b"")
            entry = parse_entry(split_leaf(leaf)[0])
            latest = table.get(entry.key) if isinstance(entry, SavedEntry) else None
            # The row says what the entry commits to: the stored leaf only led to it.
            if latest is None or latest.saved_seq != seq or latest.state == "erased":
                raise Refused("There is nothing to put back at that entry", seq=seq)
            verify(sealed, Commitments(latest.content, latest.record), f"entry {seq}")
        except IntegrityError as exc:
            raise _refused(exc) from exc
        writing.mend(seq, sealed)


class _Proposal:
    """The log as it would be: what is stored, then what the client sent."""

    def __init__(self, stored: Writing, size: int, changes: tuple[Change, ...], note: bytes) -> None:
        self._stored, self._size, self._changes, self._note = stored, size, changes, note

    def head(self) -> bytes:
        return self._note

    def leaves(self, start: int, end: int) -> Iterator[bytes]:
        yield from self._stored.leaves(start, min(end, self._size))
        for change in self._changes[max(0, start - self._size) : max(0, end - self._size)]:
            yield change.leaf

    def sealed(self, seq: int) -> Sealed | None:
        return self._stored.sealed(seq) if seq < self._size else self._changes[seq - self._size].sealed


def _parse(memory: Memory, changes: tuple[Change, ...]) -> tuple[Entry, ...]:
    if not 0 < len(changes) <= MAX_CHANGES:
        raise Refused(f"A transaction has 1 to {MAX_CHANGES} entries")
    try:
        entries = tuple(_check(memory, change) for change in changes)
    except (IntegrityError, UsageError) as exc:
        raise _refused(exc) from exc
    if len({entry.op for entry in entries}) != len(entries):
        raise Refused("A transaction names an operation id twice")
    return entries


def _check(memory: Memory, change: Change) -> Entry:
    """The entry of one change, if it is one that an agent may add and its version is the one it commits to."""
    from indelible.record.rules import check_key, instant

    if len(change.leaf) > MAX_LEAF:
        raise Refused(f"An entry has {len(change.leaf)} bytes; the limit is {MAX_LEAF}")
    entry = parse_entry(split_leaf(change.leaf)[0])
    if entry.origin != memory.origin:
        raise Refused(f"An entry is of {entry.origin}, not of {memory.origin}")
    check_text(entry.op, "operation id")
    instant(entry.at)
    if isinstance(entry, Noted) and entry.type not in _NOTED and not entry.key.startswith(FACTS):
        raise Refused(f"An entry of the type {entry.type} is said of facts of the workflow alone")
    if not isinstance(entry, Governed):
        check_key(entry.key)
    if isinstance(entry, SavedEntry) != (change.sealed is not None):
        raise Refused("A version comes with the entry that saves it, and with no other")
    if isinstance(entry, SavedEntry) and change.sealed is not None:
        _check_version(entry, change.sealed)
    return entry


def _check_version(entry: SavedEntry, sealed: Sealed) -> None:
    from indelible.record import Record

    if len(sealed.body) > MAX_BODY or entry.how not in HOW:
        raise Refused("A record is longer than any record may be, or was saved in no known way")
    verify(sealed, Commitments(Digest.from_hex(entry.content).raw, Digest.from_hex(entry.record).raw), entry.key)
    record = Record.from_body(sealed.body)
    if (record.key, record.revision) != (entry.key, entry.version):
        raise Refused("A record is of another key or version than its entry")


def _screen(
    memory: Memory, table: Table, writing: Writing, entries: tuple[Entry, ...], changes: tuple[Change, ...]
) -> None:
    """Refuse a secret in what is signed already: it cannot be masked here, and the client should have looked.

    A restore of the very bytes that the key had before is let pass: they are in the log.
    """
    for entry, change in zip(entries, changes, strict=True):
        names = {"reason": entry.reason, "operation id": entry.op}
        check_texts(memory.secrets, names if isinstance(entry, Governed) else {"key": entry.key, **names})
        if change.sealed is not None and isinstance(entry, SavedEntry):
            try:
                _screen_version(memory, change.sealed)
            except SecretRefused:
                latest = table.get(entry.key)
                if (
                    entry.how != "restored"
                    or latest is None
                    or not _was_there(memory, entry.key, latest, writing, change.sealed)
                ):
                    raise


def _bind_origins(
    memory: Memory, table: Table, writing: Writing, entries: tuple[Entry, ...], changes: tuple[Change, ...]
) -> None:
    """Refuse a version that says that it comes from somewhere better than the one before; but for bytes that were there before."""
    from indelible.record import Record

    for entry, change in zip(entries, changes, strict=True):
        if change.sealed is None or not isinstance(entry, SavedEntry):
            continue
        latest = table.get(entry.key)
        if latest is None or latest.state == "erased":
            continue
        if entry.how == "restored" and _was_there(memory, entry.key, latest, writing, change.sealed):
            continue
        walk = memory._walk(entry.key, latest, writing)  # noqa: SLF001 - history, inside this transaction
        bind_origin(Record.from_body(change.sealed.body), best_origin(walk, writing))


def _screen_version(memory: Memory, sealed: Sealed) -> None:
    from indelible.record import Record
    from indelible.screening import ALLOW, REFUSE, screen

    names = texts_of(Record.from_body(sealed.body))
    screen(sealed.content, mode=ALLOW if memory.secrets == ALLOW else REFUSE, names=names)


def _was_there(memory: Memory, key: str, latest: Latest, writing: Writing, sealed: Sealed) -> bool:
    """Whether an earlier version of the key, not erased since, had this content."""
    for version in memory._walk(key, latest, writing):  # noqa: SLF001 - history, inside this transaction
        if version.type == "erased":
            return False
        older = writing.sealed(version.seq) if version.type == "saved" else None
        if older is not None and older.content == sealed.content:
            return True
    return False


def _find(writing: Writing, entries: tuple[Entry, ...], changes: tuple[Change, ...], size: int) -> Accepted | None:
    """The same transaction, if it is in the log already; another use of its operation id is a conflict."""
    known = [writing.find_op(entry.op) for entry in entries]
    found = [seq for seq in known if seq is not None]
    if not found:
        return None
    start = found[0]
    same = known == list(range(start, start + len(changes))) and start + len(changes) <= size
    if not same or tuple(writing.leaves(start, start + len(changes))) != tuple(change.leaf for change in changes):
        raise ConflictError(
            "The operation id was already used for another change", remedy="Use a new one", op=entries[0].op
        )
    return Accepted(size, repeated=True)


def _require_enrolled(memory: Memory, pin: Pin | None, entries: tuple[Entry, ...], note: bytes) -> None:
    """Say plainly that a key is unknown; whether a known one did sign is for the follower to find out."""
    if len(note) > MAX_NOTE:
        raise Refused(f"The head has {len(note)} bytes; the limit is {MAX_NOTE}")
    try:
        signed = tuple(f"+{signature.key_id:08x}+" for signature in parse_note(note).signatures)
    except IntegrityError as exc:
        raise _refused(exc) from exc
    if not any(mark in vkey for mark in signed for vkey in _agents_own(memory, pin, entries)):
        raise NotEnrolled(
            f"The key that signed is not known here as one of {memory.agent!r}",
            remedy="Enrol it: POST /v1/keys; where another key is enrolled, ask who runs the server",
            agent=memory.agent,
        )


def _agents_own(memory: Memory, pin: Pin | None, entries: tuple[Entry, ...]) -> tuple[str, ...]:
    """The agent's verifier keys: those that its log knows, those that are enrolled, those that it is handed to."""
    known = f"{pin.signer} {pin.former}".split() if pin else []
    handed = (entry.subject for entry in entries if isinstance(entry, Governed) and entry.type == "key-rotated")
    return (*known, *(key.vkey for key in memory.trust.agent_keys()), *handed)


def _refuse_own_review(memory: Memory, pin: Pin | None, entries: tuple[Entry, ...]) -> None:
    """A review by somebody unknown may stand in the log, and counts for nothing; one by the agent itself may not."""
    for entry in entries:
        decided = isinstance(entry, Judged) and entry.verdict in _DECIDED
        if decided and any(f"+{entry.by}+" in vkey for vkey in _agents_own(memory, pin, entries)):
            raise Refused("An agent does not review its own memory", seq=entry.seq)


def _follow_on(memory: Memory, table: Table, proposal: _Proposal, size: int) -> None:
    """The follower's own look at the log as it would be, every signature included."""
    try:
        head = checkpoint.parse(parse_note(proposal.head()).text)
        if (head.origin, head.size) != (memory.origin, size):
            raise Refused(f"The head is of {head.origin} at size {head.size}, not of {memory.origin} at {size}")
        follow(table, proposal, memory.trust, signatures=True)
    except IntegrityError as exc:
        raise _refused(exc) from exc


def _refused(exc: IndelibleError) -> IndelibleError:
    return (
        exc
        if isinstance(exc, Refused)
        else Refused(f"The transaction does not hold together: {exc.message}", cause=exc.slug)
    )


def _erased(memory: Memory, table: Table, writing: Writing, entries: tuple[Entry, ...]) -> tuple[int, ...]:
    """The versions whose content goes: those saved before the entry that erases their key."""
    gone: list[int] = []
    for entry in entries:
        if isinstance(entry, Noted) and entry.type == "erased":
            latest = table.get(entry.key)
            walk = memory._walk(entry.key, latest, writing) if latest else ()  # noqa: SLF001 - history, inside this transaction
            gone += [version.seq for version in walk if version.type == "saved" and version.seq < entry.seq]
    return tuple(gone)
