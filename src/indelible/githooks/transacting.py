"""Before a reference moves: every commit that newly comes to a branch, or to a detached HEAD, has a receipt of its own.

Git asks at every change of a reference, whatever made it: `commit --no-verify`, `commit-tree` and `update-ref`, `am`,
`cherry-pick`, `merge`, `rebase`, a program that is no git command at all. A commit is new if no guarded branch, no branch of a
remote and no tag had it before. A detached HEAD that goes to a commit which was not made on top of it is a checkout.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import Blocked
from indelible.githooks import claims
from indelible.githooks.approved import open_desks, use
from indelible.githooks.here import git_folder, is_id, is_zero, not_understood
from indelible.gitsource.lines import lines_of
from indelible.workflow import guarded
from indelible.workflow.branches import HEADS
from indelible.workflow.commits import TWICE
from indelible.workflow.history import read_commits, trees_of, walk
from indelible.workflow.known import known_before

if TYPE_CHECKING:
    from collections.abc import Iterable

    from indelible.githooks.approved import Desks, Told
    from indelible.githooks.here import Here
    from indelible.workflow.history import Commit

PREPARED, COMMITTED = "prepared", "committed"
_HEAD = re.compile(r"(?:main-worktree/|worktrees/[^/]+/)?HEAD", re.IGNORECASE)
_SYMBOLIC = "ref:"
_NO_NAMES = "Make a branch of its own ('git branch'): what moves the other reference would move this one unseen"
_TOLD = 10
"""Commits that are told one by one."""


class Update(NamedTuple):
    """A reference that moves."""

    ref: str
    """A branch's full name; empty for a detached HEAD."""
    new: str
    at: str
    """The reference as git names it."""


def prepared(here: Here, lines: bytes, process: int) -> None:
    """Let the references move, or not.

    Args:
        lines: `OLD NEW NAME`, as git gives them.
        process: the git process that asks.

    Raises:
        Blocked: a commit has no receipt of its own. IndelibleError: it cannot be told.
    """
    updates = _updates(here, lines)
    if not updates:
        return
    common = git_folder(here.git, here.folder)
    with open_desks(here) as desks:
        guarded.keep(common, desks.rules.branches)
        taking = _taking(here, desks, updates)
        desks.take_in(told.note for _, told in taking if told.note)
    _take(common, [claims.Claim(told.takes, commit, process, told.after) for commit, told in taking], here)


def _taking(here: Here, desks: Desks, updates: Iterable[Update]) -> list[tuple[str, Told]]:
    """Each new commit that takes a receipt, with what was said of it; of each receipt there is one.

    Raises:
        Blocked: a commit has no receipt of its own.
    """
    takes: dict[str, tuple[str, Told]] = {}
    wrong: list[Told] = []
    for update in updates:
        if not desks.rules.guards(update.ref):
            continue
        for commit, told in _judged(here, desks, update):
            other, _ = takes.get(told.takes, (commit.id, told))
            if not told.finding.ok:
                wrong.append(told)
            elif other != commit.id:
                wrong.append(_twice(told, other))
            elif told.takes:
                takes[told.takes] = commit.id, told
    if wrong:
        raise _refused(wrong)
    return list(takes.values())


def committed(here: Here, lines: bytes, process: int) -> tuple[str, ...]:
    """Note the receipts that were used; answers with what could not be noted."""
    common = git_folder(here.git, here.folder)
    news = [update.new for update in _updates(here, lines)]
    said = []
    for claim in claims.taken(common, process):
        if any(not here.git.run(here.folder, "merge-base", "--is-ancestor", claim.commit, new).code for new in news):
            problem = use(here, claim.receipt, claim.commit, claim.after)
            said += (
                [f"that {claim.commit[:12]} used the receipt {claim.receipt} was not noted: {problem}"]
                if problem
                else []
            )
            claims.release(common, claim)
    return tuple(said)


