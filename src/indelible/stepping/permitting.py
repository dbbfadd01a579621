"""May this be done now? What a host's gate asks before a tool call commits, pushes, merges, or runs a guarded command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indelible.entry import parse_entry, split_leaf
from indelible.errors import Blocked, IndelibleError, NotPermitted
from indelible.gitsource.command import Git
from indelible.stepping import receipts
from indelible.stepping.binding import bound
from indelible.stepping.desk import open_desk

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indelible.settings import Settings
    from indelible.stepping.desk import Desk
    from indelible.stepping.receipts import Issued
    from indelible.workflow.change import Change

COMMIT, PUSH, MERGE = "commit", "push", "merge"
"""What is asked about by these words; any other one is the name of a target whose receipt is wanted."""
PATIENCE = 60.0
"""Seconds for what git is asked beside the change."""


def permitted(settings: Settings, folder: str, what: str, environ: Mapping[str, str]) -> str:
    """Why it may not be done; empty where it may.

    Args:
        folder: where it would run.
        what: `commit`, `push`, `merge`, or the name of a target.

    Raises:
        IndelibleError: it cannot be told; whoever asks then refuses.
    """
    with open_desk(settings, environ, door="gate") as desk:
        try:
            if what in (PUSH, MERGE):
                _require_outgoing(desk, folder)
            else:
                _require_receipt(
                    desk, desk.workflow.guard.receipt if what == COMMIT else what, is_commit=what == COMMIT
                )
        except (NotPermitted, Blocked) as refused:
            return str(refused)
    return ""


def wanted(desk: Desk, change: Change, target: str) -> receipts.Wanted:
    """What a receipt has to be for, if that change is to be committed now."""
    inputs = bound(desk, desk.workflow.target(target))
    return receipts.Wanted(
        change, desk.memory.now(), target, change.branch, desk.repository, desk.workflow.digest, inputs
    )  # fmt: skip


def fitting(desk: Desk, change: Change) -> Issued:
    """The receipt by which a change may be committed.

    Raises:
        NotPermitted: there is none.
    """
    found = wanted(desk, change, desk.workflow.guard.receipt)
    return receipts.fitting(desk.memory, desk.approvers, found)


def is_guarded(desk: Desk, branch: str) -> bool:
    """Whether commits on that branch (a full name; empty where HEAD is detached) need a receipt."""
    from indelible.gate.globs import matches

    name, guard = branch.removeprefix("refs/heads/"), desk.workflow.guard
    return bool(guard.receipt) and (not branch or any(matches(pattern, name) for pattern in guard.branches))


def _require_receipt(desk: Desk, target: str, *, is_commit: bool) -> None:
    """Of the whole working tree, or of what is staged: git's own hooks hold what is really committed against it."""
    with desk.opened() as opened:
        change = opened.change
    if is_commit and not is_guarded(desk, change.branch):
        return
    try:
        receipts.fitting(desk.memory, desk.approvers, wanted(desk, change, target))
    except NotPermitted:
        staged = _staged(desk) if is_commit else None
        if staged is None or staged.tree == change.tree:
            raise
        try:
            receipts.fitting(desk.memory, desk.approvers, wanted(desk, staged, target))
        except NotPermitted:
            pass
        else:
            return
        raise


def _staged(desk: Desk) -> Change | None:
    from indelible.workflow.change import change_of_index

    try:
        return change_of_index(desk.top, desk.environ)
    except IndelibleError:  # an index in the middle of a merge has no tree
        return None


def _require_outgoing(desk: Desk, folder: str) -> None:
    """Every commit that no remote has yet carries its receipt.

    Raises:
        Blocked: one does not.
    """
    from indelible.workflow.commits import check_range

    target = desk.workflow.guard.receipt
    if not target:
        return
    found = check_range(folder, desk.environ, "", "HEAD", desk.approvers, known=_known(desk, folder), target=target)
    wrong = [one.text for one in found if not one.ok]
    if wrong:
        raise Blocked(f"What would be published was not approved: {'; '.join(wrong[:3])}", remedy=receipts.APPROVE)


def _known(desk: Desk, folder: str) -> tuple[str, ...]:
    """What was there before anybody could approve: the remotes' branches, and what was committed before this log or the first receipt.

    A committer writes the time of a commit; git's own hooks and the receiving side do not go by it.
    """
    bases = [
        one.receipt.base
        for one in receipts.all_issued(desk.memory, desk.approvers)
        if one.approver and one.receipt.base
    ]
    git = Git(desk.environ, PATIENCE)
    begun = git.line(folder, "rev-list", "-1", f"--before={_begun(desk)}", "HEAD")
    return ("--remotes", *bases[-1:], *filter(None, [begun]))


def _begun(desk: Desk) -> str:
    """When the log began."""
    with desk.memory.following() as (_, reading, _):
        first = next(iter(reading.leaves(0, 1)))
    entry = parse_entry(split_leaf(first)[0])
    return entry.at
