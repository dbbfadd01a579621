"""Memories for the server's threads: reads that need no waiting on the loop, other reads in one thread, writes in another.

A room holds one store connection and the memories of the agents that were last asked for. No two threads share a
room. A store file that was put in the place of the open one counts from the next call on.
"""

from __future__ import annotations

import asyncio
import os
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from indelible.errors import Busy
from indelible.wiring import open_memory, open_store

if TYPE_CHECKING:
    from collections.abc import Callable

    from indelible.memory import Memory
    from indelible.seal.note import Signer
    from indelible.settings import Settings
    from indelible.store.store import Store

T = TypeVar("T")

MAX_AGENTS = 64
"""Agents whose followers a room keeps open."""
MAX_WAITING = 256
"""Jobs that may wait for one thread: more are refused, so that memory stays bounded."""


class Room:
    """Memories over one connection, for one thread."""

    def __init__(self, settings: Settings, signer: Callable[[], Signer]) -> None:
        self._settings, self._signer = settings, signer
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
                self._settings, agent=agent, store=self._store, signer=self._signer
            )
            if len(self._memories) > MAX_AGENTS:
                self._memories.popitem(last=False)[1].follower.close()
        self._memories.move_to_end(agent)
        return memory

    def close(self) -> None:
        for memory in self._memories.values():
            memory.follower.close()
        self._memories.clear()
        if self._store is not None:
            self._store.close()
        self._store, self._identity = None, ()


class Rooms:
    """The server's three rooms."""

    def __init__(self, settings: Settings, signer: Callable[[], Signer]) -> None:
        self._here = Room(settings, signer)
        self._desks = {name: _Desk(name, Room(settings, signer)) for name in ("read", "write")}

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
