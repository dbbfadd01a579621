"""What became of a file, as git's history tells it: which commit touched it last, took it away, or gave it another name."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

from indelible.gate.anchors.gitfacts import asking, pairs

if TYPE_CHECKING:
    from indelible.gate.anchors.gitfacts import GitFacts

MAX_RENAMES = 20
"""How many times over a file is followed to its next name."""

_CANDIDATES = 200
"""Files outside the index that are hashed, at most, to find one again that was moved without git."""

_ENTRY = re.compile(r"\d{6} ([0-9a-f]+) \d\t(.*)", re.DOTALL)


class Renamed(NamedTuple):
    """Where a file is now."""

    path: str
    commit: str | None
    """The commit that moved it; None where that is not committed."""


class History:
    """History as HEAD has it, about files of one checkout."""

    def __init__(self, git: GitFacts) -> None:
        self._git = git

    def last_touch(self, path: str, since: str | None = None) -> str | None:
        """The last commit that touched a path, of those after `since`; a commit there that is not known bounds nothing."""
        start = self._git.commit(since) if since else None
        return self._log(path, "--full-history", f"{start}..HEAD") if start else self._log(path, "HEAD")

    def knows(self, commit: str) -> bool:
        """Whether a commit is there."""
        return self._git.commit(commit) is not None

    def anywhere(self, path: str) -> str | None:
        """The last commit on any branch or tag that touched a path."""
        return self._log(path, "--all")

    def deletion(self, path: str) -> str | None:
        """The last commit that took a path away."""
        return self._log(path, "--diff-filter=D", "HEAD")

    def at_head(self, path: str) -> str | None:
        """The id of what HEAD has at a path; None where it has nothing."""
        with asking():
            out = self._git.git().run(self._git.top, "ls-tree", "-z", "--full-tree", "HEAD", "--", path).out
        return out.split(b"\t")[0].split(b" ")[-1].decode() or None

    def elsewhere(self, blob: str, name: str) -> str | None:
        """Another path that has a blob now: by the index, else by the files that git does not track."""
        with asking():
            git = self._git.git()
            for entry in pairs(git.must(self._git.top, "ls-files", "--stage", "-z")):
                found = _ENTRY.fullmatch(entry)
                if found and found[1] == blob and os.path.lexists(os.path.join(self._git.top, found[2])):
                    return found[2]
            size = git.line(self._git.top, "cat-file", "-s", blob)
            others = list(pairs(git.must(self._git.top, "ls-files", "--others", "--exclude-standard", "-z")))
        alike = [path for path in others if _alike(os.path.join(self._git.top, path), name, size)][:_CANDIDATES]
        ids = self._git.hash_files(alike) if alike else []
        return next((path for path, found in zip(alike, ids, strict=True) if found == blob), None)

    def renamed(self, path: str, since: str | None) -> Renamed | None:
        """Where git's detection of renames sees a path that is gone: in the index, from a known commit on, else commit by commit."""
        if (now := self._moves("diff-index", "--cached", "HEAD").get(path)) is not None:
            return Renamed(now, None)
        start = self._git.commit(since) if since else None
        if start is not None and (now := self._moves("diff-tree", "-r", start, "HEAD").get(path)) is not None:
            return Renamed(now, self.deletion(path))
        commit, now = None, path
        for _ in range(MAX_RENAMES):
            commit = self.deletion(now)
            moved = self._moves("diff-tree", "-r", "--no-commit-id", commit).get(now) if commit is not None else None
            if moved is None:
                return None
            now = moved
            if self.at_head(now) is not None:
                return Renamed(now, commit)
        return None

    def _moves(self, command: str, *args: str) -> dict[str, str]:
        """Old path to new one, of what git takes for renames."""
        how = ("-M", "--no-ext-diff", "--name-status", "--diff-filter=R", "-z")
        with asking():
            parts = list(pairs(self._git.git().run(self._git.top, command, *how, *args).out))
        return dict(zip(parts[1::3], parts[2::3], strict=False))

    def _log(self, path: str, *which: str) -> str | None:
        with asking():
            return self._git.git().line(self._git.top, "log", "-1", "--format=%H", *which, "--", path) or None


def _alike(file: str, name: str, size: str) -> bool:
    try:
        return os.path.basename(file) == name or str(os.path.getsize(file)) == size
    except OSError:
        return False
