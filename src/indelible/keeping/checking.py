"""One look at a state directory: the sealed slots, how they came there, and their files. Imports almost nothing: boot waits for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import IntegrityError
from indelible.memory.slotted import is_plain
from indelible.state.directory import Seen, look
from indelible.state.slot import key_of

if TYPE_CHECKING:
    from indelible.memory.facade import Memory
    from indelible.memory.slotted import Kept, SealedSlot
    from indelible.state.directory import Finding
    from indelible.store.follower import Latest
    from indelible.store.store import Reading

AGAIN = 3
"""How often it is looked again where slots were written meanwhile: what looks altered may only be newer."""
BACK = 16
"""How many versions back a file may be behind: as many writes were cut short, or are under way."""


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
    sealed = {one.slot.name: one.loaded.content for one in kept.slots}
    seen = (
        Seen((), ())
        if path is None
        else look(path, sealed, lambda name, content: was_sealed(memory, key_of(namespace, name), content))
    )
    found = (*disciplines(memory, kept), *seen.findings)
    heads = tuple((one.loaded.key, one.loaded.latest.head) for one in kept.slots)
    return Inspected(kept.slots, found, seen.stamps), heads


def disciplines(memory: Memory, kept: Kept) -> tuple[Finding, ...]:
    """What is wrong with how the slots came where they are. Most of the time nothing can be, and nothing is imported to see it."""
    if is_plain(kept):
        return ()
    from indelible.memory.lawful import check_disciplines

    return check_disciplines(memory, kept)


def was_sealed(memory: Memory, key: str, content: bytes) -> bool:
    """Whether one of the last versions under `key`, open or closed, held that content."""
    with memory.following() as (table, reading, _):
        latest = table.get(key)
        return latest is not None and held_before(memory, reading, key, latest, content)


def held_before(memory: Memory, reading: Reading, key: str, latest: Latest, content: bytes) -> bool:
    """As `was_sealed`, inside a reading."""
    from indelible.sealed import Commitments, verify

    seen = 0
    for version in memory._walk(key, latest, reading):  # noqa: SLF001 - history, inside this reading
        if version.type == "erased" or seen == BACK:
            return False
        if version.content is None or version.record is None:
            continue
        seen += 1
        try:
            sealed = reading.sealed(version.seq)
            if sealed is not None and sealed.content == content:
                verify(sealed, Commitments(version.content, version.record), key)
                return True
        except IntegrityError:
            continue
    return False
