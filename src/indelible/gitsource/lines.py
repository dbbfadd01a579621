"""What git prints or hands over, line by line: at its own line ends, and at no others.

A name of a reference or a path may hold what `str.splitlines()` takes for the end of a line (U+2028, U+0085, a form feed).
"""

from __future__ import annotations

import os


def lines_of(raw: bytes) -> list[str]:
    """The lines, without their ends."""
    body = raw.removesuffix(b"\n")
    return [os.fsdecode(line) for line in body.split(b"\n")] if body else []


def names_of(raw: bytes) -> list[tuple[str, str]]:
    """`(id, full name)` of each reference that `for-each-ref --format='%(objectname) %(refname)'` prints."""
    rows = (line.partition(" ") for line in lines_of(raw))
    return [(oid, name) for oid, _, name in rows]
