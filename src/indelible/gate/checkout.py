"""What git says of the repository that a folder lies in: asked in two runs, with a third where there is no remote, or no commit."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

from indelible.gate import identity
from indelible.gate.verdict import Reason

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indelible.gitsource.command import Git

LOOK = "Run 'git status' there: it says more"
_HEAD = "HEAD^{commit}"
_NO_MATCH = 1
"""How `git config` ends where there is no such setting."""
_ASKED = ("--is-inside-work-tree", "--is-shallow-repository", "--absolute-git-dir", "--git-common-dir", "--show-cdup",
          "--shared-index-path", _HEAD, "--symbolic-full-name", "HEAD")  # fmt: skip
"""Only a checkout has a line for `--show-cdup`. `--shared-index-path` has one seldom, and is asked because git reads the index for it."""
_BRANCH = "refs/heads/"
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_LISTED = re.compile(r"^([0-9]+) ([0-9a-f]{40,64})$", re.MULTILINE)


class Trouble(Exception):
    """Git cannot say, for a reason that is known."""

    def __init__(self, message: str, remedy: str = LOOK) -> None:
        super().__init__(message)
        self.reason = Reason("git-failed", message, remedy)


class Found(NamedTuple):
    """What there is to know of a folder."""

    top: str | None = None
    repo: str | None = None
    remote: str = ""
    """The name of the remote that gives the identity."""
    root: str | None = None
    """Only where the identity is made of it."""
    revision: str | None = None
    branch: str | None = None
    whole: str = ""
    """The folder again, where the repository has its whole history."""
    problem: Reason | None = None
    watched: tuple[str, ...] = ()
    """The files that git read for this: it is what it was for as long as they are."""


class _Layout(NamedTuple):
    """The answer to `_ASKED`."""

    top: str
    own: str
    """The git folder of this checkout."""
    common: str
    """The git folder that all checkouts share."""
    checkout: bool
    shallow: bool
    revision: str | None
    ref: str
    """The full name of HEAD, where there is such a commit."""


def look(git: Git, folder: str, environ: Mapping[str, str]) -> Found:
    """Find out.

    Raises:
        Trouble, Unchecked, OSError: it cannot be found out.
    """
    real = os.path.realpath(folder)
    marker = _marker(real, environ)
    ended = git.run(real, "rev-parse", *_ASKED)
    if ended.code and not ended.out.endswith(f"\n{_HEAD}\n".encode()):
        if ended.fault.startswith("not a git repository") and marker is None:
            return Found(top=real)
        raise _refused(real, marker, ended.fault)
    layout = _parse(ended.out, real)
    if marker is not None and layout.checkout and _is_passed_over(marker, layout):
        raise _refused(real, marker, "not a git repository")
    ref = layout.ref if layout.revision else _unborn(git, real)
    branch = ref.removeprefix(_BRANCH) if ref.startswith(_BRANCH) else None
    whole, watched = "" if layout.shallow else real, _watched(layout, ref)
    found = Found(layout.top, revision=layout.revision, branch=branch, whole=whole, watched=watched)
    return _identified(git, found, real, layout.common)


def first_commit(git: Git, folder: str, revision: str | None) -> str | None:
    """The oldest commit without a parent, by first parents from the local branches and HEAD; None before there is one.

    Raises:
        GitFailed: git cannot walk the history, or not in time.
    """
    tips = ("--branches", *((revision,) if revision else ()))
    listed = git.must(folder, "rev-list", "--first-parent", "--max-parents=0", "--timestamp", *tips)
    commits = _LISTED.findall(listed.decode("ascii", "replace"))
    return min(((int(at), commit) for at, commit in commits), default=(0, None))[1]


def _identified(git: Git, found: Found, folder: str, common: str) -> Found:
    # As they are configured: `git remote -v` would show the user's mirror of them. Only a short form has to be resolved.
    listed = git.run(folder, "config", "-z", "--get-regexp", r"^remote\..*\.url$")
    if listed.code not in (0, _NO_MATCH):
        raise Trouble(f"Git cannot list the remotes of {folder} ({listed.fault})")
    remotes = {
        name: git.line(folder, "remote", "get-url", "--", name) if identity.is_short(address) else address
        for name, address in identity.remotes_in(os.fsdecode(listed.out)).items()
    }
    above, name = os.path.split(common)
    repo, remote = identity.by_remote(remotes, above if name == ".git" else common)
    if repo:
        return found._replace(repo=repo, remote=remote)
    root = first_commit(git, folder, found.revision) if found.whole else None
    return found._replace(repo=identity.by_root(root) if root else identity.by_folder(common), root=root)


def _watched(layout: _Layout, ref: str) -> tuple[str, ...]:
    shared = (
        "config",
        "packed-refs",
        "shallow",
        os.path.join("reftable", "tables.list"),
        *([ref] if ref != "HEAD" else []),
    )
    own = ("HEAD", os.path.join("reftable", "tables.list"), "config.worktree")
    return tuple(os.path.join(layout.own, name) for name in own) + tuple(
        os.path.join(layout.common, name) for name in shared
    )


def _parse(out: bytes, folder: str) -> _Layout:
    lines = os.fsdecode(out).split("\n")[:-1]
    checkout = lines[:1] == ["true"]
    if len(lines) - checkout not in (5, 6, 7) or not os.path.isdir(lines[2]):
        raise Trouble(f"What git says of {folder} cannot be read: perhaps a folder's name has a line break")
    revision, ref = (None, "") if lines[-1] == _HEAD else lines[-2:]
    if revision is not None and not _COMMIT.fullmatch(revision):
        raise Trouble(f"What git calls HEAD's commit in {folder} is none")
    up = lines[4] if checkout else ""
    top, common = (os.path.realpath(os.path.join(folder, path)) for path in (up, lines[3]))
    return _Layout(top, os.path.realpath(lines[2]), common, checkout, lines[1] == "true", revision, ref)


def _unborn(git: Git, folder: str) -> str:
    """The full name of a HEAD before its first commit; one that is broken looks the same to `rev-parse`."""
    ended = git.run(folder, "log", "-1", "--format=%H")
    if "does not have any commits yet" not in ended.fault:
        raise Trouble(f"HEAD leads to no commit in {folder} ({ended.fault})", "Run 'git fsck' there")
    return git.line(folder, "symbolic-ref", "--quiet", "HEAD")


def _marker(folder: str, environ: Mapping[str, str]) -> str | None:
    """The nearest `.git` at or above a folder, as far up as git looks."""
    ceilings = {os.path.realpath(path) for path in environ.get("GIT_CEILING_DIRECTORIES", "").split(os.pathsep) if path}
    device = os.stat(folder).st_dev
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent in {folder, *ceilings} or os.stat(parent).st_dev != device:
            return None
        folder = parent
    return os.path.join(folder, ".git")


def _is_passed_over(marker: str, layout: _Layout) -> bool:
    """Whether git found nothing in a nearer `.git`, and took the repository around it: another one than was meant."""
    below = os.path.dirname(marker).startswith(os.path.join(layout.top, ""))
    return below and os.path.realpath(marker) != layout.own


def _refused(folder: str, marker: str | None, fault: str) -> Trouble:
    if "dubious ownership" in fault:
        remedy = f"If you trust it: git config --global --add safe.directory {os.path.dirname(marker or folder)}"
        return Trouble(f"Git does not read the repository of {folder}, which belongs to another account", remedy)
    if fault.startswith("not a git repository"):
        return Trouble(f"{marker} is there, and git finds no repository in it", "Put it right, or clone anew")
    return Trouble(f"Git cannot read the repository of {folder} ({fault})")
