"""How many tokens a text takes, without a vocabulary, and how a text is shortened from its old end. Pure.

The estimate counts runs of characters of one kind, each at what such a run takes in tokenizers in use; it is held
against a real one in the tests, at 0.9 to 1.5 times. Texts put together never take more than their parts do.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

_RUN = re.compile(
    r"[A-Za-z]+|[0-9]+|[가-힣]+|[ \t]{2,}|\n[ \t\n]*|[^\x00-\x7f가-힣]|[!-/:-@\[-`{-~\x00-\x08\x0b-\x1f\x7f]"
)
_WORD, _LETTER = 60, 14
_DIGIT = 100
_SYLLABLES, _SYLLABLE = 20, 80
_OTHER = 150
_SIGN = 75
_BLANK = 80
"""Hundredths of a token: for a run of Latin letters and each of its letters, a digit, a run of Hangul and each of its
syllables, any other character, a sign of ASCII, a run of blanks."""
DENSEST = 50
"""Characters that a token stands for at most: a text with more is too long without counting them."""


class Room(NamedTuple):
    """What there is room for, in tokens and in characters; either may fall below zero."""

    tokens: int
    characters: int

    def less(self, text: str) -> Room:
        """What is left once `text` is in it; of a text that is far too long, only that it is."""
        if len(text) > self.characters or len(text) > DENSEST * self.tokens:
            return Room(self.tokens - len(text) // DENSEST - 1, self.characters - len(text))
        return Room(self.tokens - estimate(text), self.characters - len(text))

    def wanted(self, text: str) -> Room:
        """What `text` takes, or all there is."""
        left = self.less(text)
        return self if left.is_over else Room(self.tokens - left.tokens, len(text))

    @property
    def is_over(self) -> bool:
        """Whether more was put in than it holds."""
        return self.tokens < 0 or self.characters < 0


class Rounds(NamedTuple):
    """A text in parts that are left out whole, oldest first."""

    unit: str
    """`rounds`, `paragraphs` or `lines`."""
    pieces: tuple[str, ...]


class Shortened(NamedTuple):
    """The newest part of a text."""

    text: str
    unit: str
    """What was counted: `rounds`, `paragraphs` or `lines`."""
    left_out: int
    """How many of them are missing, the last perhaps in part."""
    total: int
    """How many there are."""


def estimate(text: str) -> int:
    """About how many tokens `text` takes, rounded up."""
    return -(-sum(map(_cost, _RUN.findall(text))) // 100)


def _cost(run: str) -> int:
    first = run[0]
    if first <= "\x7f":
        if first.isalpha():
            return _WORD + _LETTER * len(run)
        if first.isdigit():
            return _DIGIT * len(run)
        return _BLANK if first in " \t\n" else _SIGN
    return _SYLLABLES + _SYLLABLE * len(run) if "가" <= first <= "힣" else _OTHER


def shorten(rounds: Rounds, room: Room) -> Shortened:
    """As much of the end of a text as there is room for; of a last round that is itself too long, its end."""
    unit, pieces = rounds
    kept = _newest(pieces, room)
    left_out = len(pieces) - len(kept)
    text = "".join(kept) if kept or not pieces else _end_of(pieces[-1], room)
    return Shortened(text, unit, left_out, len(pieces))


def split_rounds(text: str) -> Rounds:
    """`text` in its rounds.

    A round begins at a heading of the highest level that comes more than once; without one, at a paragraph; else it is a line.
    """
    levels = [len(mark) for mark in re.findall(r"^(#{1,6}) ", text, re.MULTILINE)]
    repeated = [level for level in sorted(set(levels)) if levels.count(level) > 1]
    if repeated:
        return Rounds("rounds", _split(text, rf"^{'#' * repeated[0]} "))
    if "\n\n" in text.strip("\n"):
        return Rounds("paragraphs", _split(text, r"(?<=\n\n)(?=[^\n])"))
    return Rounds("lines", tuple(text.splitlines(keepends=True)))


def _split(text: str, pattern: str) -> tuple[str, ...]:
    starts = [0, *(found.start() for found in re.finditer(pattern, text, re.MULTILINE)), len(text)]
    return tuple(text[start:end] for start, end in pairwise(starts) if start < end)


def _newest(pieces: tuple[str, ...], room: Room) -> tuple[str, ...]:
    first = len(pieces)
    while first and not (room := room.less(pieces[first - 1])).is_over:
        first -= 1
    return pieces[first:]


def _end_of(piece: str, room: Room) -> str:
    """The end of one round that is itself too long: whole paragraphs of it, or lines, or at last its last characters."""
    for pattern in (r"(?<=\n\n)(?=[^\n])", r"^"):
        kept = _newest(_split(piece, pattern), room)
        if kept:
            return "".join(kept)
    end = piece[-max(room.characters, 0) :] if room.characters > 0 else ""
    while end and room.less(end).is_over:
        end = end[len(end) // 8 + 1 :]
    return end
