"""The files of a store: whose they are, and who else may read or change them."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from indelible.audit.findings import Notebook

_SUFFIXES = ("", "-wal", "-shm")


def look_at_files(path: str, findings: Notebook) -> None:
    """Warn of files that others may read, of a folder in which others may exchange them, and of links."""
    for suffix in _SUFFIXES:
        _look_at(path + suffix, findings)
    folder = os.path.dirname(os.path.abspath(path))
    mode = _mode(folder)
    if mode is not None and mode & 0o022 and not mode & stat.S_ISVTX and os.name == "posix":
        findings.add("open-to-others", f"Others may exchange files in {folder} (mode {mode & 0o777:o})")


def _look_at(path: str, findings: Notebook) -> None:
    mode = _mode(path)
    if mode is None:
        return
    if stat.S_ISLNK(mode):
        findings.add("open-to-others", f"{path} is a link to {os.readlink(path)}: who can change the link chooses the store",
                     remedy="Name the file itself")  # fmt: skip
    elif mode & 0o077 and os.name == "posix":
        findings.add("open-to-others", f"Others may read or change {path} (mode {mode & 0o777:o})")


def _mode(path: str) -> int | None:
    try:
        return os.lstat(path).st_mode
    except OSError:
        return None
