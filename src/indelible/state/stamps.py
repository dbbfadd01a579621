"""What tells cheaply whether any slot was touched. Imports nothing: a hook asks it at every tool call."""

from __future__ import annotations

import os


def stamps_of(path: str) -> tuple[tuple[object, ...], ...]:
    """Name, inode, size, mtime, ctime, mode and links of every file named like a slot: nobody can set a ctime.

    Empty where the folder is a link, or not there.
    """
    if os.path.islink(path):
        return ()
    try:
        names = sorted(name for name in os.listdir(path) if _is_like_a_slot(name))
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


def _is_like_a_slot(name: str) -> bool:
    """Wider than `parse_name`: a stamp too many costs a look, and one too few would miss something."""
    return len(name) > 6 and name[:2].isdigit() and name[2] == "_" and name.endswith(".md")
