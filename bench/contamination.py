"""Whether contamination is noticed: seven agents with topics of their own, texts of one put among another's, alarms counted.

    contamination.py [--data FOLDER] [--trials N] [--quiet-runs N]

The agents' memories are the turns of five LoCoMo conversations and the sentences of two halves of the KorQuAD articles, which a
benchmark may read and nothing of which is copied (`--data`: the folder that has locomo10.json and korquad_dev.json). In each
trial every agent begins with a random 60 % of its texts and grows over eight comparisons, as memories do; then a share of one agent's
texts, verbatim or lightly paraphrased (each word dropped with a chance of 1 in 10, each two neighbours swapped with one of 1 in 10),
is put among those of another. Counted are: trials in which that very pair raised an alarm, alarms of pairs that have no part in it, and
of the passages that are named, which are of texts that were put there (precision), and which of these are named (recall).

What is measured is `indelible.recall` with the bounds of `indelible similarity`. The speed is that of the whole command's work on a
real store: verified reads, comparison, passages, history.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import sys
import tempfile
import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indelible.comparing.crossing import ALARMED, WORDS
from indelible.recall import alarm, codepoints, ngrams, overlap, shingles
from indelible.recall.history import Past

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indelible.recall.overlap import Pair, Profile

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "shared", "data")
AGENTS, STEPS, BEGIN, GROWTH = 7, 8, 0.6, 0.02
SHARES = (0.01, 0.02, 0.05, 0.10)
FEW = WORDS - shingles.WEIGHT // codepoints.FULL + 1


class World(NamedTuple):
    """Agents that grow."""

    texts: list[list[str]]
    """Of each agent, in the order in which they are saved."""


class Outcome(NamedTuple):
    """One trial."""

    noticed: bool
    by_cosine: bool
    false: int
    named: int
    right: int
    put: int
    found: int


def main() -> int:
    """Print the tables."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    asked.add_argument("--data", default=DATA)
    asked.add_argument("--trials", type=int, default=25)
    asked.add_argument("--quiet-runs", type=int, default=200)
    asked.add_argument("--speed", type=int, default=1000, help="memories of each of seven agents; 0 for none")
    asked.add_argument(
        "--large", type=int, default=0, help="memories of each of two agents; 100000 takes minutes to save"
    )
    options = asked.parse_args()
    topics = read_topics(options.data)
    if topics is None:
        print(
            f"bench: {options.data} has no locomo10.json and korquad_dev.json, so nothing was measured", file=sys.stderr
        )
        return 1
    sizes = ", ".join(str(len(texts)) for texts in topics)
    print(f"Seven agents of {sizes} texts; the seeds are fixed.\n")
    if options.quiet_runs:
        quiet(topics, options.quiet_runs)
    if options.trials:
        table(topics, options.trials)
    if options.speed:
        speed(topics, options.speed)
    if options.large:
        speed(topics, options.large, 2)
    return 0


def read_topics(folder: str) -> list[list[str]] | None:
    """The texts of each agent; None where the files are not there."""
    try:
        with open(os.path.join(folder, "locomo10.json"), encoding="utf-8") as file:
            talks = json.load(file)
        with open(os.path.join(folder, "korquad_dev.json"), encoding="utf-8") as file:
            articles = json.load(file)["data"]
    except FileNotFoundError:
        return None
    topics = [list(dict.fromkeys(turns(talk["conversation"]))) for talk in talks[:5]]
    for half in (articles[::2], articles[1::2]):
        contexts = [paragraph["context"] for article in half for paragraph in article["paragraphs"]]
        sentences = [
            part for context in contexts for part in re.split(r"(?<=다\.)\s+", context) if len(part.split()) > 5
        ]
        topics.append(list(dict.fromkeys(sentences))[:700])
    return topics


def turns(talk: dict[str, object]) -> Iterator[str]:
    """What was said, in order."""
    for value in talk.values():
        if isinstance(value, list):
            yield from (f"{turn['speaker']}: {turn['text']}" for turn in value if len(turn["text"].split()) > 5)


