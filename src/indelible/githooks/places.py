"""Where git looks for the hooks of a repository, and where we keep what we have to know of them.

    {git folder}/indelible/githooks.json    what was done, so that it can be undone
    {git folder}/indelible/hooks/           our hooks, where the user's are not ours to write into
    {git folder}/indelible/before/          copies of the hooks that were there
    {git folder}/indelible/claims/          receipts that a commit is just being made with
    {git folder}/indelible/all-branches     that every local branch is guarded: `workflow.guarded`
    {state folder}/githooks/NUMBER          that they were installed, and how it looked then: for boot

The worktrees of a repository share all of it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from indelible.gitsource.command import NoRepository
from indelible.gitsource.hookspath import hooks_path

if TYPE_CHECKING:
    from indelible.gitsource.command import Git

OURS = "indelible"


class Places(NamedTuple):
    """Of one repository."""

    top: str
    """The checkout; of a bare repository its own folder."""
    common: str
    """The git folder that all checkouts share."""
    bare: bool
    configured: str
    """`core.hooksPath` as it stands; empty where it is not set."""
    scope: str
    """Where it is set: `local`, `global`, `system`, `worktree`."""
    folder: str
    """Where git looks for hooks."""

    @property
    def own(self) -> str:
        """Our folder in the git folder."""
        return os.path.join(self.common, OURS)

    @property
    def manifest(self) -> str:
        return os.path.join(self.own, "githooks.json")

    @property
    def hooks(self) -> str:
        """Our own folder of hooks."""
        return os.path.join(self.own, "hooks")

    @property
    def default(self) -> str:
        """Where git looks if nobody says otherwise."""
        return os.path.join(self.common, "hooks")


def find_places(git: Git, folder: str) -> Places:
    """Look.

    Raises:
        NoRepository: there is none.
    """
    ended = git.run(folder, "rev-parse", "--is-bare-repository", "--git-common-dir")
    lines = os.fsdecode(ended.out).split("\n")
    if ended.code or len(lines) != 3:
        raise NoRepository(
            f"{folder} is in no git repository ({ended.fault})", remedy="Go into one, or 'git init' makes one"
        )
    common = os.path.realpath(os.path.join(folder, lines[1]))
    bare = lines[0] == "true"
    top = common if bare else git.line(folder, "rev-parse", "--show-toplevel")
    if not top:
        raise NoRepository(f"{folder} is inside of git's own folder", remedy="Go into the checkout", folder=folder)
    scope, said = hooks_path(git, folder)
    used = os.path.join(common if bare else top, said) if said else os.path.join(common, "hooks")
    return Places(top, common, bare, said, scope, os.path.normpath(used))


def is_writable_place(git: Git, places: Places) -> bool:
    """Whether the hooks in force are this repository's own and no part of its history."""
    folder = os.path.realpath(places.folder)
    if _within(places.common, folder):
        return True
    if not _within(os.path.realpath(places.top), folder):
        return False
    return not git.must(places.top, "ls-files", "-z", "--", os.path.relpath(folder, os.path.realpath(places.top)))


def _within(folder: str, path: str) -> bool:
    return path == folder or path.startswith(folder + os.sep)
