"""Where the work stands: of every target whether it is done, and if not, why; by digests of content, never by times.

Pure: `Facts` are gathered elsewhere. Targets are judged in their order, each after what it needs, so that none can be
permitted before its prerequisites. A prerequisite that was taken again and made the same makes nobody dirty.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from indelible.light import sha256
from indelible.seal import canonical
from indelible.workflow import stamp as stamps
from indelible.workflow.graph import CHANGE, CRITIC, HEAD, HUMAN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indelible.workflow.graph import Target, Workflow
    from indelible.workflow.stamp import Stamp

DONE, DIRTY, WAITING, NEEDS_APPROVAL, NEEDS_CRITIC, MAY_HAVE_HAPPENED, FAILED, OPTIONAL = (
    "done", "dirty", "waiting", "needs-approval", "needs-critic", "may-have-happened", "failed", "optional",
)  # fmt: skip
STATES = (DONE, DIRTY, WAITING, NEEDS_APPROVAL, NEEDS_CRITIC, MAY_HAVE_HAPPENED, FAILED, OPTIONAL)
SATISFIED = frozenset({DONE, OPTIONAL})
"""States in which nobody waits for a target."""

REASONS = {
    "never-done": "There is no stamp of it",
    "input-changed": "An input is not what it was when it was done",
    "input-gone": "An input is not there any more",
    "output-gone": "What it makes is not there",
    "output-changed": "What its command made was changed since",
    "definition-changed": "The workflow says something else of it than when it was done",
    "prerequisite-redone": "What it stands on was done again, with another outcome",
    "prerequisite": "A target that it needs is not done",
    "undone": "Somebody said that it did not happen",
    "interrupted": "It was begun, and nobody said how it ended",
    "running": "It is running now",
    "approval-missing": "No human approved it",
    "approval-void": "An approval is there, and is not for this",
    "review-missing": "No critic looked at this change",
    "review-stale": "The last round was about another change",
    "review-rejected": "The last round rejected this change",
    "may-have-happened": "It was begun and never ended: what it does outside may have happened",
    "failed": "It failed",
    "condition": "It is asked for under a condition that does not hold",
    "not-known": "Something that it depends on cannot be looked at",
    "committed": "The commit at HEAD carries the receipt",
}
"""Everything that a standing can give as its reason."""


class Reason(NamedTuple):
    """Why a target stands where it stands."""

    slug: str
    text: str


class Standing(NamedTuple):
    """One target."""

    target: Target
    state: str
    reasons: tuple[Reason, ...] = ()

    @property
    def is_permitted(self) -> bool:
        """Whether it may be taken now."""
        return self.state in (DIRTY, FAILED)


class Approval(NamedTuple):
    """A receipt, as far as it matters here."""

    id: str
    misfits: tuple[str, ...] = ()
    """Why it is not for this; empty where it fits."""
    used: bool = False
    """Whether a commit was made with it."""


class Round(NamedTuple):
    """The last round of the critic."""

    number: int
    change: str
    """Digest of the change that was looked at."""
    approved: bool


class Facts(NamedTuple):
    """What is so, here and now."""

    digests: Mapping[str, str]
    """Name of each input and output to its digest; empty where it is not there. An empty change is none."""
    stamps: Mapping[str, Stamp]
    """By the targets' ids."""
    approvals: Mapping[str, Approval]
    """By the targets' names: the receipt that fits, or the newest that does not."""
    round: Round | None = None
    committed: str = ""
    """Id of the receipt that the commit at HEAD was made with, in this ticket; empty where there is none."""
    problems: Mapping[str, str] = {}
    """Name of what cannot be looked at, and why."""
    running: frozenset[str] = frozenset()
    """Ids of targets that a process is at."""


def standings(workflow: Workflow, facts: Facts) -> tuple[Standing, ...]:
    """How every target stands, in their order."""
    judge = _Judge(workflow, facts)
    return tuple(judge.judge(one) for one in workflow.targets)


def product(workflow: Workflow, facts: Facts, target: Target) -> str:
    """Digest of what a target made: of its outputs; where it makes nothing, of what it was done with."""
    return _Judge(workflow, facts).product(target)


