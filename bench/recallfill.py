"""A store of many memories with its index, made for measuring.

Up to a hundred thousand the index is made as a user's is, by `Memory.reindex`. The rows of more are derived by one process for each
core, by the product's own functions, and put in their place as segments, of which `Shelf.gather` makes one: what lies there
afterwards is what `reindex` leaves.
"""

from __future__ import annotations

import os
import resource
import time
from multiprocessing import get_context
from typing import TYPE_CHECKING, NamedTuple

import product
import publicsets

from indelible.memory.indexing import row_of
from indelible.memory.pinned import hand_out
from indelible.recall.catalog import Named
from indelible.recall.segment import build
from indelible.sealed import Sealed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indelible.memory import Memory
    from indelible.recall.row import Row

ALONE = 100_000
"""Memories up to which one process derives the index."""
_TURNS = 20
"""Of an episode: keys that differ in the number at their end."""


class Filled(NamedTuple):
    """What it took."""

    average: float
    """Bytes of a text."""
    filling: float
    """Seconds."""
    indexing: float
    """Seconds."""
    cpu: float
    """Seconds of all processes that made the index."""
    how: str
    peak: float
    """MB of the largest of them."""
    index: int
    store: int
    """Bytes of files."""


def fill(data: str, home: str, count: int, short: bool) -> Filled:  # noqa: FBT001 - a process is started with it
    """Make both under `home`."""
    sizes: list[int] = []
    least, most = (30, 90) if short else (200, 600)

    def items() -> Iterator[tuple[str, bytes]]:
        for number, text in enumerate(publicsets.recombined(data, count, least, most)):
            content = text.encode()
            sizes.append(len(content))
            yield f"talk-{number // _TURNS}/{number % _TURNS}", content

    begun = time.perf_counter()
    with product.open_memory(home, create=True) as memory:
        product.fill(memory, items())
        filled = time.perf_counter()
        spent = _cpu()
        if count <= ALONE:
            memory.reindex()
            how = "by reindex"
        else:
            how = f"by {_in_parts(home, memory, count)} processes"
        ended, used = time.perf_counter(), _cpu() - spent
        index = memory.indexed.finder.shelf.size()
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    peak = max(resource.getrusage(kind).ru_maxrss for kind in kinds) / 1e3
    return Filled(
        sum(sizes) / count, filled - begun, ended - filled, used, how, peak, index, os.path.getsize(product.store_path(home))
    )  # fmt: skip


def _cpu() -> float:
    """Seconds of this process, and of those that it waited for."""
    return sum(os.times()[:4])


def _in_parts(home: str, memory: Memory, count: int) -> int:
    """Rows by several processes; gives by how many."""
    shelf, workers = memory.indexed.finder.shelf, os.cpu_count() or 1
    os.makedirs(shelf.folder, mode=0o700, exist_ok=True)
    step = -(-count // workers)
    parts = [
        (home, shelf.folder, f"seg-{place:016x}.idx", range(place * step, (place + 1) * step))
        for place in range(workers)
    ]
    with get_context("spawn").Pool(workers) as pool:
        for named in pool.starmap(_part, parts, chunksize=1):
            shelf.catalog.swap(by=named)
    shelf.gather()
    return workers


def _part(home: str, folder: str, name: str, entries: range) -> Named:
    """A segment of the memories that these entries saved."""
    with product.open_memory(home) as memory:
        path = os.path.join(folder, name)
        digest = build(path, _rows(memory, entries), memory.indexed.finder.shelf.head)
    return Named(name, digest, len(entries))


def _rows(memory: Memory, entries: range) -> Iterator[Row]:
    """Each from a memory that was verified, as `Finder` derives them."""
    with memory.following() as (table, reading, _):
        memory.follower.keep(table)
        for number in entries:
            key = f"talk-{number // _TURNS}/{number % _TURNS}"
            latest = table.get(key)
            sealed = reading.sealed(latest.saved_seq) if latest else None
            loaded = hand_out(key, memory.agent, latest, sealed, table.pin)
            found = Sealed(loaded.salt, loaded.body, loaded.content)
            yield row_of(loaded.seq, key, found, saved_at=loaded.latest.at, commitment=loaded.latest.content)
