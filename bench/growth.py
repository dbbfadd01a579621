"""What a million memories cost the next one: save, open and load beside the same at a thousand, in turns.

The large log is filled by `product.fill`: every entry sealed, signed and chained as a save does it, a thousand to a
transaction. Both stores lie in the same folder (in memory, if there is room), so that the ratio is the code's and
SQLite's, and not that of a disk which got slower meanwhile. Keys are drawn at random from all of them. Loads are
verified and not judged: what judging costs is the text's, and does not grow with the store.
"""

from __future__ import annotations

import os
import random
import time
from typing import TYPE_CHECKING

import product
import workload
from ratios import Ratio, interleave, ratio, repeat
from table import Row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ratios import Work

    from indelible.memory import Memory

FEW = 1_000
SAVES, OPENS, LOADS = 60, 30, 2_000
ROUNDS = 9


def rows(folder: str, many: int) -> list[Row]:
    """Three ratios, and how long the filling took."""
    begun = time.perf_counter()
    memories = {count: _filled(os.path.join(folder, str(count)), count) for count in (FEW, many)}
    filled = time.perf_counter() - begun
    works = {(name, count): work for count in memories for name, work in _works(folder, memories[count], count)}
    times = interleave({f"{name} {count}": work for (name, count), work in works.items()}, rounds=ROUNDS)
    for memory in memories.values():
        memory.close()
    limits = {"save": 1.25, "open": 1.25, "load": 1.6}
    names = {"save": "save", "open": "open and first verified load", "load": "verified load of random keys"}
    found = {name: ratio(times[f"{name} {many}"], times[f"{name} {FEW}"]) for name in limits}
    return [_row(names[name], many, found[name], limits[name], times[f"{name} {many}"].least) for name in limits] + [
        Row(f"… filling it: {many:,} memories, each signed", f"{filled:.0f} s, {filled / many * 1e6:.0f} µs each")
    ]


def _row(name: str, many: int, found: Ratio, limit: float, least: float) -> Row:
    return Row(
        f"{name} at {many:,} records against {FEW:,}, CPU",
        f"{found}; {least * 1e6:.1f} µs",
        f"<= {limit} x",
        found.least <= limit,
    )


def _filled(folder: str, count: int) -> Memory:
    memory = product.open_memory(folder, create=True)
    product.fill(memory, workload.memories(count))
    return memory


def _works(folder: str, memory: Memory, count: int) -> Iterator[tuple[str, tuple[Work, int]]]:
    dice = random.Random(count)
    home = os.path.join(folder, str(count))
    fresh = iter(range(1_000_000_000))

    def save(_: int) -> None:
        number = next(fresh)
        memory.save(f"new/{number}", workload.content(number))

    def reopen(_: int) -> None:
        with product.open_memory(home) as again:
            again.fetch(workload.key(dice.randrange(count)))

    yield "save", repeat(save, SAVES)
    yield "open", repeat(reopen, OPENS)
    yield "load", repeat(lambda _: memory.fetch(workload.key(dice.randrange(count))), LOADS)
