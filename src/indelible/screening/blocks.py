"""Private keys over many lines, masked from their first line to their last."""

from __future__ import annotations

import re
from bisect import bisect
from typing import TYPE_CHECKING

from indelible.screening.found import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

_BEGIN = re.compile(r"-{3,5} ?BEGIN (?:[A-Z0-9][A-Z0-9 ]{0,40} )?PRIVATE KEY(?: BLOCK)? ?-{3,5}")
_END = re.compile(r"-{3,5} ?END (?:[A-Z0-9][A-Z0-9 ]{0,40} )?PRIVATE KEY(?: BLOCK)? ?-{3,5}")
_BODY = re.compile(
    r"(?:(?:\\r)?\\n|[\r\n]+)[ \t>*#|\"']*(?:[A-Za-z0-9+/=]{2,}|[A-Z][A-Za-z-]{2,20}: [^\r\n]{0,200})[ \t\"',\\]*(?=\\[rn]|[\r\n]|$)"
)
"""One more line of a key whose end was cut off: base64, or a header of the old PEM form."""
_PUTTY = re.compile(r"Private-Lines: [0-9]{1,4}(?:\r?\n[A-Za-z0-9+/=]{1,80})+")
_KIND = "private-key"


def by_block(text: str) -> Iterator[Span]:
    """The private keys in a text, each as one span."""
    at, ends = 0, tuple(found.span() for found in _END.finditer(text))
    begins = tuple(found.span() for found in _BEGIN.finditer(text))
    for number, (start, head) in enumerate(begins):
        if start < at:
            continue
        following = begins[number + 1][0] if number + 1 < len(begins) else len(text)
        index = bisect(ends, (head,))
        at = ends[index][1] if index < len(ends) and ends[index][0] < following else _cut(text, head)
        yield Span(start, at, _KIND)
    for start, end in ends:
        yield Span(start, end, _KIND)
    for found in _PUTTY.finditer(text):
        yield Span(*found.span(), _KIND)


def _cut(text: str, at: int) -> int:
    while line := _BODY.match(text, at):
        at = line.end()
    return at
