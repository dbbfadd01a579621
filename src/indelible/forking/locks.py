"""A lock that says that somebody lives: held by a process until it ends, and freed by the system, however it ends.

On POSIX it belongs to the open file, so that a parent takes it and hands it on to the supervisor that it starts: there is
no moment in which a run that was begun has a free one. On Windows the supervisor takes it itself.
"""

from __future__ import annotations

import os
import sys
import time

_HOW = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_YOUNG = 10.0
"""Seconds for which a run on Windows counts as living without a lock: its supervisor is only starting."""


def take(path: str) -> int:
    """Hold the lock of a run that was just begun; gives the descriptor that holds it."""
    descriptor = os.open(path, _HOW, 0o600)
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX)
    return descriptor


def is_locked(path: str) -> bool:
    """Whether somebody holds it; no lock at all is held by nobody."""
    try:
        descriptor = os.open(path, _HOW & ~os.O_CREAT)
    except OSError:
        return sys.platform == "win32" and _is_young(os.path.dirname(path))
    try:
        return _is_taken(descriptor)
    finally:
        os.close(descriptor)


def _is_taken(descriptor: int) -> bool:
    """Look, without being in the way of another one who looks."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    return False


def _is_young(folder: str) -> bool:
    try:
        return time.time() - os.stat(folder).st_mtime < _YOUNG
    except OSError:
        return False
