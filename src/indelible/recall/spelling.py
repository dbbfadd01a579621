"""Whether a text that has no word of a question may be about it all the same: one of its words is one of the question's, misspelt."""

from __future__ import annotations

import re
import unicodedata
from difflib import SequenceMatcher

LIKE = 0.7
"""Ratio of matching characters (Ratcliff and Obershelp, as `difflib` has it) from which on two words are one, misspelt."""
_SHORTEST = 3
"""Characters of a word that can be told from chance; in scripts that write syllables, two."""
_SYLLABLES = "\u1100"
READ = 65_536
"""Characters of a text that are looked at."""
_WORD = re.compile(r"\w+")


def may_mean(query: str, text: str) -> bool:
    """Whether one of the question's words stands in the text with another spelling, or as a part of a longer word."""
    asked = [word for word in _words(query) if len(word) >= (2 if word >= _SYLLABLES else _SHORTEST)]
    there = _words(text[:READ])
    return any(_is_like(word, other) for word in asked for other in there if word[0] in other or word[-1] in other)


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def _is_like(word: str, other: str) -> bool:
    if len(other) > 2 * len(word) or len(word) > 2 * len(other):
        return word in other
    if word in other:
        return True
    matcher = SequenceMatcher(None, word, other, autojunk=False)
    return matcher.real_quick_ratio() >= LIKE and matcher.quick_ratio() >= LIKE and matcher.ratio() >= LIKE
