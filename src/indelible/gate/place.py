"""Where a reader stands: in which repository, at which commit, on which branch, below which folder.

The repository's identity is that of `identity.py`: by its remote, else by its first commit, else by its folder. So two
clones of one remote are one repository, as are its worktrees; two folders of one name are not, and a submodule has an
identity of its own.

The first commit is the oldest one without a parent that a local branch, or HEAD, goes back to by first parents: a
branch that begins anew, or a history that was merged in, does not change it. A shallow clone does not know its own.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

from indelible.errors import Unchecked, UsageError
from indelible.gate.checkout import LOOK, Found, Trouble, first_commit, look
from indelible.gate.stamps import Stamp, is_racy, stamp_of
from indelible.gate.verdict import Reason

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indelible.gitsource.command import Git


NO_REMEDIES: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class GivenPlace:
    """A place that is known without looking: of a request, or of no folder at all."""

    repo: str | None = None
    root: str | None = None
    revision: str | None = None
    branch: str | None = None
    top: str | None = None
    problem: Reason | None = None
    remedies: Mapping[str, str] = field(default_factory=dict, hash=False)


class GitPlace:
    """The place of a folder, as git tells it: nothing is run before it is asked, and nothing twice.

    Args:
        folder: any folder, in a repository or not.
        environ: the environment, for git.
        timeout: seconds for what is asked at once.
    """

    remedies: Mapping[str, str] = NO_REMEDIES
    """A person in the folder does as the reasons say by themselves."""

    def __init__(self, folder: str, environ: Mapping[str, str], timeout: float = 10.0) -> None:
        self._folder = folder
        self._environ = environ
        self._timeout = timeout

    @property
    def repo(self) -> str | None:
        return self._found.repo

    @property
    def revision(self) -> str | None:
        return self._found.revision

    @property
    def branch(self) -> str | None:
        return self._found.branch

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
            return first_commit(self._git(), found.whole, found.revision)
        except (Unchecked, UsageError):  # it went, or its history is too long to be walked in time
            return None

    @cached_property
    def _found(self) -> Found:
        self._begun = time.time_ns()
        found = self._look()
        self._stamps = tuple(map(_stamp, found.watched))
        return found

    def _look(self) -> Found:
        if not os.path.isdir(self._folder):
            return Found(problem=Reason("git-failed", f"{self._folder} is not a folder", "Name one that is there"))
        try:
            return look(self._git(), self._folder, self._environ)
        except Trouble as trouble:
            return Found(problem=trouble.reason)
        except OSError as error:
            return Found(problem=Reason("git-failed", f"{self._folder} cannot be looked at ({error.strerror})", LOOK))
        except (Unchecked, UsageError) as error:
            remedy = "Install git, or put it on the PATH" if error.slug == "git-missing" else LOOK
            return Found(problem=Reason(error.slug, error.message, remedy))

    @property
    def stale(self) -> bool:
        """Whether what git said may have changed since: one `stat` for each file that it was read from, and no git.

        A file that was written while git was asked is not to be told from one that is as git read it, and counts as changed.
        """
        if "_found" not in self.__dict__:
            return False
        stamps = tuple(map(_stamp, self._found.watched))
        return stamps != self._stamps or any(stamp is not None and is_racy(stamp, self._begun) for stamp in stamps)

    def _git(self) -> Git:
        from indelible.gitsource.command import Git

        return Git(self._environ, self._timeout)


def _stamp(path: str) -> Stamp | None:
    try:
        return stamp_of(os.stat(path))
    except OSError:
        return None
