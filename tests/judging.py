"""What the tests of the gate judge: subjects and contexts of which only what matters has to be said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from indelible.gate.context import Context
from indelible.gate.place import GivenPlace
from indelible.gate.subject import Review, Subject
from indelible.gate.verdict import Reason
from indelible.record import Scope
from indelible.record.parts import Anchor

if TYPE_CHECKING:
    from collections.abc import Iterable

NOW = "2026-11-30T00:00:00Z"
HERE = "a" * 40
OTHER = "b" * 40
MINE = Scope("agent", agent="eros")
ANCHOR = Anchor("git-blob", "c" * 40, path="app.py")
APPROVED = Review("approved", "mina", "2026-11-29T00:00:00Z")


class World:
    """A world in which the anchors of `changed` paths do not hold, and whose digest is whatever it is set to."""

    def __init__(self, changed: Iterable[str] = (), digest: str = "now") -> None:
        self.changed, self.now, self.asked = set(changed), digest, 0

    def check(self, anchors: tuple[Anchor, ...]) -> tuple[Reason, ...]:
        self.asked += 1
        return tuple(Reason("anchor-changed", f"{one.path} has changed") for one in anchors if one.path in self.changed)

    def prepare(self, anchors: Iterable[Anchor]) -> None:
        """Nothing is asked of anybody here."""

    def digest(self, anchors: tuple[Anchor, ...]) -> str:
        return self.now if anchors else ""


def context(
    *, reader: str = "eros", now: str = NOW, revision: str | None = HERE, world: Any = None, **said: Any
) -> Context:
    """A reader, by default the agent `eros` at the commit `HERE`."""
    repo = said.pop("repo", "github.com/demo/app")
    return Context(reader, now, GivenPlace(repo=repo, revision=revision), world or World(), **said)


def subject(**said: Any) -> Subject:
    """A memory of `eros`'s own that nothing speaks against."""
    return Subject(**{"key": "note", "agent": "eros", "scope": MINE, "origin": "agent", "revision": HERE, **said})


def slugs(reasons: Iterable[Reason]) -> tuple[str, ...]:
    return tuple(reason.slug for reason in reasons)
