"""The one funnel for writes: follow inside the write lock, sign from the verified frontier, commit once, then pin."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple, TypedDict

from indelible.entry import HOW, NOTED, Noted, check_text
from indelible.entry import Saved as SavedEntry
from indelible.errors import ConflictError, DisciplineError, NotFoundError, UsageError
from indelible.memory.bound import BOUND
from indelible.memory.mending import Mender
from indelible.memory.results import Saved
from indelible.sealed import SALT_SIZE, Commitments, Sealed, commit
from indelible.store.follower import Latest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from indelible.memory.entering import Bound
    from indelible.record import Record
    from indelible.screening import Screened
    from indelible.store.follower import Table

STATES = {"archived": "archived", "unarchived": "active", "erased": "erased"}
"""What an entry about a memory makes of its state."""


def refuse_text(tags: object) -> None:
    """One text for several would be taken for its letters.

    Raises:
        UsageError: it is one.
    """
    if isinstance(tags, str | bytes):
        raise UsageError("tags and the like are several texts, and this is one", remedy="Put it into a list: tags=[…]")


class Writer(Mender):
    """What can be done to memory. Every method is one transaction and one fsync of the store."""

    def save(
        self, key: str, content: bytes | Screened, *, record: Callable[[Record | None], Record] | None = None, based_on: str | None = None,
        how: str = "saved", reason: str | None = None, allow_empty: bool = False, op: str | None = None,
        origin: str | None = None, tags: Iterable[str] = (),
    ) -> Saved:  # fmt: skip
        """Seal `content` as the next version of `key`.

        Args:
            content: the exact bytes, or what `admit` made of them.
            record: makes what is known about it, given the record of the version before; by default a plain one.
            based_on: sha256 (64 hex digits) of the version that the writer had read; "" for "there was none".
            how: `saved`, `forced`, `imported` or `restored`; it stands in the log.
            op: operation id; a repeat of it adds nothing and answers as the first time.
            origin: where the text comes from: `user`, `agent`, `tool` or `external`; by default the agent.
            tags: words to find it by.

        Raises:
            ConflictError: the memory changed since it was read, or the operation id was used for something else.
            DisciplineError: nothing over something, without `allow_empty`.
            DisciplineError: a reviewer refused these very bytes.
            SecretRefused: there is what looks like a secret. OriginRaised: the record states a better origin than the one before.
            IntegrityError: the store is not what was sealed, and so is not built upon.
            NotSaved: certainly nothing happened. OutcomeUnknown: repeat it with the same `op`.
        """
        check_text(key, "key")
        if how not in HOW:
            raise UsageError(f"{how!r} is no way to save", remedy=f"Use one of {', '.join(sorted(HOW))}")
        names = {"key": key, "reason": reason or "", "operation id": op or ""}
        screened = self.admit(content, names)
        self.refuse_refused(key, screened.content)
        refuse_text(tags)
        tags = tuple(tags)
        if origin is not None or tags:
            record = self._saying(key, screened.content, record, origin, tags)
        wish = Wish(
            key, screened.content, record, based_on, how, reason, allow_empty, op or self.new_op(), repeatable=op is not None,
            masked=tuple(map(str, screened.found)),
        )  # fmt: skip
        return self._do(wish.op, lambda: self._save(wish), key)

    def _saying(
        self, key: str, content: bytes, record: Callable[[Record | None], Record] | None, origin: str | None, tags: tuple[str, ...]
    ) -> Callable[[Record | None], Record]:  # fmt: skip
        """A maker of the record that says where the text comes from, and by which words it is found."""
        from dataclasses import replace

        from indelible.record import draft

        def make(earlier: Record | None) -> Record:
            if record is not None:
                made = record(earlier)
            else:
                made = draft(key, content, **self._about()) if earlier is None else self.revise(earlier, content)
            stated = replace(made.origin, class_=origin) if origin is not None else made.origin
            return replace(made, origin=stated, tags=tags or made.tags)

        return make

    def admit(self, content: bytes | Screened, names: Mapping[str, str] | None = None) -> Screened:
        """What of `content` may be stored, before anything is made of it: itself, or with a mark for each secret in it.

        Args:
            names: the short texts that are stored beside it, by what they are.

        Raises:
            SecretRefused: there is what looks like a secret, and it is not to be masked or stands in a name.
        """
        from indelible.screening import Screened, screen

        given, before = content if isinstance(content, Screened) else (content, ())
        if given.__class__ is not bytes:
            raise UsageError(
                f"Content is bytes, and this is {type(given).__name__}", remedy="Encode text first; nothing is guessed"
            )
        found = screen(given, mode=self.secrets, names=names)
        return found._replace(found=before + found.found)

    def note(
        self, kind: str, key: str, *, reason: str | None = None, digest: str | None = None, op: str | None = None
    ) -> Saved:
        """Say something about a memory: `archived`, `unarchived`, `erased`.

        Raises:
            NotFoundError: nothing is saved under this key, or it was erased.
            ConflictError: the operation id was used for something else.
        """
        check_text(key, "key")
        if kind not in NOTED:
            raise UsageError(f"{kind!r} is not something that is said about a memory")
        if reason or op:
            from indelible.memory.entering import check_texts

            check_texts(self.secrets, {"reason": reason, "operation id": op})
        operation = op or self.new_op()
        return self._do(operation, lambda: self._note(kind, key, reason, digest, operation), key)

    def _do(self, op: str, write: Callable[[], Saved], key: str) -> Saved:
        """One write, done again where another writer of a server was first; a repeat is made durable once more.

        What the discipline of a slot forbids is written down with the deliveries: that it was tried is worth knowing.
        """
        check_text(op, "operation id")
        self.begin()
        try:
            saved = self._insist(write)
        except DisciplineError as refused:
            if "slot" in refused.facts:
                from indelible.memory.disciplining import note_refusal

                note_refusal(self, key, refused)
            raise
        if saved.repeated:
            self.store.settle()
        return saved

    def _save(self, wish: Wish) -> Saved:
        key = wish.key
        with self.follower.locked() as table:
            with self.store.writing(self.agent) as writing:
                frontier = self._frontier(table, writing)
                latest = table.get(key)
                repeated = writing.find_op(wish.op) if wish.repeatable else None
                if repeated is not None:
                    return self._repeated_save(wish, repeated, latest, writing)
                mending, bound = wish.how in ("restored", "forced"), None
                if mending and latest is not None:
                    from indelible.memory.entering import best_origin

                    bound = best_origin(self._walk(key, latest, writing), writing)
                before = (
                    self._restorable(key, wish.content, latest, writing)
                    if mending
                    else self._present(key, latest, writing)
                )
                self._check_allowed(wish, latest, before, table)
                self._check_standing(latest, frontier, writing)
                sealed = self._seal(wish, latest, before, bound)
                commitments = commit(sealed)
                entry = self._saved_entry(wish, commitments, latest, frontier.size)
                digest = self._append(writing, entry, frontier, sealed, table)
            table.put(
                key, Latest(entry.seq, digest, entry.seq, entry.version, *commitments, "active", entry.by, entry.at)
            )
        if self.indexes:
            self.indexed.note(entry.seq, key, sealed, saved_at=entry.at, commitment=commitments.content)
        warnings = (self.warning,) if self.warning else ()
        return Saved(
            key,
            entry.version,
            entry.seq,
            sha256(wish.content).hexdigest(),
            wish.op,
            warnings=warnings,
            masked=wish.masked,
        )

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
                if kind == "unarchived" and latest.state == "superseded":
                    raise DisciplineError(
                        f"{key!r} was not archived: another memory took its place",
                        remedy="Save it again if it is to count beside that one", key=key,
                    )  # fmt: skip
                if key.startswith(BOUND):
                    from indelible.memory.disciplining import refuse_note

                    refuse_note(kind, key, latest)
                self._check_standing(latest, frontier, writing)
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

    def _check_allowed(self, wish: Wish, latest: Latest | None, before: Sealed | None, table: Table) -> None:
        """No silent loss, and nothing that the discipline of a slot forbids."""
        if not wish.key.startswith(BOUND):
            self._check_wish(wish, before)
            return
        from indelible.memory.disciplining import present_of, refuse_save

        present = present_of(latest, before.content if before is not None else None)
        self._check_wish(wish, before if present.open else None)
        refuse_save(wish.key, wish.content, present, table, how=wish.how)

    def _seal(self, wish: Wish, latest: Latest | None, before: Sealed | None, bound: Bound | None) -> Sealed:
        if wish.record is None and latest is None and not wish.masked:
            from indelible.record.draft import plain_body

            body = plain_body(wish.key, wish.content, **self._about())
            return Sealed(self._entropy(SALT_SIZE), body, wish.content)
        from dataclasses import replace

        from indelible.memory.entering import Bound, admitted
        from indelible.record import Record, draft

        earlier = Record.from_body(before.body) if before is not None else None
        if wish.record is not None:
            made = wish.record(earlier)
        elif earlier is not None:
            made = self.revise(earlier, wish.content)
        else:
            made = draft(wish.key, wish.content, **self._about())
        version = latest.version + 1 if latest is not None else 1
        if made.revision != version or made.key != wish.key:
            made = replace(made, revision=version, key=wish.key)
        if not wish.again:
            made = admitted(made, wish, self.secrets, Bound(earlier.origin.class_) if earlier is not None else bound)
        return Sealed(self._entropy(SALT_SIZE), made.to_body(), wish.content)

    def _about(self) -> _About:
        """What the first record of a memory says of who wrote it, and when."""
        return {
            "now": self._clock(), "author": f"agent:{self.agent}", "agent": self.agent, "team": self.team, "random": self._entropy(10),
        }  # fmt: skip

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


class _About(TypedDict):
    now: str
    author: str
    agent: str
    team: str
    random: bytes


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
    masked: tuple[str, ...] = ()
    """What was masked in the content that was given, by kind and place."""
    again: bool = False
    """Bytes and record of an older version once more: they were looked at when they first entered."""
