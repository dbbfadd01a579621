"""Where a hook of git's runs: the repository that git speaks of, the settings, and whose receipts count.

Git hands a hook its own variables. Those that say which repository and which objects are meant are obeyed, here and nowhere
else: a push lies in quarantine until `pre-receive` has ended, and `git --git-dir=…` means another repository than the folder.
"""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, NamedTuple

from indelible.gitsource.command import Git
from indelible.workflow.commits import RECEIPT_TARGET

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from indelible.seal.note import Verifier
    from indelible.settings import Settings

HEADS = "refs/heads/"
_GITS = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH",
    "GIT_NAMESPACE",
)  # fmt: skip
TIMEOUT = 120.0


class Rules(NamedTuple):
    """What the workflow says of commits."""

    branches: tuple[str, ...] = ("*",)
    """Local branches whose commits need a receipt; globs on the name without `refs/heads/`."""
    protected: tuple[str, ...] = ("main", "master")
    """Branches elsewhere to which nothing goes without one."""
    target: str = RECEIPT_TARGET

    @property
    def known(self) -> tuple[str, ...]:
        """Options of `git rev-list` for the references whose commits are not new: where every commit was looked at, or came from elsewhere."""
        heads = ("--branches",) if "*" in self.branches else tuple(f"--branches={one}" for one in self.branches)
        return (*heads, "--remotes", "--tags")


class Here(NamedTuple):
    """One run of a hook."""

    folder: str
    environ: Mapping[str, str]
    git: Git
    settings: Settings
    rules: Rules
    now: str


def variables_of(environ: Mapping[str, str]) -> dict[str, str]:
    """Which repository git means."""
    return {name: environ[name] for name in _GITS if name in environ}


def here() -> Here:
    """The run of this process.

    Raises:
        IndelibleError: the settings are broken, and nobody knows what counts here.
    """
    from indelible import settings

    folder, environ = settings.here()
    found = settings.load(folder, environ)
    git = Git(environ, TIMEOUT, variables=variables_of(environ))
    return Here(folder, environ, git, found, rules_of(found), settings.now())


def rules_of(_settings: Settings) -> Rules:
    """What the workflow in force says of commits."""
    return Rules()


def approvers_of(settings: Settings) -> tuple[Verifier, ...]:
    """Whose receipts count on this machine."""
    from indelible import wiring

    return wiring.KeyFolder(wiring.keystore(settings)).approvers()


def matches(ref: str, patterns: Iterable[str]) -> bool:
    """Whether a reference is one of those branches."""
    return ref.startswith(HEADS) and any(fnmatchcase(ref.removeprefix(HEADS), pattern) for pattern in patterns)


def identity_of(folder: str, environ: Mapping[str, str]) -> str:
    """Which repository this is, as a receipt names it; empty where nobody can tell."""
    from indelible.gate.place import GitPlace

    return GitPlace(folder, environ).repo or ""


def is_zero(oid: str) -> bool:
    """Whether git means that there is none."""
    return not oid.strip("0")


def head_branch(git: Git, folder: str) -> str:
    """The branch that HEAD is on, which may be unborn; empty where it is detached."""
    return git.line(folder, "symbolic-ref", "--quiet", "HEAD")


def git_folder(git: Git, folder: str) -> str:
    """The git folder that all checkouts share."""
    return os.path.realpath(os.path.join(folder, git.line(folder, "rev-parse", "--git-common-dir")))
