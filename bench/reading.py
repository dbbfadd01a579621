"""A verified load by key, with nothing new in the store: 500 bytes by CPU, 100 KB beside one SHA-256 and a raw SELECT."""

from __future__ import annotations

from hashlib import sha256

import apsw
import product
import workload
from ratios import Times, interleave, ratio, repeat
from table import Row

from indelible.store.schema import SEQ_BITS

KEYS = 2_000
CALLS, LARGE_CALLS = 5_000, 300


def rows(folder: str) -> list[Row]:
    """In a folder in memory: the pages are warm either way."""
    with product.open_memory(folder, create=True) as memory:
        product.fill(memory, workload.memories(KEYS))
        large = workload.content(0, workload.LARGE)
        memory.save("large", large)
        memory.load("large")
        raw = apsw.Connection(product.store_path(folder), flags=apsw.SQLITE_OPEN_READONLY)
        row = 1 << SEQ_BITS | KEYS

        def select(_: int) -> object:
            return raw.execute("SELECT content FROM record WHERE id = ?", (row,)).fetchone()

        times = interleave({
            "small": repeat(lambda number: memory.fetch(workload.key(number % KEYS)), CALLS),
            "same": repeat(lambda _: memory.fetch(workload.key(7)), CALLS),
            "judged": repeat(lambda _: memory.load(workload.key(7)), CALLS),
            "large": repeat(lambda _: memory.fetch("large"), LARGE_CALLS),
            "select": repeat(select, LARGE_CALLS),
            "hash": repeat(lambda _: sha256(large).digest(), LARGE_CALLS),
        })  # fmt: skip
    floor = Times(tuple(a + b for a, b in zip(times["select"].seconds, times["hash"].seconds, strict=True)))
    beside = ratio(times["large"], floor)
    small = times["same"]
    measured = f"{small.micros()}; {KEYS:,} keys in turn {times['small'].least * 1e6:.1f}"
    return [
        Row("verified load by key, warm, 500 bytes, CPU", measured, "<= 22 µs", small.least <= 22e-6),
        Row("… and judged by the default policy", times["judged"].micros(), "–", None),
        Row(
            "verified load, 100 KB, against one SHA-256 of it and a raw SELECT",
            str(beside),
            "<= 1.5 x",
            beside.least <= 1.5,
        ),
    ]
