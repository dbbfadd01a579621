"""Shingles: every short run of words of a text, hashed; what part of one agent's stands in another's, and in which passages.

A shingle begins at each word and goes on until it weighs `WEIGHT`: seven words, or fourteen characters of a script without spaces.
Containment of A in B is `|S(A) & S(B)| / |S(A)|` over the sets of their shingles (Broder 1997, "On the resemblance and containment
of documents"); it is 1 where all of A stands in B, and is not symmetric: it says which of the two holds the other.

A shingle is known by 64 bits of hash. Two agents of 10 million shingles each share one by chance with a probability of 5 in a
million; before a passage is told, its words are compared again in place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indelible.recall.codepoints import FULL, ranges, words_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indelible.recall.codepoints import Hashes, Numbers, Places, Text, Words

WEIGHT = 7 * FULL
"""Measured: with five words, what people say anyway (“that sounds like a lot of fun”) raised false alarms; with eight, less of a paraphrase is seen."""
_OFTEN = 8
"""Places of one shingle within one text that are looked at: what is repeated more often is found by its first ones."""
LONGEST = 1 << 22
"""Characters of a text in which passages are looked for: its first ones."""
_MATCHES = 1 << 20
"""Pairs of places that are looked at between two texts."""


class Shingled(NamedTuple):
    """The shingles of one agent's memories."""

    unique: Hashes
    """(u,) sorted, each once."""
    first: Numbers
    """(u,) the first memory in which each stands."""


class Shared(NamedTuple):
    """A passage that stands in two memories: places of code points in the two texts, and how many words it has."""

    left: tuple[int, int]
    right: tuple[int, int]
    words: int


def shingles(words: Words) -> tuple[Hashes, Places, Places]:
    """`(hashes, firsts, ends)`: each shingle with its first word and one past its last, (n,) each. None goes over the end of a text."""
    count = len(words.hashes)
    total = np.zeros(count + 1, np.int64)
    np.cumsum(words.weights, out=total[1:])
    ends = np.searchsorted(total, total[:-1] + WEIGHT)
    firsts = np.flatnonzero(ends <= count)
    ends = ends[firsts]
    whole = words.texts[ends - 1] == words.texts[firsts] if count else firsts.astype(bool)
    firsts, ends = firsts[whole], ends[whole]
    return ranges(words.hashes, firsts, ends), firsts, ends


def gather(parts: list[tuple[Hashes, Numbers]]) -> Shingled:
    """The shingles of an agent, of those of its memories.

    Args:
        parts: hashes with the number of the memory that each stands in; numbers rise.
    """
    hashes = np.concatenate([part[0] for part in parts] or [np.zeros(0, np.uint64)])
    memories = np.concatenate([part[1] for part in parts] or [np.zeros(0, np.int32)])
    unique, first = np.unique(hashes, return_index=True)
    return Shingled(unique, memories[first])


def common(left: Shingled, right: Shingled) -> tuple[Places, Places]:
    """Where in either one stand the shingles that both have, (s,) each."""
    if not len(right.unique):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    place = np.minimum(np.searchsorted(right.unique, left.unique), len(right.unique) - 1)
    found = np.flatnonzero(right.unique[place] == left.unique)
    return found, place[found]


def containment(shared: int, own: Shingled) -> float:
    """What part of an agent's shingles is among `shared`; 0 where it has none."""
    return shared / len(own.unique) if len(own.unique) else 0.0


def meetings(
    left: Shingled, right: Shingled, limit: int, fresh: tuple[NDArray[np.bool_], NDArray[np.bool_]]
) -> list[tuple[int, int, int]]:
    """`(memory, memory, shingles)` of those that share something, at most `limit` of them.

    Those come first of which one is fresh, and then those that share most. A shingle that stands in several memories of an agent
    counts for the first of these.

    Args:
        fresh: for each memory of either, whether it is.
    """
    ours, theirs = common(left, right)
    pairs, counts = np.unique(left.first[ours].astype(np.int64) << 32 | right.first[theirs], return_counts=True)
    one, two = pairs >> 32, pairs & 0xFFFFFFFF
    order = np.lexsort((pairs, -counts, ~(fresh[0][one] | fresh[1][two])))[:limit]
    return [(int(one[at]), int(two[at]), int(counts[at])) for at in order]


def passages(left: Text, right: Text) -> list[Shared]:
    """The longest passages that two texts share, longest first, none within another: runs of equal words that cannot be made longer."""
    one, two = words_of((left.nfc[:LONGEST],)), words_of((right.nfc[:LONGEST],))
    starts, others = _matches(one, two)
    if not len(starts):
        return []
    order = np.lexsort((starts, others - starts))
    starts, others = starts[order], others[order]
    breaks = np.flatnonzero((np.diff(others - starts) != 0) | (np.diff(starts) != 1)) + 1
    begins = np.concatenate(([0], breaks))
    found = {_extended(one, two, int(starts[at]), int(others[at])) for at in begins}
    kept: list[Shared] = []
    taken = np.zeros(len(one.hashes), np.bool_)
    for start, other, count in sorted(found, key=lambda run: (-run[2], run)):
        if not taken[start : start + count].all():
            taken[start : start + count] = True
            kept.append(Shared(_span(one, start, count), _span(two, other, count), count))
    return kept


def _matches(one: Words, two: Words) -> tuple[Places, Places]:
    """Words of each text at which an equal shingle begins, pair by pair; of one that is repeated, the first places."""
    hashes, firsts, _ = shingles(one)
    others, places, _ = shingles(two)
    order = np.argsort(others, kind="stable")
    others, places = others[order], places[order]
    low, high = np.searchsorted(others, hashes, "left"), np.searchsorted(others, hashes, "right")
    counts = np.minimum(high - low, _OFTEN)
    counts[np.cumsum(counts) > _MATCHES] = 0
    which = np.repeat(np.arange(len(hashes)), counts)
    step = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
    return firsts[which], places[low[which] + step]


def _extended(one: Words, two: Words, start: int, other: int) -> tuple[int, int, int]:
    """A run of equal words that holds two places, made as long as it can be: where it begins in each, and its words."""
    room = min(start, other)
    before = _equal(one.hashes[start - room : start][::-1], two.hashes[other - room : other][::-1])
    start, other = start - before, other - before
    room = min(len(one.hashes) - start, len(two.hashes) - other)
    return start, other, _equal(one.hashes[start : start + room], two.hashes[other : other + room])


def _equal(one: Hashes, two: Hashes) -> int:
    """How many are equal from the first on."""
    differ = one != two
    return int(np.argmax(differ)) if differ.any() else len(one)


def _span(words: Words, start: int, count: int) -> tuple[int, int]:
    return int(words.starts[start]), int(words.ends[start + count - 1])
