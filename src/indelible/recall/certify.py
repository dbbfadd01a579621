"""Which stored text is this a damaged copy of, and how sure is that?

    PERFECT    one original stands clear, and what is stored under it has the digest that the log committed to
    MISMATCH   one stands clear, but what is stored under it does not have that digest
    AMBIGUOUS  more than one is near enough, and the cue does not tell them apart
    UNKNOWN    nothing is near enough

32 candidates come from each of the two channels (`patterns`); texts with the very same bytes are one. Each is weighed by three kinds of
noise (`evidence`); texts longer than their pattern are read, if their digest agrees, and weighed once more by what they hold.
The posterior is the softmax of the evidence, with n unrelated texts beside it: one step of the modern Hopfield network
(`hopfield.softmax`) at beta = 1 per nat, whose energy is told.
"""

from __future__ import annotations

from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from indelible.errors import IndelibleError
from indelible.light import NamedTuple, compare_digest, sha256
from indelible.recall import evidence
from indelible.recall.background import learn
from indelible.recall.patterns import BITS_SIZE, cue_of, ranges
from indelible.recall.thresholds import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from indelible.recall.background import Background
    from indelible.recall.patterns import Cue, Patterns
    from indelible.recall.thresholds import Thresholds

    Floats = NDArray[np.float64]
    Places = NDArray[np.int64]
    Rebuild = Callable[[int], bytes]

__all__ = ["Answer", "Candidate", "Certainty", "Memory", "Noise", "identify"]

CANDIDATES = 32
"""From each channel."""
ALIGNED = (4, 2)
"""So many of the best by grams and by bits are aligned with the cue, character by character."""
COMMON = 1 / 4
"""The inverted list leaves buckets out that a larger share of the texts has: they tell little, and cost the most."""
ROUNDS = 4
"""How often the best may turn out to be another one when it is weighed beside its kin."""
WITHIN = 10.0
"""Nats by grams within which more candidates than there are places for are too many."""
NAMED = 5
"""Candidates that an answer names."""


class Certainty(Enum):
    """The four answers."""

    PERFECT = "perfect"
    MISMATCH = "mismatch"
    AMBIGUOUS = "ambiguous"
    UNKNOWN = "unknown"


class Candidate(NamedTuple):
    """One text that the cue may be a copy of."""

    seq: int
    """The entry that saved it; of several with the same bytes, the first of them."""
    posterior: float
    """From 0 to 1; all candidates and 'not stored' make 1."""
    evidence: float
    """Nats for it and against unrelated text."""


class Noise(NamedTuple):
    """How far apart two texts are."""

    bits: int
    """Hamming distance in bits, over the bytes both have."""
    compared: int
    """Bits compared."""
    lost: float
    """The share of the original's n-grams that are not in the other, from 0 to 1."""

    @property
    def rate(self) -> float:
        """The share of the compared bits that differ: 0 for a true copy, about a half for an unrelated one."""
        return self.bits / self.compared if self.compared else 0.0


class Answer(NamedTuple):
    """What recall says of a cue."""

    certainty: Certainty
    candidates: tuple[Candidate, ...]
    """The best first. PERFECT and MISMATCH speak of the first."""
    gap: float
    """Nats between the first and the second; infinite where there is no other, or where the cue is the text itself."""
    energy: float
    """-log sum_i exp(evidence_i), nats: the deeper, the better is the cue explained by what is stored."""
    noise: Noise | None = None
    """PERFECT: of the cue against its original. MISMATCH: of what is stored against the original's first bytes."""
    original: bytes = b""
    """PERFECT only: the original's bytes."""


class Weighed(NamedTuple):
    """Candidates by place, and what speaks for each, in nats; each (k,)."""

    places: Places
    bits: Floats
    turns: Floats
    grams: Floats
    covered: Floats

    @property
    def whole(self) -> Floats:
        """All three kinds of noise, each as likely as another."""
        return np.asarray(np.logaddexp(np.logaddexp(self.bits, self.turns), self.grams) - np.log(3))


