"""What git says of one checkout, asked in batches and remembered: one process for all files, one for all commits.

All of it is as of the first time that it was asked.
"""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from indelible.gate.anchors.locating import UNKNOWN, Doubt, shown
from indelible.gitsource.command import Git, GitFailed, GitMissing, NoRepository

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

TIMEOUT = 20.0
"""Seconds for one question."""

_FAILURES = 20
"""Files at which git may give up before the rest are no longer asked about."""

_QUOTED = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_GITLINK = re.compile(rb"160000 ([0-9a-f]+) \d\t")


class GitFacts:
    """Git's answers about the checkout at `top`."""

    def __init__(self, environ: Mapping[str, str], top: str) -> None:
        self.top = top
        self._environ = environ
        self._blobs: dict[tuple[str, str], str | None] = {}
        self._commits: dict[str, str | None] = {}
        self._ancestors: dict[str, bool] = {}
        self._heads: dict[str, str | None] = {}
        self._shallow: bool | None = None

    def git(self) -> Git:
        """Git with a fresh limit of time."""
        return Git(self._environ, TIMEOUT)

    def hash_files(self, paths: Sequence[str]) -> list[str | None]:
        """The ids of files as git would commit them, through its filters; None for what it cannot read."""
        found: list[str | None] = []
        for _ in range(_FAILURES):
            out = self._run("hash-object", "--stdin-paths", stdin=b"".join(map(_line, paths[len(found) :])))
            found += out.decode().split()
            if len(found) >= len(paths):
                return found
            found.append(None)  # git gives up at the first file that it cannot read
            if len(found) == len(paths):
                return found
        return found + [None] * (len(paths) - len(found))

    def ask_blobs(self, files: Iterable[tuple[str, str]]) -> None:
        """Have git hash the files that it has not yet: a path, and its raw digest, which tells one content from another."""
        left = [file for file in dict.fromkeys(files) if file not in self._blobs]
        if left:
            self._blobs.update(zip(left, self.hash_files([path for path, _ in left]), strict=True))

    def blob(self, path: str, raw: str) -> str:
        """The id of a file as git would commit it, through its filters.

        Raises:
            Doubt: git cannot say.
        """
        self.ask_blobs(((path, raw),))
        found = self._blobs[path, raw]
        if found is None:
            raise Doubt(UNKNOWN, "cannot be hashed by git", f"See what 'git hash-object {shown(path)}' says")
        return found

    def ask_commits(self, names: Iterable[str]) -> None:
        """Resolve the names of commits that are not resolved yet."""
        left = [name for name in dict.fromkeys(names) if name not in self._commits]
        for name in [name for name in left if not name or "\n" in name or "\0" in name]:
            self._commits[name] = None
            left.remove(name)
        if left:
            asked = "".join(f"{name}^{{commit}}\n" for name in left).encode("utf-8", "surrogateescape")
            answers = os.fsdecode(self._run("cat-file", "--batch-check=%(objectname)", stdin=asked)).split("\n")
            for name, answer in zip(left, answers, strict=False):
                self._commits[name] = answer if _COMMIT.fullmatch(answer) else None

    def commit(self, name: str) -> str | None:
        """The commit that a name stands for; None where there is none, or more than one."""
        self.ask_commits((name,))
        return self._commits.get(name)

    def ref(self, name: str) -> str:
        """The full name of a branch or tag; empty where there is none."""
        if not name or name.startswith("-") or any(letter in name for letter in "\n\0"):
            return ""
        return self._line_in(self.top, "rev-parse", "--verify", "--quiet", "--symbolic-full-name", name)

    def ask_ancestors(self, commits: Iterable[str]) -> None:
        """Find out which full ids of commits that are there are in the history of HEAD."""
        left = [commit for commit in dict.fromkeys(commits) if commit not in self._ancestors]
        if left and self.commit("HEAD") is None:
            self._ancestors.update(dict.fromkeys(left, False))
        elif left:
            asked = "\n".join((*left, "^HEAD", "")).encode()
            beyond = set(self._must("rev-list", "--stdin", stdin=asked).decode().split())
            self._ancestors.update((commit, commit not in beyond) for commit in left)

    def is_ancestor(self, commit: str) -> bool:
        """Whether a commit is HEAD, or in its history."""
        self.ask_ancestors((commit,))
        return self._ancestors[commit]

    def head_of(self, path: str) -> str | None:
        """The commit at which a submodule stands: its own HEAD, or what is recorded here while it is not checked out."""
        if path not in self._heads:
            folder = os.path.join(self.top, path)
            if os.path.lexists(os.path.join(folder, ".git")):
                said = self._line_in(folder, "rev-parse", "--verify", "--quiet", "HEAD")
                self._heads[path] = said or None
            else:
                link = _GITLINK.match(self._run("ls-files", "--stage", "-z", "--", path))
                self._heads[path] = link[1].decode() if link else None
        return self._heads[path]

    @property
    def shallow(self) -> bool:
        """Whether history is cut short here."""
        if self._shallow is None:
            self._shallow = self._line_in(self.top, "rev-parse", "--is-shallow-repository") == "true"
        return self._shallow

    def _run(self, *args: str, stdin: bytes = b"") -> bytes:
        with asking():
            return self.git().run(self.top, *args, stdin=stdin).out

    def _must(self, *args: str, stdin: bytes = b"") -> bytes:
        with asking():
            return self.git().must(self.top, *args, stdin=stdin)

    def _line_in(self, folder: str, *args: str) -> str:
        with asking():
            return self.git().line(folder, *args)


@contextmanager
def asking() -> Iterator[None]:
    """Turn git's failure into a doubt."""
    try:
        yield
    except (GitMissing, GitFailed, NoRepository) as error:
        raise Doubt(UNKNOWN, f"cannot be held against git: {error.message}", error.remedy) from error


def _line(path: str) -> bytes:
    """A path on a line of its own, quoted as git reads it where it has to be (`hash-object --stdin-paths`)."""
    if not path.startswith('"') and not any(letter in path for letter in "\n\r"):
        return os.fsencode(path) + b"\n"
    return b'"' + os.fsencode("".join(_QUOTED.get(letter, letter) for letter in path)) + b'"\n'


def pairs(out: bytes) -> Iterator[str]:
    """What git ends with NUL, as text."""
    return (os.fsdecode(part) for part in out.split(b"\0") if part)
