"""The open slots of a state directory, as this reader can check them: one look at the table, one read for each.

As for a single key, nothing is followed while the store's head is the pinned one. Imports almost nothing: boot and hooks
wait for it.
"""

from __future__ import annotations

from indelible.light import TYPE_CHECKING, NamedTuple
from indelible.memory.pinned import hand_out
from indelible.state.slot import GONE, REPLACEABLE, slot_of_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from indelible.memory.reading import Reader
    from indelible.memory.results import Loaded
    from indelible.state.slot import Slot
    from indelible.store.follower import Follower, Latest
    from indelible.store.store import Store


class Kept(NamedTuple):
    """What is under one namespace."""

    slots: tuple[SealedSlot, ...]
    """The open slots, verified, in the order of their names."""
    closed: tuple[tuple[str, Slot, Latest], ...] = ()
    """Those that are not open, by their keys."""


class SealedSlot(NamedTuple):
    """One open slot, verified."""

    slot: Slot
    loaded: Loaded


def read_pinned_slots(store: Store, follower: Follower, agent: str, namespace: str, given: str) -> Kept | None:
    """What is under `namespace`, or None where the head is not the pinned one.

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
    for slot, key, latest in _of(namespace, rows, is_open=True):
        note, sealed = store.peek(agent, latest.saved_seq)
        if note != pin.note:
            return None
        found.append(SealedSlot(slot, hand_out(key, agent, latest, sealed, pin)))
    return Kept(tuple(found), _closed(namespace, rows))


def follow_slots(reader: Reader, namespace: str) -> Kept:
    """As `read_pinned_slots`, after following the log to its head.

    Raises:
        IntegrityError: the log, or one of them, is not what was sealed.
    """
    with reader.following() as (table, reading, _):
        rows = tuple(table.keys(prefix=f"{namespace}/"))
        pin = table.pin
        slots = tuple(
            SealedSlot(slot, hand_out(key, reader.agent, latest, reading.sealed(latest.saved_seq), pin))
            for slot, key, latest in _of(namespace, rows, is_open=True)
        )
        return Kept(slots, _closed(namespace, rows))


def is_plain(kept: Kept) -> bool:
    """Whether nothing was ever said of these slots but what they hold: then no discipline can have been walked round.

    What is replaceable has no past that binds it.
    """
    numbers = {one.slot.number for one in kept.slots}
    return not kept.closed and len(numbers) == len(kept.slots) and not any(map(is_doubtful, kept.slots))


def is_settled(kept: Kept, follower: Follower) -> bool:
    """Whether the past of each of these slots was read before, up to its last entry, and found lawful."""
    numbers = {one.slot.number for one in kept.slots}
    if len(numbers) != len(kept.slots):
        return False
    known = known_chains(follower.path)
    return all(known.get(key) == latest.head.hex() for key, _, latest in doubtful(kept))


def doubtful(kept: Kept) -> list[tuple[str, Slot, Latest]]:
    """The slots whose past has to be read, by their keys."""
    doubted = [(one.loaded.key, one.slot, one.loaded.latest) for one in kept.slots if is_doubtful(one)]
    return [*doubted, *kept.closed]


def chains_of(path: str) -> str:
    """The file beside a follower's that remembers which chains were found lawful: a line `HASH KEY` for each."""
    return f"{path.removesuffix('.db')}.slots"


def known_chains(path: str) -> dict[str, str]:
    """Key to the leaf hash of the last entry up to which a chain was found lawful; nothing where nothing is remembered.

    Args:
        path: of the follower.
    """
    try:
        with open(chains_of(path), encoding="utf-8") as file:
            lines = (line.rstrip("\n").partition(" ") for line in file)
            return {key: digest for digest, _, key in lines}
    except (OSError, UnicodeDecodeError):
        return {}


def is_doubtful(one: SealedSlot) -> bool:
    """Whether how this slot came where it is has to be read in the log."""
    past = one.loaded.version > 1 or one.loaded.latest.head_seq != one.loaded.seq
    return past and one.slot.discipline != REPLACEABLE


def _closed(namespace: str, rows: Iterable[tuple[str, Latest]]) -> tuple[tuple[str, Slot, Latest], ...]:
    return tuple((key, slot, latest) for slot, key, latest in _of(namespace, rows, is_open=False))


def _of(namespace: str, rows: Iterable[tuple[str, Latest]], *, is_open: bool) -> Iterator[tuple[Slot, str, Latest]]:
    """Slots of this very namespace, open or not."""
    for key, latest in rows:
        found = slot_of_key(key)
        if found is not None and found[0] == namespace and (latest.state not in GONE) is is_open:
            yield found[1], key, latest
