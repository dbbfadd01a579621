"""Which texts a cue may be a copy of, and what speaks for each.

32 candidates come from each of the two channels (`patterns`). The best of them are aligned with the cue; then whatever in the whole
store is kin to the best is weighed as thoroughly as that one, so that in the end they are told apart by the same measures or not
at all. A text that is longer than its pattern is read for that, and only believed if it has its digest.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from indelible.errors import IndelibleError
from indelible.light import NamedTuple, compare_digest, sha256
from indelible.recall import evidence
from indelible.recall.background import learn
from indelible.recall.patterns import BITS_SIZE, ranges

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from indelible.recall.background import Background
    from indelible.recall.patterns import Cue, Patterns

    Floats = NDArray[np.float64]
    Places = NDArray[np.int64]
    Rebuild = Callable[[int], bytes]

__all__ = ["CANDIDATES", "Weighed", "Weigher", "rebuilt"]

CANDIDATES = 32
"""From each channel."""
ALIGNED = (4, 2)
"""So many of the best by grams and by bits are aligned with the cue, character by character."""
COMMON = 1 / 4
"""The inverted list leaves buckets out that a larger share of the texts has: they tell little, and cost the most."""
NEAR = 5.0
"""Nats above log n from which on the kin of the best is looked for: below, nothing stands clear anyway."""
KIN = 64
"""So many texts are weighed beside the best; if more are as much like it, they are not told apart."""
TWIN = 0.6
"""The share of the grams of both that two versions of one text have in common."""
ALIVE = 0.5
"""The share of the best's grams that a cue holds which is whole but for a place or two; then these places tell something."""
OWN, OWN_SHARE = 3.0, 0.2
"""Nats of what the cue shares with a twin alone, and their share of what it shares with the best alone, from which on it lies between."""
ROUNDS = 4
"""How often the best may turn out to be another one when it is weighed beside its kin."""


class Weighed(NamedTuple):
    """Candidates by place, and what speaks for each, in nats; each (k,)."""

    places: Places
    bits: Floats
    turns: Floats
    grams: Floats
    covered: Floats
    """No nats: the share of the cue's grams that the text has (`evidence.Grams`)."""
    most: Floats
    """The most that speaks for it, if it is a twin of the best and the part by which they differ was lost; else -inf."""

    fine: Floats
    """What the shingles of long twins add to all of this: they tell the twins apart, and leave the best of them as good as it was."""

    @property
    def whole(self) -> Floats:
        """All three kinds of noise, each as likely as another."""
        return np.asarray(np.logaddexp(np.logaddexp(self.bits, self.turns), self.grams) - np.log(3) + self.fine)

    @property
    def lead(self) -> float:
        """Nats of the first over any other, whatever part of that one may have been lost; infinite if there is no other."""
        others = np.maximum(self.whole, self.most - np.log(3))[1:]
        return float(self.whole[0] - others.max()) if len(others) else np.inf

    def take(self, order: Places) -> Weighed:
        """These, in this order."""
        return Weighed(
            self.places[order],
            self.bits[order],
            self.turns[order],
            self.grams[order],
            self.covered[order],
            self.most[order],
            self.fine[order],
        )

    def joined(self, more: Weighed) -> Weighed:
        """These, and more of them behind."""
        both = zip(self, more, strict=True)
        return Weighed(*(np.concatenate(pair) for pair in both))


NOTHING = Weighed(np.zeros(0, np.int64), *(np.zeros(0) for _ in range(6)))


