"""Objects put under the names of others, as whoever can write in `.git/objects` can."""

from __future__ import annotations

import hashlib
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def plant(top: Path, kind: str, named: bytes, held: bytes, form: str = "sha1") -> str:
    """A loose object with the name of one content that holds another; gives the name."""
    name = hashlib.new(form, b"%s %d\0%s" % (kind.encode(), len(named), named)).hexdigest()
    path = top / ".git" / "objects" / name[:2] / name[2:]
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_bytes(zlib.compress(b"%s %d\0%s" % (kind.encode(), len(held), held)))
    return name


def raw(top: Path, kind: str, name: str) -> bytes:
    """An object's bytes."""
    import subprocess

    return subprocess.run(["git", "cat-file", kind, name], cwd=top, capture_output=True, check=True).stdout
