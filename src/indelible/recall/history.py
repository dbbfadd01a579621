"""What earlier comparisons found: JSON Lines in the user's state folder, one line for each pair of each run, only ever added to.

    {"schema":1,"at":"2026-11-30T09:00:00Z","of":"5f0c…","among":"91aa…","vectors":"ngrams/1","a":"eros","b":"rudex",
     "cosine":0.0412,"likeness":null,"a_in_b":0.0,"b_in_a":0.0031}

`of` stands for the very memories that were compared, `among` for the agents: a cosine is centred by all of them, so that one
among others is another measure. Neither says what the memories hold.

The lines of a run are added in one write. A line that was cut, by a crash or a full disk, is not read, and it is said so; the
next run begins on a line of its own. When the file has grown past its bound it becomes `NAME.1`, in the place of an older one:
both are read.
"""

from __future__ import annotations

import json
import math
import os
from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import IndelibleError
from indelible.files import append_line

if TYPE_CHECKING:
    from collections.abc import Iterable

SCHEMA = 1
MOST = 4 << 20
"""Bytes of a file before a new one begins; or 64 runs, where these are more."""
_RUNS = 64
_TEXTS = ("at", "of", "among", "vectors", "a", "b")
_NUMBERS = ("cosine", "likeness", "a_in_b", "b_in_a")
_MAYBE = frozenset({"cosine", "likeness"})


class Past(NamedTuple):
    """What one run found of one pair."""

    at: str
    of: str
    among: str
    vectors: str
    a: str
    b: str
    cosine: float | None
    likeness: float | None
    a_in_b: float
    b_in_a: float


class History(NamedTuple):
    """What is there, oldest first."""

    lines: tuple[Past, ...]
    problems: tuple[str, ...] = ()
    """What could not be read, in sentences."""


def parse(line: bytes) -> Past:
    """One line.

    Raises:
        ValueError: it is none of ours.
    """
    found = json.loads(line, parse_constant=_refuse)
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        raise ValueError("another schema")
    texts = [found.get(name) for name in _TEXTS]
    numbers = [found.get(name) for name in _NUMBERS]
    if not all(isinstance(text, str) and text for text in texts):
        raise ValueError("a name is missing")
    for name, number in zip(_NUMBERS, numbers, strict=True):
        if number is None and name in _MAYBE:
            continue
        if (
            isinstance(number, bool)
            or not isinstance(number, (int, float))
            or not math.isfinite(number)
            or abs(number) > 1
        ):
            raise ValueError("a number is out of bounds")
    return Past(*texts, *numbers)  # type: ignore[arg-type]


def format(past: Past) -> bytes:  # noqa: A001 - the pair of `parse`
    """The line that `parse` reads, with its end."""
    text = json.dumps({"schema": SCHEMA, **past._asdict()}, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.encode() + b"\n"


def load(path: str) -> History:
    """All that is kept at `path`, and in the file that was there before it.

    Raises:
        IndelibleError: it cannot be read at all.
    """
    lines: list[Past] = []
    problems: list[str] = []
    for file in (f"{path}.1", path):
        _load(file, lines, problems)
    return History(tuple(lines), tuple(problems))


def _load(path: str, lines: list[Past], problems: list[str]) -> None:
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return
    except OSError as exc:
        raise IndelibleError(
            f"The history of comparisons {path} cannot be read ({exc.strerror})",
            remedy="Check its rights, or move it away",
        ) from exc
    *whole, rest = data.split(b"\n")
    bad = []
    for number, line in enumerate(whole, 1):
        if line:
            try:
                lines.append(parse(line))
            except (ValueError, RecursionError):
                bad.append(number)
    if bad:
        told = ", ".join(map(str, bad[:5])) + (f" and {len(bad) - 5} more" if len(bad) > 5 else "")
        problems.append(f"{path}: line {told} cannot be read and is left out")
    if rest:
        problems.append(f"{path}: its last line was cut and is left out")


def append(path: str, lines: Iterable[Past]) -> None:
    """Add the lines of one run, in one write.

    Raises:
        IndelibleError: they could not be added.
    """
    data = b"".join(map(format, lines))
    if not data:
        return
    try:
        size = append_line(path, (b"\n" if _is_cut(path) else b"") + data)
        if size > max(MOST, _RUNS * len(data)):
            os.replace(path, f"{path}.1")
    except OSError as exc:
        raise IndelibleError(
            f"The history of comparisons {path} could not be added to ({exc.strerror})",
            remedy="Make room there; this comparison is not remembered",
        ) from exc


def _is_cut(path: str) -> bool:
    """Whether there is a last line without its end."""
    try:
        with open(path, "rb") as file:
            if not file.seek(0, os.SEEK_END):
                return False
            file.seek(-1, os.SEEK_END)
            return file.read(1) != b"\n"
    except FileNotFoundError:
        return False


def _refuse(text: str) -> float:
    raise ValueError(text)
