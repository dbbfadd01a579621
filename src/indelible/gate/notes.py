"""What is said beside a memory that is handed over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indelible.gate.subject import UNREVIEWED
from indelible.gate.verdict import Reason

if TYPE_CHECKING:
    from indelible.gate.context import Context
    from indelible.gate.subject import Subject

_UNREVIEWED = Reason("unreviewed", "nobody has reviewed it")
_NO_EXPIRY = Reason("no-expiry", "it has no expiry")


def notes_on(subject: Subject, context: Context) -> tuple[Reason, ...]:
    """Everything that the reader should know of it, whether it is held or not."""
    notes = [] if subject.reviewed else [_UNREVIEWED]
    if subject.expires_at is None:
        notes.append(_NO_EXPIRY)
    if subject.review is not UNREVIEWED:
        notes += _on_review(subject)
    if subject.signs:
        notes.append(Reason("order-shaped", f"its text reads as an order to the model ({', '.join(subject.signs)})"))
    if subject.on_change == "warn" and subject.anchors:
        notes += context.world.check(subject.anchors)
    return tuple(notes)


def _on_review(subject: Subject) -> list[Reason]:
    review, notes = subject.review, []
    if subject.reviewed and not review.protected:
        notes.append(
            Reason(
                "review-unprotected",
                f"the key of {review.by} is under no passphrase: anything that runs as its user can sign with it",
            )
        )
    if review.doubted:
        notes.append(
            Reason(
                "doubted", f"it was disputed at {review.doubted}, by the agent or by somebody who is no reviewer here"
            )
        )
    if review.strangers:
        notes.append(
            Reason(
                "review-by-stranger", f"reviewed by {', '.join(review.strangers)}, unknown here: it counts for nothing"
            )
        )
    return notes
