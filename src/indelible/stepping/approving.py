"""Yes or no to a target: what is looked at, the receipt that a yes comes to, the round that a no comes to.

A yes is signed over what was shown. So the change is read again once the passphrase was typed, and where anything is not as it
was shown there is no receipt.
"""

from __future__ import annotations

import os
from datetime import timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import ConflictError, IndelibleError, NotPermitted, UsageError
from indelible.files import copy_file, make_folder, replace_file
from indelible.memory.bound import RECEIPT
from indelible.settings import FOLDER
from indelible.spans import shifted
from indelible.stepping import receipts
from indelible.stepping.binding import bound, draft_of, is_draft, texts
from indelible.workflow.graph import CHANGE, HUMAN, SLOT
from indelible.workflow.receipt import Receipt, sign_receipt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from indelible.memory.results import Saved
    from indelible.seal.note import Signer
    from indelible.stepping.asking import Asked
    from indelible.stepping.desk import Desk
    from indelible.workflow.change import Change
    from indelible.workflow.graph import Target

HOLDS = timedelta(hours=24)
"""How long a receipt holds where nobody says."""
LONGEST = timedelta(days=31)


class Shown(NamedTuple):
    """What an approver looked at: the very thing that a receipt is bound to."""

    target: Target
    change: Change
    diff: str
    """SHA-256 of the rendered change."""
    inputs: tuple[tuple[str, str], ...]
    workflow: str
    repository: str
    texts: tuple[tuple[str, bytes], ...] = ()
    """Name and content of the inputs that can be read: what is bound by its digest is shown by its words."""

    @property
    def about_change(self) -> bool:
        """Whether it is the working tree that is approved, and not only what is in the slots."""
        return CHANGE in self.target.inputs

    def receipt(self, now: str, expires: str, nonce: str) -> Receipt:
        """The receipt that says yes to it."""
        change = self.change
        return Receipt(
            self.target.name, change.format, change.base, change.tree, change.parents, change.branch, self.repository,
            self.workflow, self.diff, self.inputs, now, expires, nonce,
        )  # fmt: skip


def target_of(desk: Desk, name: str | None) -> Target:
    """The target of that name; without one, that whose receipt a commit needs.

    Raises:
        NotFoundError: there is none. UsageError: no human stands at its gate, or none is named and no commit needs one.
    """
    workflow = desk.workflow
    if not (name or workflow.guard.receipt):
        raise UsageError(
            "In this workflow no commit needs a receipt, so there is no target that goes without saying",
            remedy="Name the target: 'indelible approve TARGET'",
        )
    target = workflow.target(name or workflow.guard.receipt)
    if target.gate != HUMAN:
        raise UsageError(
            f"{target.title} is not a person's to approve: its gate is {target.gate!r}",
            remedy=f"'indelible flow why {target.id}' says what it waits for",
        )
    return target


def require_ready(desk: Desk, target: Target, *, despite: str | None) -> None:
    """Refuse a yes to something that others have to come before.

    Args:
        despite: why it is approved all the same.

    Raises:
        NotPermitted: with every reason. UsageError: `despite` says nothing.
    """
    if despite is not None and not despite.strip():
        raise UsageError("--despite says why", remedy="Say what is not done, and why that is no matter")
    from indelible.stepping.flow import waits_for

    reasons = waits_for(desk, target)
    if reasons and despite is None:
        raise NotPermitted(
            f"{target.title} is not to be approved yet: {'; '.join(reasons)}",
            remedy=f"'indelible flow why {target.id}' says more; --despite TEXT approves it all the same, and that stands in the log",
        )


def keep_beside(desk: Desk, approved: Approved, diff: str) -> str:
    """Keep the rendered change beside the receipt's id, for reading; gives the path, or why it was not kept."""
    folder = os.path.join(desk.top, FOLDER, "receipts")
    path = os.path.join(folder, f"{approved.id}.diff")
    try:
        make_folder(folder)
        copy_file(diff, path)
        replace_file(os.path.join(folder, f"{approved.id}.receipt"), approved.note)
    except (IndelibleError, OSError) as error:
        return f"not kept ({error})"
    return path


def shown_now(desk: Desk, target: Target, change: Change, diff: str, *, regardless: bool = False) -> Shown:
    """What there is to approve.

    Args:
        diff: SHA-256 of the rendered change.
        regardless: some of the inputs may be missing; what is made of a draft may not.

    Raises:
        NotPermitted: there is nothing: an empty change, or an input that is not there.
    """
    inputs = bound(desk, target)
    missing = [name for name in target.inputs if name != CHANGE and name not in inputs and not is_draft(name)]
    made = [name for name in target.outputs if name.startswith(SLOT) and name not in inputs]
    if made or (missing and not regardless):
        drafts = [name for name in target.inputs if is_draft(name)]
        raise NotPermitted(
            f"There is nothing to approve for {target.title} yet: {', '.join(drafts or made or missing)} is not there",
            remedy=f"'indelible flow why {target.id}' says what comes first",
        )
    if CHANGE in target.inputs and change.is_empty:
        raise NotPermitted(
            f"There is nothing to approve for {target.title}: the working tree is as the last commit left it",
            remedy="An empty change is never approved; make the change first",
        )
    said = tuple(sorted(texts(desk, inputs).items()))
    return Shown(target, change, diff, tuple(sorted(inputs.items())), desk.workflow.digest, desk.repository, said)


