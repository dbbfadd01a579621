"""Where a reader stands: in which repository, at which commit, on which branch, below which folder.

The repository's identity is that of `identity.py`: by its remote, else by its first commit, else by its folder. So two
clones of one remote are one repository, as are its worktrees; two folders of one name are not, and a submodule has an
identity of its own.

The first commit is the oldest one without a parent that a local branch, or HEAD, goes back to by first parents: a
branch that begins anew, or a history merged in, does not change it. A shallow clone does not know its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from indelible.errors import Unchecked, UsageError
from indelible.gate.verdict import Reason

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indelible.gitsource.command import Git

_HEAD = "HEAD^{commit}"
_ASKED = ("--is-inside-work-tree", "--is-shallow-repository", "--absolute-git-dir", "--git-common-dir", "--show-cdup",
          "--shared-index-path", _HEAD, "--symbolic-full-name", "HEAD")  # fmt: skip
"""In one run of `rev-parse`. A checkout has a line for `--show-cdup`; `--shared-index-path` is asked because git then reads the index."""
_BRANCH = "refs/heads/"
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_LOOK = "Run 'git status' there: it says more"


@dataclass(frozen=True, slots=True)
class GivenPlace:
    """A place that somebody knows without looking: of a request, or of no folder at all."""

    repo: str | None = None
    root: str | None = None
    revision: str | None = None
    branch: str | None = None
    top: str | None = None
    problem: Reason | None = None


class GitPlace:
    """The place of a folder, as git tells it: two runs in a repository with a remote, each once, and none before it is asked.

    Args:
        folder: any folder, in a repository or not.
        environ: the environment, for git.
        timeout: seconds for all that is asked at once.
    """

    def __init__(self, folder: str, environ: Mapping[str, str], timeout: float = 10.0) -> None:
        self._folder = folder
        self._environ = environ
        self._timeout = timeout

    @property
    def repo(self) -> str | None:
        return self._found.repo

    @property
    def revision(self) -> str | None:
        return self._found.head.revision

    @property
    def branch(self) -> str | None:
        return self._found.head.branch

    @property
    def top(self) -> str | None:
        return self._found.top

    @property
    def problem(self) -> Reason | None:
        return self._found.problem

    @property
    def remote(self) -> str:
        """The name of the remote that gives the identity; empty where none does."""
        return self._found.remote

    @cached_property
    def root(self) -> str | None:
        found = self._found
        if found.root or not found.whole:
            return found.root
        try:
            return _root(self._git(), found.whole, found.head.revision)
        except (Unchecked, UsageError):
            return None

    @cached_property
    def _found(self) -> _Found:
        try:
            return _look(self._git(), _folder(self._folder), self._environ)
        except _Trouble as trouble:
            return _Found(problem=trouble.reason)
        except OSError as error:  # a folder that went, or may not be looked at
            return _Found(problem=Reason("git-failed", f"{self._folder} cannot be looked at ({error.strerror})", _LOOK))
        except (Unchecked, UsageError) as error:
            remedy = "Install git, or put it on the PATH" if error.slug == "git-missing" else _LOOK
            return _Found(problem=Reason(error.slug, error.message, remedy))

    def _git(self) -> Git:
        from indelible.gitsource.command import Git

        return Git(self._environ, self._timeout)