class Reading:
    """A cue beside whole texts: its first `evidence.LIMIT` bytes, without the holes, and all of it in shingles."""

    def __init__(self, cue: Cue, background: Background) -> None:
        self._cue, self._background = cue, background
        self._letters = cue.letters(evidence.LIMIT)

    @cached_property
    def pieces(self) -> NDArray[np.uint64] | None:
        """The shingles of a cue that is longer than what is aligned."""
        return evidence.shingles(self._cue.content) if len(self._cue.content) > evidence.LIMIT else None

    @cached_property
    def _plain(self) -> float:
        return self._background.plain(self._letters)

    @cached_property
    def _kinds(self) -> float:
        return float(np.logaddexp(self._plain, self._background.kinds(self._letters)))

    @cached_property
    def _sized(self) -> float:
        return self._background.size(len(self._cue.content))

    def bits(self, text: bytes) -> float:
        """The evidence of bits for a text that is known as a whole."""
        cue = self._cue
        compared = min(len(cue.content), len(text), evidence.LIMIT)
        kept = cue.kept[:compared]
        differing = np.frombuffer(cue.content, np.uint8, compared)[kept] ^ np.frombuffer(text, np.uint8, compared)[kept]
        apart = np.array([np.bitwise_count(differing).sum(dtype=np.int64)])
        size, known_bytes = np.array([len(text)]), np.array([kept.sum()])
        found = (
            float(evidence.bits(self._letters, len(cue.content), size, apart, known_bytes, self._background)[0])
            - self._sized
        )
        return found - (self._kinds if found > self._plain else self._plain)

    def turns(self, text: bytes) -> float:
        """Likewise of characters deleted, inserted and replaced."""
        cut = len(text) > evidence.LIMIT
        asked, other = self._letters.tobytes(), self._cue.under(text[: evidence.LIMIT])
        return evidence.turns(asked, other, self._background, cut=cut) - self._plain - (0.0 if cut else self._sized)


def identify(cue: bytes, patterns: Patterns, *, rebuild: Rebuild, thresholds: Thresholds = DEFAULT) -> Answer:
    """The answer for one cue; see `Memory` for many."""
    return Memory(patterns, thresholds).identify(cue, rebuild)