class _Asked:
    """A cue, and what is reckoned of it once: its chances, and how likely it is if nothing stored is like it."""

    def __init__(self, cue: Cue, background: Background) -> None:
        self.cue, self.background = cue, background
        self.size = len(cue.content)
        self.sized = background.size(self.size)
        self.chance = background.chance(cue)
        self.short, self.long = cue.letters(BITS_SIZE), cue.letters(evidence.LIMIT)

    @cached_property
    def pieces(self) -> NDArray[np.uint64] | None:
        """The shingles of a cue that is longer than what is aligned."""
        return evidence.shingles(self.cue.content) if self.size > evidence.LIMIT else None

    @cached_property
    def _plain(self) -> tuple[float, float]:
        short = self.background.plain(self.short)
        return short, short if self.size <= BITS_SIZE else self.background.plain(self.long)

    @cached_property
    def _kinds(self) -> tuple[float, float]:
        short = self.background.kinds(self.short)
        return short, short if self.size <= BITS_SIZE else self.background.kinds(self.long)

    def bits(self, sizes: Places, apart: Places, compared: Places, *, read: bool) -> Floats:
        """(k,) the evidence of bits, over the texts' first bytes or over all that is read."""
        letters = self.long if read else self.short
        found = (
            evidence.bits(letters, self.size, sizes, apart, compared, self.background) - self.sized - self._plain[read]
        )
        if (found > 0).any():
            found = found - np.logaddexp(0.0, self._kinds[read] - self._plain[read])
        return found

    def turns(self, text: bytes, *, read: bool, whole: bool) -> tuple[float, float]:
        """The evidence of characters deleted, inserted and replaced, and its most, of a text's first bytes or of all that is read."""
        limit = evidence.LIMIT if read else BITS_SIZE
        cut = not whole or len(text) > limit
        letters = (self.long if read else self.short).tobytes()
        likely, most = evidence.turns(letters, self.cue.under(text[:limit]), self.background, cut=cut)
        against = self._plain[read] + (0.0 if cut else self.sized)
        return likely - against, most - against