def missing(facts: Facts, target: Target) -> tuple[str, ...]:
    """What a target makes and is not there. That HEAD is somewhere is no commit of what was approved."""
    committed = bool(facts.committed) and not facts.digests.get(CHANGE)
    return tuple(name for name in target.outputs if not facts.digests.get(name) or (name == HEAD and not committed))


class _Judge:
    def __init__(self, workflow: Workflow, facts: Facts) -> None:
        self._facts, self._by_id = facts, {one.id: one for one in workflow.targets}
        self._found: dict[str, Standing] = {}
        self._products: dict[str, str] = {}
        self._committed = _carried(workflow, facts)

    def judge(self, target: Target) -> Standing:
        state, *reasons = self._state(target)
        self._found[target.id] = found = Standing(target, state, tuple(reasons))
        return found

    def product(self, target: Target) -> str:
        if target.id not in self._products:
            members: dict[str, canonical.Json]
            if target.outputs:
                members = {name: self._digest(name) for name in target.outputs}
            else:
                members = {name: self._digest(name) for name in target.inputs}
                members |= {f"needs {name}": self.product(self._by_id[name]) for name in target.needs}
            self._products[target.id] = sha256(canonical.dumps(members)).hexdigest()
        return self._products[target.id]

    def _digest(self, name: str) -> str:
        return self._facts.digests.get(name, "")

    def _state(self, target: Target) -> tuple[str, *tuple[Reason, ...]]:
        if target.when is not None and self._found[target.when[0]].state != target.when[1]:
            return OPTIONAL, _because("condition", f"only when {target.when[0]} is {target.when[1]}")
        waits = [self._found[name] for name in target.needs if self._found[name].state not in SATISFIED]
        if waits:
            before = (_because("prerequisite", f"{one.target.title} is {one.state}") for one in waits)
            return WAITING, *(*before, *self._voided(target))
        if target.id in self._facts.running:
            return WAITING, _because("running", "another process is at it now")
        if target.id in self._committed:
            return DONE, _because("committed", f"with the receipt {self._facts.committed}")
        stamp = self._facts.stamps.get(target.id)
        if target.effects and stamp is not None and stamp.state == stamps.BEGUN:
            return MAY_HAVE_HAPPENED, _because("may-have-happened", f"begun at {stamp.at}: it {target.effects}")
        unknown = [name for name in (*target.inputs, *target.outputs) if name in self._facts.problems]
        if unknown:
            return WAITING, *(_because("not-known", f"{name}: {self._facts.problems[name]}") for name in unknown)
        if stamp is not None and self._is_over(target, stamp):
            return (DONE,)  # it was let through then, and nothing that it was let through for changed
        return self._gated(target) or self._made(target, stamp)

    def _is_over(self, target: Target, stamp: Stamp) -> bool:
        """Whether a step of a gated target was taken, and stands: an approval that runs out later takes nothing back."""
        taken = bool(target.run or target.effects) and stamp.state == stamps.DONE
        dirty = taken and (self._changes(target, stamp) or missing(self._facts, target) or self._altered(target, stamp))
        return taken and not dirty

    def _gated(self, target: Target) -> tuple[str, *tuple[Reason, ...]] | None:
        """What a gate says; None where it lets through."""
        if target.gate == CRITIC:
            return self._reviewed(target)
        if target.gate == HUMAN:
            found = self._facts.approvals.get(target.name)
            if found is None:
                gone = (_gone_input(name) for name in target.inputs if not self._digest(name))
                return NEEDS_APPROVAL, *(_because("approval-missing", "no receipt for it is here"), *gone)
            if found.misfits:
                return NEEDS_APPROVAL, *_void(found)
        return None

    def _voided(self, target: Target) -> tuple[Reason, ...]:
        """Of a target that waits: an approval that it had, and that an edit made void since."""
        found = self._facts.approvals.get(target.name) if target.gate == HUMAN else None
        return () if found is None or found.used else _void(found)

    def _reviewed(self, target: Target) -> tuple[str, *tuple[Reason, ...]] | None:
        found, now = self._facts.round, self._digest(CHANGE)
        if found is None:
            return NEEDS_CRITIC, _because("review-missing", "there is no round yet")
        if CHANGE in target.inputs and found.change != now:
            was = f"round {found.number} was about {_short(found.change)}, and the change is {_short(now)}"
            return NEEDS_CRITIC, _because("review-stale", was)
        if not found.approved:
            return FAILED, _because("review-rejected", f"round {found.number}")
        return None

    def _made(self, target: Target, stamp: Stamp | None) -> tuple[str, *tuple[Reason, ...]]:
        """What outputs and stamp say."""
        gone = missing(self._facts, target)
        by_outputs = not target.run and not target.effects and (bool(target.outputs) or target.gate in (HUMAN, CRITIC))
        if by_outputs and (stamp is None or stamp.state != stamps.DONE) and self._is_ended(target):
            return (DIRTY, *map(_gone, gone)) if gone else (DONE,)
        if stamp is None:
            return DIRTY, *(map(_gone, gone) if gone else (_because("never-done", "there is no stamp of it"),))
        dirty = (*self._changes(target, stamp), *map(_gone, gone), *self._altered(target, stamp))
        if stamp.state == stamps.UNDONE:
            return DIRTY, _because("undone", f"said at {stamp.at}")
        if stamp.state == stamps.BEGUN:
            return DIRTY, _because("interrupted", f"begun at {stamp.at}")
        if stamp.state == stamps.FAILED and not self._changes(target, stamp):
            return FAILED, _because("failed", f"at {stamp.at}" + (f": {stamp.note}" if stamp.note else ""))
        return (DIRTY, *dirty) if dirty else (DONE,)

    def _is_ended(self, target: Target) -> bool:
        """Whether what was made by hand is known to be complete: a change is, once this ticket's critic has looked at one.

        From then on every edit goes to the critic again, and waits for no other word.
        """
        return CHANGE not in target.outputs or self._facts.round is not None

    def _changes(self, target: Target, stamp: Stamp) -> tuple[Reason, ...]:
        """What is another than when the stamp was made."""
        if stamp.definition != target.definition:
            return (_because("definition-changed", "it was done under another definition"),)
        found = []
        for name in target.inputs:
            was, now = stamp.inputs.get(name, ""), self._digest(name)
            if was != now:
                slug = "input-changed" if now else "input-gone"
                found.append(_because(slug, f"{name} was {_short(was)} and is {_short(now)}"))
        redone = (self._by_id[name] for name in target.needs if self._is_redone(name, stamp))
        found += [
            _because("prerequisite-redone", f"{one.title} was done again, with another outcome") for one in redone
        ]
        return tuple(found)

    def _is_redone(self, name: str, stamp: Stamp) -> bool:
        return self._found[name].state != OPTIONAL and stamp.needs.get(name) != self.product(self._by_id[name])

    def _altered(self, target: Target, stamp: Stamp) -> tuple[Reason, ...]:
        """Outputs of a command that are not what it made; what is made by hand may be made further."""
        if not target.run:
            return ()
        return tuple(
            _because("output-changed", f"{name} was {_short(was)} and is {_short(now)}")
            for name, was in stamp.outputs.items()
            if name in target.outputs and name not in (CHANGE, HEAD) and (now := self._digest(name)) and now != was
        )


def _carried(workflow: Workflow, facts: Facts) -> frozenset[str]:
    """Ids of the targets that the commit at HEAD answers for: those about the change, up to the one that commits it.

    Only where nothing was changed since. What a target outside of the repository does is never answered for.
    """
    if not facts.committed or facts.digests.get(CHANGE):
        return frozenset()
    about = (
        one for one in workflow.targets if CHANGE in (*one.inputs, *one.outputs) or one.name == workflow.guard.receipt
    )
    return frozenset(one.id for one in about if not one.effects)


def _because(slug: str, text: str) -> Reason:
    return Reason(slug, text)


def _void(found: Approval) -> tuple[Reason, ...]:
    return tuple(_because("approval-void", f"receipt {found.id}: {why}") for why in found.misfits)


def _gone_input(name: str) -> Reason:
    return Reason("input-gone", f"{name} is not there")


def _gone(name: str) -> Reason:
    what = "no commit of what was approved is at HEAD" if name == HEAD else f"{name} is not there"
    return Reason("output-gone", what)


def _short(digest: str) -> str:
    return digest[:12] or "nothing"
