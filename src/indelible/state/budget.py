"""How many tokens a text takes, without a vocabulary. Pure, and without regular expressions: boot waits for it.

Characters are counted by their kind, each at what it takes in tokenizers in use. The tests hold the estimate against a
real one, at 0.9 to 1.5 times. Lines put together never take more than each for itself.
"""

from __future__ import annotations

from typing import NamedTuple

_WORD, _LETTER = 62, 14
_DIGIT = 99
_SIGN = 80
_LINE, _INDENT, _GAP = 60, 60, 60
_SYLLABLE, _OTHER, _ASTRAL = 112, 160, 300
"""Hundredths of a token: for a word of Latin letters and each letter of it, a digit, a sign, the end of a line, an
indentation, a space before a number; a syllable of Hangul, any other character, one beyond the basic plane (emoji)."""
DENSEST = 50
"""Characters that a token stands for at most: a text with more is too long without counting them."""

_KINDS = ((b"abcdefghijklmnopqrstuvwxyz", b"a"), (b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", b"A"), (b"0123456789", b"0"), (b" \t\r", b" "), (b"\n", b"\n"))  # fmt: skip
_SHAPE = bytearray(b"." * 256)
for _members, _kind in _KINDS:
    for _member in _members:
        _SHAPE[_member] = _kind[0]
_WORDS = bytes(97 if kind in b"aA" else 32 for kind in range(256))


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


def estimate(text: str) -> int:
    """About how many tokens `text` takes, rounded up."""
    plain = text.encode("ascii", "ignore")
    shape = plain.translate(_SHAPE)
    small, large = shape.count(b"a"), shape.count(b"A")
    words = len(shape.translate(_WORDS).split()) + shape.count(b"aA")  # TsjYFk is no word of a vocabulary
    cost = words * _WORD + (small + large) * _LETTER + shape.count(b"0") * _DIGIT + shape.count(b".") * _SIGN
    cost += (shape.count(b"\n") - shape.count(b"\n\n")) * _LINE + (
        shape.count(b"\n  ") + shape.startswith(b"  ")
    ) * _INDENT
    cost += shape.count(b" 0") * _GAP
    if len(plain) < len(text):
        cost += sum(
            _SYLLABLE if "가" <= char <= "힣" else _ASTRAL if char > "\uffff" else _OTHER
            for char in text
            if char > "\x7f"
        )
    return -(-cost // 100)


def hundreds(number: int) -> int:
    """The next whole hundred: what a person says as a budget."""
    return -(-number // 100) * 100
