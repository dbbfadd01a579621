"""Reviewers for the tests of memory: one who is trusted, one who is not, and a desk at which both can sit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tests.judging import World
from tests.support import entry_of, sign_entry, signer_of

from indelible.entry import Judged
from indelible.gate.context import Context
from indelible.gate.place import GivenPlace
from indelible.memory.gating import Gate
from indelible.seal.note import Verifier

if TYPE_CHECKING:
    from tests.support import Bench

    from indelible.memory import Memory
    from indelible.record import Record
    from indelible.seal.note import Signer

MINA = signer_of("indelible-reviewer/mina")
JUN = signer_of("indelible-reviewer/jun")
STRANGER = signer_of("indelible-reviewer/mina", 7)
"""Another key of the same name, which nobody here trusts."""


@dataclass
class Desk:
    """An agent's memory whose reader trusts Mina and Jun, in a world that tests can change."""

    bench: Bench
    memory: Memory
    world: World
    revision: str | None = "a" * 40

    def context(self, agent: str, now: str) -> Context:
        return Context(agent, now, GivenPlace(repo="github.com/demo/app", revision=self.revision), self.world)

    def approve(self, key: str = "note", by: Signer = MINA, **said: Any) -> None:
        self.memory.review(key, "approve", by=by, **said)

    def value(self, key: str = "note") -> str:
        """What the reviews of the present version come to."""
        return self.memory.judge(key).subject.review.value

    def slugs(self, key: str = "note", **said: Any) -> tuple[str, ...]:
        return self.memory.judge(key, **said).verdict.slugs

    def notes(self, key: str = "note") -> tuple[str, ...]:
        return tuple(note.slug for note in self.memory.judge(key).verdict.notes)

    def forge(self, signer: Signer, **changes: Any) -> None:
        """Add an entry to the log as the holder of the agent's key can: `changes` to an approval by Mina, signed by `signer`."""
        leaves = self.bench.leaves()
        last = next(entry_of(leaf) for leaf in reversed(leaves) if getattr(entry_of(leaf), "key", "") == "note")
        saved = next(
            leaf
            for leaf in reversed(leaves)
            if getattr(entry_of(leaf), "key", "") == "note" and entry_of(leaf).type == "saved"
        )
        from indelible.seal.merkle import leaf_hash

        entry = Judged(
            last.at, f"{MINA.key_id:08x}", leaf_hash(saved).hex(), "note", "human", "forged", self.bench.origin,
            leaf_hash(leaves[last.seq]).hex(), last.seq, None, len(leaves), None, "reviewed", "approve", last.version,
        )  # fmt: skip
        self.bench.forge([*leaves, sign_entry(entry._replace(**changes), signer)], self.bench.signer)


def desk_at(bench: Bench, journal: Any = None) -> Desk:
    """A desk in a new store."""
    memory = bench.memory(create=True, trust=bench.trusted(reviewers=(Verifier(MINA.vkey), Verifier(JUN.vkey))))
    desk = Desk(bench, memory, World())
    memory.gate = Gate(context=desk.context, journal=journal)
    return desk


def said_of(memory: Memory, key: str, **said: Any) -> Any:
    """A maker of the record of a save, with members of it said."""
    from indelible.record import draft

    def make(earlier: Record | None) -> Record:
        record = earlier or draft(key, b"", agent=memory.agent, author="agent:eros", now=memory.now(), random=bytes(10))
        return replace(record, **said)

    return make
