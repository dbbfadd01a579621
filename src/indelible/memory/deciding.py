"""Decisions about a memory: reviews by a reviewer's key, and supersession. Each is one signed entry, bound to one version."""

from __future__ import annotations

from hashlib import sha256
from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

from indelible.entry import KEY_LIMIT, METHODS, PAYLOAD_TYPE, VERDICTS, Judged, check_text, parse_entry, split_leaf
from indelible.errors import AccessDenied, ConflictError, NotFoundError, RevokedKey, Unchecked, UsageError
from indelible.memory.bodies import checked_body
from indelible.memory.disciplining import refuse_note
from indelible.memory.pinned import is_revoked, leaf_at
from indelible.memory.repeating import used
from indelible.memory.results import Saved
from indelible.memory.writing import Writer
from indelible.seal.merkle import leaf_hash
from indelible.seal.note import pae
from indelible.store.store import HeadMoved

if TYPE_CHECKING:
    from indelible.memory.reading import Attestor
    from indelible.memory.results import Loaded
    from indelible.seal.note import Signer
    from indelible.store.follower import Latest, Table
    from indelible.store.store import Reading, Writing


class Decision(NamedTuple):
    """What is decided about the present version of a memory."""

    kind: str
    verdict: str
    key: str
    by: Signer
    method: str
    subject: str | None
    reason: str | None
    of: str | None
    """The digest that was looked at, of the content or of the entry that saved it; another one there is a conflict.
    None: whatever is there."""
    at: int | None
    """The entry that saved the version that was looked at, likewise."""
    op: str


def derived_op(op: str, *words: str) -> str:
    """The operation id of a part of an operation: the same each time it is done again."""
    text = "/".join((op, *words))
    return text if len(text.encode()) <= KEY_LIMIT else sha256(text.encode()).hexdigest()


