"""What the log and this machine remember of a slot's earlier versions. Asked only where a file is not what is sealed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indelible.errors import IntegrityError
from indelible.memory.placing import placed_in
from indelible.state.directory import Past
from indelible.state.slot import key_of

if TYPE_CHECKING:
    from indelible.memory.facade import Memory
    from indelible.memory.results import Version
    from indelible.store.follower import Latest
    from indelible.store.store import Reading

BACK = 16
"""How many versions back a file may be behind: as many writes were cut short, or are under way."""


def past_of(memory: Memory, path: str, namespace: str) -> Past:
    """The past of the slots of one namespace, in one folder."""
    follower = memory.follower.path
    placed = placed_in(follower, path)

    def held(name: str, content: bytes) -> bool:
        return was_sealed(memory, key_of(namespace, name), content)

    def had(name: str) -> bool:
        key = key_of(namespace, name)
        return key in placed and _in_this_generation(memory, key, placed[key])

    def behind(name: str, content: bytes) -> bool:
        key = key_of(namespace, name)
        return key in placed and _is_version(memory, key, placed[key], content)

    def begun(name: str, content: bytes) -> frozenset[str]:
        from indelible.keeping.begun import begun_in

        key = key_of(namespace, name)
        return frozenset(one.temporary for one in begun_in(follower, path) if one.key == key and one.seals(content))

    return Past(held, had, behind, begun)


def was_sealed(memory: Memory, key: str, content: bytes) -> bool:
    """Whether one of the last versions under `key`, open or closed, held that content."""
    with memory.following() as (table, reading, _):
        latest = table.get(key)
        return latest is not None and held_before(memory, reading, key, latest, content)


def held_before(memory: Memory, reading: Reading, key: str, latest: Latest, content: bytes) -> bool:
    """As `was_sealed`, inside a reading."""
    seen = 0
    for version in memory._walk(key, latest, reading):  # noqa: SLF001 - history, inside this reading
        if version.type == "erased" or seen == BACK:
            return False
        if version.content is None or version.record is None:
            continue
        seen += 1
        if _holds(reading, key, version, content):
            return True
    return False


def _in_this_generation(memory: Memory, key: str, seq: int) -> bool:
    """Whether the slot was not closed since that entry: what a closing took away was not removed behind our back."""
    with memory.following() as (table, reading, _):
        latest = table.get(key)
        versions = memory._walk(key, latest, reading) if latest is not None else ()  # noqa: SLF001 - likewise
        for version in versions:
            if version.seq <= seq:
                return True
            if version.type in ("archived", "erased"):
                return False
    return True


def _is_version(memory: Memory, key: str, seq: int, content: bytes) -> bool:
    """Whether the version that this entry saved is an earlier one, and holds that content."""
    with memory.following() as (table, reading, _):
        latest = table.get(key)
        if latest is None or latest.saved_seq <= seq:
            return False
        for version in memory._walk(key, latest, reading):  # noqa: SLF001 - likewise
            if version.seq <= seq:
                return version.seq == seq and _holds(reading, key, version, content)
    return False


def _holds(reading: Reading, key: str, version: Version, content: bytes) -> bool:
    from indelible.sealed import Commitments, verify

    if version.content is None or version.record is None:
        return False
    try:
        sealed = reading.sealed(version.seq)
        if sealed is None or sealed.content != content:
            return False
        verify(sealed, Commitments(version.content, version.record), key)
    except IntegrityError:
        return False
    return True
