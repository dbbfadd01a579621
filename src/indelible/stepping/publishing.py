"""May this be pushed or merged? By what the words of the command say would go out, and else by what HEAD brings.

Of a push counts what would go to protected branches, as for git's own hook (`githooks/pushing.py`), and what that hook lets
pass, this does too: all that it knows is known here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from indelible.entry import parse_entry, split_leaf
from indelible.errors import Blocked
from indelible.gitsource.command import Git
from indelible.gitsource.lines import lines_of
from indelible.stepping import receipts
from indelible.workflow import moved
from indelible.workflow.branches import HEADS
from indelible.workflow.commits import TIMEOUT, Trust, check_commits
from indelible.workflow.history import AS_STORED, resolve
from indelible.workflow.known import known_before

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indelible.stepping.desk import Desk

REMEDY = (
    "What is committed without a receipt is taken back ('git reset --soft' to what is approved), approved by a person "
    "('indelible approve') and committed again; or a person pushes it"
)
_VALUED = ("-o", "--push-option", "--receive-pack", "--exec")
_ALL = ("--all", "--branches", "--mirror")


class Push(NamedTuple):
    """What the words of a `git push` say."""

    remote: str
    """Empty where they name none."""
    refspecs: tuple[str, ...]
    every: bool
    """Whether all local branches go out under their names."""


class _Place(NamedTuple):
    git: Git
    folder: str
    head: str
    """The branch that HEAD is on; empty where it is detached."""


def require_published(desk: Desk, folder: str, words: Sequence[str] | None) -> None:
    """Every commit that would go out where none may without a receipt carries its own.

    Args:
        words: `push` and git's words after it, as they are told; empty where git's are not told; None where it is no git
            command that does it, but a request to a server.

    Raises:
        Blocked: one does not. IndelibleError: it cannot be told.
    """
    git = Git(desk.environ, TIMEOUT, settings=AS_STORED)
    place = _Place(git, folder, git.line(folder, "symbolic-ref", "--quiet", "HEAD"))
    guard = desk.workflow.guard
    if not guard.receipt:
        return
    told = parse_push(words) if words else None
    remote = _remote(place, told) if told is not None else ""
    pairs = _pairs(place, told, remote) if told is not None else None
    if pairs is not None:
        tips = [source for source, branch in pairs if guard.protects(branch)]
    else:
        tips, remote = (["HEAD"] if words is None or guard.guards(place.head) else []), ""
    if tips:
        _require(desk, place, [resolve(git, folder, tip) for tip in dict.fromkeys(tips)], remote)


def parse_push(words: Sequence[str]) -> Push | None:
    """What the words say; None where another command's stand there, or they are not understood."""
    if words[0] != "push":
        return None
    plain: list[str] = []
    left, every = list(words[1:]), False
    while left:
        word = left.pop(0)
        if word == "--":
            plain += left
            break
        if _is_unclear(word):
            return None
        every = every or word in _ALL
        if word in _VALUED:
            left = left[1:]
        elif not word.startswith("-"):
            plain.append(word)
    return None if any("*" in one for one in plain[1:]) else Push("".join(plain[:1]), tuple(plain[1:]), every)


def _is_unclear(word: str) -> bool:
    """Whether an option names the remote, or may take the next word as its value without being spelled out."""
    if word.startswith("--"):
        return word.startswith("--repo") or any(
            one.startswith(word) and one != word for one in (*_VALUED, *_ALL, "--repo")
        )
    return word.startswith("-") and word[:2] != "-o" and word.endswith("o")


def _remote(place: _Place, push: Push) -> str:
    """Where it goes: as the words name it, else as git's settings do."""
    if push.remote:
        return push.remote
    said = place.git.line(place.folder, "for-each-ref", "--format=%(push:remotename)", place.head) if place.head else ""
    return said or "origin"


def _pairs(place: _Place, push: Push, to: str) -> list[tuple[str, str]] | None:
    """`(what goes out, full name of the branch it goes to)`; None where the repository's settings say it in a way not followed here."""
    git, folder, head = place
    mapped = git.line(folder, "config", "--get-all", f"remote.{to}.push")
    if push.every or ":" in push.refspecs:
        names = lines_of(git.must(folder, "for-each-ref", "--format=%(refname)", HEADS))
        return [(name, name) for name in names]
    if push.refspecs:
        rows = [_pair(one, head) for one in push.refspecs]
        return None if mapped and any(":" not in one for one in push.refspecs) else [row for row in rows if row[0]]
    default = git.line(folder, "config", "--get", "push.default")
    if mapped or default == "matching" or not head:
        return None
    said = git.line(folder, "for-each-ref", "--format=%(push:remotename) %(push:remoteref)", head)
    remote, _, branch = said.partition(" ")
    return [("HEAD", branch if branch and push.remote in ("", remote) else head)]


def _pair(refspec: str, head: str) -> tuple[str, str]:
    """A source that is empty deletes, which brings nothing."""
    source, colon, target = refspec.removeprefix("+").partition(":")
    branch = target if colon else head if source in ("HEAD", "@") else source
    return source, branch if branch.startswith("refs/") else f"{HEADS}{branch.removeprefix('heads/')}"


def _require(desk: Desk, place: _Place, tips: Sequence[str], remote: str) -> None:
    git, folder, guard = place.git, place.folder, desk.workflow.guard
    is_named = bool(remote and git.line(folder, "config", "--get", f"remote.{remote}.url"))
    ids = [
        *moved.baseline_of(desk.settings.state_dir, moved.common_of(desk.top)[1]),
        *_before_the_log(desk, place, tips),
    ]
    known = known_before(
        git, folder, ids=ids, remote=remote if is_named else None, protected=guard.protected, remotes=not is_named,
        tags=not is_named,
    )  # fmt: skip
    wrong = [
        one.text for one in check_commits(git, folder, tips, known, Trust(desk.approvers, guard.receipt)) if not one.ok
    ]
    if wrong:
        raise Blocked(f"What would be published was not approved: {'; '.join(wrong[:3])}", remedy=REMEDY)


def _before_the_log(desk: Desk, place: _Place, tips: Sequence[str]) -> list[str]:
    """What was committed before anybody could approve: before this log began, or the first receipt was given.

    A committer writes the time of a commit; git's own hooks and the receiving side do not go by it.
    """
    bases = [one.receipt.base for one in receipts.all_issued(desk.memory, desk.approvers) if one.approver]
    with desk.memory.following() as (_, reading, _):
        first = next(iter(reading.leaves(0, 1)))
    begun = parse_entry(split_leaf(first)[0]).at
    older = place.git.line(place.folder, "rev-list", "-1", f"--before={begun}", *tips)
    return [*bases[-1:], older]
