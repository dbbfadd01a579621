"""Decisions about a memory: reviews by a reviewer's key, and supersession. Each is one signed entry, bound to one version."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from indelible.entry import METHODS, VERDICTS, Judged, check_text
from indelible.errors import AccessDenied, ConflictError, NotFoundError, UsageError
from indelible.memory.results import Saved
from indelible.memory.writing import Writer

if TYPE_CHECKING:
    from indelible.seal.note import Signer
    from indelible.store.follower import Latest, Table
    from indelible.store.store import Writing


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
    """sha256 of the content that was looked at; another one there is a conflict. None: whatever is there."""
    op: str


class Decider(Writer):
    """What can be decided about memory. Every method is one transaction."""

    def review(
        self, key: str, verdict: str, *, by: Signer, method: str = "human", subject: str | None = None,
        reason: str | None = None, of: str | None = None, op: str | None = None,
    ) -> Saved:  # fmt: skip
        """Sign a judgement of the present version of `key`.

        Args:
            verdict: `approve`, `reject`, `dispute` or `assign`.
            by: the reviewer's key; its judgement counts with readers that trust it. The agent's own may only dispute and assign.
            method: `human` where the key is kept under a passphrase, else `process`.
            subject: approve: what it was looked at against, as `seen` writes it; dispute: the key that it contradicts;
                assign: the name of who is to review it.
            of: sha256 (64 hex digits) of the content that was looked at.

        Raises:
            NotFoundError: nothing is saved under this key, or it was erased.
            ConflictError: it is not the content that was looked at.
            AccessDenied: the agent would approve or reject its own memory.
        """
        if verdict in ("approve", "reject") and by.name == self.origin:
            raise AccessDenied(
                "An agent does not review its own memory",
                remedy="A reviewer does: 'indelible key create --role reviewer'",
            )
        return self.decide("reviewed", verdict, key, by=by, method=method, subject=subject, reason=reason, of=of, op=op)

    def supersede(
        self, key: str, successor: str, *, by: Signer | None = None, method: str = "process", reason: str | None = None,
        op: str | None = None,
    ) -> Saved:  # fmt: skip
        """Say that the memory under `successor` took the place of the one under `key`.

        Args:
            by: by default the agent; over a memory that was approved only a reviewer's word counts.

        Raises:
            ConflictError: the successor was saved before it, or does not say itself that it supersedes it.
        """
        from indelible.memory.judging import replaces

        newer, older = self.fetch(successor), self.fetch(key)
        if newer.seq <= older.seq or not replaces(newer, older):
            raise ConflictError(
                f"{successor!r} does not supersede {key!r}: it has to be saved after it, and say so itself",
                remedy=f"Save it with --supersedes {key}", key=key,
            )  # fmt: skip
        return self.decide(
            "superseded", "supersede", key, by=by or self.signer, method=method, subject=successor, reason=reason, op=op
        )

    def decide(
        self, kind: str, verdict: str, key: str, *, by: Signer, method: str, subject: str | None = None,
        reason: str | None = None, of: str | None = None, op: str | None = None,
    ) -> Saved:  # fmt: skip
        """Sign and add one `Judged` entry."""
        check_text(key, "key")
        if verdict not in VERDICTS.get(kind, ()) or method not in METHODS:
            raise UsageError(
                f"{verdict!r} is nothing that can be decided",
                remedy=f"Use one of {', '.join(sorted(VERDICTS['reviewed']))}",
            )
        operation = op or self.new_op()
        wish = Decision(kind, verdict, key, by, method, subject, reason, of, operation)
        return self._do(operation, lambda: self._decide(wish))

    def _decide(self, wish: Decision) -> Saved:
        with self.follower.locked() as table:
            with self.store.writing(self.agent) as writing:
                frontier = self._frontier(table, writing)
                latest = table.get(wish.key)
                repeated = writing.find_op(wish.op)
                if repeated is not None:
                    return self._repeated_note(wish.kind, wish.key, wish.op, repeated, latest, writing)
                latest, content = self._looked_at(wish, latest, writing)
                self._check_standing(latest, frontier, writing)
                entry = self._entry(wish, latest, frontier.size, table, writing)
                leaf = self._append(writing, entry, frontier, None, table, by=wish.by, head_by=self.signer)
            state = "superseded" if wish.kind == "superseded" else latest.state
            table.put(wish.key, latest._replace(head_seq=entry.seq, head=leaf, state=state))
        return Saved(wish.key, latest.version, entry.seq, content, wish.op)

    def _looked_at(self, wish: Decision, latest: Latest | None, writing: Writing) -> tuple[Latest, str]:
        """What is judged, and its digest: verified, and the one that was looked at."""
        before = self._present(wish.key, latest, writing)
        if before is None or latest is None:
            raise NotFoundError(
                f"Nothing is saved under {wish.key!r} for {self.agent!r}", key=wish.key, agent=self.agent
            )
        digest = sha256(before.content).hexdigest()
        if wish.of is not None and wish.of.removeprefix("sha256:").lower() != digest:
            raise ConflictError(
                f"{wish.key!r} is not what was looked at: that was sha256:{wish.of.removeprefix('sha256:')}, this is sha256:{digest}",
                remedy=f"Look again: 'indelible review show {wish.key}'", key=wish.key, actual=digest,
            )  # fmt: skip
        return latest, digest

    def _entry(self, wish: Decision, latest: Latest, seq: int, table: Table, writing: Writing) -> Judged:
        subject_key = wish.subject if wish.kind == "superseded" else wish.key
        about = table.get(subject_key or "") or latest
        saved = next(v for v in self._walk(subject_key or wish.key, about, writing) if v.seq == about.saved_seq)
        return Judged(
            self._clock(), f"{wish.by.key_id:08x}", saved.leaf.hex(), wish.key, wish.method, wish.op, self.origin,
            latest.head.hex(), latest.head_seq, wish.reason, seq, wish.subject, wish.kind, wish.verdict, latest.version,
        )  # fmt: skip
