"""Rounds of the critic in the state directory: each appended to `30_critic_summary.md` with the next number, bound to the change it judges.

Whoever can append to 30 can write a round: it is the word of whoever holds the agent's key, and no approval. What it is good
for is that a later change makes it stale by itself, and that what was rejected is there after every compaction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import NotFoundError, SecretRefused
from indelible.seal import canonical
from indelible.state.slot import CRITIC
from indelible.workflow.rounds import (
    APPROVED,
    NONE,
    PILLARS,
    REJECTED,
    SHORT,
    STALE,
    check_round,
    deciding,
    format_round,
    next_number,
    parse_rounds,
    standing,
)
from indelible.workflow.rounds import Round as Judged

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from indelible.keeping.directory import StateDirectory
    from indelible.memory.results import Saved
    from indelible.memory.slotted import SealedSlot
    from indelible.workflow.change import Change

MOST_FILES = 5_000
"""Files of a change whose names are kept with its round; of more the digest alone."""


class Current(NamedTuple):
    """What the last round says of a change."""

    standing: str
    """`approved`, `rejected`, `stale` or `none`."""
    last: Judged | None
    digest: str
    """Of the change as it is now."""
    paths: tuple[str, ...] | None = None
    """What is not as the round saw it; None where that cannot be told."""


def add_round(
    state: StateDirectory, found: Judged, change: Change | None = None, *, pillars: Sequence[str] = PILLARS, reason: str | None = None,
    op: str | None = None,
) -> tuple[Judged, Saved]:  # fmt: skip
    """Append a round; its number is the next one, also where two critics write at once.

    Args:
        change: what was looked at; None for a round of nothing in particular, which is never current.
        pillars: what has to be judged; none for a person's no, which need not say more than why.

    Raises:
        UsageError: a pillar has no verdict, or the verdict does not follow. Altered: the slot's file is not what was sealed.
    """
    bound = check_round(bound_to(found, change), pillars or tuple(one.name for one in found.pillars))

    def make(before: bytes) -> bytes:
        return format_round(bound._replace(number=next_number(before)))

    saved = state.append_next(CRITIC, make, reason=reason, op=op)
    if change is not None and not saved.repeated:
        _remember(state, change)
    content = state.memory.fetch(saved.key, saved.version).content
    return parse_rounds(content)[-1], saved


def bound_to(found: Judged, change: Change | None) -> Judged:
    """The round with the change that it is about."""
    if change is None:
        return found
    return found._replace(digest=change.digest, base=change.base[:SHORT] or "-", tree=change.tree[:SHORT])


def rounds_in(slots: Iterable[SealedSlot]) -> tuple[Judged, ...]:
    """The rounds among the open slots, in their order."""
    return next((parse_rounds(one.loaded.content) for one in slots if one.slot.name == CRITIC), ())


def rounds_of(state: StateDirectory) -> tuple[Judged, ...]:
    """The rounds of a state directory, as they are sealed."""
    return rounds_in(state.slots())


def round_of(state: StateDirectory, number: int) -> Judged:
    """The round of that number; of two that were written by hand the later one.

    Raises:
        NotFoundError: there is none.
    """
    found = next((one for one in reversed(rounds_of(state)) if one.number == number), None)
    if found is None:
        raise NotFoundError(f"There is no round {number}", remedy="'indelible critic list' shows which there are")
    return found


def current(state: StateDirectory, change: Change) -> Current:
    """What the last round says of the change as it is now."""
    rounds = rounds_of(state)
    last = deciding(rounds, change.digest)
    says = standing(rounds, change.digest)
    paths = _differing(state, last, change) if says == STALE and last is not None else None
    return Current(says, last, change.digest, paths)


def verdict_on(state: StateDirectory, digest: str) -> str:
    """What the critic said of a change, in a line for whoever is to approve it."""
    rounds = rounds_of(state)
    return in_words(standing(rounds, digest), deciding(rounds, digest))


def in_words(says: str, last: Judged | None) -> str:
    """A standing in a line."""
    if says == NONE or last is None:
        return "no critic looked at it"
    if says == STALE:
        of = "another change" if last.digest else "a change that it does not name"
        return f"stale: round {last.number} ({last.verdict or 'without a verdict'}) was of {of}"
    by = f" by {last.critic}" if last.critic else ""
    if says == APPROVED:
        return f"approved in round {last.number}{by}"
    return f"rejected in round {last.number}{by}: {'; '.join(last.open) or 'it says no more'}"


def _remember(state: StateDirectory, change: Change) -> None:
    """Seal which files the round saw, so that it can be told later by which it is stale."""
    if len(change.files) > MOST_FILES:
        return
    files = {_shown(one.path): f"{one.new_mode} {one.new}" for one in change.files}
    content = canonical.dumps({"base": change.base, "files": files})
    try:
        state.memory.record(_key(state, change.digest), content, "stamped", digest=change.digest)
    except SecretRefused:  # a file is called by what looks like one: the round stands, and the paths are not told
        return


def _differing(state: StateDirectory, last: Judged, change: Change) -> tuple[str, ...] | None:
    """Paths by which a change is not the one of that round; None where it does not stand on the same commit, or nothing was kept."""
    if not last.digest:
        return None
    try:
        kept = canonical.loads(state.memory.fetch(_key(state, last.digest)).content)
    except NotFoundError:
        return None
    before = kept.get("files") if isinstance(kept, dict) and kept.get("base") == change.base else None
    if not isinstance(before, dict):
        return None
    now = {_shown(one.path): f"{one.new_mode} {one.new}" for one in change.files}
    return tuple(sorted(path for path in before.keys() | now.keys() if before.get(path) != now.get(path)))


def _key(state: StateDirectory, digest: str) -> str:
    return f"flow/round/{state.namespace}/{digest}"


def _shown(path: str) -> str:
    """A path that JSON can carry; bytes that are no UTF-8 are told by their numbers."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


__all__ = ["APPROVED", "NONE", "REJECTED", "STALE", "Current", "add_round", "bound_to", "current", "in_words", "round_of", "rounds_in", "rounds_of", "verdict_on"]  # fmt: skip
