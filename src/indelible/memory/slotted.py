"""The open slots of a state directory, as this reader can check them: one look at the table, one read for each.

As for a single key, nothing is followed while the store's head is the pinned one. Imports almost nothing: boot and hooks
wait for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from indelible.memory.pinned import hand_out
from indelible.state.slot import slot_of_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from indelible.memory.reading import Reader
    from indelible.memory.results import Loaded
    from indelible.state.slot import Slot
    from indelible.store.follower import Follower, Latest
    from indelible.store.store import Store


class SealedSlot(NamedTuple):
    """One open slot, verified."""

    slot: Slot
    loaded: Loaded


def read_pinned_slots(
    store: Store, follower: Follower, agent: str, namespace: str, given: str
) -> tuple[SealedSlot, ...] | None:
    """Every open slot of `namespace` in the order of their names, or None where the head is not the pinned one.

    Args:
        given: the mark of the pin that the settings give.

    Raises:
        IntegrityError: one of them is not what was sealed. PinLost.
    """
    pin, rows = follower.look_under(f"{namespace}/")
    if pin is None or (given and given != pin.given):
        return None
    if store.peek(agent, None).note != pin.note:
        return None
    found = []
    for slot, key, latest in _open(namespace, rows):
        note, sealed = store.peek(agent, latest.saved_seq)
        if note != pin.note:
            return None
        found.append(SealedSlot(slot, hand_out(key, agent, latest, sealed, pin)))
    return tuple(found)


def follow_slots(reader: Reader, namespace: str) -> tuple[SealedSlot, ...]:
    """As `read_pinned_slots`, after following the log to its head.

    Raises:
        IntegrityError: the log, or one of them, is not what was sealed.
    """
    with reader.following() as (table, reading, _):
        rows = table.keys(prefix=f"{namespace}/")
        pin = table.pin
        return tuple(
            SealedSlot(slot, hand_out(key, reader.agent, latest, reading.sealed(latest.saved_seq), pin))
            for slot, key, latest in _open(namespace, rows)
        )


def _open(namespace: str, rows: Iterable[tuple[str, Latest]]) -> Iterator[tuple[Slot, str, Latest]]:
    """Slots of this very namespace that are not closed."""
    for key, latest in rows:
        found = slot_of_key(key)
        if found is not None and found[0] == namespace and latest.state not in ("archived", "erased"):
            yield found[1], key, latest