class Approved(NamedTuple):
    """A yes."""

    id: str
    note: bytes
    receipt: Receipt
    became: str
    """The slot that an approved draft became; empty where none did."""


def approve(
    desk: Desk, shown: Shown, again: Shown, signer: Signer, *, now: str, holds: timedelta = HOLDS, reason: str | None = None
) -> Approved:  # fmt: skip
    """Sign and seal the receipt.

    Args:
        again: the same, read once more after the passphrase was typed.

    Raises:
        ConflictError: it is not what was shown. UsageError: it would hold too long, or that is no approver's key.
        BadSignature: the approver's key is not known here as one.
    """
    refuse_changed(shown, again)
    receipt = shown.receipt(now, later(now, holds), os.urandom(16).hex())
    note = sign_receipt(receipt, signer)
    saved = receipts.issue(desk.memory, note, desk.approvers, reason=reason)
    return Approved(saved.key.removeprefix(RECEIPT), note, receipt, promote(desk, shown))


def reject(desk: Desk, target: Target, reason: str, never: Sequence[str], *, by: str) -> tuple[int, Saved]:
    """Write a no down as a round, bound to the change as it is; gives the number of the round.

    Args:
        never: what is not to be tried again.
        by: who says so, for people.

    Raises:
        UsageError: a text is not one line. Altered: the slot's file is not what was sealed.
    """
    from indelible.stepping.rounds import add_round
    from indelible.workflow.rounds import PERSON, REJECTED, Round

    change = None
    if CHANGE in target.inputs:
        with desk.opened() as opened:
            change = opened.change
    found = Round(0, REJECTED, critic=f"{by}{PERSON}", blocked=(f"{target.title}: {reason}",), never=tuple(never))
    made, saved = add_round(desk.state, found, change, pillars=(), reason="rejected by a person")
    return made.number, saved


def refuse_changed(shown: Shown, again: Shown) -> None:
    """Raise where what was shown is not there any more.

    Raises:
        ConflictError: naming what changed.
    """
    changed = [
        name
        for name, before, after in (
            ("the change", shown.change.digest, again.change.digest),
            ("what is rendered of it", shown.diff, again.diff),
            ("the branch", shown.change.branch, again.change.branch),
            ("the workflow", shown.workflow, again.workflow),
            *_differing(dict(shown.inputs), dict(again.inputs)),
        )
        if before != after
    ]
    if changed:
        raise ConflictError(
            f"Since it was shown, {', '.join(changed)} changed: nothing was approved",
            remedy="Look at it again, and approve that",
        )


def _differing(before: Mapping[str, str], after: Mapping[str, str]) -> list[tuple[str, str | None, str | None]]:
    return [(name, before.get(name), after.get(name)) for name in sorted({*before, *after})]


def promote(desk: Desk, shown: Shown) -> str:
    """A draft that was approved becomes the slot that it was a draft of; gives that slot's name, or "" where there is none."""
    drafted = draft_of(desk, shown.target)
    if drafted is None:
        return ""
    _become(desk, drafted, dict(shown.inputs), shown.target)
    return drafted[1]


def _become(desk: Desk, drafted: tuple[str, str], approved: dict[str, str], target: Target) -> None:
    draft, slot = drafted
    content = desk.state.show(draft).content
    if sha256(content).hexdigest() != approved.get(f"{SLOT}{slot}"):
        raise ConflictError(f"{draft} changed since it was approved", remedy="Look at it again, and approve that")
    desk.state.write(slot, content, reason=f"approved as {target.title}")


def take_up(desk: Desk) -> tuple[str, ...]:
    """What became approved elsewhere, and is a draft here still, becomes what it is a draft of; gives the slots that were written."""
    from indelible.stepping.approvals import approvals_of

    drafted = [(one, pair) for one in desk.workflow.targets if one.gate == HUMAN and (pair := draft_of(desk, one))]
    given = approvals_of(desk, [target for target, _ in drafted], None) if drafted else {}
    fits = [
        (target, pair, given[target.name].id)
        for target, pair in drafted
        if target.name in given and not given[target.name].misfits
    ]
    issued = {one.id: one.receipt for one in receipts.all_issued(desk.memory, desk.approvers)} if fits else {}
    for target, pair, identity in fits:
        _become(desk, pair, dict(issued[identity].inputs), target)
    return tuple(slot for _, (_, slot), _ in fits)


def receipt_of(asked: Asked, now: str, holds: timedelta) -> Receipt:
    """The receipt that says yes to what was asked for elsewhere."""
    return asked.as_receipt(now, later(now, holds), os.urandom(16).hex())


def later(now: str, holds: timedelta) -> str:
    """The time at which a receipt that is given now runs out.

    Raises:
        UsageError: at once, or too late.
    """
    if not timedelta() < holds <= LONGEST:
        raise UsageError(f"A receipt holds for at most {LONGEST.days} days", remedy="--expires 24h, or 7d")
    return shifted(now, holds)
