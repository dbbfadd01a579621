"""A text with every character that cannot be seen shown as its number. Imports almost nothing: boot waits for it."""

from __future__ import annotations

import re

INVISIBLE = (
    "\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Ranges of a character class: formats and directions, fillers, selectors, separators that no one sees, tags."""


_UNSEEN = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f{INVISIBLE}\ud800-\udfff]")
_EMOJI_STYLE = "\ufe0f"


def visible(text: str) -> str:
    """`text` with every character that cannot be seen shown as its number: ⟦U+200B⟧.

    Newlines and tabs stay, CR before LF is a line ending, and an emoji keeps the one selector that gives it its colour.
    """
    return _UNSEEN.sub(_shown, text.replace("\r\n", "\n"))


def _shown(match: re.Match[str]) -> str:
    character, before = match[0], match.string[match.start() - 1 : match.start()]
    if character == _EMOJI_STYLE and before:
        from unicodedata import category

        if category(before) == "So":
            return character
    return f"⟦U+{ord(character):04X}⟧"
