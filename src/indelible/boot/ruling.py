"""Rules and scars: memories that a waking agent is given beside its slots, if the gate lets them through.

A rule is a memory of authority `instruction` that a person reviewed, a scar one of kind `failure`. Recall is not asked:
`proposing` knows which there may be, and each is fetched, verified and judged like any memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from indelible.boot.layout import RULE, SCAR, Part
from indelible.errors import NotFoundError
from indelible.gate import fence
from indelible.gate.shown import visible
from indelible.gate.verdict import RULE as AS_RULE
from indelible.gate.verdict import as_argument
from indelible.memory.judging import Judged, judged, noted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from indelible.memory import Memory
    from indelible.memory.results import Loaded

FAILURE = "failure"
SCARS = "scar/"
"""How the keys of scars begin that were recorded as such."""


class Proposal(NamedTuple):
    """One memory that was judged."""

    loaded: Loaded
    found: Judged
    part: Part | None
    """None where it is held, or neither a rule nor a scar."""


def judge_all(memory: Memory, keys: Iterable[str], *, door: str) -> tuple[Proposal, ...]:
    """Judge what may be rules and scars: rules first, the newest first of each.

    Raises:
        IntegrityError: one of them is not what was sealed.
    """
    gate = memory.gate.through(door)
    context = gate.context(memory.agent, memory.now())
    proposals = []
    for loaded in _fetched(memory, keys):
        found = judged(memory, loaded, policy=gate.policy, context=context)
        proposals.append(Proposal(loaded, found, _part(loaded, found)))
    return tuple(sorted(proposals, key=_rank))


def note_all(memory: Memory, proposals: Iterable[Proposal], shown: frozenset[tuple[str, str]], *, door: str) -> str:
    """Write down what was held, and what stands in the briefing; gives what kept that from being done, or ""."""
    gate = memory.gate.through(door)
    for proposal in proposals:
        held = proposal.found.verdict.held and proposal.found.standing.state == "active"
        if held or (proposal.part is not None and proposal.part.id in shown):
            noted(proposal.found, proposal.loaded, gate)
    return gate.journal.warning if gate.journal is not None else ""


def _fetched(memory: Memory, keys: Iterable[str]) -> Iterable[Loaded]:
    for key in keys:
        try:
            loaded = memory.fetch(key)
        except NotFoundError:  # erased since
            continue
        if loaded.finding is not None:
            raise loaded.finding
        if key.startswith(SCARS):
            from indelible.stepping.scars import require_lawful

            require_lawful(memory, loaded)
        if loaded.latest.state == "active":
            yield loaded


def _part(loaded: Loaded, found: Judged) -> Part | None:
    verdict, subject = found.verdict, found.subject
    rule = verdict.delivered_as == AS_RULE
    if verdict.held or not (rule or subject.kind == FAILURE):
        return None
    text = visible(fence.readable(loaded.content, loaded.record.media_type))
    text = text if text.endswith("\n") else text + "\n"
    if loaded.key.startswith(SCARS):
        return _scar(loaded, found, text)
    by = f"{verdict.review} by {verdict.reviewer}" if verdict.reviewer else verdict.review
    return Part(loaded.key, RULE if rule else SCAR, text, f"indelible load {as_argument(loaded.key)}", by)


def _scar(loaded: Loaded, found: Judged, text: str) -> Part | None:
    """A scar without what only a machine needs; one that the owner retired is told no more.

    Raises:
        Malformed: its text and its machine part disagree.
    """
    from indelible.workflow.scars import BARRIER
    from indelible.workflow.scartext import briefly, read_scar

    scar = read_scar(loaded.content, loaded.record.extensions)
    if scar.retired:
        return None
    review = found.verdict.review
    note = f"an attempt is refused; {review}" if scar.level == BARRIER else f"an attempt is told; {review}"
    return Part(loaded.key, SCAR, briefly(text), f"indelible scar show {scar.id}", note)


def _rank(proposal: Proposal) -> tuple[bool, int]:
    """Rules before scars; of each the newest first."""
    part = proposal.part
    return (part is None or part.kind == SCAR, -proposal.loaded.seq)
