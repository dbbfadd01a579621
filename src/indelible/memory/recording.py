"""Sealing a fact of the workflow: a version and what is said about it, in one transaction; and what is said only once.

A receipt, a scar, a stamp are memories like any other, so that every reader verifies them as it does a memory. What is said
about each (`receipt-issued`, `receipt-used`, `scar`, `stamped`, `waived`) stands beside it in the log: an auditor who has no
content sees what happened, and in which order.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from indelible.entry import NOTED, Judged, Noted, check_text, parse_entry, split_leaf
from indelible.entry import Saved as SavedEntry
from indelible.errors import DisciplineError, NotFoundError, UsageError
from indelible.memory.amending import Amender
from indelible.memory.bound import AMENDED, FACTS, check_record
from indelible.memory.deciding import derived_op
from indelible.memory.disciplining import is_owners
from indelible.memory.pinned import leaf_at
from indelible.memory.results import Saved
from indelible.memory.writing import STATES, Wish
from indelible.sealed import commit
from indelible.store.follower import Latest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from indelible.entry import Entry
    from indelible.record import Record
    from indelible.screening import Screened
    from indelible.seal.merkle import Frontier
    from indelible.store.follower import Table
    from indelible.store.store import Reading, Writing

SAYINGS = NOTED - set(STATES)
"""What is said of a fact of the workflow, and moves no state of its memory."""


class Words(NamedTuple):
    """What is said of a fact."""

    kind: str
    digest: str | None
    reason: str | None
    op: str


class Recorder(Amender):
    """A memory in which what the workflow did is written down."""

    def record(
        self, key: str, content: bytes | Screened, said: str, *, digest: str | None = None, reason: str | None = None,
        record: Callable[[Record | None], Record] | None = None, based_on: str | None = None, once: bool = False,
        op: str | None = None,
    ) -> Saved:  # fmt: skip
        """Seal `content` under `key`, and say `said` of it.

        Args:
            said: `stamped`, `receipt-issued`, `receipt-used`, `scar` or `waived`.
            digest: what is spoken of; by default the SHA-256 of the content.
            based_on: as for `save`.
            once: refuse it where anything was ever saved under that key.

        Raises:
            DisciplineError: the key is written once, and was.
            ConflictError: it changed since it was read. SecretRefused: there is what looks like a secret.
        """
        check_text(key, "key")
        _check_saying(said, key)
        screened = self.admit(content, {"key": key, "reason": reason or "", "operation id": op or ""})
        wish = Wish(
            key, screened.content, record, based_on, "saved", reason, allow_empty=False, op=op or self.new_op(),
            repeatable=op is not None, masked=tuple(map(str, screened.found)),
        )  # fmt: skip
        return self._do(wish.op, lambda: self._record_it(wish, said, digest, once=once), key)

    def _record_it(self, wish: Wish, said: str, digest: str | None, *, once: bool) -> Saved:
        with self.follower.locked() as table, self.store.writing(self.agent) as writing:
            frontier, latest = self._frontier(table, writing), table.get(wish.key)
            repeated = writing.find_op(wish.op) if wish.repeatable else None
            if repeated is not None:
                return self._repeated_save(wish, repeated, latest, writing)
            if once and latest is not None:
                raise _already(wish.key, "is written once, and is written already")
            check_record(wish.key, latest, said)
            before = self._present(wish.key, latest, writing)
            self._check_wish(wish, before)
            self._check_standing(latest, frontier, writing)
            sealed = self._seal(wish, latest, before, None)
            commitments = commit(sealed)
            entry = self._saved_entry(wish, commitments, latest, frontier.size)
            leaf = self._append(writing, entry, frontier, sealed, table)
            row = Latest(entry.seq, leaf, entry.seq, entry.version, *commitments, "active", entry.by, entry.at)
            sha = sha256(wish.content).hexdigest()
            words = Words(said, digest or sha, wish.reason, derived_op(wish.op, said))
            self._say(words, wish.key, row, frontier.append(leaf), table, writing)
        return Saved(wish.key, entry.version, entry.seq, sha, wish.op, masked=wish.masked)

    def mark(
        self, kind: str, key: str, *, digest: str | None = None, reason: str | None = None, once: bool = True,
        after: str | None = None, op: str | None = None,
    ) -> Saved:  # fmt: skip
        """Say something of what is sealed under `key`; with `once` only where that was never said of it.

        Args:
            digest: what is spoken of. With `once`, the same saying with the same digest again changes nothing.
            after: allow it once more where the last saying of that kind spoke of this digest.

        Raises:
            NotFoundError: nothing is sealed there. DisciplineError: that was said already, of something else.
        """
        check_text(key, "key")
        _check_saying(kind, key)
        from indelible.memory.entering import check_texts

        check_texts(self.secrets, {"reason": reason, "operation id": op})
        operation = op or self.new_op()
        return self._do(
            operation, lambda: self._mark_it(kind, key, digest, reason, operation, once=once, after=after), key
        )

    def _mark_it(
        self, kind: str, key: str, digest: str | None, reason: str | None, op: str, *, once: bool, after: str | None
    ) -> Saved:  # fmt: skip
        with self.follower.locked() as table, self.store.writing(self.agent) as writing:
            frontier, latest = self._frontier(table, writing), table.get(key)
            repeated = writing.find_op(op)
            if repeated is not None:
                return self._repeated_note(kind, key, op, repeated, latest, writing)
            if latest is None or latest.state == "erased":
                raise NotFoundError(f"Nothing is saved under {key!r} for {self.agent!r}", key=key, agent=self.agent)
            earlier = self._said_last(kind, key, latest, writing) if once else None
            if earlier is not None and earlier.digest == digest:
                return Saved(key, latest.version, earlier.seq, "", earlier.op, repeated=True)
            if earlier is not None and (after is None or earlier.digest != after):
                raise _already(key, f"is {kind.replace('-', ' ')} already (entry {earlier.seq})", digest=earlier.digest)
            self._check_standing(latest, frontier, writing)
            seq = self._say(Words(kind, digest, reason, op), key, latest, frontier, table, writing)
        return Saved(key, latest.version, seq, "", op)

    def _say(
        self, words: Words, key: str, row: Latest, frontier: Frontier, table: Table, writing: Writing
    ) -> int:  # fmt: skip
        note = Noted(
            self._clock(), self._by(), words.digest, key, words.op, self.origin, row.head.hex(), row.head_seq, words.reason,
            frontier.size, words.kind, row.version,
        )  # fmt: skip
        leaf = self._append(writing, note, frontier, None, table)
        table.put(key, row._replace(head_seq=note.seq, head=leaf))
        return note.seq

    def _said_last(self, kind: str, key: str, latest: Latest, writing: Writing) -> Noted | None:
        """The newest note of that kind about the key, of any of its versions."""
        about = entries_about(writing, self.origin, key, latest)
        return next((one for _, one, _ in about if isinstance(one, Noted) and one.type == kind), None)

    def sayings(self, key: str) -> tuple[Noted, ...]:
        """What was said of a key, newest first: archivings and erasures too.

        Raises:
            NotFoundError: nothing was ever saved there. IntegrityError: an entry is not what was sealed.
        """
        with self.following() as (table, reading, _):
            latest = table.get(key)
            if latest is None:
                raise NotFoundError(f"Nothing is saved under {key!r} for {self.agent!r}", key=key, agent=self.agent)
            return tuple(
                one for _, one, _ in entries_about(reading, self.origin, key, latest) if isinstance(one, Noted)
            )

    def is_owned(self, key: str) -> bool:
        """Whether an owner who is known here stands behind the present version under `key`.

        Raises:
            NotFoundError, IntegrityError: as `sayings`.
        """
        with self.following() as (table, reading, _):
            latest = table.get(key)
            if latest is None:
                raise NotFoundError(f"Nothing is saved under {key!r} for {self.agent!r}", key=key, agent=self.agent)
            stands: list[tuple[Judged, bytes]] = []
            for digest, one, leaf in entries_about(reading, self.origin, key, latest):
                if isinstance(one, SavedEntry):
                    return any(
                        judged.digest == digest.hex() and is_owners(self.trust, judged, at) for judged, at in stands
                    )
                if isinstance(one, Judged) and one.type == AMENDED:
                    stands.append((one, leaf))
        return False


def entries_about(reading: Reading, origin: str, key: str, latest: Latest) -> Iterator[tuple[bytes, Entry, bytes]]:
    """Leaf hash, entry and leaf of everything that was said about a key, newest first; each is proved by the one after it."""
    seq: int | None = latest.head_seq
    expected = latest.head
    while seq is not None:
        leaf = leaf_at(reading, origin, seq, expected, key=key)
        entry = parse_entry(split_leaf(leaf)[0])
        yield expected, entry, leaf
        seq, expected = getattr(entry, "prev_seq", None), bytes.fromhex(getattr(entry, "prev", None) or "")


def _check_saying(kind: str, key: str) -> None:
    if not key.startswith(FACTS):
        raise UsageError(
            f"{key!r} is no fact of the workflow", remedy="Other memories are saved: 'indelible save KEY FILE'"
        )
    if kind not in SAYINGS:
        raise UsageError(
            f"{kind!r} is nothing that is said of a fact of the workflow",
            remedy=f"Use one of {', '.join(sorted(SAYINGS))}",
        )


def _already(key: str, words: str, **facts: object) -> DisciplineError:
    return DisciplineError(
        f"{key!r} {words}", remedy="'indelible history KEY' shows what was said of it", key=key, **facts
    )