def quiet(topics: list[list[str]], runs: int) -> None:
    """Nothing crosses: every alarm is false."""
    pairs_alarmed = runs_alarmed = counted = 0
    seed = 0
    while counted < runs:
        seed += 1
        world = shuffled(topics, random.Random(f"quiet {seed}"))
        lines: list[list[Past]] = []
        for step in range(20):
            found = run(world, share=BEGIN + GROWTH * step, number=step, past=lines)
            if step > 0 and counted < runs:
                counted += 1
                pairs_alarmed += len(found)
                runs_alarmed += bool(found)
    print(
        f"Without contamination, {counted} comparisons of 21 pairs: {runs_alarmed} with an alarm ({pairs_alarmed} pairs).\n"
    )


def table(topics: list[list[str]], trials: int) -> None:
    """One row for each share and kind."""
    print("| put among another's | kind | noticed | by cosine too | alarms of others | passages: precision | recall |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for share in SHARES:
        for kind in ("verbatim", "paraphrased"):
            done = [
                trial(topics, random.Random(f"trial {share} {kind} {number}"), share, kind) for number in range(trials)
            ]
            named, right = sum(one.named for one in done), sum(one.right for one in done)
            put, found = sum(one.put for one in done), sum(one.found for one in done)
            print(
                f"| {share:.0%} | {kind} | {sum(one.noticed for one in done)} of {trials} | {sum(one.by_cosine for one in done)} | "
                f"{sum(one.false for one in done)} of {trials * 20} | {right / named if named else 0:.3f} ({right} of {named}) | "
                f"{found / put:.3f} ({found} of {put}) |"
            )
    print()


def shuffled(topics: list[list[str]], rng: random.Random) -> World:
    """A world that grows in another order."""
    return World([rng.sample(texts, len(texts)) for texts in topics])


def profiles_of(world: World, share: float) -> tuple[Profile, ...]:
    """Of what is saved by then."""
    return tuple(profile(f"agent{at}", texts[: int(len(texts) * share)]) for at, texts in enumerate(world.texts))


def profile(agent: str, texts: list[str]) -> Profile:
    """As the command makes it."""
    made = overlap.Profiler(agent)
    for text in texts:
        made.add(str(hash_of(text)), text.encode())
    return made.done()


def hash_of(text: str) -> int:
    """The same in every process."""
    import zlib

    return zlib.crc32(text.encode())


def run(
    world: World, *, share: float, number: int, past: list[list[Past]]
) -> dict[tuple[str, str], tuple[alarm.Alarm, ...]]:
    """One comparison of a world as it is by then, added to its past; the pairs in alarm."""
    profiles = profiles_of(world, share)
    pairs = overlap.compare(profiles, overlap.vectors(profiles))
    return judged(pairs, number, past)


def judged(
    pairs: tuple[Pair, ...], number: int, past: list[list[Past]]
) -> dict[tuple[str, str], tuple[alarm.Alarm, ...]]:
    """The pairs in alarm."""
    found, fresh = {}, []
    for at, pair in enumerate(pairs):
        line = Past(
            f"{number:04}", str(number), "all", ngrams.NAME, pair.a, pair.b, pair.cosine, None, pair.a_in_b, pair.b_in_a
        )
        own = [lines[at] for lines in past]
        levels = alarm.levels(own, of=line.of, among="all", vectors=ngrams.NAME)
        if alarms := alarm.judge(line, levels, pair.shared):
            found[pair.a, pair.b] = alarms
        fresh.append(line)
    past.append(fresh)
    return found


def trial(topics: list[list[str]], rng: random.Random, share: float, kind: str) -> Outcome:
    """A past of its own, and then contamination."""
    world = shuffled(topics, rng)
    past: list[list[Past]] = []
    for step in range(STEPS):
        run(world, share=BEGIN + GROWTH * step, number=step, past=past)
    known = [texts[: int(len(texts) * (BEGIN + GROWTH * STEPS))] for texts in world.texts]
    source, target = rng.sample(range(AGENTS), 2)
    chosen = rng.sample(known[source], max(1, round(share * len(known[target]))))
    put = {len(known[target]) + at: known[source].index(text) for at, text in enumerate(chosen)}
    known[target] = known[target] + [text if kind == "verbatim" else paraphrased(text, rng) for text in chosen]
    profiles = tuple(profile(f"agent{at}", texts) for at, texts in enumerate(known))
    pairs = overlap.compare(profiles, overlap.vectors(profiles))
    found = judged(pairs, STEPS, past)
    names = tuple(sorted((f"agent{source}", f"agent{target}")))
    alarms = found.pop(names, ())  # type: ignore[call-overload]
    named, right, hit = passages(profiles, known, source, target, put) if alarms else (0, 0, 0)
    return Outcome(
        bool(alarms), any(one.measure == "cosine" for one in alarms), len(found), named, right, len(put), hit
    )


def passages(
    profiles: tuple[Profile, ...], known: list[list[str]], source: int, target: int, put: dict[int, int]
) -> tuple[int, int, int]:
    """`(named, right, found)`: passages that are named, those of them of a text that was put there, and texts of which one is named."""
    one, other = profiles[target].shingles, profiles[source].shingles
    first = min(put)
    fresh = (np.arange(len(known[target])) >= first, np.zeros(len(known[source]), np.bool_))
    named = right = 0
    hit: set[int] = set()
    for left, there, count in shingles.meetings(one, other, ALARMED, fresh):
        if count < FEW:
            continue
        for shared in shingles.passages(
            codepoints.read(known[target][left].encode()), codepoints.read(known[source][there].encode())
        ):
            if shared.words >= WORDS and left >= first:  # older ones are told apart by their dates
                named += 1
                right += put.get(left) == there
                hit |= {left} if put.get(left) == there else set()
    return named, right, len(hit)


def paraphrased(text: str, rng: random.Random) -> str:
    """Lightly: some words dropped, some neighbours swapped."""
    words = [word for word in text.split() if rng.random() >= 0.1]
    for at in range(len(words) - 1):
        if rng.random() < 0.1:
            words[at], words[at + 1] = words[at + 1], words[at]
    return " ".join(words)


def speed(topics: list[list[str]], count: int, agents: int = AGENTS) -> None:
    """The whole work on a real store, once new and once more."""
    from indelible import settings, wiring
    from indelible.comparing import compare

    with tempfile.TemporaryDirectory(prefix="indelible-bench-") as folder:
        places = {name: os.path.join(folder, name) for name in ("config", "state", "data")}
        environ = {"HOME": folder, **{f"XDG_{name.upper()}_HOME": path for name, path in places.items()}}
        known = settings.load(folder, environ, store=os.path.join(folder, "store.db"), agent="agent0")
        for at, texts in enumerate(topics[:agents]):
            with wiring.open_memory(known, agent=f"agent{at}", create=True) as memory:
                rng = random.Random(at)
                for number in range(count):
                    memory.save(f"note-{number:06}", varied(texts, number, rng).encode())
        for what in ("the first time", "again"):
            begun, cpu = time.perf_counter(), time.process_time()
            report = compare(known, now=settings.now())
            spent = time.perf_counter() - begun, time.process_time() - cpu
            words = sum(one.words for one in report.sides)
            print(
                f"{agents} agents of {count:,} memories ({words:,} words), {what}: {spent[0]:.2f} s ({spent[1]:.2f} s of CPU)"
            )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"Memory at its highest: {peak:.0f} MB")


def varied(texts: list[str], number: int, rng: random.Random) -> str:
    """One of the texts; beyond their number, about 500 bytes of their words in another order."""
    if number < len(texts):
        return texts[number]
    words = " ".join(rng.sample(texts, 4)).split()
    return " ".join(rng.sample(words, min(len(words), 80)))


if __name__ == "__main__":
    sys.exit(main())
