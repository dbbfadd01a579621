"""The end of a ticket: what is sealed of it, and under which name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from indelible.errors import NotSaved
from indelible.memory.results import Saved
from indelible.seal import canonical
from indelible.state import filing
from indelible.state.directory import read_slot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indelible.memory.facade import Memory
    from indelible.memory.slotted import SealedSlot

_TICKET = re.compile(r"\b[A-Z][A-Z0-9]{1,9}-[0-9]{1,9}\b|#[0-9]{1,9}\b|(?<=^# Ticket )[0-9]{1,9}\b", re.MULTILINE)


def document(namespace: str, slots: Sequence[SealedSlot], now: str, reason: str | None) -> bytes:
    """Canonical JSON (RFC 8785) of the whole directory: name, version, sha256 and content of each slot, and whether it was put away."""
    rows = [
        {
            "name": one.slot.name, "version": one.loaded.version, "sha256": one.loaded.sha256, "closed": not one.slot.is_law,
            "content": one.loaded.content.decode("utf-8"),
        }
        for one in slots
    ]  # fmt: skip
    return canonical.dumps({"closed_at": now, "namespace": namespace, "reason": reason, "slots": rows})


def ticket_of(slots: Sequence[SealedSlot]) -> str:
    """The ticket's name, as the first words of slot 10 that look like one; empty where none do."""
    text = next((one.loaded.content.decode("utf-8") for one in slots if one.slot.number == 10), "")
    found = _TICKET.search(text)
    return found[0].lstrip("#") if found else ""


def closed_before(memory: Memory, keys: Sequence[str], op: str) -> Saved | None:
    """The closing that this operation was, if it was carried out before.

    Args:
        keys: of the records of all closings.
    """
    for key in keys:
        for version in memory.history(key):
            if version.op == op:
                return Saved(key, version.version, version.seq, memory.fetch(key).sha256, op, repeated=True)
    return None


def closed_as(memory: Memory, key: str) -> Saved:
    """The closing that was recorded under `key`, as the answer to the same one said again."""
    version = memory.history(key)[0]
    return Saved(key, version.version, version.seq, memory.fetch(key).sha256, version.op, repeated=True)


def take_left(path: str, name: str) -> bool:
    """Take a file away that was found to be of a slot that is closed; False where it could not be."""
    try:
        return filing.take_away(path, name, read_slot(path, name))
    except (NotSaved, OSError):
        return False


def take_away(path: str, one: SealedSlot) -> bool:
    """Take the file of a slot that was closed away; False where it could not be, or is not what was sealed."""
    try:
        return filing.take_away(path, one.slot.name, one.loaded.content)
    except NotSaved:
        return False