class Weigher:
    """What is stored, ready to be asked.

    Args:
        patterns: of the texts that may be named. Of several with one digest, the first stands for all.
        many: many cues follow: an inverted list of the buckets is made once, so that a cue meets only the texts that share one.
    """

    def __init__(self, patterns: Patterns, *, many: bool = False) -> None:
        patterns.checked()
        distinct = _distinct(patterns)
        self.patterns = patterns if len(distinct) == len(patterns.seqs) else patterns.select(distinct)
        self.background = learn(self.patterns)
        self.counts = np.diff(self.patterns.offsets)
        self._many = many

    def weigh(self, cue: Cue, rebuild: Rebuild) -> tuple[Weighed, bool]:
        """The candidates, the best first; and whether it cannot be told from its twins, whatever the gap.

        That is so if more texts are as much like it as are weighed beside it, or if the cue holds what only a twin has, or lacks just
        what tells the best from a twin: then it may as well be another version, that is not stored.
        """
        if not cue.kept.any() or not len(self.patterns.seqs):
            return NOTHING, False
        asked = _Asked(cue, self.background)
        weighed, crowded = self._by_pattern(asked), False
        done: set[int] = set()
        before, twins = -1, NOTHING.places
        for _ in range(ROUNDS):
            best = int(weighed.whole.argmax())
            place = int(weighed.places[best])
            if weighed.whole[best] < NEAR + np.log(len(self.counts)) or place == before:
                break
            before = place
            kin, twins, crowded = self._kin(place)
            fresh = np.array([one for one in kin.tolist() if one not in done], np.int64)
            weighed = weighed.joined(self._measured(asked, np.setdiff1d(fresh, weighed.places)))
            for at in np.flatnonzero(np.isin(weighed.places, fresh)):
                self._deepen(asked, weighed, int(at), rebuild)
            done.update(fresh.tolist())
        group = np.isin(weighed.places, twins)
        weighed.most[~group] = -np.inf
        if asked.pieces is not None:
            self._refine(asked.pieces, weighed, np.flatnonzero(group & np.isfinite(weighed.most)), rebuild)
        weighed = weighed.take(np.argsort(-weighed.whole, kind="stable"))
        return weighed, crowded or self._between(asked, weighed, twins)

    def _between(self, asked: _Asked, weighed: Weighed, twins: Places) -> bool:
        """Whether the cue lies between the best and a twin of it."""
        best = int(weighed.places[0])
        own, cue = self.patterns.grams(best), asked.cue.buckets
        kept = np.isin(own, cue)
        alive = float(kept.mean()) if len(own) else 0.0
        if alive < ALIVE and weighed.bits[0] > max(weighed.turns[0], weighed.grams[0]):
            return False  # flipped bits leave hardly a gram whole, and tell twins apart by themselves
        worth = np.zeros(1 << 16)
        worth[cue] = evidence.weights_whole(asked.chance) / evidence.TOGETHER
        for place in twins[twins != best].tolist():
            other = self.patterns.grams(place)
            alone = ~np.isin(own, other)
            strange = np.setdiff1d(other, own, assume_unique=True)
            theirs = float(worth[strange].sum()) - 2 * self._by_chance(asked, strange)
            if theirs >= max(OWN, OWN_SHARE * float(worth[own[alone]].sum())):
                return True
            if alive >= ALIVE and alone.any() and kept[alone].mean() < alive / 2:
                return True
        return False

    def _by_chance(self, asked: _Asked, buckets: NDArray[np.uint16]) -> float:
        """Nats that the cue is expected to share of these buckets, if it has nothing to do with them."""
        chance = np.maximum(asked.background.odds(buckets, len(asked.cue.buckets)), len(asked.cue.buckets) / (1 << 16))
        return float((chance * evidence.weights_whole(chance)).sum()) / evidence.TOGETHER

    def genuine(self, place: int, rebuild: Rebuild) -> bytes | None:
        """A stored text, if it has the digest it should have. All of a short one is in its pattern."""
        short = self.patterns.sizes[place] <= BITS_SIZE
        text = self.patterns.head(place) if short else rebuilt(rebuild, int(self.patterns.seqs[place]))
        wanted = self.patterns.digests[place].tobytes()
        return text if text is not None and compare_digest(sha256(text).digest(), wanted) else None

    def _by_pattern(self, asked: _Asked) -> Weighed:
        """What the patterns say of the candidates of both channels, the best of them aligned."""
        rough, _, _ = evidence.rough_bits(asked.cue, self.patterns, self.background)
        places = np.unique(np.concatenate((_best(rough), _best(self._rough_grams(asked)))))
        weighed = self._measured(asked, places)
        for at in {
            *np.argsort(-weighed.grams)[: ALIGNED[0]].tolist(),
            *np.argsort(-weighed.bits)[: ALIGNED[1]].tolist(),
        }:
            whole = bool(self.patterns.sizes[places[at]] <= BITS_SIZE)
            weighed.turns[at], _ = asked.turns(self.patterns.head(int(places[at])), read=False, whole=whole)
        return weighed

    def _measured(self, asked: _Asked, places: Places) -> Weighed:
        """What the patterns of these texts say, but for alignment."""
        few = self.patterns._replace(sizes=self.patterns.sizes[places], bits=self.patterns.bits[places])
        _, apart, compared = evidence.rough_bits(asked.cue, few, self.background)
        bits = asked.bits(few.sizes, apart, compared, read=False)
        grams = evidence.grams(asked.cue, self.patterns, places, asked.chance)
        nothing = np.full(len(places), -np.inf)
        return Weighed(places, bits, nothing, grams.evidence, grams.covered, nothing.copy(), np.zeros(len(places)))

    def _deepen(self, asked: _Asked, weighed: Weighed, at: int, rebuild: Rebuild) -> None:
        """One candidate, weighed by the text itself where that can be had and has the right digest; else by its first bytes."""
        place = int(weighed.places[at])
        short = bool(self.patterns.sizes[place] <= BITS_SIZE)
        text = None if short else self.genuine(place, rebuild)
        read = text is not None
        weighed.turns[at], turns = asked.turns(
            self.patterns.head(place) if text is None else text, read=read, whole=short or read
        )
        grams = float(evidence.grams(asked.cue, self.patterns, weighed.places[at : at + 1], asked.chance).most[0])
        if text is not None:
            weighed.bits[at] = self._bits(asked, text)
        bits = self._shifted(asked, self.patterns.head(place) if text is None else text) if short or read else -np.inf
        weighed.most[at] = max(turns, grams, bits)

    def _refine(self, pieces: NDArray[np.uint64], weighed: Weighed, group: Places, rebuild: Rebuild) -> None:
        """Long twins told apart by all of what they hold, which is far more than what was aligned and than their buckets."""
        texts = {int(at): self.genuine(int(weighed.places[at]), rebuild) for at in group}
        found = {
            at: evidence.long(pieces, evidence.shingles(text))
            for at, text in texts.items()
            if text is not None and len(text) > evidence.LIMIT
        }
        if len(found) < 2:
            return
        top, best = max(weighed.whole[at] for at in found), max(sure for sure, _ in found.values())
        for at, (sure, most) in found.items():
            weighed.fine[at] = top + sure - best - weighed.whole[at]
            weighed.most[at] = top + most - best + np.log(3)

    @staticmethod
    def _bits(asked: _Asked, text: bytes) -> float:
        """The evidence of bits over all that is read."""
        compared = min(asked.size, len(text), evidence.LIMIT)
        kept = asked.cue.kept[:compared]
        differing = (
            np.frombuffer(asked.cue.content, np.uint8, compared)[kept] ^ np.frombuffer(text, np.uint8, compared)[kept]
        )
        apart = np.array([np.bitwise_count(differing).sum(dtype=np.int64)])
        return float(asked.bits(np.array([len(text)]), apart, np.array([int(kept.sum())]), read=True)[0])

    @staticmethod
    def _shifted(asked: _Asked, text: bytes) -> float:
        """The most that bits may say for a text of another size: what differs in size stands in one place, and behind it all is moved."""
        size = min(asked.size, evidence.LIMIT)
        moved = asked.size - len(text)
        letters = np.frombuffer(asked.cue.content, np.uint8, size)
        padded = np.frombuffer(text[: size + abs(moved)].ljust(size + abs(moved), b"\0"), np.uint8)
        at = np.arange(size)
        here = _bits_apart(letters, padded[:size], at < len(text))
        there = _bits_apart(
            letters, padded[np.clip(at - moved, 0, len(padded) - 1)], (at >= moved) & (at - moved < len(text))
        )
        kept = asked.cue.kept[:size]
        before, behind = (np.concatenate(([0], (each * kept).cumsum())) for each in (here, there))
        apart = int((before + behind[-1] - behind).min())
        return float(asked.bits(np.array([len(text)]), np.array([apart]), np.array([int(kept.sum())]), read=True)[0])

    def _kin(self, place: int) -> tuple[Places, Places, bool]:
        """The texts that share half of their grams with this one, itself among them; its twins; and whether there are more.

        Twins share so much of both that they are versions of one text: what was lost may be just that by which they differ.
        """
        together = self._sums(self.patterns.grams(place), np.ones(self.counts[place]))
        counts = self._inverted[2] if self._many else self.counts
        enough = (2 * together >= np.minimum(counts, counts[place])) & (4 * together >= counts[place])
        enough[place] = True
        kin = np.flatnonzero(enough)
        twins = np.flatnonzero(together >= TWIN * np.maximum(counts, counts[place]))
        return kin[np.argsort(-together[kin], kind="stable")][:KIN], twins, len(kin) > KIN

    def _rough_grams(self, asked: _Asked) -> Floats:
        counts = self._inverted[2] if self._many else self.counts
        return self._sums(asked.cue.buckets, evidence.rough_weights(asked.chance)) + evidence.rough_lost(counts)

    def _sums(self, buckets: NDArray[np.uint16], weights: Floats) -> Floats:
        """(n,) of each text, the weights of those buckets that it has."""
        if not self._many:
            return evidence.sums(buckets, weights, self.patterns)
        starts, texts, told = self._inverted
        at = buckets.astype(np.int64)
        counts = starts[at + 1] - starts[at]
        found = texts[ranges(starts[at], counts)]
        return np.asarray(np.bincount(found, np.repeat(weights, counts), minlength=len(told)), np.float64)

    @cached_property
    def _inverted(self) -> tuple[Places, Places, Places]:
        """Where each bucket's texts begin, the texts, and how many buckets of each text are in it."""
        often = np.bincount(self.patterns.buckets, minlength=1 << 16)
        often[often > max(len(self.counts) * COMMON, CANDIDATES)] = 0
        told = often[self.patterns.buckets] > 0
        texts, buckets = np.repeat(np.arange(len(self.counts)), self.counts)[told], self.patterns.buckets[told]
        starts = np.concatenate(([0], often.cumsum()))
        return starts, texts[np.argsort(buckets, kind="stable")], np.bincount(texts, minlength=len(self.counts))


def _bits_apart(one: NDArray[np.uint8], other: NDArray[np.uint8], there: NDArray[np.bool_]) -> Places:
    """Of each byte, how many bits differ; half of them where the other has none."""
    return np.where(there, np.bitwise_count(one ^ other), 4).astype(np.int64)


def rebuilt(rebuild: Rebuild, seq: int) -> bytes | None:
    """What is stored under that number, or None where nothing can be read."""
    try:
        return rebuild(seq)
    except IndelibleError:
        return None


def _distinct(patterns: Patterns) -> Places:
    """The places of the first text of each digest, in their order."""
    if not len(patterns.seqs):
        return np.zeros(0, np.int64)
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