class Memory:
    """What is stored, ready to be asked.

    Args:
        patterns: of the texts that may be named; what a filter hides is not in them.
        many: many cues follow: an inverted list of the buckets is made once, so that a cue meets only the texts that share one.
    """

    def __init__(self, patterns: Patterns, thresholds: Thresholds = DEFAULT, *, many: bool = False) -> None:
        patterns.checked()
        self.patterns = patterns.select(_distinct(patterns)) if len(patterns.seqs) else patterns
        self.thresholds = thresholds
        self.background = learn(self.patterns)
        self._many = many

    def identify(self, cue: bytes, rebuild: Rebuild) -> Answer:
        """What the cue is a copy of.

        Args:
            rebuild: the bytes that are stored under an entry's number, not yet verified. What it raises as an
                `IndelibleError` counts as 'nothing that can be read'.
        """
        place = self._same(cue)
        if place is not None:
            found = Candidate(int(self.patterns.seqs[place]), 1.0, np.inf)
            return self._settled(cue_of(cue), place, (found,), np.inf, -np.inf, rebuild)
        asked = cue_of(cue)
        weighed, crowded = self.weigh(asked, rebuild)
        if not len(weighed.places):
            return Answer(Certainty.UNKNOWN, (), 0.0, np.inf)
        return self._judged(asked, weighed, rebuild, crowded=crowded)

    def weigh(self, cue: Cue, rebuild: Rebuild) -> tuple[Weighed, bool]:
        """The candidates, the best first; and whether more texts are as near to the best as there are places for.

        Whatever shares half of its grams with the best is weighed as thoroughly as that one: in the end they are told apart by
        the same measures, or not at all.
        """
        if not cue.kept.any() or not len(self.patterns.seqs):
            return Weighed(np.zeros(0, np.int64), *(np.zeros(0) for _ in range(4))), False
        weighed, crowded = self._by_pattern(cue)
        reading = Reading(cue, self.background)
        done: set[int] = set()
        for _ in range(ROUNDS):
            best = int(weighed.whole.argmax())
            kin = set(self._kin(weighed.places, best).tolist()) | {best}
            for at in kin - done:
                self._deepen(reading, weighed, at, rebuild)
            if kin <= done:
                break
            done |= kin
        order = np.argsort(-weighed.whole, kind="stable")
        return Weighed(*(column[order] for column in weighed)), crowded and len(done) > CANDIDATES

    def _by_pattern(self, cue: Cue) -> tuple[Weighed, bool]:
        """All that the patterns say; and whether the last of the candidates by grams is nearly as near as the first."""
        patterns, background = self.patterns, self.background
        chance = background.chance(cue)
        rough, apart, compared = evidence.rough_bits(cue, patterns, background)
        rough_grams = self._rough_grams(cue, chance)
        by_grams = _best(rough_grams)
        crowded = len(by_grams) < len(rough_grams) and float(np.ptp(rough_grams[by_grams])) < evidence.TOGETHER * WITHIN
        places = np.unique(np.concatenate((_best(rough), by_grams)))
        letters = cue.letters(BITS_SIZE)
        sized = background.size(len(cue.content))
        bits = evidence.bits(
            letters, len(cue.content), patterns.sizes[places], apart[places], compared[places], background
        )
        unrelated = background.plain(letters)
        strange = np.logaddexp(unrelated, background.kinds(letters)) if bits.max() - sized > unrelated else unrelated
        grams = evidence.grams(cue, patterns, places, chance)
        turns = np.full(len(places), -np.inf)
        for at in {*np.argsort(-grams.evidence)[: ALIGNED[0]], *np.argsort(-bits)[: ALIGNED[1]]}:
            cut = bool(patterns.sizes[places[at]] > BITS_SIZE)
            likely = evidence.turns(letters.tobytes(), cue.under(patterns.head(places[at])), background, cut=cut)
            turns[at] = likely - unrelated - (0.0 if cut else sized)
        return Weighed(
            places, bits - unrelated - sized, turns, grams.evidence, grams.covered.astype(np.float64)
        ), crowded

    def _kin(self, places: Places, best: int) -> Places:
        """Which of the texts at these places share half of their buckets, or of the best's, with the best."""
        own = np.zeros(1 << 16, np.bool_)
        own[self.patterns.grams(int(places[best]))] = True
        counts = np.diff(self.patterns.offsets)[places]
        shared = own[self.patterns.buckets[ranges(self.patterns.offsets[places], counts)]]
        together = np.bincount(np.repeat(np.arange(len(places)), counts)[shared], minlength=len(places))
        return np.flatnonzero(2 * together >= np.minimum(counts, counts[best]))

    def _rough_grams(self, cue: Cue, chance: Floats) -> Floats:
        if not self._many:
            return evidence.rough_grams(cue, self.patterns, chance)
        starts, texts, lost = self._inverted
        buckets = cue.buckets.astype(np.int64)
        counts = starts[buckets + 1] - starts[buckets]
        found = texts[ranges(starts[buckets], counts)]
        weights = np.repeat(evidence.rough_weights(chance), counts)
        return np.asarray(np.bincount(found, weights, minlength=len(lost)) + lost)

    @cached_property
    def _inverted(self) -> tuple[Places, Places, Floats]:
        """Where each bucket's texts begin, the texts, and what each text's buckets cost."""
        counts = np.diff(self.patterns.offsets)
        often = np.bincount(self.patterns.buckets, minlength=1 << 16)
        often[often > len(counts) * COMMON] = 0
        told = often[self.patterns.buckets] > 0
        texts, buckets = np.repeat(np.arange(len(counts)), counts)[told], self.patterns.buckets[told]
        starts = np.concatenate(([0], often.cumsum()))
        return (
            starts,
            texts[np.argsort(buckets, kind="stable")],
            evidence.rough_lost(np.bincount(texts, minlength=len(counts))),
        )

    def _deepen(self, reading: Reading, weighed: Weighed, at: int, rebuild: Rebuild) -> None:
        """One candidate, weighed anew by its text itself where that can be had and has the right digest."""
        place = int(weighed.places[at])
        text = self._genuine(place, rebuild)
        if text is None or (len(text) <= BITS_SIZE and np.isfinite(weighed.turns[at])):
            return
        weighed.turns[at] = reading.turns(text)
        if len(text) > BITS_SIZE:
            weighed.bits[at] = reading.bits(text)
        if reading.pieces is not None and len(text) > evidence.LIMIT:
            weighed.grams[at] = evidence.long(reading.pieces, evidence.shingles(text))

    def _judged(self, cue: Cue, weighed: Weighed, rebuild: Rebuild, *, crowded: bool) -> Answer:
        """The answer that the evidence gives."""
        whole = weighed.whole
        top = float(whole[0])
        gap = top - float(whole[1]) if len(whole) > 1 else np.inf
        energy = -float(np.logaddexp.reduce(whole))
        posterior = np.exp(whole - np.logaddexp(-energy, np.log(len(self.patterns.seqs))))
        named = tuple(
            Candidate(int(self.patterns.seqs[place]), float(share), float(nats))
            for place, share, nats in zip(weighed.places[:NAMED], posterior, whole, strict=False)
        )
        if not self._stands(weighed):
            return Answer(Certainty.UNKNOWN, named, gap, energy)
        if crowded or gap < self.thresholds.gap:
            return Answer(Certainty.AMBIGUOUS, named, gap, energy)
        return self._settled(cue, int(weighed.places[0]), named, gap, energy, rebuild)

    def _stands(self, weighed: Weighed) -> bool:
        """Whether the first stands clear of what is not stored, by one kind of noise at least."""
        lines, best_of = self.thresholds, float(np.log(len(self.patterns.seqs)))
        return bool(
            weighed.bits[0] >= lines.bits + best_of
            or weighed.turns[0] >= lines.turns + best_of
            or (weighed.grams[0] >= lines.grams + best_of and weighed.covered[0] >= lines.covered)
        )

    def _settled(
        self, cue: Cue, place: int, named: tuple[Candidate, ...], gap: float, energy: float, rebuild: Rebuild
    ) -> Answer:
        """PERFECT or MISMATCH, by what is stored under the one that stands clear."""
        stored = _rebuilt(rebuild, int(self.patterns.seqs[place]))
        if stored is None or not compare_digest(sha256(stored).digest(), self.patterns.digests[place].tobytes()):
            head = self.patterns.head(place)
            return Answer(Certainty.MISMATCH, named, gap, energy, self._noise(cue_of(stored or b""), head, place))
        return Answer(Certainty.PERFECT, named, gap, energy, self._noise(cue, stored, place), stored)

    def _noise(self, other: Cue, text: bytes, place: int) -> Noise:
        own = self.patterns.grams(place)
        lost = 1 - len(np.intersect1d(own, other.buckets, assume_unique=True)) / len(own) if len(own) else 0.0
        return Noise(_apart(other.content, text), 8 * min(len(other.content), len(text)), lost)

    def _same(self, cue: bytes) -> int | None:
        """Where the very bytes of the cue are stored."""
        digest = np.frombuffer(sha256(cue).digest(), np.uint8)
        found = np.flatnonzero((self.patterns.digests == digest).all(axis=1))
        return int(found[0]) if len(found) else None

    def _genuine(self, place: int, rebuild: Rebuild) -> bytes | None:
        """A stored text, if it has the digest it should have. All of a short one is in its pattern."""
        text = (
            self.patterns.head(place)
            if self.patterns.sizes[place] <= BITS_SIZE
            else _rebuilt(rebuild, int(self.patterns.seqs[place]))
        )
        wanted = self.patterns.digests[place].tobytes()
        return text if text is not None and compare_digest(sha256(text).digest(), wanted) else None


def _rebuilt(rebuild: Rebuild, seq: int) -> bytes | None:
    """What is stored under that number, or None where nothing can be read."""
    try:
        return rebuild(seq)
    except IndelibleError:
        return None


def _distinct(patterns: Patterns) -> Places:
    """The places of the first text of each digest, in their order."""
    digests = np.ascontiguousarray(patterns.digests).view(np.uint64)
    order = np.lexsort(digests.T)
    ordered = digests[order]
    first = np.concatenate(([True], (ordered[1:] != ordered[:-1]).any(axis=1)))
    return np.sort(np.minimum.reduceat(order, np.flatnonzero(first)))


def _best(scores: Floats) -> Places:
    """The places of the `CANDIDATES` highest."""
    if len(scores) <= CANDIDATES:
        return np.arange(len(scores))
    return np.argpartition(-scores, CANDIDATES)[:CANDIDATES]


def _apart(one: bytes, other: bytes) -> int:
    """The Hamming distance in bits, over the bytes both have."""
    size = min(len(one), len(other))
    differing = np.frombuffer(one, np.uint8, size) ^ np.frombuffer(other, np.uint8, size)
    return int(np.bitwise_count(differing).sum(dtype=np.int64))
