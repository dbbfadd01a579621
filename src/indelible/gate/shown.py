"""A text with every character that cannot be seen shown as its number. Imports nothing: boot waits for it."""

from __future__ import annotations

from indelible.light import TYPE_CHECKING

if TYPE_CHECKING:
    import re

INVISIBLE = (
    "\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Ranges of a character class: formats and directions, fillers, selectors, separators that no one sees, tags."""
_UNSEEN = f"[\x00-\x08\x0b-\x1f\x7f-\x9f{INVISIBLE}\ud800-\udfff]"
LONGEST = 4_096
"""Characters of what is said in one line, unless told otherwise."""
NAME = 200
"""Characters of a name, a key, or whatever else somebody chose who is not asked for more."""
_EMOJI_STYLE = "\ufe0f"
_PRINTABLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0").union(
    map(chr, (*range(0xFE00, 0xFE10), *range(0x13430, 0x13460), *range(0xE0100, 0xE01F0)))
)
"""Those of them that Python calls printable."""


def visible(text: str) -> str:
    """`text` with every character that cannot be seen shown as its number: ⟦U+200B⟧.

    Newlines and tabs stay, CR before LF is a line ending, and an emoji keeps the one selector that gives it its colour.
    """
    text = text.replace("\r\n", "\n")
    if text.replace("\n", "").replace("\t", "").isprintable() and (text.isascii() or _PRINTABLE.isdisjoint(text)):
        return text
    import re  # compiled when there is something to show, which is seldom

    return re.sub(_UNSEEN, _shown, text)


def one_line(text: str, most: int = LONGEST) -> str:
    """`text` on one line, as `visible` shows it, and no longer than `most` characters: for what stands in a line of ours."""
    shown = visible(text)
    if "\n" in shown or "\t" in shown:
        shown = shown.replace("\n", "⟦U+000A⟧").replace("\t", "⟦U+0009⟧")
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"


def bounded(text: str, most: int = LONGEST) -> str:
    """As `one_line`, and without the brackets of a boundary: what stands inside of one cannot end it."""
    return one_line(text, most).replace("[", "⟦U+005B⟧").replace("]", "⟦U+005D⟧")


def _shown(match: re.Match[str]) -> str:
    character, before = match[0], match.string[match.start() - 1 : match.start()]
    if character == _EMOJI_STYLE and before:
        from unicodedata import category

        if category(before) == "So":
            return character
    return f"⟦U+{ord(character):04X}⟧"
