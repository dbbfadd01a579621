"""The files of the key folder: read strictly, made once or replaced whole, never half there.

A private key is one line of text with a newline, in a file of mode 0600 that belongs
to the reader or to root, in a folder of mode 0700. What is otherwise is refused in
one sentence that names the file and the remedy, and never shows the key.
"""

from __future__ import annotations

import errno
import os
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from indelible.errors import Busy, DiskFull, NotSaved, ReadOnly, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAX_FILE = 16_384
_BINARY = getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _BINARY
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY
_TEMPORARY = ".tmp-"
_LOCK = ".lock"
_TRIES = 200
_PAUSE = 0.05
_NO_ROOM = frozenset({errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)})
_NO_WRITING = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
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
    temporary = _write_temporary(path, text)
    try:
        _publish_new(temporary, path)
    except FileExistsError:
        return False
    except OSError as exc:
        raise _not_written(path, exc) from exc
    finally:
        _remove(temporary)
    _sync(os.path.dirname(path))
    return True


def replace(path: str, text: str) -> None:
    """Write `text` and a newline in place of whatever is there."""
    temporary = _write_temporary(path, text)
    try:
        move(temporary, path)
    finally:
        _remove(temporary)


def move(source: str, target: str) -> None:
    """Put a file in another's place, in one step."""
    try:
        os.replace(source, target)
    except OSError as exc:
        raise _not_written(target, exc) from exc
    _sync(os.path.dirname(target))
    _sync(os.path.dirname(source))


def make_folder(path: str) -> None:
    """Make a private folder and what is missing above it."""
    if os.path.isdir(path):
        return
    parent = os.path.dirname(path)
    if parent != path:
        make_folder(parent)
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        if not os.path.isdir(path):
            raise UsageError(f"{path} is not a folder", remedy="Move it away", file=path) from None
    except OSError as exc:
        raise _not_written(path, exc) from exc
    _sync(parent)


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
                _remove(os.path.join(folder, name))
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
    kind = DiskFull if exc.errno in _NO_ROOM else ReadOnly if exc.errno in _NO_WRITING else NotSaved
    return kind(f"The key file {path} was not written: {exc.strerror}", file=path)


def _write_temporary(path: str, text: str) -> str:
    """A new file beside `path`, with its bytes on the disk."""
    folder = os.path.dirname(path)
    make_folder(folder)
    temporary = os.path.join(folder, f"{_TEMPORARY}{os.getpid()}-{os.urandom(8).hex()}")
    try:
        descriptor = os.open(temporary, _NEW, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(f"{text}\n".encode())
            file.flush()
            os.fsync(descriptor)
    except OSError as exc:
        _remove(temporary)
        raise _not_written(path, exc) from exc
    return temporary


def _publish_new(temporary: str, path: str) -> None:
    if os.name == "nt":
        os.rename(temporary, path)  # which there refuses to replace
        return
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:
        # A file system without hard links. The folder's lock is held, so nobody comes between.
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path) from None
        os.rename(temporary, path)


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return  # gone already, or swept by the next writer


def _sync(folder: str) -> None:
    """Make names in `folder` last; Windows has no such call."""
    if os.name != "posix":
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as exc:
        raise _not_written(folder, exc) from exc


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
