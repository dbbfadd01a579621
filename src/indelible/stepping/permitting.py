"""May this be done now? What a host's gate asks before a tool call commits, pushes, merges, or runs a guarded command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indelible.errors import Blocked, IndelibleError, NotPermitted
from indelible.stepping import receipts
from indelible.stepping.binding import wanted
from indelible.stepping.desk import open_desk

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from indelible.settings import Settings
    from indelible.stepping.desk import Desk
    from indelible.stepping.receipts import Issued
    from indelible.workflow.change import Change

COMMIT, PUSH, MERGE = "commit", "push", "merge"
"""What is asked about by these words; any other one is the name of a target whose receipt is wanted."""


def permitted(
    settings: Settings, folder: str, what: str, environ: Mapping[str, str], words: Sequence[str] | None = ()
) -> str:
    """Why it may not be done; empty where it may.

    Args:
        folder: where it would run.
        what: `commit`, `push`, `merge`, or the name of a target.
        words: of a push or a merge, as `publishing.require_published` has them.

    Raises:
        IndelibleError: it cannot be told; whoever asks then refuses.
    """
    with open_desk(settings, environ, door="gate") as desk:
        try:
            if what in (PUSH, MERGE):
                from indelible.stepping.publishing import require_published

                require_published(desk, folder, words)
            else:
                _require_receipt(
                    desk, desk.workflow.guard.receipt if what == COMMIT else what, is_commit=what == COMMIT
                )
        except (NotPermitted, Blocked) as refused:
            return str(refused)
    return ""


def fitting(desk: Desk, change: Change) -> Issued:
    """The receipt by which a change may be committed.

    Raises:
        NotPermitted: there is none.
    """
    found = wanted(desk, change, desk.workflow.guard.receipt)
    return receipts.fitting(desk.memory, desk.approvers, found)


def _require_receipt(desk: Desk, target: str, *, is_commit: bool) -> None:
    """Of the whole working tree, or of what is staged: git's own hooks hold what is really committed against it."""
    with desk.opened() as opened:
        change = opened.change
    if is_commit and not desk.workflow.guard.guards(change.branch):
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
