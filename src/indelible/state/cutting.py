"""A text shortened from its old end, at the beginning of a round. Pure."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from indelible.state.budget import Room


class Rounds(NamedTuple):
    """A text in parts that are left out whole, oldest first."""

    unit: str
    """`rounds`, `paragraphs` or `lines`."""
    pieces: tuple[str, ...]


class Shortened(NamedTuple):
    """The newest part of a text."""

    text: str
    unit: str
    """What was counted."""
    left_out: int
    """How many of them are missing, the last perhaps in part."""
    total: int
    """How many there are."""


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
    return Rounds("lines", _split(text, r"^"))


def shorten(rounds: Rounds, room: Room) -> Shortened:
    """As much of the end of a text as there is room for; of a last round that is itself too long, its end."""
    unit, pieces = rounds
    kept = _newest(pieces, room)
    text = "".join(kept) if kept or not pieces else _end_of(pieces[-1], room)
    return Shortened(text, unit, len(pieces) - len(kept), len(pieces))


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
    if room.is_over or not room.characters:
        return ""
    for pattern in (r"(?<=\n\n)(?=[^\n])", r"^"):
        kept = _newest(_split(piece, pattern), room)
        if kept:
            return "".join(kept)
    end = piece[-room.characters :]
    while end and room.less(end).is_over:
        end = end[len(end) // 8 + 1 :]
    return end
