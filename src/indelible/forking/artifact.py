"""An output on disk, read once from its beginning to its end: digest, lines, and what a parent is told of it.

No size breaks it: a piece at a time is held, and of a line that is longer than any report only the beginning.
"""

from __future__ import annotations

import os
import re

from indelible.forking.clients import Listener
from indelible.forking.run import ESTIMATE, Measured, Tokens
from indelible.light import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SUMMARY_LINES = 15
WIDTH = 240
"""Characters of a line that a parent is told."""
_PIECE = 1 << 20
_OPENING = (b"{", b"[")
_JSON_LINE = re.compile(rb"\n[{\[]")
_LONGEST = 32 << 20
"""Bytes of a line, or of a document of several lines, that are looked at for a report."""
_TAIL = 1 << 18
"""Bytes at the end of an output, of which the last lines are told."""
_SAMPLE = 1 << 18
"""Bytes by which tokens are estimated."""


class Told(NamedTuple):
    """What a parent is told of an output."""

    lines: tuple[str, ...]
    omitted: int
    is_result: bool
    tokens: Tokens


def measure(path: str, line: Callable[[bytes], None] | None = None) -> Measured:
    """Size, lines and digest of a file; of one that is not there, those of nothing.

    Args:
        line: is called for every line that begins like JSON.
    """
    from hashlib import sha256

    digest, size, lines, last = sha256(), 0, 0, b"\n"
    cutter = _Cutter(line) if line is not None else None
    for piece in pieces(path):
        digest.update(piece)
        size += len(piece)
        lines += piece.count(b"\n")
        last = piece[-1:]
        if cutter is not None:
            cutter.take(piece)
    if cutter is not None:
        cutter.end()
    return Measured(size, lines + (last != b"\n"), digest.hexdigest())


def pieces(path: str, start: int = 0) -> Iterator[bytes]:
    """The bytes of a file, one piece at a time; none where it is not there."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
    except OSError:
        return
    try:
        if start:
            os.lseek(descriptor, start, os.SEEK_SET)
        while piece := os.read(descriptor, _PIECE):
            yield piece
    finally:
        os.close(descriptor)


class _Cutter:
    """Cuts pieces into lines, and hands on those that begin like JSON."""

    def __init__(self, line: Callable[[bytes], None]) -> None:
        self._line, self._left = line, bytearray()
        self._skips = False
        """Whether the line that was begun is of no interest."""

    def take(self, piece: bytes) -> None:
        at = 0 if self._skips or self._left else _beginning(piece, 0)
        while (end := piece.find(b"\n", at)) >= 0:
            self._add(piece[at:end])
            self.end()
            at = _beginning(piece, end + 1)
        self._add(piece[at:])

    def _add(self, part: bytes) -> None:
        if self._skips or not part:
            return
        if not self._left and part[:1] not in b"{[":
            self._skips = True
        elif len(self._left) + len(part) > _LONGEST:
            self._left.clear()
            self._skips = True
        else:
            self._left += part

    def end(self) -> None:
        if self._left:
            self._line(bytes(self._left))
            self._left.clear()
        self._skips = False


def _beginning(piece: bytes, at: int) -> int:
    """From a line's beginning on, where the next one begins that looks like JSON; else the last line's beginning."""
    if piece[at : at + 1] in _OPENING:
        return at
    found = _JSON_LINE.search(piece, at)
    return found.end() - 1 if found else max(at, piece.rfind(b"\n", at) + 1)


def read_output(path: str, errors: str | None, most: int) -> tuple[Measured, Measured | None, Told]:
    """What an output holds, and what a parent is told of it.

    Args:
        errors: the file of the standard error, where that was kept apart.
        most: lines that a parent is told.
    """
    listener = Listener()
    measured = measure(path, listener.line)
    if not listener.text and listener.tokens is None and 0 < measured.size <= _LONGEST:
        _look_for_document(path, listener)
    apart = measure(errors) if errors is not None else None
    tokens = listener.tokens or _estimated(path, measured.size)
    if listener.text:
        lines = listener.text.strip("\n").split("\n")
        return measured, apart, _told(lines, len(lines), most, tokens, is_result=True)
    shown, size = path, measured
    if errors is not None and apart is not None and not measured.size:
        shown, size = errors, apart
    return measured, apart, _told(_tail(shown), size.lines, most, tokens, is_result=False)


def _told(lines: list[str], number: int, most: int, tokens: Tokens, *, is_result: bool) -> Told:
    """So many lines at most, one of which says how many there are beside them.

    Args:
        lines: all of a result, or the last of an output.
        number: how many there are in all.
    """
    room = most if number <= most else max(0, most - 1)
    shown = lines[:room] if is_result else lines[max(0, len(lines) - room) :]
    return Told(tuple(map(bounded, shown)), number - len(shown), is_result, tokens)


def _look_for_document(path: str, listener: Listener) -> None:
    """One JSON document over several lines, with whatever before and behind it."""
    import json

    text = b"".join(pieces(path)).decode("utf-8", "replace")
    decoder, at = json.JSONDecoder(), 0
    for _ in range(8):  # what looks like a beginning, at most
        begins = [found for found in (text.find("{\n", at), text.find("[\n", at)) if found >= 0]
        if not begins:
            return
        at = min(begins)
        try:
            found, _end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            at += 1
            continue
        listener.document(found)
        return


def _tail(path: str) -> list[str]:
    """The last lines of a file."""
    try:
        size = os.path.getsize(path)
    except OSError:
        return []
    tail = b"".join(pieces(path, max(0, size - _TAIL)))[:_TAIL]
    return tail.decode("utf-8", "replace").removesuffix("\n").split("\n") if tail else []


def bounded(line: str) -> str:
    """A line as a terminal would leave it standing: what was written over is gone, and no more than fits."""
    line = (
        line.rstrip("\r").rpartition("\r")[2].encode("utf-8", "backslashreplace").decode()
    )  # half a character of JSON's
    return line if len(line) <= WIDTH else f"{line[:WIDTH]}… ({len(line) - WIDTH} more characters)"


def _estimated(path: str, size: int) -> Tokens:
    """What the output would have cost whoever reads it, from its beginning."""
    from indelible.state.budget import estimate

    sample = next(pieces(path), b"")[:_SAMPLE]
    if not sample:
        return Tokens(0, 0, 0, ESTIMATE)
    return Tokens(0, 0, -(-estimate(sample.decode("utf-8", "replace")) * size // len(sample)), ESTIMATE)
