"""Real repositories for the tests of the exact change, and a picture of all that must stay as it was."""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from indelible.workflow.change import Change, open_change

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PIXELS = b"\x00\x01pic"


@dataclass
class Tree:
    """A work tree."""

    top: Path

    def run(
        self, *args: str | bytes, env: dict[str, str] | None = None, stdin: bytes = b""
    ) -> subprocess.CompletedProcess[bytes]:
        settings = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", **(env or {})}
        return subprocess.run(["git", *args], cwd=self.top, env=settings, input=stdin, capture_output=True, check=False)

    def git(self, *args: str | bytes, env: dict[str, str] | None = None, stdin: bytes = b"") -> str:
        ended = self.run(*args, env=env, stdin=stdin)
        assert ended.returncode == 0, (args, ended.stderr)
        return os.fsdecode(ended.stdout.removesuffix(b"\n"))

    def write(self, path: str, data: bytes | str) -> Path:
        file = self.top / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data.encode() if isinstance(data, str) else data)
        return file

    def commit(self, message: str = "more") -> str:
        """Everything, as `git add -A && git commit`; gives the tree."""
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "--no-verify", "-m", message)
        return self.git("rev-parse", "HEAD^{tree}")

    def seed(self) -> Tree:
        """What the cases' scenarios start from."""
        self.write("a.txt", "one\n")
        self.write("run.sh", "#!/bin/sh\n")
        self.write("c.py", "x=1\n")
        self.write("p.bin", PIXELS)
        self.commit("base")
        return self

    def change(self) -> Change:
        return change_of(self.top)


def new_tree(top: Path, *options: str) -> Tree:
    top.mkdir(parents=True, exist_ok=True)
    tree = Tree(top)
    tree.git("init", "-q", *options)
    return tree


def change_of(folder: Path | str) -> Change:
    with open_change(str(folder), os.environ) as opened:
        return opened.change


def rendered(folder: Path | str) -> bytes:
    with open_change(str(folder), os.environ) as opened:
        return b"".join(opened.render())


@contextmanager
def untouched(tree: Tree, *, ask: bool = True) -> Iterator[None]:
    """Everything in the work tree and in .git is afterwards, bit for bit and by its times, what it was before; git says so too, if asked."""
    said = _said(tree) if ask else None
    before = picture(str(tree.top))
    yield
    after = picture(str(tree.top))
    assert {path for path in before | after if before.get(path) != after.get(path)} == set()
    assert said == (_said(tree) if ask else None)


def picture(top: str) -> dict[str, tuple[object, ...]]:
    """Path to mode, size, time and content. Of an object in .git the time is left out: see docs/change.md."""
    found: dict[str, tuple[object, ...]] = {}
    for folder, folders, files in os.walk(os.fsencode(top)):
        for name in [b".", *folders, *files]:
            path = os.path.join(folder, name)
            facts = os.lstat(path)
            content: object = None
            if stat.S_ISREG(facts.st_mode):
                with open(path, "rb") as file:
                    content = hashlib.file_digest(file, "sha256").hexdigest()
            elif stat.S_ISLNK(facts.st_mode):
                content = os.readlink(path)
            is_object = b"/.git/objects/" in path and stat.S_ISREG(facts.st_mode)
            found[os.fsdecode(path)] = (facts.st_mode, 0 if is_object else facts.st_mtime_ns, facts.st_size, content)
    return found


def _said(tree: Tree) -> tuple[bytes, bytes]:
    return tree.run("status", "--porcelain=v2", "-z").stdout, tree.run("stash", "list").stdout