class Decider(Writer):
    """What can be decided about memory. Every method is one transaction."""

    def review(
        self, key: str, verdict: str, *, by: Signer, method: str = "human", subject: str | None = None,
        reason: str | None = None, of: str | None = None, at: int | None = None, op: str | None = None,
    ) -> Saved:  # fmt: skip
        """Sign a judgement of the present version of `key`.

        Args:
            verdict: `approve`, `reject`, `dispute` or `assign`.
            by: the reviewer's key, as `indelible.open_reviewer` gives it; its judgement counts with readers that trust it. The
                agent's own may only dispute and assign.
            method: `human` where the key is kept under a passphrase, else `process`.
            subject: approve: what it was looked at against, as `format_seen` writes it; dispute: the key that it contradicts;
                assign: the name of who is to review it.
            of: what was looked at, by the SHA-256 of its content or the hash of the entry that saved it (64 hex digits).
            at: what was looked at, by the number of that entry.

        Raises:
            NotFoundError: nothing is saved under this key, or it was erased.
            ConflictError: it is not what was looked at.
            AccessDenied: the agent would approve or reject its own memory.
        """
        _check_signer(by)
        if verdict in ("approve", "reject") and by.name == self.origin:
            raise AccessDenied(
                "An agent does not review its own memory",
                remedy="A reviewer does: 'indelible key create --role reviewer'",
            )
        return self.decide(
            "reviewed", verdict, key, by=by, method=method, subject=subject, reason=reason, of=of, at=at, op=op
        )

    def supersede(
        self, key: str, successor: str, *, by: Signer | None = None, method: str = "process", reason: str | None = None,
        op: str | None = None,
    ) -> Saved:  # fmt: skip
        """Say that the memory under `successor` took the place of the one under `key`.

        Args:
            by: by default the agent; over a memory that was approved only a reviewer's word counts.

        Raises:
            ConflictError: the successor was saved before it, or does not say itself that it supersedes it.
            AccessDenied: it was approved, and this is not a reviewer's key that is known here.
        """
        from indelible.memory.judging import replaces

        if by is not None:
            _check_signer(by)
        newer, older = self.fetch(successor), self.fetch(key)
        if (by is None or by.key_id not in self.reviewers) and self.is_approved(older):
            raise AccessDenied(
                f"{key!r} was approved by a reviewer, and only a reviewer's key puts another memory in its place",
                remedy="Say --as NAME, where a reviewer's key is here; 'indelible key create --role reviewer' makes one",
            )
        if newer.seq <= older.seq or not replaces(newer, older):
            raise ConflictError(
                f"{successor!r} does not supersede {key!r}: it has to be saved after it, and say so itself",
                remedy=f"Save it with --supersedes {key}", key=key,
            )  # fmt: skip
        return self.decide(
            "superseded", "supersede", key, by=by or self.signer, method=method, subject=successor, reason=reason,
            at=older.seq, op=op,
        )  # fmt: skip

    def is_approved(self, loaded: Loaded) -> bool:
        """Whether a reviewer that this reader knows approved that version."""
        from indelible.memory.standing import standing

        return standing(self, loaded).review.value == "approved"

    def decide(
        self, kind: str, verdict: str, key: str, *, by: Signer, method: str, subject: str | None = None,
        reason: str | None = None, of: str | None = None, at: int | None = None, op: str | None = None,
    ) -> Saved:  # fmt: skip
        """Sign and add one `Judged` entry."""
        check_text(key, "key")
        if verdict not in VERDICTS.get(kind, ()) or method not in METHODS:
            raise UsageError(
                f"{verdict!r} is nothing that can be decided",
                remedy=f"Use one of {', '.join(sorted(VERDICTS['reviewed']))}",
            )
        from indelible.memory.entering import check_texts

        check_texts(self.secrets, {"reason": reason, "operation id": op, "subject": subject})
        operation = op or self.new_op()
        wish = Decision(kind, verdict, key, by, method, subject, reason, of, at, operation)
        attestor = self._attestor() if kind == "reviewed" else None
        return self._do(
            operation, lambda: self._decide(wish) if attestor is None else self._hand_in(wish, attestor), key
        )

    def _hand_in(self, wish: Decision, attestor: Attestor) -> Saved:
        """Have another sign the head after a review, and see that it stands in the log."""
        if not self.trust.server_keys():
            raise Unchecked(
                f"The key of {self.agent!r} is not here, and no server is trusted to sign the head after a review",
                remedy=self.trust.proposal(),
            )
        with self.following() as (table, reading, head):
            latest = table.get(wish.key)
            for version in self._walk(wish.key, latest, reading) if latest is not None else ():
                if version.op == wish.op and version.type == wish.kind:
                    return Saved(wish.key, version.version, version.seq, "", wish.op, repeated=True)
            latest, content = self._looked_at(wish.key, wish.of, latest, reading, at=wish.at)
            entry = self._entry(wish, latest, head.size, table, reading)
        body = checked_body(entry)
        leaf = body + wish.by.sign_raw(pae(PAYLOAD_TYPE, body))
        attestor(leaf, entry.seq, wish.op)
        with self.following() as (_, reading, _):
            leaf_at(reading, self.origin, entry.seq, leaf_hash(leaf), key=wish.key)
        return Saved(wish.key, latest.version, entry.seq, content, wish.op)

    def lodge(self, entry: Judged, leaf: bytes) -> Saved:
        """Add a judgement that was signed elsewhere, under a head that is signed here; who signed it is for the caller to know.

        Args:
            leaf: `entry` with its signature.

        Raises:
            HeadMoved: it was made for another head. UsageError: it is of another log or version.
            RevokedKey: by a key that is not trusted any more.
            NotFoundError: nothing is saved under its key, or it was erased.
            ConflictError: the operation id was used for something else.
        """
        self.begin()
        saved = self._lodge(entry, leaf)
        if saved.repeated:
            self.store.settle()
        return saved

    def _lodge(self, entry: Judged, leaf: bytes) -> Saved:
        with self.follower.locked() as table:
            with self.store.writing(self.agent) as writing:
                frontier = self._frontier(table, writing)
                latest = table.get(entry.key)
                repeated = writing.find_op(entry.op)
                if repeated is not None:
                    return self._lodged(entry, leaf, repeated, latest, writing)
                latest, content = self._looked_at(entry.key, None, latest, writing)
                self._check_fits(entry, latest, frontier.size, writing)
                self._check_standing(latest, frontier, writing)
                _refuse_revoked(entry, table)
                digest = self._put(writing, entry, leaf, frontier, None, table=table, head_by=self.signer)
            table.put(entry.key, latest._replace(head_seq=entry.seq, head=digest))
        return Saved(entry.key, latest.version, entry.seq, content, entry.op)

    def _lodged(self, entry: Judged, leaf: bytes, seq: int, latest: Latest | None, writing: Writing) -> Saved:
        saved = self._repeated_note(entry.type, entry.key, entry.op, seq, latest, writing)
        if next(iter(writing.leaves(seq, seq + 1)), b"") != leaf:
            raise ConflictError(
                f"The operation id {entry.op!r} was already used for another review",
                remedy="Use a new one",
                op=entry.op,
            )
        return saved

    def _check_fits(self, entry: Judged, latest: Latest, size: int, writing: Writing) -> None:
        if (entry.seq, entry.prev_seq, entry.prev) != (size, latest.head_seq, latest.head.hex()):
            raise HeadMoved
        if (entry.origin, entry.version, entry.digest) != (
            self.origin,
            latest.version,
            self._leaf_of(entry.key, latest, writing),
        ):
            raise UsageError(f"The judgement is not of what is saved under {entry.key!r} now", key=entry.key)

    def _decide(self, wish: Decision) -> Saved:
        with self.follower.locked() as table:
            with self.store.writing(self.agent) as writing:
                frontier = self._frontier(table, writing)
                latest = table.get(wish.key)
                repeated = writing.find_op(wish.op)
                if repeated is not None:
                    return self._repeated_decision(wish, repeated, latest, writing)
                latest, content = self._looked_at(wish.key, wish.of, latest, writing, at=wish.at)
                if wish.kind == "superseded":
                    refuse_note(wish.kind, wish.key, latest)
                self._check_standing(latest, frontier, writing)
                entry = self._entry(wish, latest, frontier.size, table, writing)
                leaf = self._append(writing, entry, frontier, None, table, by=wish.by, head_by=self.signer)
            state = "superseded" if wish.kind == "superseded" else latest.state
            table.put(wish.key, latest._replace(head_seq=entry.seq, head=leaf, state=state))
        return Saved(wish.key, latest.version, entry.seq, content, wish.op)

    def _looked_at(
        self, key: str, of: str | None, latest: Latest | None, reading: Reading, *, at: int | None = None
    ) -> tuple[Latest, str]:
        """What is judged, and its digest: verified, and the one that was looked at."""
        before = self._present(key, latest, reading)
        if before is None or latest is None:
            raise NotFoundError(f"Nothing is saved under {key!r} for {self.agent!r}", key=key, agent=self.agent)
        digest = sha256(before.content).hexdigest()
        if at is not None and at != latest.saved_seq:
            raise _other(key, f"entry {at}", f"entry {latest.saved_seq}", digest)
        if of is not None:
            of = of.removeprefix("sha256:").lower()
            if of not in (digest, self._leaf_of(key, latest, reading)):
                raise _other(key, f"sha256:{of}", f"sha256:{digest}", digest)
        return latest, digest

    def _repeated_decision(self, wish: Decision, seq: int, latest: Latest | None, writing: Writing) -> Saved:
        """The operation is in the log already: it has to be this very decision."""
        version = self._done_before(wish.key, wish.op, seq, latest, writing)
        entry = parse_entry(split_leaf(leaf_at(writing, self.origin, seq, version.leaf))[0])
        if not isinstance(entry, Judged) or (entry.verdict, entry.by) != (wish.verdict, f"{wish.by.key_id:08x}"):
            raise used(wish.op)
        if wish.verdict != "approve" and entry.subject != wish.subject:  # what it was seen against may have moved on
            raise used(wish.op)
        return Saved(wish.key, version.version, seq, "", wish.op, repeated=True)

    def _entry(self, wish: Decision, latest: Latest, seq: int, table: Table, reading: Reading) -> Judged:
        subject_key = wish.subject if wish.kind == "superseded" else wish.key
        about = table.get(subject_key or "") or latest
        digest = self._leaf_of(subject_key or wish.key, about, reading)
        return Judged(
            self._clock(), f"{wish.by.key_id:08x}", digest, wish.key, wish.method, wish.op, self.origin,
            latest.head.hex(), latest.head_seq, wish.reason, seq, wish.subject, wish.kind, wish.verdict, latest.version,
        )  # fmt: skip

    def _leaf_of(self, key: str, latest: Latest, reading: Reading) -> str:
        """Leaf hash of the entry that saved the present version."""
        return next(v.leaf.hex() for v in self._walk(key, latest, reading) if v.seq == latest.saved_seq)


def _check_signer(by: object) -> None:
    from indelible.seal.note import Signer

    if not isinstance(by, Signer):
        raise UsageError(
            f"by is the key that signs, and this is {type(by).__name__}",
            remedy="Open it: by=indelible.open_reviewer(NAME)",
        )


def _other(key: str, looked_at: str, found: str, digest: str) -> ConflictError:
    return ConflictError(
        f"{key!r} is not what was looked at: that was {looked_at}, this is {found}",
        remedy=f"Look again: 'indelible review show {quote(key)}'", key=key, actual=digest,
    )  # fmt: skip


def _refuse_revoked(entry: Judged, table: Table) -> None:
    if table.pin is not None and is_revoked(entry.by, entry.seq, table.pin.revoked):
        raise RevokedKey(f"The key {entry.by} was revoked: nobody would take its word", by=entry.by)
