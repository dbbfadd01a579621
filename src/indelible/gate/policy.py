"""The algebra of policies: conditions, all of them, any of them.

A condition is called with a subject and a context and gives every reason that it has against handing the memory over;
none means that it holds. A combination is a condition too. `judge` is where a policy meets a memory: a condition that
breaks holds the memory back, since a guard fails closed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from indelible.errors import UsageError
from indelible.gate.notes import notes_on
from indelible.gate.verdict import REFERENCE, RULE, Reason, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indelible.gate.context import Context
    from indelible.gate.subject import Subject

Reasons = tuple[Reason, ...]
HOLDS: Reasons = ()


class Condition(Protocol):
    """One thing that has to be so."""

    name: str

    def __call__(self, subject: Subject, context: Context) -> Reasons: ...


class AllOf:
    """Every one of the conditions has to hold; all reasons are given, not only the first.

    Raises:
        UsageError: there is none, and so nothing would ever be held.
    """

    def __init__(self, conditions: Sequence[Condition]) -> None:
        if not conditions:
            raise UsageError("A policy without a condition would let everything through", remedy="Name its conditions")
        self.conditions = tuple(conditions)
        self.name = f"AllOf({', '.join(condition.name for condition in self.conditions)})"

    def __call__(self, subject: Subject, context: Context) -> Reasons:
        return tuple(reason for condition in self.conditions for reason in condition(subject, context))


class AnyOf:
    """One of the conditions is enough; where none holds, the reasons of all are given.

    Raises:
        UsageError: there is none.
    """

    def __init__(self, conditions: Sequence[Condition]) -> None:
        if not conditions:
            raise UsageError("A choice without a condition can never be met", remedy="Name its conditions")
        self._conditions = tuple(conditions)
        self.name = f"AnyOf({', '.join(condition.name for condition in self._conditions)})"

    def __call__(self, subject: Subject, context: Context) -> Reasons:
        found: list[Reason] = []
        for condition in self._conditions:
            reasons = condition(subject, context)
            if not reasons:
                return HOLDS
            found += reasons
        return tuple(found)


class UnsafeDeliverAll:
    """Hands everything over. For looking into a store by hand; every delivery says that it was used."""

    name = "UnsafeDeliverAll"

    def __call__(self, subject: Subject, context: Context) -> Reasons:  # noqa: ARG002 - a condition's signature
        return HOLDS


class Policy(NamedTuple):
    """A condition under the name that every verdict carries."""

    mode: str
    condition: Condition

    @property
    def parts(self) -> tuple[Condition, ...]:
        """The conditions that all have to hold."""
        return self.condition.conditions if isinstance(self.condition, AllOf) else (self.condition,)


class Outcome(NamedTuple):
    """What one condition of a policy came to."""

    condition: str
    reasons: Reasons
    """Empty where it holds."""


def outcomes(policy: Policy, subject: Subject, context: Context) -> tuple[Outcome, ...]:
    """What each condition of a policy comes to, one after the other."""
    parts = (Policy(policy.mode, part) for part in policy.parts)
    return tuple(Outcome(part.condition.name, judge(part, subject, context).reasons) for part in parts)


def judge(policy: Policy, subject: Subject, context: Context) -> Verdict:
    """The verdict on one memory. Nothing is raised: a policy that breaks holds the memory."""
    try:
        reasons = tuple(reason.about(subject.key) for reason in policy.condition(subject, context))
        notes = tuple(note.about(subject.key) for note in notes_on(subject, context))
    except Exception as exc:  # noqa: BLE001 - a guard fails closed: whatever broke, the memory is held and the reason says so
        reasons, notes = (Reason("policy-broken", f"the policy could not judge it ({type(exc).__name__})"),), ()
    if isinstance(policy.condition, UnsafeDeliverAll):
        notes = (Reason("unsafe", "nothing was judged: the policy hands everything over"), *notes)
    review, rule = subject.review, subject.ruled and subject.authority == "instruction"
    counted = review if review.value != "unreviewed" else None
    return Verdict(
        policy.mode, policy.condition.name, reasons, notes, RULE if rule else REFERENCE, review.value,
        counted.by if counted else "", counted.at if counted else "",
    )  # fmt: skip
