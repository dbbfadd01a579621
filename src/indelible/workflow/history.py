"""Commits as they are stored: tree, parents, time and receipt, many in one run of git.

Read from the raw objects, so that neither grafts nor replaced objects, nor anybody's settings of how a log looks, change what
is seen; and each is held against its id, so that no other content under that name does either. The parents are those that the commit names, also where a shallow clone has cut them off.
"""

from __future__ import annotations

import os
import re
import time
from typing import TYPE_CHECKING, NamedTuple

from indelible.gitsource.command import GitFailed, NoRepository
from indelible.gitsource.genuine import Wanted, reading
from indelible.workflow.receipt import TRAILER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from indelible.gitsource.command import Git
    from indelible.gitsource.genuine import Genuine

AS_STORED = ("core.commitGraph=false",)
"""How git is set where commits are judged: an index of parents beside the commits could say anything."""
_RECEIPT = re.compile(rb"^%b[ \t]*:[ \t]*(\S+)[ \t]*\r?$" % TRAILER.encode(), re.IGNORECASE | re.MULTILINE)
_TIME = re.compile(rb".*> (-?[0-9]{1,12}) [+-][0-9]{4}")
_PARENTS = re.compile(rb"tree (?:[0-9a-f]{40}|[0-9a-f]{64})\n(?:parent (?:[0-9a-f]{40}|[0-9a-f]{64})\n)*")
"""Where git looks for tree and parents. Another line that begins so, further below, git passes over, and we refuse."""
_SUBJECT = 72
_WALK = ("-c", *AS_STORED, "rev-list")
"""Parents from the commits themselves: nothing holds that file against them."""


class Commit(NamedTuple):
    """One commit. As `format`, `base`, `tree` and `parents` say it, it is a change too."""

    id: str
    format: str
    """Of object ids: `sha1` or `sha256`."""
    base: str
    """Its first parent; empty where it has none."""
    tree: str
    parents: tuple[str, ...]
    """Its other parents."""
    at: str
    """When its committer says it was made: RFC 3339 in UTC; empty where that is no time."""
    receipts: tuple[str, ...]
    """The values of its receipt trailers, each once."""
    subject: str

    @property
    def above(self) -> tuple[str, ...]:
        """All of its parents."""
        return (self.base, *self.parents) if self.base else ()


class Walk(NamedTuple):
    """What lies between two points of a history."""

    ids: tuple[str, ...]
    """The commits, parents first."""
    edge: frozenset[str]
    """Those just before them, which are counted as known."""


def walk(git: Git, folder: str, tips: Iterable[str], known: Iterable[str]) -> Walk:
    """The commits that `tips` bring over what is known.

    Args:
        tips: full ids.
        known: full ids, or options of `git rev-list` that stand for refs: `--branches`, `--remotes=origin`.

    Raises:
        GitFailed: one of them is not there.
    """
    listed = git.must(
        folder, *_WALK, "--topo-order", "--reverse", "--boundary", *tips, "--not", *filter(None, known), "--"
    )
    lines = listed.decode("ascii").split()
    return Walk(
        tuple(line for line in lines if not line.startswith("-")),
        frozenset(line[1:] for line in lines if line.startswith("-")),
    )


def read_commits(git: Git, folder: str, ids: Iterable[str]) -> Iterator[Commit]:
    """Each of them, in their order.

    Args:
        ids: full ids.

    Raises:
        ObjectAltered: one is not what its id says. GitFailed: one is not there, or is no commit.
    """
    wanted = [Wanted(name, "a commit") for name in ids]
    with reading(git, folder) as objects:
        for found in objects.read(wanted, "commit"):
            yield _parse(found, folder)


def trees_of(git: Git, folder: str, ids: Iterable[str]) -> dict[str, str]:
    """The tree of each commit; one that is not there has none.

    Raises:
        ObjectAltered: one is not what its id says.
    """
    wanted = [Wanted(name, "a commit") for name in dict.fromkeys(filter(None, ids))]
    if not wanted:
        return {}
    with reading(git, folder) as objects:
        found = [one for one in objects.find(wanted) if one is not None and one.kind == "commit"]
    return {one.name: _parse(one, folder).tree for one in found}


def resolve(git: Git, folder: str, revision: str) -> str:
    """The full id of the commit that a revision names.

    Raises:
        GitFailed: it names none here. NoRepository: this is in none.
    """
    found = git.line(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if not found:
        if git.run(folder, "rev-parse", "--git-dir").code:
            raise NoRepository(f"{folder} lies in no git repository", remedy="Go to a repository", folder=folder)
        shallow = git.line(folder, "rev-parse", "--is-shallow-repository") == "true"
        raise GitFailed(
            f"There is no commit {revision!r} in {folder}",
            remedy="This clone is shallow: fetch the whole history ('git fetch --unshallow'; fetch-depth: 0 in CI)"
            if shallow
            else "Fetch it first, or name another one",
            folder=folder,
        )
    return found


def _parse(found: Genuine, folder: str) -> Commit:
    name = found.name
    head, _, message = (found.content or b"").partition(b"\n\n")
    lines = head.split(b"\n")
    named = _PARENTS.match(head)
    if named is None or sum(line.startswith((b"tree ", b"parent ")) for line in lines) != named[0].count(b"\n"):
        raise GitFailed(f"The commit {name} cannot be read", remedy="Try 'git fsck' there", folder=folder)
    tree, *parents = (line.partition(b" ")[2].decode("ascii") for line in named[0].splitlines())
    at = next((_time(line) for line in lines if line.startswith(b"committer ")), "")
    receipts = tuple(dict.fromkeys(found.decode("ascii", "replace") for found in _RECEIPT.findall(message)))
    return Commit(
        name, "sha256" if len(name) == 64 else "sha1", parents[0] if parents else "", tree, tuple(parents[1:]), at, receipts,
        os.fsdecode(message.lstrip().split(b"\n", 1)[0])[:_SUBJECT],
    )  # fmt: skip


def _time(line: bytes) -> str:
    found = _TIME.fullmatch(line)
    if found is None:
        return ""
    try:
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(found[1])))
    except (OverflowError, ValueError, OSError):
        return ""
