"""Digests of files in a checkout, for the inputs and outputs of targets. Nothing outside of it is read, and no link is followed.

A file's digest is the SHA-256 of its bytes; a link's is that of the text it holds, under a mark of its own. A glob's is over
the paths and digests of what it means, so that a file that is added or taken away counts too.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from indelible.gate.globs import matches
from indelible.light import hashing, sha256

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_FILES = 50_000
"""Files that one glob may mean."""
_CHUNK = 1 << 20
_LEFT_OUT = frozenset({".git", ".indelible"})
_OPEN = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class CannotLook(Exception):
    """What is there cannot be looked at; the words say why."""


def digest_of_path(top: str, path: str) -> str:
    """Digest of one file; empty where nothing is there.

    Raises:
        CannotLook: a folder, a device, a link above it, or a file that cannot be read.
    """
    whole = os.path.join(top, *path.split("/"))
    parent = os.path.dirname(whole)
    if os.path.realpath(parent) != os.path.join(os.path.realpath(top), *path.split("/")[:-1]) and os.path.lexists(
        whole
    ):
        raise CannotLook("a folder above it is a symbolic link, which is not followed")
    try:
        status = os.lstat(whole)
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except (OSError, ValueError) as exc:
        raise CannotLook(f"it cannot be looked at ({exc})") from exc
    return _digest(whole, status)


def digest_of_glob(top: str, glob: str) -> str:
    """Digest over all files that a glob means; empty where it means none.

    Raises:
        CannotLook: they are too many, or one cannot be read.
    """
    rows = []
    for path in _files(top, _start(glob)):
        if matches(glob, path):
            rows.append(f"{digest_of_path(top, path)} {path}\0")
            if len(rows) > MOST_FILES:
                raise CannotLook(f"it means more than {MOST_FILES} files")
    return sha256("".join(sorted(rows)).encode("utf-8", "surrogateescape")).hexdigest() if rows else ""


def _digest(whole: str, status: os.stat_result) -> str:
    try:
        if stat.S_ISLNK(status.st_mode):
            return sha256(b"link\0" + os.fsencode(os.readlink(whole))).hexdigest()
        if not stat.S_ISREG(status.st_mode):
            raise CannotLook(
                "it is no plain file" + (": name what lies in it with glob:" if stat.S_ISDIR(status.st_mode) else "")
            )
        handle = os.open(whole, _OPEN)
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise CannotLook("it is no plain file")
            made = hashing(status.st_size)(b"")
            while block := file.read(_CHUNK):
                made.update(block)
    except FileNotFoundError:
        return ""  # it vanished while it was looked at
    except OSError as exc:
        raise CannotLook(f"it cannot be read ({exc.strerror})") from exc
    return made.hexdigest()


def _start(glob: str) -> str:
    """The folder below which everything lies that a glob means."""
    steps = glob.split("/")
    fixed = next((at for at, step in enumerate(steps) if "*" in step or "?" in step), len(steps))
    return "/".join(steps[: min(fixed, len(steps) - 1)])


def _files(top: str, start: str) -> Iterator[str]:
    """Paths of all files and links below a folder, from the top; git's folder and ours are left out."""
    seen = 0

    def fault(exc: OSError) -> None:
        if not isinstance(exc, (FileNotFoundError, NotADirectoryError)):
            raise CannotLook(f"a folder cannot be read ({exc.strerror})") from exc

    for folder, folders, files in os.walk(os.path.join(top, *start.split("/")) if start else top, onerror=fault):
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        folders[:] = sorted(name for name in folders if name not in _LEFT_OUT and name not in links)
        seen += len(files)
        if seen > 40 * MOST_FILES:
            raise CannotLook("there are too many files below it")
        below = os.path.relpath(folder, top).replace(os.sep, "/")
        for name in (*files, *links):
            yield name if below == "." else f"{below}/{name}"
