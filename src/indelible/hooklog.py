"""Failures of hooks, one line each, in the user's state folder: what failed and why, never what it was about.

    {state folder}/hooks.log
    2026-11-30T14:00:33Z claude-code SessionStart (/home/you/work) store-unusable: The store … is not a store. Run …

The place in brackets is the top of the checkout that the event's folder lies in; empty outside of any.

When the file has grown past its bound, it becomes `hooks.log.1`, in the place of an older one, and a new one begins.
"""

from __future__ import annotations

import os

from indelible.errors import IndelibleError
from indelible.files import append_line

MOST = 256 * 1024
"""Bytes of the file before a new one begins."""
_LONGEST = 500


def log_path(state_dir: str) -> str:
    """Where the failures stand."""
    return os.path.join(state_dir, "hooks.log")


def note_failure(state_dir: str, now: str, text: str) -> str:
    """Add a line; answers with what to say where it could not be added, empty where it was.

    Args:
        state_dir: the user's state folder.
        now: RFC 3339.
        text: host, event and reason; line ends and control characters in it are taken out.
    """
    path = log_path(state_dir)
    line = f"{now} {one_line(text)}\n"
    try:
        size = append_line(path, line.encode("utf-8", "backslashreplace"))
        if size > MOST:
            os.replace(path, f"{path}.1")
    except (OSError, IndelibleError):
        return f"it could not be noted in {path}"
    return ""


def last_failure(state_dir: str, place: str) -> str:
    """The newest line that is about a place, or a folder below it; empty where there is none.

    Args:
        place: the top of a checkout; empty outside of any.
    """
    named = one_line(place)
    signs = (f" ({named}) ", f" ({named}{os.sep}" if named else f" ({named}) ")
    for path in (log_path(state_dir), f"{log_path(state_dir)}.1"):
        try:
            with open(path, "rb") as file:
                file.seek(max(0, os.fstat(file.fileno()).st_size - MOST))
                lines = [
                    line
                    for line in file.read().decode("utf-8", "replace").splitlines()
                    if any(sign in line for sign in signs)
                ]
        except OSError:
            continue
        if lines:
            return one_line(lines[-1])
    return ""


def one_line(text: str) -> str:
    """A text as one printable line of bounded length."""
    plain = "".join(char if char.isprintable() else " " for char in text)
    return " ".join(plain.split())[:_LONGEST]