def _updates(here: Here, lines: bytes) -> tuple[Update, ...]:
    """The branches that move, and each HEAD that is detached: that of another checkout may be named as well.

    Raises:
        Blocked: a line cannot be understood, or makes a branch another name of something else.
    """
    found = []
    for line in lines_of(lines):
        old, new, name = _row(line)
        is_branch = name.casefold().startswith(HEADS)
        if new == old or not (is_branch or _HEAD.fullmatch(name)):
            continue
        if new.startswith(_SYMBOLIC):
            if is_branch:
                raise Blocked(
                    f"Not done: {name} would become another name of {new.removeprefix(_SYMBOLIC)}", remedy=_NO_NAMES
                )
        elif not is_zero(new):
            branch = name if is_branch else here.git.line(here.folder, "symbolic-ref", "--quiet", name)
            found.append(Update(branch, new, name))
    return tuple({(update.ref, update.new): update for update in found}.values())


def _row(line: str) -> tuple[str, str, str]:
    """`OLD NEW NAME`; either value may be `ref:` and the name of another reference."""
    words = line.split(" ")
    if len(words) != 3 or not all(is_id(word) or word.startswith(_SYMBOLIC) for word in words[:2]) or not words[2]:
        raise not_understood("reference-transaction", line)
    return words[0], words[1], words[2]


def _judged(here: Here, desks: Desks, update: Update) -> Iterable[tuple[Commit, Told]]:
    git, folder = here.git, here.folder
    replaced = git.line(folder, "rev-parse", "--verify", "--quiet", update.ref or update.at)
    known = known_before(git, folder, branches=desks.rules.branches, remotes=True, tags=True)
    found = walk(git, folder, [update.new], known)
    commits = list(read_commits(git, folder, found.ids))
    if not update.ref and not _is_made_here(here, commits, replaced):
        return []
    trees = trees_of(git, folder, (commit.base for commit in commits))
    return [(one, desks.tell(one, trees.get(one.base, ""), update.ref, replaced)) for one in commits]


def _is_made_here(here: Here, commits: list[Commit], head: str) -> bool:
    """Whether a detached HEAD goes to commits that were made on it, or in its place; and is not only put elsewhere."""
    if is_zero(head):
        return not head  # zeros: a checkout that is just being made
    before = next(read_commits(here.git, here.folder, [head]))
    return any(head in commit.above or commit.base == before.base for commit in commits)


def _take(common: str, taking: Iterable[claims.Claim], here: Here) -> None:
    """Take the receipts, and look once more whether one was used while they were not ours yet.

    Raises:
        Blocked: another commit has one of them.
    """
    mine: list[claims.Claim] = []
    for claim in taking:
        other = claims.take(common, claim)
        if other:
            for one in mine:
                claims.release(common, one)
            raise Blocked(f"Not committed: {other[:12]} is just being committed with the receipt {claim.receipt}")
        mine.append(claim)
    if not mine:
        return
    with open_desks(here) as desks:
        used = {one.id: one.used for one in desks.issued}
    for claim in mine:
        if used.get(claim.receipt, "") not in (claim.after, claim.commit):
            for one in mine:
                claims.release(common, one)
            raise Blocked(
                f"Not committed: the receipt {claim.receipt} was used for {used[claim.receipt][:12]} in the meantime"
            )


def _twice(told: Told, commit: str) -> Told:
    said = f"its receipt {told.takes} serves {commit[:12]} already, which moves with it"
    return told._replace(finding=told.finding._replace(slug=TWICE, said=said))


def _refused(wrong: list[Told]) -> Blocked:
    lines = [told.finding.text for told in wrong[:_TOLD]]
    more = [f"and {len(wrong) - _TOLD} more"] if len(wrong) > _TOLD else []
    has = (
        "1 commit has no receipt of its own"
        if len(wrong) == 1
        else f"{len(wrong)} commits have no receipt of their own"
    )
    return Blocked(
        "\n  ".join((f"Not committed: {has}", *lines, *more)),
        remedy="A person approves the change that is to be committed: 'indelible approve'; nothing of yours was lost",
    )
