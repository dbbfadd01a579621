"""A memory that waits for a reviewer, as `review list` shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indelible.cli.drafting import parse_scope
from indelible.cli.output import shown, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indelible.memory.judging import Judged
    from indelible.memory.surveying import Surveyed


def in_scope(found: Judged, text: str) -> bool:
    """Whether a memory is of the scope that somebody asked for."""
    asked, scope = parse_scope(text), found.subject.scope
    if not hasattr(scope, "level"):
        return False
    names = ("level", "org", "user", "project", "repo", "branch", "session", "agent", "paths")
    return all(getattr(asked, name) in (None, (), getattr(scope, name)) for name in names)


def row(one: Surveyed, states: Sequence[str]) -> str:
    """A memory on one line."""
    subject = one.found[0].subject
    to = f"  for {visible(subject.review.assigned)}" if subject.review.assigned else ""
    why = f"  ({', '.join(one.found[0].verdict.slugs)})" if "held" in states else ""
    return f"{', '.join(states)}  {shown(subject.key)}  v{subject.version}  sha256:{one.loaded.sha256[:12]}…  {subject.kind} from {subject.origin}{to}{why}"


def listed(one: Surveyed, states: Sequence[str]) -> dict[str, object]:
    """The same for a program."""
    found = one.found[0]
    subject, review = found.subject, found.subject.review
    return {
        "key": subject.key, "version": subject.version, "id": subject.id, "sha256": one.loaded.sha256, "leaf": found.standing.leaf.hex(),
        "kind": subject.kind, "origin": subject.origin, "states": list(states), "assigned": review.assigned or None,
        "review": {"value": review.value, "by": review.by or None, "at": review.at or None}, "held": found.verdict.held,
        "reasons": list(found.verdict.slugs),
    }  # fmt: skip
