"""What tells cheaply whether any slot was touched. Imports nothing: a hook asks it at every tool call."""

from __future__ import annotations

import os

_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
_REST = _LETTERS | frozenset("._-")
_LONGEST = 96
"""Characters of a name between its number and its suffix."""


def is_slot_name(name: str) -> bool:
    """Whether a file of that name is a slot's: two digits, an underline, up to 96 letters, digits, dots and dashes, and .md."""
    number, rest = name[:2], name[3:-3]  # by hand: compiling three expressions would cost every boot half a millisecond
    plain = len(number) == 2 and number.isascii() and number.isdigit() and name[2:3] == "_" and name.endswith(".md")
    return plain and 0 < len(rest) <= _LONGEST and rest[0] in _LETTERS and _REST.issuperset(rest)


def stamps_of(path: str) -> tuple[tuple[object, ...], ...]:
    """Name, inode, size, mtime, ctime, mode and links of every file named like a slot: nobody can set a ctime.

    Empty where the folder is a link, or not there.
    """
    if os.path.islink(path):
        return ()
    try:
        names = sorted(name for name in os.listdir(path) if is_slot_name(name))
    except OSError:
        return ()
    stamps = []
    for name in names:
        try:
            at = os.lstat(os.path.join(path, name))
        except OSError:
            continue
        stamps.append((name, at.st_ino, at.st_size, at.st_mtime_ns, at.st_ctime_ns, at.st_mode, at.st_nlink))
    return tuple(stamps)
