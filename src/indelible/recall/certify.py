"""Which stored text is this a damaged copy of, and how sure is that?

    PERFECT    one original stands clear, and what is stored under it has the digest that the log committed to
    MISMATCH   one stands clear, but what is stored under it does not have that digest
    AMBIGUOUS  more than one is near enough, and the cue does not tell them apart; or it may be another of its kind that is not stored
    UNKNOWN    nothing is near enough

32 candidates come from each of the two channels (`patterns`); texts with the very same bytes are one. Each is weighed by three kinds of
noise (`evidence`); texts longer than their pattern are read, if their digest agrees, and weighed once more by what they hold.
The posterior is the softmax of the evidence, with n unrelated texts beside it: one step of the modern Hopfield network
(`hopfield.softmax`) at beta = 1 per nat, whose energy is told.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from indelible.light import NamedTuple, compare_digest, sha256
from indelible.recall import residue
from indelible.recall.patterns import BITS_SIZE, cue_of
from indelible.recall.thresholds import DEFAULT
from indelible.recall.weighing import Weigher, rebuilt

if TYPE_CHECKING:
    from indelible.recall.patterns import Cue, Patterns
    from indelible.recall.thresholds import Thresholds
    from indelible.recall.weighing import Rebuild, Weighed

__all__ = ["Answer", "Candidate", "Certainty", "Memory", "Noise", "identify"]

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
    longer: int
    """Bytes that the other has more than the original; negative: fewer."""

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
    """Nats between the first and any other, whatever part of that one may have been lost; infinite where there is no other, or where the cue is the text itself."""
    energy: float
    """-log sum_i exp(evidence_i), nats: the deeper, the better is the cue explained by what is stored."""
    noise: Noise | None = None
    """PERFECT: of the cue against its original. MISMATCH: of what is stored against the original's first bytes."""
    original: bytes = b""
    """PERFECT only: the original's bytes."""


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
        self.weigher = Weigher(patterns, many=many)
        self.patterns = self.weigher.patterns
        self.thresholds = thresholds

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
        weighed, crowded = self.weigher.weigh(asked, rebuild)
        if not len(weighed.places):
            return Answer(Certainty.UNKNOWN, (), 0.0, np.inf)
        return self._judged(asked, weighed, rebuild, crowded=crowded)

    def _judged(self, cue: Cue, weighed: Weighed, rebuild: Rebuild, *, crowded: bool) -> Answer:
        """The answer that the evidence gives."""
        whole = weighed.whole
        gap = weighed.lead
        energy = -float(np.logaddexp.reduce(whole))
        posterior = np.exp(whole - np.logaddexp(-energy, np.log(len(self.patterns.seqs))))
        named = tuple(
            Candidate(int(self.patterns.seqs[place]), float(share), float(nats))
            for place, share, nats in zip(weighed.places[:NAMED], posterior, whole, strict=False)
        )
        if not self._stands(cue, weighed, rebuild):
            return Answer(Certainty.UNKNOWN, named, gap, energy)
        by_bits = weighed.bits[0] > max(weighed.turns[0], weighed.grams[0])
        text = self.weigher.genuine(int(weighed.places[0]), rebuild)
        kind = residue.filled_in(cue, self.patterns.head(int(weighed.places[0])) if text is None else text)
        if crowded or kind or gap < (self.thresholds.flips if by_bits else self.thresholds.gap):
            return Answer(Certainty.AMBIGUOUS, named, gap, energy)
        return self._settled(cue, int(weighed.places[0]), named, gap, energy, rebuild)

    def _stands(self, cue: Cue, weighed: Weighed, rebuild: Rebuild) -> bool:
        """Whether the first stands clear of what is not stored: by one kind of noise at least, and by what that kind leaves behind.

        Evidence is as good as the background it is weighed against. So each kind has to show what does not depend on it (`residue`).
        """
        place = int(weighed.places[0])
        lines, best_of = self.thresholds, float(np.log(len(self.patterns.seqs)))
        text = self.weigher.genuine(place, rebuild)
        whole = text is not None
        seen = self.patterns.head(place) if text is None else text
        size = int(self.patterns.sizes[place])
        if (
            weighed.bits[0] >= lines.bits + best_of
            and residue.alike_in_size(len(cue.content), size)
            and residue.blind(cue, seen)
        ):
            return True
        if weighed.turns[0] >= lines.turns + best_of and residue.in_place(cue, seen, size):
            return True
        clear = (
            weighed.grams[0] >= lines.grams + best_of + np.log(1 + size / BITS_SIZE)
            and weighed.covered[0] >= lines.covered
        )
        return bool(clear and (not whole or residue.words_of(cue, seen)))

    def _settled(
        self, cue: Cue, place: int, named: tuple[Candidate, ...], gap: float, energy: float, rebuild: Rebuild
    ) -> Answer:
        """PERFECT or MISMATCH, by what is stored under the one that stands clear."""
        stored = rebuilt(rebuild, int(self.patterns.seqs[place]))
        if stored is None or not compare_digest(sha256(stored).digest(), self.patterns.digests[place].tobytes()):
            head = self.patterns.head(place)
            return Answer(Certainty.MISMATCH, named, gap, energy, self._noise(cue_of(stored or b""), head, place))
        return Answer(Certainty.PERFECT, named, gap, energy, self._noise(cue, stored, place), stored)

    def _noise(self, other: Cue, text: bytes, place: int) -> Noise:
        own = self.patterns.grams(place)
        lost = 1 - len(np.intersect1d(own, other.buckets, assume_unique=True)) / len(own) if len(own) else 0.0
        longer = len(other.content) - int(self.patterns.sizes[place])
        return Noise(_apart(other.content, text), 8 * min(len(other.content), len(text)), lost, longer)

    def _same(self, cue: bytes) -> int | None:
        """Where the very bytes of the cue are stored."""
        digest = np.frombuffer(sha256(cue).digest(), np.uint8)
        found = np.flatnonzero((self.patterns.digests == digest).all(axis=1))
        return int(found[0]) if len(found) else None


def _apart(one: bytes, other: bytes) -> int:
    """The Hamming distance in bits, over the bytes both have."""
    size = min(len(one), len(other))
    differing = np.frombuffer(one, np.uint8, size) ^ np.frombuffer(other, np.uint8, size)
    return int(np.bitwise_count(differing).sum(dtype=np.int64))
