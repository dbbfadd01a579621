"""May this commit be made here? Its receipt against this machine's log, its approvers, the place and the clock.

The one module that joins git's hooks with `stepping`: the workflow's rules, the receipts, and that one was used.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import IndelibleError, NotPermitted
from indelible.stepping import permitting, receipts
from indelible.stepping.binding import wanted
from indelible.stepping.desk import open_desk
from indelible.workflow.change import Change
from indelible.workflow.commits import MISFIT, TWICE, Finding, Trust, judge
from indelible.workflow.receipt import TRAILER, from_trailer, open_receipt, receipt_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from indelible.githooks.here import Here
    from indelible.stepping.desk import Desk
    from indelible.stepping.receipts import Issued
    from indelible.workflow.graph import Guard
    from indelible.workflow.history import Commit


class Told(NamedTuple):
    """What is to be said of a commit, and the receipt that it takes."""

    finding: Finding
    takes: str = ""
    """Id of the receipt that it uses up; empty where it uses none of this machine's."""
    after: str = ""
    """The commit that used it before, of which this one is but another message."""
    note: bytes = b""
    """The receipt itself where this machine's log does not have it yet."""


class Desks(NamedTuple):
    """The workflow, its receipts and its approvers, as they are now."""

    desk: Desk
    rules: Guard
    issued: tuple[Issued, ...]

    def fitting(self, change: Change) -> Issued:
        """The receipt for a change that was not used yet.

        Raises:
            NotPermitted: there is none; why the nearest do not fit.
        """
        return permitting.fitting(self.desk, change)

    def tell(self, commit: Commit, base_tree: str, branch: str, replaced: str) -> Told:
        """What one commit comes to on that branch.

        Args:
            base_tree: the tree of its first parent; empty where it has none.
            branch: full name; empty where HEAD is detached.
            replaced: the commit that the branch was at.
        """
        finding = judge(commit, base_tree, Trust(self.desk.approvers, self.rules.receipt))
        if not commit.receipts:
            return Told(self._without(commit, branch, finding))
        if not finding.ok:
            return Told(finding)
        note = from_trailer(f"{TRAILER}: {commit.receipts[0]}")
        issued = next((one for one in self.issued if one.id == receipt_id(note)), None)
        if issued is None:
            return self._from_elsewhere(note, commit, branch, finding)
        if issued.used == commit.id:
            return Told(finding)
        if issued.used and issued.used == replaced:  # another message for the same change
            return Told(finding, issued.id, issued.used)
        if issued.used:
            said = f"its receipt {issued.id} was used for {issued.used[:12]} already"
            return Told(finding._replace(slug=TWICE, said=said))
        reasons = self._misfits(issued, change_of(commit, branch))
        if reasons:
            return Told(_not_here(finding, reasons))
        return Told(finding, issued.id)

    def take_in(self, notes: Iterable[bytes]) -> None:
        """Seal receipts that came with commits: each is used here, and serves once.

        Raises:
            IndelibleError: one could not be sealed.
        """
        for note in notes:
            receipts.issue(self.desk.memory, note, self.desk.approvers, reason="it came with a commit")

    def _from_elsewhere(self, note: bytes, commit: Commit, branch: str, finding: Finding) -> Told:
        """A receipt that the log here does not have is held to all that can be seen here: not to what its critic and its plan said."""
        receipt, approver = open_receipt(note, self.desk.approvers)
        issued = receipts.Issued(receipt_id(note), note, receipt, approver, "", -1)
        reasons = self._misfits(issued, change_of(commit, branch), inputs=False)
        if reasons:
            return Told(_not_here(finding, reasons))
        return Told(finding, issued.id, note=note)

    def _misfits(self, issued: Issued, change: Change, *, inputs: bool = True) -> tuple[str, ...]:
        found = wanted(self.desk, change, self.rules.receipt)
        if not inputs:
            found = found._replace(inputs=None)
        return receipts.misfits(issued, found)

    def _without(self, commit: Commit, branch: str, finding: Finding) -> Finding:
        """Why a commit without a receipt in its message has none: nobody approved it, or the hook that adds it did not run."""
        try:
            found = self.fitting(change_of(commit, branch))
        except NotPermitted as error:
            return finding._replace(said=error.message)
        said = f"it was approved (receipt {found.id}), and its message does not carry the receipt: commit it again, without --no-verify"
        return finding._replace(said=said)


def _not_here(finding: Finding, reasons: tuple[str, ...]) -> Finding:
    return finding._replace(slug=MISFIT, said=f"its receipt does not hold here: {'; '.join(reasons)}")


def change_of(commit: Commit, branch: str) -> Change:
    """What a commit is, as a change on a branch."""
    return Change(commit.format, commit.base, commit.tree, commit.parents, branch)


@contextmanager
def open_desks(here: Here) -> Iterator[Desks]:
    """What counts here.

    Raises:
        IndelibleError: there is no store, no state directory, or it is not what was sealed.
    """
    with open_desk(here.settings, here.environ, door="githook") as desk:
        yield Desks(desk, desk.workflow.guard, receipts.all_issued(desk.memory, desk.approvers))


def use(here: Here, identity: str, commit: str, after: str) -> str:
    """Note that a commit used a receipt; answers with what kept it from being noted."""
    try:
        with open_desk(here.settings, here.environ, door="githook") as desk:
            receipts.use(desk.memory, identity, commit, after=after or None)
            from indelible.stepping.flow import Flow

            Flow(desk).renew()  # what keeps 99 from being written now, the next verb of the flow says
    except IndelibleError as error:
        return str(error)
    return ""
