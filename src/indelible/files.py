"""Files by create, append or replace: each whole or not at all, each made durable with its folder."""

from __future__ import annotations

import os

from indelible.errors import NotSaved, UsageError


def replace_file(path: str, content: bytes, *, mode: int = 0o600) -> None:
    """Put `content` in the place of `path`: old bytes or new, never half; a link is not followed out of its folder.

    Raises:
        UsageError: a folder, or a link. NotSaved: it could not be written; the old file stands.
    """
    if os.path.islink(path):
        raise UsageError(f"{path} is a link to {os.readlink(path)}, which is not followed", remedy="Name the file itself")
    if os.path.isdir(path):
        raise UsageError(f"{path} is a folder", remedy="Name a file")
    folder = os.path.dirname(path)
    fresh = os.path.join(folder, f".{os.path.basename(path)[:100]}.{os.getpid()}.{os.urandom(4).hex()}.tmp")
    try:
        _write_new(fresh, content, mode)
        os.replace(fresh, path)
        sync_folder(folder)
    except OSError as exc:
        if os.path.lexists(fresh):
            os.unlink(fresh)
        raise NotSaved(f"{path} could not be written ({exc.strerror})", remedy="Check the folder, its rights and its free room", path=path) from exc


def create_file(path: str, content: bytes, *, mode: int = 0o600) -> bool:
    """Make `path` if it is not there; False where it is, and then it is left alone."""
    folder = os.path.dirname(path)
    fresh = os.path.join(folder, f".{os.path.basename(path)[:100]}.{os.getpid()}.{os.urandom(4).hex()}.tmp")
    try:
        _write_new(fresh, content, mode)
        try:
            os.link(fresh, path)
        except FileExistsError:
            return False
        finally:
            os.unlink(fresh)
        sync_folder(folder)
    except OSError as exc:
        raise NotSaved(f"{path} could not be made ({exc.strerror})", remedy="Check the folder, its rights and its free room", path=path) from exc
    return True


def _write_new(path: str, content: bytes, mode: int) -> None:
    handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0), mode)
    try:
        left = memoryview(content)
        while left:  # a short write is not an error
            left = left[os.write(handle, left) :]
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_folder(folder: str) -> None:
    """Make a new name in `folder` durable, where the system can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
