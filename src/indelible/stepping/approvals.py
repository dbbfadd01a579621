"""Which receipts are for what is here now: verified, of this ticket and this change, not used and not out of time."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import BadSignature, Malformed
from indelible.memory.bound import RECEIPT
from indelible.state.slot import REPLACEABLE, parse_name
from indelible.workflow.frontier import Approval
from indelible.workflow.graph import CHANGE, SLOT
from indelible.workflow.receipt import Receipt, misfit, open_receipt, out_of_time, receipt_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from indelible.memory import Memory
    from indelible.seal.note import Verifier
    from indelible.stepping.facts import Committed, Gatherer
    from indelible.workflow.graph import Target


class Given(NamedTuple):
    """One receipt that was issued, verified."""

    id: str
    receipt: Receipt
    seq: int
    used: str
    """What it was used for: a commit; empty where it was not."""


class Approvals(NamedTuple):
    """All receipts that were issued, newest first, and what is here now."""

    given: tuple[Given, ...]
    targets: tuple[Target, ...]
    gatherer: Gatherer
    now: str
    repository: str

    def by_target(self) -> dict[str, Approval]:
        """Name of each target to the receipt that fits; else to the newest that does not, with its reasons."""
        found: dict[str, Approval] = {}
        for target in self.targets:
            mine = [one for one in self.given if one.receipt.target == target.name]
            judged = [Approval(one.id, self._misfits(one, target)) for one in mine]
            best = next((one for one in judged if not one.misfits), judged[0] if judged else None)
            if best is not None:
                found[target.name] = best
        return found

    def carried(self, target: str, head: Committed) -> str:
        """Id of the receipt that the commit at HEAD was made with, since this ticket began; empty where there is none."""
        begun = self.gatherer.ticket
        for one in self.given:
            base, receipt = head.parents[:1], one.receipt
            same = (receipt.tree, receipt.base, receipt.parents) == (head.tree, "".join(base), head.parents[1:])
            if head.commit and same and receipt.target == target and one.seq > begun:
                return one.id
        return ""

    def _misfits(self, one: Given, target: Target) -> tuple[str, ...]:
        return self._for_change(one) if CHANGE in target.inputs else self._for_slots(one, target)

    def _for_change(self, one: Given) -> tuple[str, ...]:
        change = self.gatherer.change
        if change is None:
            return ("the change of the working tree is not known",)
        inputs = {name: self.gatherer.digest(name) for name, _ in one.receipt.inputs}
        used = (f"it was used for {one.used[:12]}",) if one.used else ()
        return used + misfit(
            one.receipt, change, now=self.now, branch=change.branch, repository=self.repository, inputs=inputs
        )

    def _for_slots(self, one: Given, target: Target) -> tuple[str, ...]:
        """Where a text is approved it is that very text that has to be there; what becomes of its draft then does not matter."""
        named = dict(one.receipt.inputs)
        made = [digest for name in target.outputs if (digest := self.gatherer.digest(name))]
        if made:
            changed = [name for name, digest in named.items() if not _is_draft(name) and self.gatherer.digest(name) != digest]
            strange = [] if set(made) <= set(named.values()) else ["what is there is not the text that was approved"]
            return (*(f"{name} changed since it was given" for name in changed), *strange)
        changed = [name for name, digest in named.items() if self.gatherer.digest(name) != digest]
        return (*(f"{name} changed since it was given" for name in changed), *out_of_time(one.receipt, self.now))


def approvals_of(memory: Memory, gatherer: Gatherer, targets: Sequence[Target], approvers: Iterable[Verifier], repository: str) -> Approvals:
    """Every receipt in the log that an approver who is known here signed."""
    known = tuple(approvers)
    with memory.following() as (table, _, _):
        keys = [key for key, row in table.keys(prefix=RECEIPT) if row.state == "active"] if targets else []
    found = (one for one in (_given(memory, key, known) for key in keys) if one is not None)
    given = tuple(sorted(found, key=lambda one: -one.seq))
    return Approvals(given, tuple(targets), gatherer, memory.now(), repository)


def _given(memory: Memory, key: str, approvers: tuple[Verifier, ...]) -> Given | None:
    """None for a note that nobody who is known here signed: it approves nothing, whoever laid it there."""
    loaded = memory.fetch(key)
    try:
        receipt, _ = open_receipt(loaded.content, approvers)
    except (BadSignature, Malformed):
        return None
    used = next((said.digest or "" for said in memory.sayings(key) if said.type == "receipt-used"), "")
    return Given(receipt_id(loaded.content), receipt, loaded.seq, used)


def _is_draft(name: str) -> bool:
    slot = parse_name(name.removeprefix(SLOT)) if name.startswith(SLOT) else None
    return slot is not None and slot.discipline == REPLACEABLE
