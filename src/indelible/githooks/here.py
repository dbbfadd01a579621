"""Where a hook of git's runs: the repository that git speaks of, and the settings.

Git hands a hook its own variables. Those that say which repository and which objects are meant are obeyed, here and nowhere
else: a push lies in quarantine until `pre-receive` has ended, and `git --git-dir=…` means another repository than the folder.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import Blocked
from indelible.gitsource.command import Git
from indelible.workflow.history import AS_STORED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indelible.settings import Settings

_ID = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})")
TIMEOUT = 120.0
_GITS = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH",
    "GIT_NAMESPACE",
)  # fmt: skip


class Here(NamedTuple):
    """One run of a hook."""

    folder: str
    environ: Mapping[str, str]
    git: Git
    settings: Settings


def here() -> Here:
    """The run of this process.

    Raises:
        IndelibleError: the settings are broken, and nobody knows what counts here.
    """
    from indelible import settings

    folder, environ = settings.here()
    return Here(
        folder,
        environ,
        Git(environ, TIMEOUT, variables=variables_of(environ), settings=AS_STORED),
        settings.load(folder, environ),
    )


def variables_of(environ: Mapping[str, str]) -> dict[str, str]:
    """What says which repository git means."""
    return {name: environ[name] for name in _GITS if name in environ}


def is_id(text: str) -> bool:
    """Whether that is the full id of an object, or the zeros that stand for none."""
    return _ID.fullmatch(text) is not None


def not_understood(event: str, line: str) -> Blocked:
    """The error for a line that git hands over in a form that is not known here: what it asks for would go unseen."""
    return Blocked(
        f"{event} refused: git says {line[:200]!r}, which is not understood here",
        remedy="If your git is newer than this program: install a newer one ('pip install -U indelible')",
    )


def is_zero(oid: str) -> bool:
    """Whether git means that there is none."""
    return not oid.strip("0")


def head_branch(git: Git, folder: str) -> str:
    """The branch that HEAD is on, which may be unborn; empty where it is detached."""
    return git.line(folder, "symbolic-ref", "--quiet", "HEAD")


def git_folder(git: Git, folder: str) -> str:
    """The git folder that all checkouts share."""
    return os.path.realpath(os.path.join(folder, git.line(folder, "rev-parse", "--git-common-dir")))
