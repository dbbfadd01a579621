"""Keys that a person cannot tell apart, though no request for one ever finds the other."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from indelible.cli.output import escaped, is_hidden, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

_CYRILLIC = (
    "\u0430\u0432\u0435\u0456\u043a\u043c\u043d\u043e\u0440\u0441\u0442\u0443\u0445\u0455\u0458\u0475",
    "abeikmhopctyxsjv",
)
_GREEK = "\u03b1\u03b2\u03b5\u03b6\u03b7\u03b9\u03ba\u03bc\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7", "abezhikmnoptyx"
_ALIKE = str.maketrans(_CYRILLIC[0] + _GREEK[0], _CYRILLIC[1] + _GREEK[1])
"""Small letters beside the Latin ones that they, or their capitals, look like."""
_CONFUSED = frozenset({"LATIN", "CYRILLIC", "GREEK"})


def warnings_of(key: str) -> list[str]:
    """What makes this key look like another one, in words."""
    if shown(key) != key:
        return [f"The key holds characters that cannot be seen: {shown(key)}"]
    if key.isascii():
        return []
    scripts = {unicodedata.name(char, "?").split(" ")[0] for char in key if char.isalpha()} & _CONFUSED
    if len(scripts) > 1:
        return [f"The key mixes letters of {', '.join(sorted(scripts))}, which can look alike: {escaped(key)}"]
    if is_decomposed(key):
        return ["The key is in decomposed Unicode, as macOS gives it: the same word typed elsewhere is another key"]
    return []


def is_decomposed(key: str) -> bool:
    """Whether the key has a composed form, which is another key."""
    return not key.isascii() and unicodedata.normalize("NFC", key) != key


def twins_among(keys: Iterable[str]) -> list[list[str]]:
    """Groups of keys that differ by case, normal form, space, what cannot be seen, or a letter of another script."""
    groups: dict[str, list[str]] = {}
    for key in keys:
        groups.setdefault(_skeleton(key), []).append(key)
    return [group for group in groups.values() if len(group) > 1]


def _skeleton(key: str) -> str:
    folded = key.casefold() if key.isascii() else unicodedata.normalize("NFKC", key).casefold()
    seen = "".join(char for char in folded if not is_hidden(char))
    return " ".join(seen.translate(_ALIKE).split())
