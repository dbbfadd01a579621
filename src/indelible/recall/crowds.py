"""Texts that crowd others out, among those that were found: the last look before some are handed over.

Two ways are met: a text that is stuffed with words comes after those that are not, and of texts that are nearly the same only
the best is proposed; the others come after everything else.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ALIKE = 0.8
"""Share of common shingles from which on two texts are nearly the same."""
_SHINGLE = 3
_REPEATS, _A_SENTENCE = 4, 1.5
"""A text is stuffed that has one word so often, and so often for each of its sentences."""
_CRAMMED = 2
"""And one that is no prose, and has so many more of the question's words than the others commonly have."""
_PROSE = 0.15
"""Share of small words that prose has at least."""

_WORD = re.compile(r"[가-힣ぁ-ヿ一-鿿]+|[^\W_가-힣ぁ-ヿ一-鿿]+")
_SENTENCE_END = re.compile(r"[.!?;:。！？](?=\s|$)|\n")
_SMALL_WORDS = (
    "a about after all also am an and any are as at be been before but by can could did do does for from had has have he her"
    " how i if in into is it its just may me more most my no not of on one or our out s she should so some t than that the"
    " their them then there these they this to too up us was we were what when where which who why will with would you your"
)
_SMALL = frozenset(_SMALL_WORDS.split())


class _Text(NamedTuple):
    """What of a text is compared."""

    words: list[str]
    distinct: frozenset[str]
    stuffed: bool


class Settled(NamedTuple):
    """The order in which texts are handed over."""

    places: tuple[int, ...]
    """Where each stands in what was given, the best first."""
    fair: int
    """So many of them, the first ones, are neither stuffed nor nearly the same as one before."""


def settle(query: str, texts: Sequence[str], limit: int) -> Settled:
    """The best `limit` of texts that are in order already, the best first, without those that crowd others out."""
    read = [_read(text) for text in texts]
    crammed = _crammed(frozenset(_words(query)) - _SMALL, list(range(len(read))), read)
    pushed = {place for place, text in enumerate(read) if text.stuffed or place in crammed}
    order = sorted(range(len(read)), key=lambda place: (place in pushed, place))
    kept, others = _without_crowds(order, read, limit)
    fair = sum(place not in pushed for place in kept)
    return Settled(tuple([*kept, *others][:limit]), fair)


def _words(text: str) -> Iterator[str]:
    """Words without case and plural; of scripts that write without spaces, pairs of characters."""
    for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        if word[0] >= "\u1100":
            yield from (word[at : at + 2] for at in range(max(1, len(word) - 1)))
        else:
            yield word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _read(text: str) -> _Text:
    words = list(_words(text))
    sentences = 1 + min(len(_SENTENCE_END.findall(text)), len(words) // 4)
    most = max(Counter(word for word in words if word not in _SMALL).values(), default=0)
    return _Text(words, frozenset(words), most >= _REPEATS and most > _A_SENTENCE * sentences)


def _crammed(asked: frozenset[str], found: list[int], read: list[_Text]) -> set[int]:
    """Texts that are no prose and have far more words of the question than the others that were found."""
    counts = {place: len(asked & read[place].distinct) for place in found}
    usual = median(counts.values()) if counts else 0
    return {place for place in found if counts[place] > usual + _CRAMMED and not _is_prose(read[place])}


def _is_prose(text: _Text) -> bool:
    latin = [word for word in text.words if word < "\u1100"]
    return len(latin) < 12 or sum(word in _SMALL for word in latin) >= _PROSE * len(latin)


def _without_crowds(found: list[int], read: list[_Text], limit: int) -> tuple[list[int], list[int]]:
    """The first of each group of texts that are nearly the same, `limit` at most; and the others up to there."""
    kept: list[tuple[int, frozenset[tuple[str, ...]]]] = []
    others = []
    for place in found:
        shingles = _shingles(read[place].words)
        if any(_alike(shingles, before) for _, before in kept):
            others.append(place)
        else:
            kept.append((place, shingles))
        if len(kept) == limit:
            break
    return [place for place, _ in kept], others


def _shingles(words: list[str]) -> frozenset[tuple[str, ...]]:
    size = min(_SHINGLE, max(1, len(words) - 1))
    return frozenset(tuple(words[at : at + size]) for at in range(len(words) - size + 1))


def _alike(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> bool:
    return len(one & other) >= ALIKE * len(one | other)
