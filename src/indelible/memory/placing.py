"""Which version of each slot was last given its file in which folder: what tells a folder that never had it from one that lost it.

    12 state/at/team/30_critic_summary.md

One small file for each folder, beside the follower's and as good as the pin: a line `ENTRY KEY` for each slot. It is written
where a file is given its name, and where a file is found that holds what is sealed. Where it cannot be kept, a file that
goes missing is told as one that is not here yet: what is handed out is the sealed text either way.
"""

from __future__ import annotations

import os

from indelible.errors import IndelibleError
from indelible.files import replace_file
from indelible.light import TYPE_CHECKING, sha256

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from indelible.memory.facade import Memory
    from indelible.memory.slotted import SealedSlot


def folder_of(follower: str, directory: str) -> str:
    """How the names of the files beside a follower's begin that remember one folder.

    Args:
        follower: the follower's path.
    """
    return f"{follower.removesuffix('.db')}.{sha256(os.fsencode(directory)).hexdigest()[:16]}"


def places_of(follower: str, directory: str) -> str:
    """The file beside a follower's that remembers what one folder holds."""
    return f"{folder_of(follower, directory)}.placed"


def placed_in(follower: str, directory: str) -> dict[str, int]:
    """Key to the entry that saved the version which was last seen whole in that folder; nothing where nothing is remembered."""
    try:
        with open(places_of(follower, directory), encoding="utf-8") as file:
            lines = (line.rstrip("\n").partition(" ") for line in file)
            return {key: int(seq) for seq, _, key in lines}
    except (OSError, ValueError):
        return {}


def unnoted(placed: Mapping[str, int], slots: Iterable[SealedSlot], whole: Iterable[str]) -> dict[str, int]:
    """What is to be remembered: the slots whose files hold what is sealed, and of which that is not known yet.

    Args:
        whole: names of the files that do.
    """
    names = frozenset(whole)
    there = {one.loaded.key: one.loaded.seq for one in slots if one.slot.name in names}
    return {key: seq for key, seq in there.items() if placed.get(key) != seq}


def note_seen(memory: Memory, directory: str, seen: Mapping[str, int]) -> None:
    """Remember files that were found whole, but for those that were written again meanwhile: their writers remember them."""
    with memory.following() as (table, _, _):
        rows = {key: table.get(key) for key in seen}
        note(memory.follower.path, directory, {key: seq for key, seq in seen.items() if (row := rows[key]) and row.saved_seq == seq})  # fmt: skip


def note(follower: str, directory: str, placed: Mapping[str, int]) -> None:
    """Remember what was placed. The follower's table is locked by the caller."""
    before = placed_in(follower, directory)
    now = {**before, **placed}
    if now == before:
        return
    text = "".join(f"{seq} {key}\n" for key, seq in sorted(now.items()))
    try:
        replace_file(places_of(follower, directory), text.encode())
    except IndelibleError:
        return
