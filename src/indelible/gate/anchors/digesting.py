"""The digest of a file's bytes: plain SHA-256, or the id that git gives a blob with these bytes."""

from __future__ import annotations

import os
import stat
from hashlib import sha1, sha256
from typing import TYPE_CHECKING

from indelible.gate.anchors.locating import UNKNOWN, Doubt, require_file

if TYPE_CHECKING:
    from hashlib import _Hash

CHUNK = 1 << 20
MAX_PARSED = 64 << 20
"""Bytes of a file that is read whole to be parsed: no lock file or settings file is larger."""

_TRIES = 3
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def digest_of(path: str, kind: str) -> str:
    """Hex digits of a file's digest: `sha256`, or `blob-sha1` or `blob-sha256` (`blob LEN NUL bytes`, as git hashes it).

    Raises:
        Doubt: it is no file, cannot be read, or changes all the time.
    """
    for _ in range(_TRIES):
        try:
            handle = os.open(path, _FLAGS)
            try:
                seen = os.fstat(handle)
                require_file(seen)
                made = _begin(kind, seen.st_size)
                if _feed(handle, made) == seen.st_size:
                    return made.hexdigest()
            finally:
                os.close(handle)
        except OSError as exc:
            raise Doubt(UNKNOWN, f"cannot be read ({exc.strerror})") from None
    raise Doubt(UNKNOWN, "is being written to, again and again")


def blob_id(content: bytes, kind: str) -> str:
    """The id that git gives a blob with this content."""
    made = _begin(kind, len(content))
    made.update(content)
    return made.hexdigest()


def read_whole(path: str) -> bytes:
    """The bytes of a file that is to be parsed.

    Raises:
        Doubt: it cannot be read, or is too large to be such a file.
    """
    try:
        handle = os.open(path, _FLAGS)
        with open(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise Doubt(UNKNOWN, "is no regular file")
            content = file.read(MAX_PARSED + 1)
    except OSError as exc:
        raise Doubt(UNKNOWN, f"cannot be read ({exc.strerror})") from None
    if len(content) > MAX_PARSED:
        raise Doubt(UNKNOWN, f"is larger than {MAX_PARSED} bytes")
    return content


def _begin(kind: str, size: int) -> _Hash:
    if kind == "sha256":
        return sha256()
    header = b"blob %d\0" % size
    return sha1(header, usedforsecurity=False) if kind == "blob-sha1" else sha256(header)


def _feed(handle: int, made: _Hash) -> int:
    total = 0
    while chunk := os.read(handle, CHUNK):
        made.update(chunk)
        total += len(chunk)
    return total
