"""One process at a target: a lock that the system frees, however that process ends.

It belongs to an open file below `.indelible/stamps`, which lies in one checkout; what two machines do is told apart by the
stamps themselves, of which each is written over the one that its writer had read.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from indelible.errors import ConflictError
from indelible.files import make_folder, not_written

if TYPE_CHECKING:
    from collections.abc import Iterator

_HOW = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_TRIES, _PAUSE = 6, 0.02
"""How often, and after how many seconds, a lock is tried again."""


@contextmanager
def alone(folder: str, target: str) -> Iterator[None]:
    """Be the only process at a target.

    Raises:
        ConflictError: another one is at it. NotSaved, UsageError: no lock can be made there.
    """
    make_folder(folder)
    path = _path(folder, target)
    try:
        handle = os.open(path, _HOW, 0o600)
    except OSError as exc:
        raise not_written(path, exc) from exc
    try:
        if not _insist(handle):
            raise ConflictError(
                f"Another process is at target {target} now",
                remedy="Wait for its end: 'indelible flow status' shows it",
                target=target,
            )
        yield
    finally:
        os.close(handle)


def is_held(folder: str, target: str) -> bool:
    """Whether a process is at a target."""
    try:
        handle = os.open(_path(folder, target), _HOW & ~os.O_CREAT)
    except OSError:
        return False
    try:
        return not _take(handle, shared=True)
    finally:
        os.close(handle)


def _path(folder: str, target: str) -> str:
    return os.path.join(folder, f"{target}.lock")


def _insist(handle: int) -> bool:
    """Take it, past one who only looks: that takes no time worth speaking of."""
    for _ in range(_TRIES):
        if _take(handle):
            return True
        time.sleep(_PAUSE)
    return False


def _take(handle: int, *, shared: bool = False) -> bool:
    """Take the lock until the file is closed; False where another process has it. Who only looks shares it with others who look."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
