"""Where and when a memory is asked for: who reads, in which repository, at which revision, and what time it is."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from shlex import join
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from indelible.gate.verdict import Reason
    from indelible.record.parts import Anchor
    from indelible.retention import Rules

Facts = Mapping[str, str]
_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode


class Place(Protocol):
    """Where a reader stands. Each attribute is looked up when it is first asked for; what git cannot say is None."""

    @property
    def repo(self) -> str | None:
        """Identity of the repository; None where there is none."""

    @property
    def root(self) -> str | None:
        """Its first commit."""

    @property
    def revision(self) -> str | None:
        """The commit that is checked out; None before the first."""

    @property
    def branch(self) -> str | None:
        """None where HEAD is detached."""

    @property
    def top(self) -> str | None:
        """The folder that anchors' paths are relative to."""

    @property
    def problem(self) -> Reason | None:
        """Why git could not say; None where it could."""

    @property
    def remedies(self) -> Mapping[str, str]:
        """What to do where something is not known (`repo`, `branch`, `revision`, …), if it is not what a person in a folder does."""


class World(Protocol):
    """What anchors are held against."""

    def check(self, anchors: tuple[Anchor, ...]) -> tuple[Reason, ...]:
        """One reason for each that does not hold."""

    def prepare(self, anchors: Iterable[Anchor]) -> None:
        """Look at many at once, before each is judged."""

    def digest(self, anchors: tuple[Anchor, ...]) -> str:
        """One digest over what all of them are now: what an approval of a changed file is bound to."""


@dataclass(frozen=True, slots=True)
class Context:
    """One reader, at one place and time."""

    reader: str
    """The agent that reads."""
    now: str
    """RFC 3339, UTC."""
    place: Place
    world: World
    facts: Facts = field(default_factory=dict)
    """`org`, `user`, `project`, `session`, as far as they are known."""
    admits_global: bool = False
    """Whether memories of scope `global` are handed out here."""
    retention: Rules | None = None
    """How long content is kept here; None where nothing is said."""
    scope: str | None = None
    """The reader's scope as one text (`repo:example/app`), where it is given so and not by a place: compared letter by letter."""
    paths: tuple[str, ...] = ()
    """The files that are worked on, from the top of the checkout with forward slashes. Empty: none is named, and memories of paths apply."""

    def as_dict(self) -> dict[str, object]:
        """What the deliveries keep of it: no content, no paths of this machine."""
        said: dict[str, object] = {"reader": self.reader, "now": self.now, "scope": self.scope}
        said["paths"] = join(self.paths) if self.paths else None
        said |= {"repo": self.place.repo, "branch": self.place.branch, "revision": self.place.revision, **self.facts}
        return {name: value for name, value in said.items() if value is not None}

    def as_json(self, anchors: tuple[str, ...] = ()) -> str:
        """The same as canonical JSON, with what the memory was bound to."""
        return _encode(self.as_dict() | ({"anchors": list(anchors)} if anchors else {}))
