"""Which receipts are for what is here now, target by target, and which one the commit at HEAD was made with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indelible.gitsource.command import Git
from indelible.stepping.binding import bound, is_draft, wanted
from indelible.stepping.receipts import all_issued, misfits
from indelible.workflow.frontier import Approval
from indelible.workflow.graph import CHANGE, SLOT
from indelible.workflow.receipt import out_of_time

_FIRST_NAMES = ("root:", "folder:")
"""How a repository is called until it has a remote: a text that was approved before stays approved."""
PATIENCE = 30.0
"""Seconds for what git is asked."""

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indelible.stepping.desk import Desk
    from indelible.stepping.facts import Committed
    from indelible.stepping.receipts import Issued
    from indelible.workflow.change import Change
    from indelible.workflow.graph import Target


def approvals_of(desk: Desk, targets: Sequence[Target], change: Change | None) -> dict[str, Approval]:
    """Name of each target to the receipt that fits; else to the newest that does not, with its reasons.

    Args:
        change: of the working tree; None where it is not known.
    """
    issued = all_issued(desk.memory, desk.approvers) if targets else ()
    found: dict[str, Approval] = {}
    for target in targets:
        mine = [one for one in issued if one.receipt.target == target.name]
        judged = [Approval(one.id, _why_not(desk, one, target, change), bool(one.used)) for one in mine]
        best = next((one for one in judged if not one.misfits), judged[0] if judged else None)
        if best is not None:
            found[target.name] = best
    return found


def why_not(desk: Desk, identity: str) -> tuple[str, ...]:
    """Why the receipt of that id is not for what is here now; empty where it is."""
    one = next(one for one in all_issued(desk.memory, desk.approvers) if one.id == identity)
    target = next((target for target in desk.workflow.targets if target.name == one.receipt.target), None)
    if target is None:
        return (f"it is for the target {one.receipt.target}, which this workflow does not have",)
    change = None
    if CHANGE in target.inputs:
        with desk.opened() as opened:
            change = opened.change
    return _why_not(desk, one, target, change)


def carried_by(desk: Desk, head: Committed, *, after: int) -> str:
    """Id of the receipt that the commit at HEAD, or one that it stands on, was made with; empty where there is none.

    Args:
        after: the entry behind which a receipt has to stand: one from before was for an earlier ticket.
    """
    target = desk.workflow.guard.receipt
    made = (head.tree, "".join(head.parents[:1]), head.parents[1:])
    for one in all_issued(desk.memory, desk.approvers):
        receipt = one.receipt
        same = (receipt.tree, receipt.base, receipt.parents) == made
        if receipt.target != target or not one.approver or one.seq <= after:
            continue
        if same or (one.used and _is_below(desk, one.used)):
            return one.id
    return ""


def _is_below(desk: Desk, commit: str) -> bool:
    """Whether HEAD went on from that commit: others' work that was pulled on top of it undoes nothing."""
    return not Git(desk.environ, PATIENCE).run(desk.top, "merge-base", "--is-ancestor", commit, "HEAD").code


def _why_not(desk: Desk, one: Issued, target: Target, change: Change | None) -> tuple[str, ...]:
    if CHANGE not in target.inputs:
        return _of_text(desk, one, target)
    if change is None:
        return ("the change of the working tree is not known",)
    return misfits(one, wanted(desk, change, target.name))


def _of_text(desk: Desk, one: Issued, target: Target) -> tuple[str, ...]:
    """Of what is only in slots and files: the very text that was approved has to be there; then neither time nor draft matters."""
    now, said = bound(desk, target), dict(one.receipt.inputs)
    written = {f"{SLOT}{slot.slot.name}" for slot in desk.state.slots()}
    reasons = [f"{name} changed since it was given" for name, digest in said.items() if now.get(name) != digest]
    reasons += [f"{name} is not what was approved" for name in now if name not in said and not is_draft(name)]
    names = (one.receipt.repository, desk.repository)
    if len(set(names)) > 1 and not any(name.startswith(_FIRST_NAMES) for name in names):
        reasons.append(f"it is for the repository {one.receipt.repository}, not {desk.repository}")
    if not one.approver:
        reasons.append("no approver who is known here signed it ('indelible key trust VKEY')")
    if target.run and one.used:  # a yes to a command is for one run of it
        reasons.append(f"it was used for {one.used[:12]}")
    is_made = bool(target.outputs) and written.issuperset(name for name in target.outputs if name.startswith(SLOT))
    return (*reasons, *(() if is_made else out_of_time(one.receipt, desk.memory.now())))
