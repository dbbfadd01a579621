"""The closer look at a text that the prefilter pointed at: every secret in it, as spans that do not overlap."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from indelible.screening.assignments import by_name
from indelible.screening.blocks import by_block
from indelible.screening.found import Span
from indelible.screening.library import by_library
from indelible.screening.shapes import by_shape

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_BREAK = re.compile(r"\r\n|[\n\r]")
_BYTES = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\ud800-\udfff]")
_GENERAL = ("secret", "password", "command-password", "bearer-token")
"""Kinds that say less than another detector's word for the same place."""


def detect(text: str, at: Iterable[int]) -> tuple[Span, ...]:
    """The secrets in the lines of `text` in which the positions `at` lie, in their order."""
    spans: list[Span] = list(by_block(text)) if "PRIVATE" in text or "Private" in text else []
    for start, end in _lines(text, at):
        line = text[start:end]
        for detector in (by_shape,) if _is_binary(line) else (by_shape, by_name, by_library):
            spans += (Span(start + s.start, start + s.end, s.kind) for s in detector(line))
    return tuple(_merged(spans))


def _is_binary(line: str) -> bool:
    """Whether a line is hardly text: a name and a value stand in random bytes by chance."""
    return 4 * len(_BYTES.findall(line)) > len(line)


def lines_of(text: str, positions: Iterable[int]) -> Iterator[int]:
    """The number of the line, from 1, in which each of some ascending positions lies."""
    line, at = 1, 0
    for position in positions:
        line += sum(1 for _ in _BREAK.finditer(text, at, position))
        at = position
        yield line


def _lines(text: str, at: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Each line that holds a position, once. Only these are ever looked for, so that a long text costs what is suspect in it."""
    end = -1
    for position in sorted(at):
        if position >= end:
            start = 1 + max(text.rfind("\n", 0, position), text.rfind("\r", 0, position))
            found = _BREAK.search(text, position)
            end = found.start() if found else len(text)
            if (
                found and found.start() == position
            ):  # a break is part of no line; it can only be pointed at by what stands after it
                continue
            yield start, end


def _merged(spans: list[Span]) -> Iterator[Span]:
    """Spans that overlap as one, under the name that says most."""
    current: Span | None = None
    for span in sorted(spans):
        if current is None or span.start >= current.end:
            if current is not None:
                yield current
            current = span
        else:
            kind = span.kind if current.kind in _GENERAL and span.kind not in _GENERAL else current.kind
            current = Span(current.start, max(current.end, span.end), kind)
    if current is not None:
        yield current
