"""What was there before, so that nobody has to approve it: the one answer for everybody who looks at new commits.

Who looks, and what counts there:

    a reference moves   the guarded branches, every remote's branches, tags
    a push              the branch as it is there, that remote's protected branches, the baseline
    a host's gate       as a push, and what was committed before this log began or the first receipt was given
    boot                the last HEAD that was all right, the baseline, what remotes had when they were fetched
    a receiver          its protected branches, the baseline in its file of approvers

A baseline is what lay there when the hooks were installed (`moved.baseline_of`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indelible.gitsource.lines import lines_of, names_of
from indelible.workflow.branches import HEADS, are_all, is_among

if TYPE_CHECKING:
    from collections.abc import Iterable

    from indelible.gitsource.command import Git

REMOTES = "refs/remotes/"
_MOST_FETCHED = 1_000


def known_before(
    git: Git, folder: str, *, ids: Iterable[str] = (), branches: Iterable[str] = (), remote: str | None = None,
    protected: Iterable[str] = (), remotes: bool = False, tags: bool = False, fetched: bool = False,
) -> list[str]:  # fmt: skip
    """Full ids, and options of `git rev-list` that stand for some. What is not asked for does not count.

    Args:
        ids: commits: a baseline, what a branch was. Those that are not here are left out.
        branches: globs of local branches.
        remote: name of one remote, of which the branches of `protected` count.
        protected: globs of that remote's branches.
        remotes: every branch of every remote.
        tags: every tag.
        fetched: what remotes had when they were asked; not what is known there because it was pushed from here.

    Raises:
        GitFailed: it cannot be told.
    """
    local, there = tuple(branches), tuple(protected)
    found = present(git, folder, ids)
    if are_all(local):
        found.append("--branches")
    elif local:
        found += [oid for oid, name in _listed(git, folder, HEADS) if is_among(name, local)]
    if remote:
        prefix = f"{REMOTES}{remote}/"
        names = _listed(git, folder, prefix)
        found += [oid for oid, name in names if is_among(f"{HEADS}{name.removeprefix(prefix)}", there)]
    found += [option for option, counts in (("--remotes", remotes), ("--tags", tags)) if counts]
    return found + (_fetched(git, folder) if fetched else [])


def present(git: Git, folder: str, ids: Iterable[str]) -> list[str]:
    """Those commits that are here: what a remote has may never have been fetched."""
    names = list(dict.fromkeys(filter(None, ids)))
    if not names:
        return []
    asked = "".join(f"{name}^{{commit}}\n" for name in names).encode()
    out = git.must(folder, "cat-file", "--batch-check=%(objectname)", stdin=asked)
    return [line for line in lines_of(out) if line and " " not in line]


def _listed(git: Git, folder: str, prefix: str) -> list[tuple[str, str]]:
    return names_of(git.must(folder, "for-each-ref", "--format=%(objectname) %(refname)", prefix))


def _fetched(git: Git, folder: str) -> list[str]:
    ended = git.run(folder, "log", "--walk-reflogs", "--format=%H %gs", "--remotes", "--")
    if ended.code:
        return []
    pairs = (line.partition(" ") for line in lines_of(ended.out))
    return list(dict.fromkeys(name for name, _, how in pairs if not how.startswith("update by push")))[:_MOST_FETCHED]
