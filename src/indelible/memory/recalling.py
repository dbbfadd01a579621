"""Recall: memories that a question is about, each judged before it is handed out.

What holds one here: it did not come from the user or the agent and nobody reviewed it, or it reads as an order to a model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from indelible.gate.fence import readable
from indelible.gate.ranking import rank
from indelible.gate.shape import signs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from indelible.memory.facade import Memory
    from indelible.memory.results import Loaded

UNTRUSTED = frozenset({"tool", "external", "unknown"})
"""Origins from which nothing is handed out before a person reviewed it."""


class Delivered(NamedTuple):
    """A memory that was handed out, or held, with the slugs why."""

    key: str
    content: bytes
    verdict: tuple[str, ...]


class Recalled(NamedTuple):
    """What a question found."""

    delivered: tuple[Delivered, ...]
    held: tuple[Delivered, ...]


def recall(memory: Memory, query: str, *, limit: int = 5, tags: Iterable[str] = ()) -> Recalled:
    """Memories that `query` is about, with all of `tags`: the best `limit` that may be handed out, and what was held."""
    wanted = set(tags)
    loaded = [memory.load(item.key) for item in memory.list().items]
    loaded = [one for one in loaded if wanted <= set(one.record.tags)]
    judged = [Delivered(one.key, one.content, _held_by(one)) for one in loaded]
    free = [one for one in judged if not one.verdict]
    texts = [readable(one.content, "") for one in free]
    delivered = tuple(free[place] for place in rank(query, texts, limit))
    return Recalled(delivered, tuple(one for one in judged if one.verdict))


def _held_by(loaded: Loaded) -> tuple[str, ...]:
    origin = loaded.record.origin.class_
    found = signs(readable(loaded.content, ""))
    return (*(f"origin-{origin}" for _ in range(origin in UNTRUSTED)), *found)
