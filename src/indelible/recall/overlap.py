"""How alike the memories of several agents are: centred cosine, and containment of shingles in both directions.

The vector of an agent is the sum of its pieces over their weight (`ngrams`). From it the mean over the agents, each counting the
same, is taken away, so that a common template, language or house style makes nobody alike; what is left is what sets an agent
apart. The cosine of two such vectors is not 0 for agents with nothing in common but -1/(n-1), since n vectors that add up to
nothing point away from one another; with that taken out,

    cosine = (r + 1/(n-1)) / (1 + 1/(n-1)),     r = <a - m, b - m> / (|a - m| |b - m|)

which is 1 for the same and 0 on average for unrelated. Of two agents alone the centred cosine is always -1: there is no third
by which to tell what everybody has from what these two share. It is taken without centring then, and said so.

Nothing here reads a store, a clock or a file; the order of the agents changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indelible.recall import codepoints, ngrams, shingles

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indelible.recall.codepoints import Hashes, Numbers
    from indelible.recall.ngrams import Embed, Floats, Sums
    from indelible.recall.shingles import Shingled

BATCH = 1 << 19
"""Characters that are looked at together: about 60 bytes of memory for each."""
_SAME = 1e-9
"""What is left of a vector, as a share of it, is nothing below this."""


class Profile(NamedTuple):
    """What is compared of one agent."""

    agent: str
    memories: int
    words: int
    sums: Sums
    shingles: Shingled


class Pair(NamedTuple):
    """Two agents, in the order of their names."""

    a: str
    b: str
    cosine: float | None
    """Centred; None where one of them has no words."""
    a_in_b: float
    """What part of the first one's shingles stands in the second's."""
    b_in_a: float
    shared: int
    """Shingles that both have."""


class Profiler:
    """Takes the memories of one agent one after the other, oldest first, and keeps of them what is compared.

    Args:
        embed: a model; None for n-grams.
    """

    def __init__(self, agent: str, embed: Embed | None = None) -> None:
        self.agent, self._embed = agent, embed
        self.count = 0
        self._words = 0
        self._sums = ngrams.empty(embed)
        self._parts: list[tuple[Hashes, Numbers]] = []
        self._texts: list[str] = []
        self._numbers: list[int] = []
        self._keys: list[int] = []
        self._size = 0

    def add(self, key: str, content: bytes) -> int:
        """Take one memory; gives its number, from 0. One that is longer than a batch is read in parts, and no run over their border is seen."""
        for number, text in enumerate(_parted(codepoints.read(content).nfc)):
            self._texts.append(text)
            self._numbers.append(self.count)
            self._keys.append(int.from_bytes(_digest(f"{number} {key}"), "little"))
            self._size += len(text)
            if self._size >= BATCH:
                self._flush()
        self.count += 1
        return self.count - 1

    def done(self) -> Profile:
        """What there is to compare."""
        self._flush()
        made = shingles.gather(self._parts)
        self._parts = []
        return Profile(self.agent, self.count, self._words, self._sums, made)

    def _flush(self) -> None:
        if not self._texts:
            return
        words = codepoints.words_of(self._texts)
        hashes, firsts, _ = shingles.shingles(words)
        self._parts.append((hashes, np.array(self._numbers, np.int32)[words.texts[firsts]]))
        self._words += len(words.hashes)
        pieces = ngrams.cut(words, np.array(self._keys, np.uint64))
        if self._embed is None:
            ngrams.add(self._sums, words, pieces)
        else:
            ngrams.add_embedded(self._sums, words, pieces, self._texts, self._embed)
        self._texts, self._numbers, self._keys, self._size = [], [], [], 0


def _parted(text: str) -> Iterator[str]:
    """A text in parts of a batch at most, between two lines or words where there are any."""
    start = 0
    while len(text) - start > BATCH:
        end = start + BATCH
        border = max(text.rfind("\n", start, end), text.rfind(" ", start, end)) + 1
        end = border if border > start else end
        yield text[start:end]
        start = end
    yield text[start:]


def _digest(key: str) -> bytes:
    from hashlib import blake2b

    return blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()


class Vectors(NamedTuple):
    """The agents that have words, sorted by name, and their vectors."""

    agents: tuple[str, ...]
    folds: Floats
    """(n, FOLDS, d) sums of pieces, weighted by what is rare."""
    weights: Floats
    """(n, FOLDS)"""
    pieces: tuple[int, ...]
    mean: Floats
    """(d,) taken away from each; zeros for fewer than three agents."""

    def whole(self) -> Floats:
        """(n, d) centred."""
        centred: Floats = self.folds.sum(axis=1) / self.weights.sum(axis=1)[:, None] - self.mean
        return centred

    def cosine(self, one: Floats, other: Floats) -> float:
        """The adjusted cosine of two centred vectors, (d,) each."""
        least = _SAME * max(float(np.linalg.norm(one + self.mean)), float(np.linalg.norm(other + self.mean)))
        lengths = float(np.linalg.norm(one)), float(np.linalg.norm(other))
        if min(lengths) <= least:
            return 1.0 if max(lengths) <= least else 0.0
        raw = float(one @ other) / (lengths[0] * lengths[1])
        others = len(self.agents) - 1
        adjusted = (raw * others + 1) / (others + 1) if self.is_centred else raw
        return min(1.0, max(-1.0, adjusted))

    @property
    def is_centred(self) -> bool:
        """Whether the mean was taken away."""
        return len(self.agents) > 2


def vectors(profiles: tuple[Profile, ...]) -> Vectors:
    """The vectors of the agents that have words."""
    some = sorted((one for one in profiles if one.sums.pieces), key=lambda one: one.agent)
    if not some:
        return Vectors((), np.zeros((0, ngrams.FOLDS, 1)), np.zeros((0, ngrams.FOLDS)), (), np.zeros(1))
    folds = np.stack(ngrams.weigh([one.sums for one in some]))
    weights = np.stack([one.sums.weights for one in some])
    whole = folds.sum(axis=1) / weights.sum(axis=1)[:, None]
    mean = whole.mean(axis=0) if len(some) > 2 else np.zeros(folds.shape[2])
    return Vectors(tuple(one.agent for one in some), folds, weights, tuple(one.sums.pieces for one in some), mean)


def compare(profiles: tuple[Profile, ...], made: Vectors) -> tuple[Pair, ...]:
    """Every pair of agents, in the order of their names."""
    whole = dict(zip(made.agents, made.whole(), strict=True)) if made.agents else {}
    ordered = sorted(profiles, key=lambda one: one.agent)
    return tuple(_pair(one, other, made, whole) for at, one in enumerate(ordered) for other in ordered[at + 1 :])


def _pair(one: Profile, other: Profile, made: Vectors, whole: dict[str, Floats]) -> Pair:
    shared = len(shingles.common(one.shingles, other.shingles)[0])
    both = one.agent in whole and other.agent in whole
    cosine = made.cosine(whole[one.agent], whole[other.agent]) if both else None
    return Pair(
        one.agent, other.agent, cosine,
        shingles.containment(shared, one.shingles), shingles.containment(shared, other.shingles), shared,
    )  # fmt: skip
