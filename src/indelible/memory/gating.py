"""What a memory is judged with, and where its deliveries are written down. Made once for an open memory, by whoever opens it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

from indelible.errors import UsageError
from indelible.gate.context import Context
from indelible.gate.place import GivenPlace
from indelible.gate.policy import Policy
from indelible.gate.presets import DEFAULT, policy_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeAlias

    from indelible.deliveries import Journal
    from indelible.gate.verdict import Reason
    from indelible.record.parts import Anchor

    Where: TypeAlias = Callable[[str, str], Context]
    """`where(agent, now)` is where the reader of that agent's memory stands."""


class NoWorld:
    """A reader without files, which can hold anchors against nothing: they are unknown, and so held."""

    def check(self, anchors: tuple[Anchor, ...]) -> tuple[Reason, ...]:
        from indelible.gate.verdict import Reason

        words = "there are no files here to compare with"
        remedy = "Ask with a client that has the files: 'indelible --store URL load KEY'"
        return tuple(
            Reason("anchor-unknown", f"{anchor.type} {anchor.path or ''}: {words}", remedy) for anchor in anchors
        )

    def prepare(self, anchors: Iterable[Anchor]) -> None:
        """There is nothing to look at."""

    def digest(self, anchors: tuple[Anchor, ...]) -> str:  # noqa: ARG002 - a world's signature
        return ""


def _nowhere(agent: str, now: str) -> Context:
    return Context(reader=agent, now=now, place=GivenPlace(), world=NoWorld())


@dataclass(frozen=True, slots=True)
class Gate:
    """How one reader judges.

    Args:
        context: where the reader stands.
        journal: where deliveries are written down; None for nowhere.
        door: the word by which the deliveries name who asked.
    """

    policy: Policy = field(default_factory=lambda: policy_of(DEFAULT))
    context: Where = _nowhere
    journal: Journal | None = None
    door: str = "library"

    def through(self, door: str = "", policy: Policy | str | None = None, context: Where | None = None) -> Self:
        """The same for another door, under another policy, or for a reader who stands elsewhere.

        Args:
            policy: one, or its name.

        Raises:
            UsageError: there is no policy of that name, or it is none.
        """
        if not door and policy is None and context is None:
            return self
        return replace(
            self,
            door=door or self.door,
            policy=self.policy if policy is None else _resolved(policy),
            context=context or self.context,
        )


def _resolved(policy: Policy | str) -> Policy:
    if isinstance(policy, str):
        return policy_of(policy)
    if not isinstance(policy, Policy):
        raise UsageError(
            f"A policy is a Policy or its name, and this is {type(policy).__name__}", remedy="Name a preset"
        )
    return policy
