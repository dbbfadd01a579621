"""Files by create or replace: each whole or not at all, each made durable with its folder.

A file is written under a name of its own beside its place, synced, and then put there in one
step; the folder is synced last. A link in its place is not followed.
"""

from __future__ import annotations

import errno
import os

from indelible.errors import DiskFull, NotSaved, ReadOnly, UsageError

_NEW = (
    os.O_WRONLY
    | os.O_CREAT
    | os.O_EXCL
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
)
_NO_ROOM = frozenset({errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)})
_NO_WRITING = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})


def replace_file(path: str, content: bytes, *, mode: int = 0o600) -> None:
    """Put `content` in the place of `path`: the old bytes or the new ones, never half.

    Raises:
        UsageError: a folder, or a link. NotSaved, DiskFull, ReadOnly: it could not be written; the old file stands.
    """
    _refuse_no_file(path)
    if os.path.exists(path) and not os.path.isfile(path):  # a device or a pipe is written to, and stays what it is
        _write_through(path, content)
        return
    temporary = write_temporary(path, content, mode=mode)
    try:
        move(temporary, path)
    finally:
        remove(temporary)


def _refuse_no_file(path: str) -> None:
    if os.path.islink(path):
        raise UsageError(
            f"{path} is a link to {os.readlink(path)}, which is not followed", remedy="Name the file itself"
        )
    if os.path.isdir(path):
        raise UsageError(f"{path} is a folder", remedy="Name a file")


def _write_through(path: str, content: bytes) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY)
        try:
            _write_all(descriptor, content)
        finally:
            os.close(descriptor)
    except OSError as exc:
        raise not_written(path, exc) from exc


def append_line(path: str, line: bytes) -> int:
    """Add a line to a file in one write, making file and folder where they are not there; gives the file's size then.

    For notes whose loss holds nothing up: it is not synced.

    Raises:
        OSError: it could not be added, or a link stands there. UsageError, NotSaved: the folder could not be made.
    """
    make_folder(os.path.dirname(path))
    # O_NONBLOCK: a pipe that nobody reads is an error, and not a wait for ever.
    how = os.O_CREAT | os.O_APPEND | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    handle = os.open(path, how, 0o600)
    try:
        os.write(handle, line)
        return os.fstat(handle).st_size
    finally:
        os.close(handle)


def create_file(path: str, content: bytes, *, mode: int = 0o600) -> bool:
    """Make `path`; False where something is there, and then it is left alone.

    Raises:
        NotSaved, DiskFull, ReadOnly: it could not be written; nothing is there.
    """
    temporary = write_temporary(path, content, mode=mode)
    try:
        publish_new(temporary, path)
    except FileExistsError:
        return False
    except OSError as exc:
        raise not_written(path, exc) from exc
    finally:
        remove(temporary)
    sync_folder(os.path.dirname(path))
    return True


def make_folder(path: str) -> None:
    """Make a private folder, and what is missing above it.

    Raises:
        UsageError: something else is there. NotSaved, DiskFull, ReadOnly: it could not be made.
    """
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
        raise not_written(path, exc, "The folder") from exc
    sync_folder(parent)


def move(source: str, target: str) -> None:
    """Put a file in another's place, in one step."""
    try:
        os.replace(source, target)
    except OSError as exc:
        raise not_written(target, exc) from exc
    sync_folder(os.path.dirname(target))
    if os.path.dirname(source) != os.path.dirname(target):
        sync_folder(os.path.dirname(source))


def copy_file(source: str, path: str, *, mode: int = 0o600) -> None:
    """As `replace_file`, with the bytes of another file, of whatever size.

    Raises:
        As `replace_file`. OSError: the source cannot be read.
    """
    from shutil import copyfileobj

    _refuse_no_file(path)
    with open(source, "rb") as file:
        temporary = write_temporary(path, b"", mode=mode)
        try:
            with open(temporary, "r+b") as copy:
                copyfileobj(file, copy, 1 << 20)
                copy.flush()
                os.fsync(copy.fileno())
            move(temporary, path)
        except OSError as exc:
            raise not_written(path, exc) from exc
        finally:
            remove(temporary)


def write_temporary(path: str, content: bytes, *, mode: int = 0o600, prefix: str = ".tmp-") -> str:
    """A new file beside `path`, with its bytes on the disk."""
    temporary = os.path.join(os.path.dirname(path), f"{prefix}{os.getpid()}-{os.urandom(8).hex()}")
    try:
        descriptor = os.open(temporary, _NEW, mode)
        try:
            _write_all(descriptor, content)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as exc:
        remove(temporary)
        raise not_written(path, exc) from exc
    return temporary


def _write_all(descriptor: int, content: bytes) -> None:
    left = memoryview(content)
    while left:  # a short write is not an error
        left = left[os.write(descriptor, left) :]


def publish_new(temporary: str, path: str) -> None:
    """Give a finished file its name, unless the name is taken.

    Raises:
        FileExistsError: it is. OSError: the name could not be given.
    """
    if os.name == "nt":
        os.rename(temporary, path)  # which there refuses to replace
        return
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path) from None
        os.rename(temporary, path)


def remove(path: str) -> None:
    """Take a file away; no error where it is gone already."""
    try:
        os.unlink(path)
    except OSError:
        return


def sync_folder(folder: str) -> None:
    """Make the names in `folder` last; Windows has no such call."""
    if os.name != "posix":
        return
    try:
        descriptor = os.open(folder or ".", os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as exc:
        raise not_written(folder, exc) from exc


def not_written(path: str, exc: OSError, what: str = "") -> NotSaved:
    """The error that says which file, why, and what the caller may conclude."""
    kind = DiskFull if exc.errno in _NO_ROOM else ReadOnly if exc.errno in _NO_WRITING else NotSaved
    remedy = "" if kind is not NotSaved else "Check the folder, its rights and its disk"
    return kind(f"{what or 'The file'} {path} was not written ({exc.strerror})", remedy=remedy, file=path)
