"""What each kind of noise leaves behind, whatever the background: checked before anything is called PERFECT.

flipped bits       the sizes are alike, and every one of the eight bits of a byte is hit as often as another: of unrelated ASCII the
                   highest bit never differs, of unrelated Korean every third byte begins alike
edited characters  runs of three characters stand where the text has them, several times as many as chance would put there
moved and lost     the words of the cue are words of the text
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indelible.recall.evidence import LIMIT, matched

if TYPE_CHECKING:
    from indelible.recall.patterns import Cue

__all__ = ["alike_in_size", "blind", "filled_in", "in_place", "words_of"]

RUN = 3
RUNS = 0.15
"""The share of the cue's runs that the text has to hold. A quarter of the characters edited leaves four in ten, half of them one in eight;
an unrelated text of that size and language holds one in twenty."""
SPREAD = 5.0
"""Standard errors by which the rate of one bit may lie off that of all: one in two millions."""
TORN = 2
DIGITS = 4
"""So many digits a text must have before they tell anything."""
BESIDES = 0.3
"""The share of other characters that differ, from which on digits are no exception."""
SLACK = 0.03
"""Besides: a rate that far off is no other kind of text."""


def alike_in_size(one: int, other: int) -> bool:
    """Whether one is at most twice as long as the other: flips change no size, and more than half may not be cut off besides."""
    return min(one, other) * 2 >= max(one, other)


def blind(cue: Cue, text: bytes) -> bool:
    """Whether the bits of the cue differ from the text's without regard to which bit of a byte it is, over the first `LIMIT` bytes."""
    compared = min(len(cue.content), len(text), LIMIT)
    kept = cue.kept[:compared]
    differing = np.frombuffer(cue.content, np.uint8, compared)[kept] ^ np.frombuffer(text, np.uint8, compared)[kept]
    if not len(differing):
        return False
    rates = np.unpackbits(differing[:, None], axis=1).mean(axis=0)
    rate = float(rates.mean())
    return bool((np.abs(rates - rate) <= SPREAD * np.sqrt(rate * (1 - rate) / len(differing)) + SLACK).all())


def in_place(cue: Cue, text: bytes, size: int) -> bool:
    """Whether the cue and the text, `size` bytes long, were aligned over what matters, and share more runs than chance gives.

    Of a text longer than `LIMIT` only the beginning is aligned: that tells something only of a cue that is about as long.
    """
    if size > LIMIT and not alike_in_size(len(cue.content), size):
        return False
    own, other = (_runs(piece) for piece in (cue.letters(LIMIT).tobytes(), text[:LIMIT]))
    return bool(own) and len(own & other) >= RUNS * len(own)


def words_of(cue: Cue, text: bytes) -> bool:
    """Whether the words of the cue are words of the text, but for `TORN` that a cut may have torn and one of twenty."""
    held = set(text.split())
    words = cue.letters(len(cue.content)).tobytes().split()
    return sum(word not in held for word in words) <= TORN + len(words) // 20


def filled_in(cue: Cue, text: bytes) -> bool:
    """Whether the cue has other digits than the text, and all else in common: another of its kind."""
    one = cue.letters(LIMIT).tobytes().decode("utf-8", "surrogateescape")
    other = cue.under(text[:LIMIT]).decode("utf-8", "surrogateescape")
    found = matched(one, other)
    if True not in found:
        return False
    start, end = found.index(True), len(found) - found[::-1].index(True)
    digits = [not found[at] for at in range(start, end) if other[at].isdigit()]
    others = [not found[at] for at in range(start, end) if not other[at].isdigit()]
    if len(digits) < DIGITS or sum(digits) < 2 or not others:
        return False
    changed, besides = sum(digits) / len(digits), sum(others) / len(others)
    return besides < BESIDES and changed > min(3 * besides + 0.1, 0.5)


def _runs(piece: bytes) -> set[str]:
    letters = piece.decode("utf-8", "surrogateescape")
    return {letters[at : at + RUN] for at in range(len(letters) - RUN + 1)}
