"""Receipts in the log: issued once, found by the change that they are for, used once.

Each is a memory, `flow/receipt/ID`, whose content is the note as the approver signed it. That it is here proves nothing: what
counts is the signature of an approver whom this machine knows, held against the change as it is now.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import AccessDenied, BadSignature, IntegrityError, NotFoundError, NotPermitted, OutcomeUnknown
from indelible.memory.bound import RECEIPT
from indelible.workflow.receipt import misfit, open_receipt, parse_receipt, receipt_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from indelible.memory import Memory
    from indelible.memory.results import Saved
    from indelible.seal.note import Verifier
    from indelible.workflow.change import Change
    from indelible.workflow.receipt import Receipt

ISSUED, USED = "receipt-issued", "receipt-used"
APPROVE = "A person approves it: 'indelible approve'"


class UnknownApprover(AccessDenied):
    """No approver is known here by the key that signed."""

    slug = "unknown-approver"
    remedy = "If you know the approver: 'indelible key trust VKEY'; of a server, whoever runs it does that"


class Issued(NamedTuple):
    """A receipt that was issued."""

    id: str
    note: bytes
    receipt: Receipt
    approver: str
    """Name of the approver's key; empty where it is signed by nobody who is one here."""
    used: str
    """The commit that it was used for; empty while it was not."""
    seq: int
    """The entry that sealed it."""


class Wanted(NamedTuple):
    """What a receipt has to be for, here and now. What is None is not looked at."""

    change: Change
    now: str
    target: str | None = None
    branch: str | None = None
    repository: str | None = None
    workflow: str | None = None
    inputs: Mapping[str, str] | None = None


def issue(memory: Memory, note: bytes, approvers: Iterable[Verifier], *, reason: str | None = None) -> Saved:
    """Seal a receipt that an approver signed. The same one again changes nothing.

    Raises:
        Malformed: it is no receipt. UnknownApprover: it is not signed by an approver who is known here.
    """
    try:
        open_receipt(note, approvers)
    except BadSignature as exc:
        raise UnknownApprover(exc.message) from exc
    identity = receipt_id(note)
    return memory.record(f"{RECEIPT}{identity}", note, ISSUED, reason=reason, op=operation_of(identity))


def operation_of(identity: str) -> str:
    """The operation id of issuing a receipt: of each there is one."""
    return f"receipt-{identity}"


def all_issued(memory: Memory, approvers: Iterable[Verifier]) -> tuple[Issued, ...]:
    """Every receipt, the newest first.

    Raises:
        IntegrityError: one of them is not what was sealed.
    """
    known = tuple(approvers)
    listing = memory.list(prefix=RECEIPT)
    if listing.findings:
        raise listing.findings[0]
    found = [_issued(memory, item.key, known) for item in listing.items]
    return tuple(sorted(found, key=lambda one: -one.seq))


def fitting(memory: Memory, approvers: Iterable[Verifier], wanted: Wanted) -> Issued:
    """The receipt that is for this change and was not used.

    Raises:
        NotPermitted: there is none; the reasons are those of the receipt that comes nearest; one that was used for something else comes near nothing.
    """
    near: list[tuple[tuple[bool, bool, int], str]] = []
    for one in all_issued(memory, approvers):
        if wanted.target is not None and one.receipt.target != wanted.target:
            continue
        why = misfits(one, wanted)
        if not why:
            return one
        rank = (bool(one.used) and len(why) > 1, one.receipt.base != wanted.change.base, len(why))
        near.append((rank, f"receipt {one.id}: {', '.join(why)}"))
    said = min(near)[1] if near and not min(near)[0][0] else ""
    raise NotPermitted(
        f"Nobody approved this very change ({said})" if said else "Nobody approved this change",
        remedy=APPROVE, base=wanted.change.base, tree=wanted.change.tree,
    )  # fmt: skip


def misfits(one: Issued, wanted: Wanted) -> tuple[str, ...]:
    """Every reason why a receipt is not for that, or counts for nothing."""
    reasons = list(misfit(
        one.receipt, wanted.change, now=wanted.now, branch=wanted.branch, repository=wanted.repository, inputs=wanted.inputs,
        workflow=wanted.workflow, target=wanted.target,
    ))  # fmt: skip
    if not one.approver:
        reasons.append("no approver who is known here signed it ('indelible key trust VKEY')")
    if one.used:
        reasons.append(f"it was used for {one.used[:12]}")
    return tuple(reasons)


def use(memory: Memory, identity: str, commit: str, *, after: str | None = None) -> Saved:
    """Note what a receipt was used for.

    Args:
        after: the commit that it was used for before, of which this one is but another message.

    Raises:
        DisciplineError: it was used for another commit.
    """
    return memory.mark(USED, f"{RECEIPT}{identity}", digest=commit, after=after)


def require_there(memory: Memory, note: bytes) -> None:
    """See that a receipt which was handed in stands in the log.

    Raises:
        OutcomeUnknown: it does not.
    """
    try:
        found = memory.fetch(f"{RECEIPT}{receipt_id(note)}").content == note
    except NotFoundError:
        found = False
    if not found:
        raise OutcomeUnknown(
            "The server says that it took the receipt, and does not hand it out",
            remedy="Approve again: the same receipt is taken once",
        )


def _issued(memory: Memory, key: str, approvers: tuple[Verifier, ...]) -> Issued:
    loaded = memory.fetch(key)
    if loaded.finding is not None:
        raise loaded.finding
    note = loaded.content
    if key != f"{RECEIPT}{receipt_id(note)}":
        raise IntegrityError(f"{key!r} does not hold the receipt of that name", key=key)
    try:
        receipt, approver = open_receipt(note, approvers)
    except BadSignature:
        receipt, approver = parse_receipt(note), ""
    used = next((said.digest or "" for said in memory.sayings(key) if said.type == USED), "")
    return Issued(key.removeprefix(RECEIPT), note, receipt, approver, used, loaded.seq)
