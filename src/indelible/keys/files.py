"""The files of the key folder: read strictly, made once or replaced whole, never half there.

A private key is one line of text with a newline, in a file of mode 0600 that belongs
to the reader or to root, in a folder of mode 0700. What is otherwise is refused in
one sentence that names the file and the remedy, and never shows the key.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from indelible import files
from indelible.errors import Busy, NotSaved, UsageError
from indelible.files import make_folder, move

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["create", "locked", "make_folder", "move", "read_key", "replace"]

_MAX_FILE = 16_384
_BINARY = getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _BINARY
_TEMPORARY = ".tmp-"
_LOCK = ".lock"
_TRIES = 200
_PAUSE = 0.05
_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


def read_key(path: str, *, private: bool) -> str:
    """The one line of a key file, without its newline.

    Raises:
        FileNotFoundError: there is none.
        UsageError: the file is not as a key file has to be.
    """
    try:
        descriptor = os.open(path, _READ)
    except FileNotFoundError:
        raise
    except OSError as exc:
        if os.path.islink(path):
            raise _fault(path, "is a symbolic link", "Name the file itself, or put it there") from exc
        if os.path.isdir(path):
            raise _fault(path, "is a folder", "Name the file in it") from exc
        raise _fault(path, f"cannot be read: {exc.strerror}", "Make it yours and readable for you alone") from exc
    try:
        _require_own_file(path, os.fstat(descriptor), private=private)
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return _one_line(path, file.read(_MAX_FILE + 1))
    finally:
        os.close(descriptor)


def create(path: str, text: str) -> bool:
    """Write `text` and a newline into a new file; False, and nothing done, if there is a file already."""
    make_folder(os.path.dirname(path))
    return files.create_file(path, f"{text}\n".encode())


def replace(path: str, text: str) -> None:
    """Write `text` and a newline in place of whatever is there."""
    make_folder(os.path.dirname(path))
    temporary = files.write_temporary(path, f"{text}\n".encode())
    try:
        move(temporary, path)
    finally:
        files.remove(temporary)


@contextmanager
def locked(folder: str) -> Iterator[None]:
    """Be the only writer of `folder`, which is made if need be; what a killed writer left is swept.

    Raises:
        Busy: another writer does not come to an end.
    """
    make_folder(folder)
    if os.name == "posix" and os.stat(folder).st_mode & 0o022:
        raise _fault(folder, "lies open", f"Others could exchange the keys in it: run 'chmod 700 {folder}'")
    try:
        descriptor = os.open(os.path.join(folder, _LOCK), os.O_RDWR | os.O_CREAT | _BINARY, 0o600)
    except OSError as exc:
        raise _not_written(folder, exc) from exc
    try:
        _lock(descriptor, folder)
        for name in os.listdir(folder):
            if name.startswith(_TEMPORARY):
                files.remove(os.path.join(folder, name))
        yield
    finally:
        os.close(descriptor)


def _require_own_file(path: str, found: os.stat_result, *, private: bool) -> None:
    from stat import S_ISDIR, S_ISREG

    if S_ISDIR(found.st_mode):
        raise _fault(path, "is a folder", "Name the file in it")
    if not S_ISREG(found.st_mode):
        raise _fault(path, "is not a file", "Put the key file there")
    if os.name != "posix":
        return
    if found.st_uid not in (os.geteuid(), 0):
        raise _fault(
            path, "belongs to another user of this machine", f"Run 'chown {os.geteuid()} {path}' if it is yours"
        )
    if found.st_mode & (0o077 if private else 0o022):
        what = "read" if private else "change"
        raise _fault(path, f"is open for other users of this machine to {what}", f"Run 'chmod 600 {path}'")


def _one_line(path: str, data: bytes) -> str:
    if not data.strip():
        raise _fault(path, "is empty", "Recover the key from its backup: indelible key recover")
    if data.startswith(_MARKS):
        raise _fault(path, "begins with a byte-order mark", "Save it as UTF-8 without one")
    if b"\r" in data:
        raise _fault(path, "has the line ends of Windows", "Save it with plain newlines")
    try:
        line = data.decode().rstrip("\n")
    except UnicodeDecodeError:
        line = "\n"
    if "\n" in line or len(data) > _MAX_FILE:
        raise _fault(path, "does not hold a key", "Recover the key from its backup: indelible key recover")
    return line


def _fault(path: str, fault: str, remedy: str) -> UsageError:
    return UsageError(f"The key file {path} {fault}", remedy=remedy, file=path)


def _not_written(path: str, exc: OSError) -> NotSaved:
    return files.not_written(path, exc, "The key file")


def _lock(descriptor: int, folder: str) -> None:
    for _ in range(_TRIES):
        if _try_lock(descriptor):
            return
        time.sleep(_PAUSE)
    raise Busy(f"Another process holds the key folder {folder}", file=folder)


def _try_lock(descriptor: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def listed(folder: str, suffix: str) -> tuple[str, ...]:
    """The files of a folder that end so, in order; none where there is no folder."""
    try:
        return tuple(sorted(file for file in os.listdir(folder) if file.endswith(suffix)))
    except FileNotFoundError:
        return ()
