"""The part of a long text that a question is about: what a model's context has room for."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

_LINE = re.compile(r"[^\n]*\n?")
_WORD = re.compile(r"\w+")
_SHORTEST = 2


class Excerpt(NamedTuple):
    """Characters `start` to `end` of a text of `size`."""

    text: str
    start: int
    end: int
    size: int

    @property
    def whole(self) -> bool:
        return self.end - self.start == self.size


def excerpt(query: str, text: str, characters: int) -> Excerpt:
    """At most so many characters of a text: whole lines, where there are any, around those that have most of the question's words."""
    size = len(text)
    if size <= characters:
        return Excerpt(text, 0, size, size)
    asked = {_plain(word) for word in _WORD.findall(query) if len(word) >= _SHORTEST}
    lines = [found.span() for found in _LINE.finditer(text) if found.end() > found.start()]
    best = max(lines, key=lambda span: (_having(asked, text[span[0] : span[1]][:characters]), -span[0]))
    start = max(0, min(best[0] - characters // 4, size - characters))
    after = text.find("\n", start, best[0]) + 1
    start = after if start and after else start
    end = min(size, start + characters)
    before = text.rfind("\n", best[0], end) + 1
    end = before if end < size and before > start else end
    return Excerpt(text[start:end], start, end, size)


def _having(asked: set[str], line: str) -> int:
    plain = _plain(line)
    return sum(word in plain for word in asked)


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
