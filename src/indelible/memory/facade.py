"""`Memory`: save, load, recall, verify, list, history, review, archive, restore, erase, checkpoint, proof."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indelible.errors import HeldError, NotFoundError, NotSaved, UsageError
from indelible.gate.verdict import as_argument
from indelible.memory.pinned import leaf_at
from indelible.memory.recording import Recorder
from indelible.memory.results import Held, Verified, compare
from indelible.memory.writing import Wish, refuse_text

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

    from indelible.gate.policy import Policy
    from indelible.memory.certifying import Certificate
    from indelible.memory.finding import Advance, Checked, Reindexed
    from indelible.memory.gating import Where
    from indelible.memory.judging import Judged
    from indelible.memory.recalling import Recalled
    from indelible.memory.results import Loaded, Saved
    from indelible.recall.thresholds import Thresholds
    from indelible.record import Record
    from indelible.seal.proof import TlogProof


class Memory(Recorder):
    """One agent's memory in one store. Make one with `indelible.open_memory`, or with its parts."""

    def load(
        self, key: str, version: int | None = None, *, policy: Policy | str | None = None, door: str = ""
    ) -> Loaded:
        """The bytes saved under `key`, verified, and judged to apply here and now.

        Args:
            version: an older one; None for the present one.
            policy: judged by this one (or the one of that name), and not by the reader's own.
            door: who asks, for the deliveries.

        Raises:
            IntegrityError: altered, missing, rolled back, forked, badly signed.
            NotFoundError: nothing was ever saved under this key, or it was erased.
            HeldError: genuine, and not handed over; every reason is in it.
            Unchecked: it could not be checked.
        """
        answer = self.deliver(key, version, policy=policy, door=door)
        if isinstance(answer, Held):
            raise refusal(answer)
        return answer

    def deliver(
        self,
        key: str,
        version: int | None = None,
        *,
        policy: Policy | str | None = None,
        door: str = "",
        context: Where | None = None,
        regardless: bool = False,
    ) -> Loaded | Held:
        """As `load`; what is held is returned with its reasons, and not raised.

        Args:
            context: where the reader stands, if that is not where this memory was opened.
            regardless: hand a held one over too; that stands in the deliveries.
        """
        gate = self.gate.through(door, policy, context)
        from indelible.memory.judging import deliver

        return deliver(self, self.fetch(key, version), gate, regardless=regardless)

    def judge(
        self, key: str, version: int | None = None, *, policy: Policy | str | None = None, context: Where | None = None
    ) -> Judged:
        """Judge a memory without handing it over; nothing is written down. Arguments as those of `deliver`."""
        gate = self.gate.through("", policy, context)
        from indelible.memory.judging import judged

        return judged(self, self.fetch(key, version), policy=gate.policy, context=gate.context(self.agent, self.now()))

    def recall(  # noqa: PLR0913 - each narrows the query
        self, query: str, *, limit: int = 5, tags: Iterable[str] = (), prefix: str = "", kinds: Iterable[str] = (),
        levels: Iterable[str] = (), since: str = "", until: str = "", policy: Policy | str | None = None, door: str = "",
        context: Where | None = None, advance: Advance | None = None,
    ) -> Recalled:  # fmt: skip
        """Memories that are near to `query`, best first: candidates from the index, each then verified and judged.

        Args:
            limit: how many to hand over at most.
            tags: only memories that have all of them.
            prefix: only memories whose key begins with it.
            kinds: only memories of one of these kinds: `decision`, `failure`, …
            levels: only memories whose scope is of one of these levels: `repo`, `agent`, …
            since, until: only memories that were saved from the one on, and before the other (RFC 3339 UTC).
            advance: told how far it is, where many memories are indexed for the first time.

        Raises:
            UsageError: a limit below 1; a time that is none. IntegrityError: the log cannot be followed.
        """
        from indelible.memory.narrowing import Wanted
        from indelible.memory.recalling import recall

        if not isinstance(query, str):
            raise UsageError(
                f"A query is text, and this is {type(query).__name__}",
                remedy="Decode bytes first; 'identify' takes them",
            )
        for several in (tags, kinds, levels):
            refuse_text(several)
        wanted = Wanted(frozenset(tags), prefix, frozenset(kinds), frozenset(levels), since, until)
        gate = self.gate.through(door, policy, context)
        return recall(self, query, limit=limit, wanted=wanted, gate=gate, advance=advance)

    def identify(self, text: bytes, *, prefix: str = "", advance: Advance | None = None) -> Certificate:
        """Which memory `text` is a damaged copy of, and how sure that is. Nothing is handed over: `deliver` does that.

        Args:
            text: of any size; what is compared of a very long one is said in `recall.certify`.
            prefix: only memories whose key begins with it.
            advance: as of `recall`.

        Raises:
            IntegrityError: the log cannot be followed.
        """
        from indelible.memory.certifying import certify

        if not isinstance(text, bytes):
            raise UsageError(
                f"A copy is bytes, and this is {type(text).__name__}", remedy="Encode text first; nothing is guessed"
            )
        return certify(self, text, prefix=prefix, advance=advance)

    def reindex(self, advance: Advance | None = None) -> Reindexed:
        """Derive the whole index again from the verified memories.

        Raises:
            IntegrityError: the log cannot be followed. What of a memory is not what was sealed is left out.
        """
        return self.indexed.finder.rebuild(advance)

    def calibrate(self) -> Thresholds:
        """Find where `identify` has to draw its lines for what is stored here; kept until the next `reindex`.

        Raises:
            UsageError: there are too few texts. IntegrityError: one of them is not what was sealed.
        """
        return self.indexed.originals.calibrate()

    def check_index(self, advance: Advance | None = None) -> Checked:
        """Derive the whole index a second time, and compare: what somebody changed who could write it shows here.

        Raises:
            IntegrityError: the log cannot be followed.
        """
        return self.indexed.finder.check(advance)

    def verify(self, key: str, local: bytes | None = None) -> Verified:
        """Check one memory, the last entry about it, and what is new in the log it stands in; compare a local copy.

        Raises:
            IntegrityError: anything at all is not what was sealed; here a finding is never let pass.
            NotFoundError: nothing is saved under this key.
        """
        loaded = self.fetch(key)
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
        if self.gate.journal is not None:
            self.gate.journal.forget_digests(key)
        left = self.purge()
        return erased._replace(warnings=(*erased.warnings, left)) if left else erased

    def purge(self) -> str:
        """Leave nothing of what was erased in the index and the unused parts of the store's files; gives what kept that from being done, or ""."""
        left = self.indexed.sweep()
        try:
            self.store.settle(purge=True)
        except NotSaved as fault:
            return f"A copy may still be in the store's files: {fault}"
        return left

    def restore(self, key: str, version: int, *, reason: str | None = None, op: str | None = None) -> Saved:
        """Save an older version again as the newest one: its very bytes, and the class of origin that it had.

        Raises:
            IntegrityError: that version is not what was sealed. NotFoundError: there is none.
        """
        from indelible.memory.entering import check_texts

        older = self.fetch(key, version)
        self.refuse_refused(key, older.content)
        check_texts(self.secrets, {"reason": reason, "operation id": op})
        wish = Wish(
            key, older.content, lambda _: self._restored(older), None, "restored", reason or f"version {version}", allow_empty=True,
            op=op or self.new_op(), repeatable=op is not None, again=True,
        )  # fmt: skip
        return self._do(wish.op, lambda: self._save(wish), key)

    def _restored(self, older: Loaded) -> Record:
        """What is known of a version that is saved again: its text comes from where it came from then, and an expiry goes on."""
        from dataclasses import replace

        record = older.record
        return replace(self.revise(record, older.content), origin=record.origin, validity=record.validity)

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

        loaded = self.fetch(key, version)
        with self.following() as (_, reading, head):
            return prove(self.store, self.agent, reading, loaded.seq, head)

    def close(self) -> None:
        self.end_gate()
        self.end_index()
        self.follower.close()
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def refusal(held: Held) -> HeldError:
    """The error that says why a memory is held."""
    reasons = held.verdict.reasons
    remedy = next((reason.remedy for reason in reasons if reason.remedy), "")
    return HeldError(
        f"{held.key!r} is held: {'; '.join(reason.message for reason in reasons)}",
        remedy=remedy or f"'indelible why {as_argument(held.key)}' says more", key=held.key, version=held.version,
        mode=held.verdict.mode, reasons=[reason._asdict() for reason in reasons], delivery=held.delivery,
    )  # fmt: skip
