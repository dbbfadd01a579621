"""Texts that crowd others out, among those that were found: the last look before some are handed over.

Two ways are met: a text that is stuffed with words comes after those that are not, and of texts that are nearly the same the best
one or two are proposed; the others come after everything else.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import cached_property
from operator import add, itemgetter
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

ALIKE = 0.8
"""Share of common shingles from which on two texts are nearly the same."""
KIN = 0.4
"""Share from which on they are of one make, and share the places."""
_PAIR, _MANY = 2, 5
"""Where there are so many places, two that are nearly the same keep theirs: a pair is no crowd, and a "not" may be all the difference."""
_SHINGLE = 3
_REPEATS, _A_SENTENCE, _PAIRS_A_SENTENCE = 4, 1.5, 3.0
"""A text is stuffed that has one word so often, and so often for each of its sentences. Of pairs it takes twice as many: languages
without pronouns name their topic again, and a pair is no whole word. Of 964 encyclopedia passages in Korean six have more."""
_SHARE = 0.08
"""And is so much of it: an honest long text names its subject more often than it has sentences."""
_CRAMMED = 2
"""And one that is no prose, and has so many more of the question's words than the others commonly have."""
_PROSE = 0.15
"""Share of small words that prose has at least."""

_WIDE = "\u1100"
"""From here on scripts are cut into pairs."""
_WORD = re.compile(r"[가-힣ぁ-ヿ一-鿿]+|[^\W_가-힣ぁ-ヿ一-鿿]+")
_SENTENCE_END = re.compile(r"[.!?;:。！？](?=\s|$)|\n")
_SMALL_WORDS = (
    "a about after all also am an and any are as at be been before but by can could did do does for from had has have he her"
    " how i if in into is it its just may me more most my no not of on one or our out s she should so some t than that the"
    " their them then there these they this to too up us was we were what when where which who why will with would you your"
)
_SMALL = frozenset(_SMALL_WORDS.split())


class _Text:
    """One text. What of it is compared is worked out when it is first asked for: most texts lie behind those that are handed over."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._runs = _WORD.findall(_plain(text))

    @cached_property
    def words(self) -> list[str]:
        return list(_words(self._runs))

    @cached_property
    def shingles(self) -> frozenset[tuple[str, ...]]:
        words = self.words
        size = min(_SHINGLE, max(1, len(words) - 1))
        return frozenset(zip(*(words[at:] for at in range(size)), strict=False))

    @property
    def stuffed(self) -> bool:
        counts = Counter(self.words)
        most = {False: 0, True: 0}
        for word, count in counts.items():
            if count >= _REPEATS and count > most[word >= _WIDE] and word not in _SMALL:
                most[word >= _WIDE] = count
        if max(most.values()) < max(_REPEATS, _SHARE * len(self.words)):
            return False
        sentences = 1 + min(len(_SENTENCE_END.findall(self._text)), len(self.words) // 4)
        return most[False] > _A_SENTENCE * sentences or most[True] > _PAIRS_A_SENTENCE * sentences

    @property
    def prose(self) -> bool:
        """Of a script without small words one cannot tell: what is mostly of such counts as prose. Numbers are no words."""
        latin = [word for word in self.words if word < _WIDE and not word[0].isdigit()]
        few = len(latin) < 12 or 2 * len(latin) < len(self.words)
        return few or sum(word in _SMALL for word in latin) >= _PROSE * len(latin)

    def having(self, asked: frozenset[str]) -> int:
        """How many of the words it has, without cutting all of it into words."""
        runs = set(self._runs)
        wide = " ".join(run for run in runs if run[0] >= _WIDE)
        return sum(_has(word, runs, wide) for word in asked)


class Settled(NamedTuple):
    """The order in which texts are handed over."""

    places: tuple[int, ...]
    """Where each stands in what was given, the best first."""
    fair: int
    """So many of them, the first ones, are neither stuffed nor nearly the same as one before."""
    twins: tuple[tuple[int, ...], ...]
    """Of each of the fair and stuffed ones, in their order, the places of those that are nearly the same as it."""


def settle(query: str, texts: Sequence[str], limit: int) -> Settled:
    """The best `limit` of texts that are in order already, the best first, without those that crowd others out."""
    read = [_Text(text) for text in texts]
    order = _Order(read, _crammed(frozenset(_words(_WORD.findall(_plain(query)))) - _SMALL, read))
    groups = _groups(order, read, limit)
    others = sorted((place for group in groups.values() for place in group), key=list(order.seen).index)
    return Settled(
        tuple([*groups, *others][:limit]),
        sum(place not in order.pushed for place in groups),
        tuple(map(tuple, groups.values())),
    )


class _Order:
    """The places of texts, those that are stuffed or crammed behind the others; a text is looked at when its turn comes."""

    def __init__(self, read: list[_Text], crammed: set[int]) -> None:
        self._read, self._crammed = read, crammed
        self.pushed: list[int] = []
        self.seen: list[int] = []
        """Those that were given so far."""

    def __iter__(self) -> Iterator[int]:
        for place, text in enumerate(self._read):
            if place in self._crammed or text.stuffed:
                self.pushed.append(place)
            else:
                self.seen.append(place)
                yield place
        for place in self.pushed:
            self.seen.append(place)
            yield place


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _words(runs: Iterable[str]) -> Iterator[str]:
    """Words without plural; of scripts that write without spaces, pairs of characters."""
    for run in runs:
        if run[0] >= _WIDE:
            yield from map(add, run, run[1:]) if len(run) > 1 else run
        else:
            yield run[:-1] if _plural(run) else run


def _plural(word: str) -> bool:
    return len(word) > 3 and word[-1] == "s" and word[-2] != "s"


def _has(word: str, runs: set[str], wide: str) -> bool:
    """Whether one of the runs is, or holds, that word; `wide` has those that are cut into pairs."""
    if word[0] >= _WIDE:
        return word in wide if len(word) > 1 else word in runs
    return (word in runs and not _plural(word)) or (_plural(word + "s") and word + "s" in runs)


def _crammed(asked: frozenset[str], read: list[_Text]) -> set[int]:
    """Texts that are no prose and have far more words of the question than the others that were found."""
    counts = [text.having(asked) for text in read]
    usual = median(counts) if counts else 0
    return {place for place, count in enumerate(counts) if count > usual + _CRAMMED and not read[place].prose}


def _groups(order: Iterable[int], read: list[_Text], limit: int) -> dict[int, list[int]]:
    """The first of each group of texts that are nearly the same, `limit` at most, with the others of it up to there.

    Of texts that are alike in half of what they say, and in the rest not, half the places are given, and more only where nothing else
    is left: a crowd that differs in a number hides nothing.
    """
    groups: dict[int, list[int]] = {}
    later: list[int] = []
    for place in order:
        shares = [(one, _share(read[place].shingles, read[one].shingles)) for one in groups]
        twins = [one for one, share in shares if share >= ALIKE]
        if len(twins) >= (_PAIR if limit >= _MANY else 1) or any(share == 1 for _, share in shares):
            groups[max(shares, key=itemgetter(1))[0]].append(place)
        elif sum(share >= KIN for _, share in shares) >= (limit + 1) // 2:
            later.append(place)
        else:
            groups[place] = []
        if len(groups) == limit:
            break
    return groups | {place: [] for place in later[: limit - len(groups)]}


def _share(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> float:
    """Of all that two texts say, what both say. Texts of very different lengths can have little in common."""
    if min(len(one), len(other)) < KIN * max(len(one), len(other)):
        return 0.0
    common = len(one & other)
    every = len(one) + len(other) - common
    return common / every if every else 1.0
