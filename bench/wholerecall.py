"""The whole way that a user waits for: a question through `Memory.recall`, which follows the log, asks the index, and verifies and judges each answer.

    python bench/wholerecall.py [--data FOLDER] [--sizes 10000,100000,1000000] [--short 100000]

Stores are filled with turns and sentences of the public sets, drawn anew (`publicsets.recombined`), a memory to a key. Filling,
asking in a new process, and asking warm each have a process of their own. CPU stands beside the time that somebody waits, since
other processes of a busy machine lengthen that one. The limit of the memory is what reading the bytes that a question has to touch
takes at the speed at which this process sums one long array: 5 for each document of each of its terms, 4 for each document, 2 for
each n-gram of five hundred candidates, and the texts that are handed to the gate.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from statistics import median, quantiles
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import product
import publicsets
import recallfill
from ratios import interleave
from table import Row, heading, machine

from indelible.deliveries import Journal
from indelible.memory.gating import Gate
from indelible.memory.recalling import FIRST
from indelible.recall.index import CANDIDATES
from indelible.recall.tokens import query_terms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from indelible.memory import Memory
    from indelible.recall.index import Index

REACH = {100_000: 10.0, 1_000_000: 60.0}
"""Milliseconds in the median."""
SAVE_REACH = 1.0
QUESTIONS, WARM, LIMIT, WAYS = 100, 10, 5, 3
SAVES, ROUNDS = 100, 7
_STREAM = 1 << 27
_WANTED = FIRST + 2 * LIMIT
"""Candidates that are verified and judged for one question."""


class Asked(NamedTuple):
    """What each of a hundred questions took, in milliseconds."""

    p50: float
    p95: float
    cpu: float

    def __str__(self) -> str:
        return f"p50 {self.p50:.1f} ms, p95 {self.p95:.1f}, CPU {self.cpu:.1f}"


class Warm(NamedTuple):
    """Questions in one language, to one store."""

    whole: Asked
    noted: Asked
    """With every delivery written down."""
    alone: Asked
    """The index, without anything verified."""
    least: float
    """Bytes that the median question has to touch."""
    speed: float
    """Bytes that this process reads in a second."""


class Cold(NamedTuple):
    """The first question of a new process."""

    seconds: float
    cpu: float
    before: float
    after: float
    """MB of memory of the process, before it opened anything and after its answer."""
    private: float
    """Of these, what is not a mapped file."""


def rows(data: str, folder: str, size: int, *, short: bool = False) -> Iterator[Row]:
    """A store of so many memories."""
    home = os.path.join(folder, f"{size}{'s' * short}")
    filled: recallfill.Filled = _fresh(recallfill.fill, data, home, size, short)
    name = f"{size:,} memories of {filled.average:.0f} bytes"
    yield Row(f"{name}: filled", f"{filled.filling:.0f} s")
    yield Row(f"{name}: indexed {filled.how}", f"{filled.indexing:.0f} s ({filled.cpu / size * 1e3:.2f} ms of CPU each), {filled.peak:,.0f} MB of memory at most")  # fmt: skip
    yield Row(f"{name}: on the disk", f"index {filled.index / 1e6:,.0f} MB, store {filled.store / 1e6:,.0f} MB")
    cold = _cold(home)
    measured = f"{cold.seconds * 1e3:,.0f} ms (CPU {cold.cpu * 1e3:,.0f}); {cold.before:,.0f} MB of memory before, {cold.after:,.0f} after it, {cold.private:,.0f} without mapped files"
    yield Row(f"{name}: first question of a new process", measured)
    for language, warm in _fresh(_warm, data, home).items():
        yield from _warm_rows(f"{name}: a question in {language}", warm, None if short else REACH.get(size))
    after: Asked = _fresh(_after_saves, data, home)
    yield Row(f"{name}: a question after each save", str(after))


def _warm_rows(what: str, warm: Warm, reach: float | None) -> Iterator[Row]:
    limit = warm.least / warm.speed * 1e3
    reached = None if reach is None else warm.whole.p50 <= reach
    yield Row(f"{what}, warm", str(warm.whole), f"<= {reach:.0f} ms" if reach else "–", reached)
    yield Row("… every delivery written down", str(warm.noted))
    measured = f"{warm.alone}; CPU of the whole {warm.whole.cpu / warm.alone.cpu:.1f} x that"
    yield Row("… the index alone, nothing verified", measured)
    measured = f"{limit:.2f} ms: {warm.least / 1e6:.1f} MB at {warm.speed / 1e9:.1f} GB/s; the whole {warm.whole.cpu / limit:.0f} x, the index {warm.alone.cpu / limit:.0f} x"
    yield Row("… the limit of the memory", measured)


def saving(data: str, folder: str) -> Iterator[Row]:
    """What indexing costs within a save."""
    texts = iter([text.encode()[:500] for text in publicsets.recombined(data, 4 * SAVES * (ROUNDS + 1), 500, 700)])
    count = iter(range(10**9))
    memories = [
        product.open_memory(os.path.join(folder, name), create=True, indexes=indexes)
        for name, indexes in (("with", True), ("without", False))
    ]

    def save(memory: Memory) -> None:
        for _ in range(SAVES):
            memory.save(f"note-{next(count)}.md", next(texts))

    times = interleave({str(place): (lambda memory=memory: save(memory), SAVES) for place, memory in enumerate(memories)}, rounds=ROUNDS)  # fmt: skip
    for memory in memories:
        memory.close()
    with_it, without = times["0"], times["1"]
    cost = (with_it.median - without.median) * 1e3
    measured = f"{cost:.2f} ms of CPU (least {(with_it.least - without.least) * 1e3:.2f}): a save takes {with_it.median * 1e3:.2f} with it, {without.median * 1e3:.2f} without"
    yield Row("indexing within a save, 500 bytes", measured, f"<= {SAVE_REACH} ms", cost <= SAVE_REACH)


def _fresh(work: Callable[..., object], *arguments: object):  # type: ignore[no-untyped-def]  # noqa: ANN202 - whatever the work gives
    """What `work` gives in a new process, which ends with it."""
    with ProcessPoolExecutor(
        1, get_context("spawn")
    ) as pool:  # whose workers may have children, unlike those of a `Pool`
        return pool.submit(work, *arguments).result()


def _cold(home: str) -> Cold:
    command = [
        sys.executable,
        os.path.join(os.path.dirname(os.path.abspath(recallfill.__file__)), "recallcold.py"),
        home,
    ]
    return Cold(**json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))


def questions(data: str) -> dict[str, list[str]]:
    """Three hundred of each language."""
    english = [question.text for pool in publicsets.locomo(data) for question in pool.questions]
    korean = [question.text for question in publicsets.korquad(data).questions]
    return {
        name: some[:: len(some) // (WAYS * QUESTIONS)][: WAYS * QUESTIONS]
        for name, some in (("English", english), ("Korean", korean))
    }


def _warm(data: str, home: str) -> dict[str, Warm]:
    """By language."""
    speed, found = _stream(), {}
    gate = Gate(journal=Journal(os.path.join(home, "deliveries.db")))
    with product.open_memory(home) as memory, product.open_memory(home, gate=gate) as noting:
        finder = memory.indexed.finder
        for language, asked in questions(data).items():
            ways = (
                lambda text: memory.recall(text, limit=LIMIT), lambda text: noting.recall(text, limit=LIMIT),
                lambda text: finder.refresh().query(text, limit=_WANTED),
            )  # fmt: skip
            whole, noted, alone = _ask(asked, ways)
            least = median(_least(finder.refresh(), text) for text in asked)
            found[language] = Warm(whole, noted, alone, least, speed)
    return found


def _ask(texts: Sequence[str], ways: Sequence[Callable[[str], object]]) -> list[Asked]:
    """Each way with questions of its own, since a text that was looked at once is known; in turns, so that a neighbour disturbs all alike."""
    for way in ways:
        for text in texts[:: len(texts) // WARM]:
            way(f"{text} or not")
    wall: list[list[float]] = [[] for _ in ways]
    cpu: list[list[float]] = [[] for _ in ways]
    for number, text in enumerate(texts):
        place = number % len(ways)
        begun = time.perf_counter(), time.process_time()
        ways[place](text)
        wall[place].append((time.perf_counter() - begun[0]) * 1e3)
        cpu[place].append((time.process_time() - begun[1]) * 1e3)
    return [Asked(median(one), quantiles(one, n=20)[-1], median(other)) for one, other in zip(wall, cpu, strict=True)]


def _least(index: Index, text: str) -> float:
    """Bytes that a question has to touch."""
    asked, touched = np.array(query_terms(text).terms, np.uint64), 0.0
    for part in index.parts:
        columns = part.segment.columns
        places = np.searchsorted(columns.terms, asked)
        places = places[places < len(columns.terms)]
        places = places[np.isin(columns.terms[places], asked)]
        touched += 5 * float((columns.term_at[places + 1] - columns.term_at[places]).sum()) + 4 * len(part.segment)
        grams, sizes = len(columns.grams) / max(len(part.segment), 1), columns.sizes
        share = len(part.segment) / max(len(index.seqs), 1)
        touched += share * (2 * CANDIDATES * grams + _WANTED * float(sizes.mean()) if len(sizes) else 0)
    return touched


def _after_saves(data: str, home: str) -> Asked:
    """Questions of which each waits for the row of a save before it."""
    asked = questions(data)["English"]
    with product.open_memory(home) as memory:
        saved = iter(range(10**9))

        def ask(text: str) -> None:
            memory.recall(text, limit=LIMIT)

        wall, cpu = [], []
        for text in asked[: WARM + QUESTIONS // 2]:
            memory.save(f"after-{next(saved)}.md", text.encode())
            begun = time.perf_counter(), time.process_time()
            ask(text)
            wall.append((time.perf_counter() - begun[0]) * 1e3)
            cpu.append((time.process_time() - begun[1]) * 1e3)
    wall, cpu = wall[WARM:], cpu[WARM:]
    return Asked(median(wall), quantiles(wall, n=20)[-1], median(cpu))


def _stream() -> float:
    """Bytes that are read in a second, at best."""
    array = np.ones(_STREAM // 8, np.int64)
    best = float("inf")
    for _ in range(5):
        begun = time.perf_counter()
        array.sum()
        best = min(best, time.perf_counter() - begun)
    return _STREAM / best


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", default=publicsets.BESIDE, help="folder of the public sets")
    parser.add_argument("--sizes", default="10000,100000", help="memories in the stores")
    parser.add_argument("--short", type=int, default=100_000, help="memories in the store of short ones; 0 for none")
    given = parser.parse_args()
    if absent := publicsets.missing(given.data):
        print(f"wholerecall: {absent}", file=sys.stderr)
        return 1
    print(machine(), heading("what", "measured", "reach", "reached"), sep="\n\n")
    with tempfile.TemporaryDirectory(prefix="indelible-recall-") as folder:
        for row in every(given.data, folder, [int(size) for size in given.sizes.split(",")], given.short):
            print(row.format(), flush=True)
    return 0


def every(data: str, folder: str, sizes: Sequence[int], short: int) -> Iterator[Row]:
    """Everything here."""
    yield from saving(data, folder)
    for size in sizes:
        yield from rows(data, folder, size)
    if short:
        yield from rows(data, folder, short, short=True)


if __name__ == "__main__":
    sys.exit(main())
