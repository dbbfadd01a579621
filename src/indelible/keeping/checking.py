"""One look at a state directory: the sealed slots, how they came there, and their files. Imports almost nothing: boot waits for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from indelible.keeping.past import past_of
from indelible.memory.placing import note_seen, placed_in, unnoted
from indelible.memory.slotted import is_plain
from indelible.state.directory import Seen, look

if TYPE_CHECKING:
    from indelible.memory.facade import Memory
    from indelible.memory.slotted import Kept, SealedSlot
    from indelible.state.directory import Finding

LATE = frozenset({"slot-interrupted", "slot-behind"})
"""What is brought up to date before it is built on, or taken away."""
AGAIN = 3
"""How often it is looked again where slots were written meanwhile: what looks altered may only be newer."""


class Inspected(NamedTuple):
    """What was found."""

    slots: tuple[SealedSlot, ...]
    """The open ones, verified, in the order of their names: what they hold is what was sealed, whatever their files hold."""
    findings: tuple[Finding, ...]
    stamps: tuple[tuple[object, ...], ...]
    """Of the files, taken before they were read: where they are the same later, nothing has to be looked at again."""

    @property
    def tampering(self) -> tuple[Finding, ...]:
        """What makes that nothing here may be believed before a person looked."""
        return tuple(finding for finding in self.findings if finding.is_tampering)

    @property
    def late(self) -> frozenset[str]:
        """Names of the slots whose files are of an earlier version by nobody's fault."""
        return frozenset(finding.name for finding in self.findings if finding.slug in LATE)


def inspect(memory: Memory, path: str | None, namespace: str) -> Inspected:
    """Hold the files in `path` against the open slots of `namespace`, and the slots against their disciplines.

    Args:
        path: None where there is no directory to look at.

    Raises:
        IntegrityError: the log, or a slot in it, is not what was sealed.
    """
    found = _inspect(memory, path, namespace)
    for _ in range(AGAIN):
        if not found[0].tampering:
            break
        before, found = found, _inspect(memory, path, namespace)
        if found[1] == before[1]:
            break
    return found[0]


def _inspect(memory: Memory, path: str | None, namespace: str) -> tuple[Inspected, tuple[tuple[str, bytes], ...]]:
    """What is found, and which entries of the log that was about."""
    kept = memory.kept(namespace)
    seen = Seen((), ()) if path is None else _look(memory, path, namespace, kept)
    found = (*disciplines(memory, kept), *seen.findings)
    heads = tuple((one.loaded.key, one.loaded.latest.head) for one in kept.slots)
    return Inspected(kept.slots, found, seen.stamps), heads


def _look(memory: Memory, path: str, namespace: str, kept: Kept) -> Seen:
    """The files of a folder; those that are whole are remembered as having been there."""
    sealed = {one.slot.name: one.loaded.content for one in kept.slots}
    seen = look(path, sealed, past_of(memory, path, namespace))
    if fresh := unnoted(placed_in(memory.follower.path, path), kept.slots, seen.whole):
        note_seen(memory, path, fresh)
    return seen


def disciplines(memory: Memory, kept: Kept) -> tuple[Finding, ...]:
    """What is wrong with how the slots came where they are. Most of the time nothing can be, and nothing is imported to see it."""
    if is_plain(kept):
        return ()
    from indelible.memory.lawful import check_disciplines

    return check_disciplines(memory, kept)
