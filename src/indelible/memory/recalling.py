"""Recall in its two stages, kept apart: words propose candidates, then each is verified and judged like any other read.

Every memory of the log that is in force is a candidate; filters come before the ranking, and a held memory takes no place from
one that is handed over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from indelible.errors import IntegrityError, NotFoundError, UsageError
from indelible.gate.ranking import near, rank
from indelible.memory.judging import deliver, judged
from indelible.memory.results import Held
from indelible.memory.standing import standing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indelible.memory.gating import Gate
    from indelible.memory.reading import Reader
    from indelible.memory.results import Loaded


_IN_FORCE = frozenset({"active", "superseded"})
"""States that a log gives such a memory: what was approved is not out of force for the agent's own word that it is superseded."""


class Recalled(NamedTuple):
    """What a query led to."""

    delivered: tuple[Loaded, ...]
    """Best first, each with its verdict."""
    held: tuple[Held, ...]
    """Candidates that were as near, and are held."""
    findings: tuple[IntegrityError, ...]
    """Memories that are not what was sealed, and so are none."""


def recall(reader: Reader, query: str, *, limit: int, tags: frozenset[str], prefix: str, gate: Gate) -> Recalled:
    """As `Memory.recall`.

    Raises:
        UsageError: a limit below 1. IntegrityError: the log cannot be followed.
    """
    if limit < 1:
        raise UsageError(f"A limit of {limit} memories gives none", remedy="Use a limit of 1 or more")
    findings: list[IntegrityError] = []
    candidates = [loaded for loaded in _in_force(reader, prefix, findings) if tags <= _tags(loaded)]
    context = gate.context(reader.agent, reader.now())
    apply: list[Loaded] = []
    kept: list[Loaded] = []
    for place in near(query, [_text(loaded) for loaded in candidates]):
        held = judged(reader, candidates[place], policy=gate.policy, context=context).verdict.held
        (kept if held else apply).append(candidates[place])
    # Ranked apart, so that a held copy of a text, or a held crowd, pushes nothing that applies out of its place.
    answers = [deliver(reader, loaded, gate) for some in (apply, kept) for loaded in _best(query, some, limit)]
    return Recalled(
        tuple(answer for answer in answers if not isinstance(answer, Held)),
        tuple(answer for answer in answers if isinstance(answer, Held)), tuple(findings),
    )  # fmt: skip


def _best(query: str, some: list[Loaded], limit: int) -> list[Loaded]:
    return [some[place] for place in rank(query, [_text(loaded) for loaded in some], limit)]


def _text(loaded: Loaded) -> str:
    return loaded.content.decode("utf-8", "replace")


def _in_force(reader: Reader, prefix: str, findings: list[IntegrityError]) -> Iterator[Loaded]:
    with reader.following() as (table, _, _):
        keys = [key for key, row in table.keys(prefix=prefix) if row.state in _IN_FORCE]
    for key in keys:
        try:
            loaded = reader.fetch(key)
            if loaded.latest.state == "active" or standing(reader, loaded).state == "active":
                yield loaded
        except NotFoundError:
            continue  # erased since
        except IntegrityError as finding:
            findings.append(finding)


def _tags(loaded: Loaded) -> frozenset[str]:
    if b'"tags"' not in loaded.body:
        return frozenset()
    import json

    record: dict[str, Any] = json.loads(loaded.body)
    return frozenset(tag for tag in record.get("tags", ()) if isinstance(tag, str))
