"""What the user gives, read as it is and with a bound; without click, since `verify` reads its local copy here too."""

from __future__ import annotations

import sys

from indelible.cli.output import write
from indelible.errors import UsageError

MAX_CONTENT = 64 * 1024 * 1024
"""Bytes of one memory; more is a file, not a memory."""


def read_input(file: str | None) -> bytes:
    """The bytes of a file, or of standard input for `-`: as they are, with no newline translated.

    Raises:
        UsageError: it cannot be read, is a folder, is closed, or is too large.
    """
    if file is None or file == "-":
        return _read_standard()
    try:
        with open(file, "rb") as handle:
            return _bounded(handle.read(MAX_CONTENT + 1), str(file))
    except OSError as exc:
        raise UsageError(
            f"{file} cannot be read ({exc.strerror})", remedy="Name a file that is there, or - for standard input"
        ) from exc


def _read_standard() -> bytes:
    if sys.stdin is None:  # a closed one is not an empty memory
        raise UsageError("Standard input is closed", remedy="Name a FILE")
    if sys.stdin.isatty():
        write(sys.stderr, "Reading from the terminal; end with Ctrl-D on a line of its own (to save a file, name it)\n")
    try:
        return _bounded(sys.stdin.buffer.read(MAX_CONTENT + 1), "standard input")
    except OSError as exc:
        raise UsageError(f"Standard input cannot be read ({exc.strerror})", remedy="Name a FILE") from exc


def _bounded(data: bytes, name: str) -> bytes:
    if len(data) > MAX_CONTENT:
        raise UsageError(
            f"{name} has more than {MAX_CONTENT >> 20} MiB", remedy="Save what matters of it; keep the file where it is"
        )
    return data
