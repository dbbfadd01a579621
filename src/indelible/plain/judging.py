"""What the receipts of this machine add to what a plain checksum says. Pure.

A checksum that was rewritten together with its text matches. Only this machine's own receipt tells: the content is
not what was saved here, or is an older version of it, or lost the checksum that it had. The receipt of a save that
was cut between its two halves tells the other way: nobody tampered.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from indelible.plain.receipts import SAVED

if TYPE_CHECKING:
    from indelible.plain.forms import Verdict
    from indelible.plain.receipts import Receipt
    from indelible.seal.digest import Digest

UNKEYED = "unkeyed: this machine has no receipt for it, and a plain checksum does not stop someone who rewrites text and checksum"


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict, and whether a receipt stands behind it."""

    verdict: Verdict
    keyed: bool
    warnings: tuple[str, ...]


def judge(verdict: Verdict, content: Digest, receipts: tuple[Receipt, ...]) -> Judged:
    """The verdict on content, in the light of the receipts for its key.

    Args:
        verdict: What its checksums say.
        content: Of the whole content, as receipts have it.
        receipts: All of this key, newest first.
    """
    saved = last_saved(receipts)
    pending = receipts[: receipts.index(saved)] if saved else receipts
    sent = next((receipt for receipt in pending if receipt.digest == content), None)
    if sent is not None:
        return _as_sent(verdict, sent)
    if saved is None:
        return Judged(verdict, keyed=False, warnings=(UNKEYED,))
    if saved.digest == content:
        return _as_saved(verdict, saved)
    if verdict.state is False:
        return Judged(verdict, keyed=True, warnings=(f"It also differs from what this machine saved on {saved.at}",))
    return Judged(_differing(verdict, content, saved, receipts), keyed=True, warnings=())


def last_saved(receipts: tuple[Receipt, ...]) -> Receipt | None:
    """The newest save that was read back."""
    return next((receipt for receipt in receipts if receipt.stage == SAVED), None)


def _as_sent(verdict: Verdict, sent: Receipt) -> Judged:
    if verdict.state:
        return Judged(verdict, keyed=True, warnings=())
    message = f"These are the bytes that this machine sent on {sent.at}, in a save that was cut before its checksum"
    whole = replace(verdict, state=True, reason="half-saved", message=message)
    return Judged(whole, keyed=True, warnings=(f"{message}: save it again",))


def _as_saved(verdict: Verdict, saved: Receipt) -> Judged:
    if verdict.state:
        return Judged(verdict, keyed=True, warnings=())
    if verdict.state is False:
        note = f"The content is what this machine saved on {saved.at}; its checksum is what was changed"
        return Judged(verdict, keyed=True, warnings=(note,))
    message = f"The checksum that this machine saved on {saved.at} is gone; the content is what it was"
    return Judged(replace(verdict, state=False, reason="checksum-gone", message=message), keyed=True, warnings=())


def _differing(verdict: Verdict, content: Digest, saved: Receipt, receipts: tuple[Receipt, ...]) -> Verdict:
    remedy = "if another machine saved it since, save it from here again to accept it"
    older = next((one for one in receipts if one.stage == SAVED and one.digest == content), None)
    if older is not None:
        message = f"This is what this machine saved on {older.at}, and not what it saved last, on {saved.at}; {remedy}"
        return replace(verdict, state=False, reason="rolled-back", message=message, stated=saved.digest)
    message = f"The content differs from what this machine saved on {saved.at} ({saved.digest}); {remedy}"
    return replace(verdict, state=False, reason="differs-from-receipt", message=message, stated=saved.digest)
