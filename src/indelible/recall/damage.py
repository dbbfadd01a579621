"""What happens to texts, drawn from one generator: by this the memory is calibrated, and by this it is measured.

A rate is the share of what is damaged, from 0 to 1. Characters that are put in come from the text itself, so that they cannot be
told by being strange.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    Damage = Callable[[bytes, float, np.random.Generator], bytes]


def flipped(text: bytes, rate: float, dice: np.random.Generator) -> bytes:
    """Each bit with that probability."""
    mask = np.packbits(dice.random(8 * len(text)) < rate)
    return (np.frombuffer(text, np.uint8) ^ mask).tobytes()


def edited(text: bytes, rate: float, dice: np.random.Generator) -> bytes:
    """Each character deleted, replaced, or another put before it, a third of the rate each."""
    letters = np.array(list(text.decode("utf-8", "surrogateescape")))
    if not len(letters):
        return text
    draw = dice.random(len(letters))
    others = letters[dice.integers(len(letters), size=len(letters))]
    pieces = np.where(
        draw < rate / 3,
        "",
        np.where(draw < rate * 2 / 3, others, np.where(draw < rate, np.char.add(others, letters), letters)),
    )
    return "".join(pieces.tolist()).encode("utf-8", "surrogateescape")


def shuffled(text: bytes, rate: float, dice: np.random.Generator) -> bytes:
    """The words in another order: all of them at a rate of a half and above, else so large a share of twice the rate."""
    words = text.split(b" ")
    moved = np.flatnonzero(dice.random(len(words)) < 2 * rate)
    to = dice.permutation(moved)
    out = list(words)
    for source, target in zip(moved, to, strict=True):
        out[target] = words[source]
    return b" ".join(out)


def halved(text: bytes, _rate: float, _dice: np.random.Generator) -> bytes:
    """The first half lost."""
    letters = text.decode("utf-8", "surrogateescape")
    return letters[len(letters) // 2 :].encode("utf-8", "surrogateescape")


def cut(text: bytes, rate: float, dice: np.random.Generator) -> bytes:
    """So large a part lost, at the beginning, at the end or between."""
    letters = text.decode("utf-8", "surrogateescape")
    gone = int(len(letters) * rate)
    at = (0, len(letters) - gone, int(dice.integers(len(letters) - gone + 1)))[int(dice.integers(3))]
    return (letters[:at] + letters[at + gone :]).encode("utf-8", "surrogateescape")


def zeroed(text: bytes, rate: float, dice: np.random.Generator) -> bytes:
    """So large a block of zeros, somewhere."""
    gone = int(len(text) * rate)
    at = int(dice.integers(len(text) - gone + 1))
    return text[:at] + bytes(gone) + text[at + gone :]


LOSSES: tuple[Damage, ...] = (cut, zeroed, halved)
"""What takes a part away: what is left is as it was."""
NOISES: tuple[Damage, ...] = (flipped, edited, shuffled)
"""What spreads over the whole."""


def relative(text: bytes, dice: np.random.Generator) -> bytes:
    """A near-duplicate, as memories come to have them: a word or a number changed, dropped or added, another ending, a negation."""
    words = text.split(b" ")
    at = int(dice.integers(len(words)))
    kind = int(dice.integers(6))
    if kind == 0:
        words[at] = words[int(dice.integers(len(words)))] + b"s"
    elif kind == 1:
        words[at] = str(int(dice.integers(2, 2000))).encode()
    elif kind == 2:
        words.insert(at, b"not")
    elif kind == 3 and len(words) > 2:
        del words[at]
    elif kind == 4:
        words.append(b"(" + str(int(dice.integers(2020, 2030))).encode() + b")")
    else:
        words[-1] += b"!"
    return b" ".join(words)
