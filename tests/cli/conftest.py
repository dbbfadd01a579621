"""Homes for the tests of the command line: with a store, with a repository, with a full disk, without a superuser's rights."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.cli.hands import FIRST, Kept, git, within
from tests.plain.conftest import server, start

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.conftest import Run

__all__ = ["server", "start"]  # a plain Memory API, as others run it


@pytest.fixture
def kept(home: Path, run: Run) -> Kept:
    """A store outside any repository, with MEMORY.md in it."""
    made = Kept(run, home, home / "work", home / "data" / "indelible" / "store.db")
    assert within("init") == 0
    made.save("MEMORY.md", FIRST)
    return made


@pytest.fixture
def repo(home: Path, run: Run) -> Kept:
    """A git repository with a committed MEMORY.md and a store of its own, in which it is saved."""
    work = home / "work"
    git(work, "init", "-q")
    git(work, "remote", "add", "origin", "https://git.example.org/team/notes.git")
    (work / "MEMORY.md").write_bytes(FIRST)
    git(work, "add", "MEMORY.md")
    git(work, "commit", "-qm", "first")
    assert within("init") == 0
    assert within("save", "MEMORY.md", "MEMORY.md") == 0
    return Kept(run, home, work, work / ".indelible" / "store.db")


@pytest.fixture
def small_disk(kept: Kept) -> Iterator[Kept]:
    """The store's folder on a file system of its own, of 400 KB."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("mounting a small tmpfs needs root on Linux")
    folder = kept.store.parent
    shutil.rmtree(folder)
    folder.mkdir(mode=0o700)
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=400k,mode=700", "tmpfs", folder],
        capture_output=True,
        check=False,
        text=True,
    )
    if done.returncode:
        pytest.skip(f"no tmpfs can be mounted here: {done.stderr.strip()}")
    try:
        kept.be_new()
        assert within("init") == 0
        kept.save("MEMORY.md", FIRST)
        yield kept
    finally:
        subprocess.run(["umount", "-l", folder], check=False)


@pytest.fixture
def plain_user() -> tuple[str, ...]:
    """Words before a command that take a superuser's rights over files away; none where there are none to take."""
    if os.name != "posix":
        pytest.skip("rights of files are tested where they are POSIX ones")
    if os.geteuid() != 0:
        return ()
    if shutil.which("setpriv") is None:
        pytest.skip("root is stopped by no mode, and there is no setpriv to take that away")
    return ("setpriv", "--bounding-set", "-dac_override,-dac_read_search,-fowner")
