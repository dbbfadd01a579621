"""Where boot reads: the store and this reader's table, by the shortest way that is sound, and the whole memory where that is not.

The short way is that of `verify`: the store's head is byte for byte the pinned one, so nothing is followed.
"""

from __future__ import annotations

from indelible.boot.proposing import proposed
from indelible.errors import NotFoundError, PinLost, StoreError, Unchecked
from indelible.light import TYPE_CHECKING
from indelible.memory.pinned import leaf_at, read_pinned
from indelible.memory.placing import placed_in, unnoted
from indelible.memory.slotted import is_plain, is_settled, read_pinned_slots
from indelible.state.directory import look
from indelible.store.follower import name_of
from indelible.store.places import follower_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

    from indelible.memory import Memory
    from indelible.memory.results import Loaded
    from indelible.memory.slotted import SealedSlot
    from indelible.settings import Settings
    from indelible.state.directory import Finding
    from indelible.store.follower import Follower
    from indelible.store.sqlite import SqliteStore

DOOR = "boot"
WORKFLOW = "flow/workflow.toml"
"""The key of the workflow, as `memory.bound` has it, of which a boot loads nothing."""
_FIRST_USE = "rollback was not checked before this reader's first look at the store"
_BY_SERVER = "a slot was saved without the agent's signature, and attested by a server"


class Source:
    """`with Source(settings) as source`: opened when something is first read."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._near: tuple[SqliteStore, Follower] | None = None
        self._memory: Memory | None = None
        self._absent = False

    def inspect(self, path: str | None, namespace: str) -> tuple[tuple[SealedSlot, ...], tuple[Finding, ...]]:
        """The open slots, verified, and what is wrong with them and their files; none where there is no store.

        Args:
            path: the state directory; None where there is none to look at.

        Raises:
            IntegrityError: one of them, or the log, is not what was sealed. Unchecked, StoreError: it is not known.
        """
        found = self._inspect_near(path, namespace)
        if found is not None:
            return found
        memory = self.memory()
        if memory is None:
            return (), look(path, {}).findings if path else ()
        from indelible.keeping.checking import inspect

        inspected = inspect(memory, path, namespace)
        return inspected.slots, inspected.findings

    def _inspect_near(
        self, path: str | None, namespace: str
    ) -> tuple[tuple[SealedSlot, ...], tuple[Finding, ...]] | None:
        """As `inspect`, where all is well and nothing is new; None where the long way has to say more."""
        near = self.near()
        try:
            kept = read_pinned_slots(*near, self._settings.agent, namespace, "") if near is not None else None
        except (PinLost, StoreError):
            return None
        if near is None or kept is None or not (is_plain(kept) or is_settled(kept, near[1])):
            return None
        sealed = {one.slot.name: one.loaded.content for one in kept.slots}
        if not path:
            return kept.slots, ()
        seen = look(path, sealed)
        fresh = unnoted(placed_in(near[1].path, path), kept.slots, seen.whole)
        return None if fresh or any(one.is_tampering for one in seen.findings) else (kept.slots, seen.findings)

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

            if self._settings.remote and wiring.is_plain(self._settings):
                raise Unchecked(
                    "A plain Memory API keeps no log, so no state directory is sealed in it",
                    remedy="Use a store of your own, or a server that runs 'indelible serve'",
                )
            try:
                self._memory = wiring.open_memory(self._settings, door=DOOR)
            except NotFoundError:
                self._absent = True
        return self._memory

    def knows(self, key: str) -> bool:
        """Whether anything was ever sealed under a key, by this reader's table: after the slots were read, that is up to date."""
        near = self.near()
        if near is not None and self._memory is None:
            return near[1].look(key)[1] is not None
        memory = self.memory()
        if memory is None:
            return False
        with memory.following() as (table, _, _):
            return table.get(key) is not None

    def verified(self, key: str) -> Loaded | None:
        """One memory with the last entry about it and what its writer stated, as `verify` reads it; None where there is none.

        Raises:
            IntegrityError: it is not what was sealed, or not what was stated.
        """
        try:
            near = self.near()
            loaded = self._glance(*near, key) if near is not None else None
            return loaded or self._verified(key)
        except NotFoundError:
            return None

    def _glance(self, store: SqliteStore, follower: Follower, key: str) -> Loaded | None:
        agent = self._settings.agent
        try:
            loaded = read_pinned(store, follower, agent, key, "")
            if loaded is None or b'"checksum"' in loaded.content or follower.look(key + ".sha256")[1] is not None:
                return None
            with store.reading(agent) as reading:
                leaf_at(reading, f"the log of {agent!r}", loaded.latest.head_seq, loaded.latest.head, key=key)
        except (PinLost, StoreError):
            return None  # the long way says why
        return loaded

    def _verified(self, key: str) -> Loaded | None:
        memory = self.memory()
        if memory is None:
            return None
        from indelible.stating import refuse_contradicted

        loaded = memory.verify(key).loaded
        refuse_contradicted(memory, loaded)
        return loaded

    def proposed(self, note: bytes | None) -> tuple[str, ...]:
        """Keys of memories that may be rules or scars; `note` as the slots were read by."""
        near = self.near()
        if near is not None and self._memory is None:
            return proposed(*near, self._settings.agent, note)
        memory = self.memory()
        return () if memory is None else proposed(memory.store, memory.follower, memory.agent, note)

    def warnings(self, slots: Iterable[SealedSlot]) -> tuple[str, ...]:
        """What must be said beside what was read, each once."""
        loaded = [slot.loaded for slot in slots]
        said = [self._near[1].warning if self._near else "", self._memory.warning if self._memory else ""]
        said += [_FIRST_USE for one in loaded if one.pin_origin in ("first-use", "repository")]
        said += [_BY_SERVER for one in loaded if one.attested == "server"]
        return tuple(dict.fromkeys(filter(None, said)))

    def note(self, loaded: Iterable[Loaded], outcome: str = "delivered") -> str:
        """Remember what was handed out, for the day of an incident; gives what kept that from being done, or ""."""
        from indelible.deliveries import Delivery, journal_of
        from indelible.settings import now

        found = self._settings
        journal = journal_of(found.state_dir, name_of(found.store, found.agent))
        at = now()
        journal.add_all(
            Delivery(at, DOOR, one.key, one.version, one.seq, outcome, found.agent, sha256=one.sha256) for one in loaded
        )
        journal.close()
        return journal.warning

    def close(self) -> None:
        for opened in (self._memory, *(self._near or ())):
            if opened is not None:
                opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
