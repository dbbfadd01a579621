"""Where boot reads: the store and this reader's table, by the shortest way that is sound, and the whole memory where that is not.

The short way is that of `verify`: the store's head is byte for byte the pinned one, so nothing is followed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indelible.errors import NotFoundError, PinLost, StoreError
from indelible.memory.slotted import read_pinned_slots
from indelible.store.follower import name_of
from indelible.store.places import follower_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

    from indelible.memory import Memory
    from indelible.memory.results import Loaded
    from indelible.memory.slotted import SealedSlot
    from indelible.settings import Settings
    from indelible.store.follower import Follower
    from indelible.store.sqlite import SqliteStore

DOOR = "boot"
_FIRST_USE = "rollback was not checked before this reader's first look at the store"
_BY_SERVER = "a slot was saved without the agent's signature, and attested by a server"


class Source:
    """`with Source(settings) as source`: opened when something is first read."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._near: tuple[SqliteStore, Follower] | None = None
        self._memory: Memory | None = None
        self._absent = False
        self._journal_warning = ""

    def slots(self, namespace: str) -> tuple[SealedSlot, ...]:
        """The open slots, verified; none where there is no store.

        Raises:
            IntegrityError: one of them, or the log, is not what was sealed. Unchecked, StoreError: it is not known.
        """
        near = self.near()
        if near is not None:
            try:
                found = read_pinned_slots(*near, self._settings.agent, namespace, "")
            except (PinLost, StoreError):
                found = None  # the long way says why
            if found is not None:
                return found
        memory = self.memory()
        return memory.slots(namespace) if memory is not None else ()

    def near(self) -> tuple[SqliteStore, Follower] | None:
        """The store and this reader's table, where the settings allow the short way."""
        found = self._settings
        if self._near is None and not (found.remote or found.pin is not None or found.require_pin or self._absent):
            from indelible.store.sqlite import SqliteStore

            try:
                store = SqliteStore(found.store)
            except (NotFoundError, StoreError):
                return None
            self._near = store, follower_of(found.state_dir, found.config_dir, store.place, found.agent)
        return self._near

    def memory(self) -> Memory | None:
        """The whole memory; None where there is no store, and this reader knows of none.

        Raises:
            Missing: there was one. StoreError, Unchecked: it cannot be used, or not be reached.
        """
        if self._memory is None and not self._absent:
            from indelible import wiring

            try:
                self._memory = wiring.open_memory(self._settings, door=DOOR)
            except NotFoundError:
                self._absent = True
        return self._memory

    def warnings(self, slots: Iterable[SealedSlot]) -> tuple[str, ...]:
        """What must be said beside what was read, each once."""
        loaded = [slot.loaded for slot in slots]
        said = [self._near[1].warning if self._near else "", self._memory.warning if self._memory else ""]
        said += [_FIRST_USE for one in loaded if one.pin_origin in ("first-use", "repository")]
        said += [_BY_SERVER for one in loaded if one.attested == "server"]
        return tuple(dict.fromkeys(filter(None, said)))

    def note(self, loaded: Iterable[Loaded]) -> None:
        """Remember what was handed out, for the day of an incident."""
        from indelible.deliveries import Delivery, journal_of
        from indelible.settings import now

        found = self._settings
        journal = journal_of(found.state_dir, name_of(found.store, found.agent))
        at = now()
        for one in loaded:
            journal.add(Delivery(at, DOOR, one.key, one.version, one.seq, agent=found.agent, sha256=one.sha256))
        journal.close()

    def close(self) -> None:
        for opened in (self._memory, *(self._near or ())):
            if opened is not None:
                opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
