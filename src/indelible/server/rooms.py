"""Memories for the server's threads: reads that need no waiting on the loop, other reads in one thread, writes in another.

A room holds one store connection and the memories of the agents that were last asked for. No two threads share a
room. A store file that was put in the place of the open one counts from the next call on.

What is handed out is written down: the deliveries of each log are one file in the state folder of the server's account.
"""

from __future__ import annotations

import asyncio
import os
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from indelible.deliveries import Journal, journal_of
from indelible.errors import Busy
from indelible.memory.gating import Gate
from indelible.store.follower import name_of
from indelible.wiring import open_memory, open_store

if TYPE_CHECKING:
    from collections.abc import Callable

    from indelible.deliveries import Delivery
    from indelible.memory import Memory
    from indelible.seal.note import Signer
    from indelible.settings import Settings
    from indelible.store.store import Store

T = TypeVar("T")

DOOR = "http"
"""How the deliveries call `/v1`."""
MAX_AGENTS = 64
"""Agents whose followers a room keeps open."""
MAX_WAITING = 256
"""Jobs that may wait for one thread: more are refused, so that memory stays bounded."""


class _Deliveries(Journal):
    """A journal that says aloud when it could not keep a delivery."""

    def __init__(self, path: str, tell: Callable[[str], object]) -> None:
        super().__init__(path)
        self._tell = tell

    def add(self, delivery: Delivery) -> int | None:
        number = super().add(delivery)
        if self.warning:
            self._tell(self.warning)
            self.warning = ""
        return number


class Room:
    """Memories over one connection, for one thread.

    Args:
        tell: told what could not be written down.
    """

    def __init__(self, settings: Settings, signer: Callable[[], Signer], tell: Callable[[str], object]) -> None:
        self._settings, self._signer, self._tell = settings, signer, tell
        self._memories: OrderedDict[str, Memory] = OrderedDict()
        self._store: Store | None = None
        self._identity: tuple[object, ...] = ()

    def memory(self, agent: str) -> Memory:
        """The memory of one agent, on the store as it is now."""
        identity = _identity(self._settings.store)
        if self._store is None or identity != self._identity:
            self.close()
            self._store = open_store(self._settings, agent=agent)
            self._identity = _identity(self._settings.store)
        memory = self._memories.get(agent)
        if memory is None:
            memory = self._memories[agent] = open_memory(
                self._settings, agent=agent, store=self._store, signer=self._signer, gate=self._gate(agent, self._store)
            )
            if len(self._memories) > MAX_AGENTS:
                _let_go(self._memories.popitem(last=False)[1])
        self._memories.move_to_end(agent)
        memory.look_again()
        return memory

    def _gate(self, agent: str, store: Store) -> Gate:
        """Where a reader stands is said by each request; without a word of it, nowhere."""
        journal = journal_of(self._settings.state_dir, name_of(store.place, agent))
        return Gate(journal=_Deliveries(journal.path, self._tell), door=DOOR)

    def close(self) -> None:
        for memory in self._memories.values():
            _let_go(memory)
        self._memories.clear()
        if self._store is not None:
            self._store.close()
        self._store, self._identity = None, ()


def _let_go(memory: Memory) -> None:
    """Close what is this memory's alone; the store is the room's."""
    memory.end_index()
    memory.follower.close()
    if memory.gate.journal is not None:
        memory.gate.journal.close()


class Rooms:
    """The server's three rooms."""

    def __init__(self, settings: Settings, signer: Callable[[], Signer], tell: Callable[[str], object]) -> None:
        self._here = Room(settings, signer, tell)
        self._desks = {name: _Desk(name, Room(settings, signer, tell)) for name in ("read", "write")}

    def here(self, agent: str) -> Memory:
        """For what takes microseconds and waits for no lock, on the loop's own thread."""
        return self._here.memory(agent)

    async def read(self, agent: str, job: Callable[[Memory], T]) -> T:
        """Run a read that may wait for a lock or take long."""
        return await self._desks["read"].run(agent, job)

    async def write(self, agent: str, job: Callable[[Memory], T]) -> T:
        """Run a write; one after another, since each holds the store's one write lock."""
        return await self._desks["write"].run(agent, job)

    def close(self) -> None:
        """Let what has begun come to its end, and close."""
        for desk in self._desks.values():
            desk.close()
        self._here.close()


class _Desk:
    """One thread with its room."""

    def __init__(self, name: str, room: Room) -> None:
        self._pool = ThreadPoolExecutor(1, f"indelible-{name}")
        self._room, self._waiting = room, 0

    async def run(self, agent: str, job: Callable[[Memory], T]) -> T:
        if self._waiting >= MAX_WAITING:
            raise Busy("The server has more to do than it can take on", remedy="Try again in a moment")
        self._waiting += 1
        future = self._pool.submit(lambda: job(self._room.memory(agent)))
        try:
            return await asyncio.wrap_future(future)
        finally:
            self._waiting -= 1

    def close(self) -> None:
        self._pool.shutdown(wait=True)
        self._room.close()


def _identity(path: str) -> tuple[object, ...]:
    """Which files these are; a store that was moved, or copied over by renaming, has others."""
    found: list[object] = []
    for name in (path, path + "-wal"):
        try:
            status = os.stat(name, follow_symlinks=False)
            found.append((status.st_dev, status.st_ino))
        except OSError:
            found.append(None)
    return tuple(found)
