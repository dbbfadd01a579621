"""A review from a machine that does not hold the agent's key: the reviewer signs the entry, and a server the head after it.

The entry is taken only as it would be written here: for the present head, about the present version of its key, and by a
reviewer whom this reader knows. What it decides is the reviewer's word; the server says only that it stands in the log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indelible.entry import PAYLOAD_TYPE, Judged, check_text, parse_entry, split_leaf
from indelible.errors import AccessDenied, BadSignature, IntegrityError, UsageError
from indelible.memory.accepting import MAX_LEAF, Refused, StaleHead
from indelible.memory.bodies import check_reason
from indelible.record.rules import check_key, instant
from indelible.seal.note import pae
from indelible.store.store import HeadMoved

if TYPE_CHECKING:
    from indelible.memory.facade import Memory
    from indelible.memory.results import Saved


class UnknownReviewer(AccessDenied):
    """No reviewer is known here by the key that signed."""

    slug = "unknown-reviewer"
    remedy = "Ask who runs the server to trust it: 'indelible key trust VKEY'"


def parse_review(leaf: bytes) -> Judged:
    """The review that a leaf is.

    Raises:
        Refused: it is none that could stand in a log.
    """
    if len(leaf) > MAX_LEAF:
        raise Refused(f"The entry has {len(leaf)} bytes; the limit is {MAX_LEAF}")
    try:
        entry = parse_entry(split_leaf(leaf)[0])
        if not isinstance(entry, Judged) or entry.type != "reviewed":
            raise Refused(f"An entry of the type {entry.type} is no review")
        check_text(entry.op, "operation id")
        check_key(entry.key)
        instant(entry.at)
        if entry.reason is not None:
            check_reason(entry.reason)
    except (IntegrityError, UsageError) as exc:
        raise _refused(exc) from exc
    return entry


def attest(memory: Memory, entry: Judged, leaf: bytes) -> Saved:
    """Add a review, and sign the head after it with the key that this memory signs with.

    Args:
        entry: what `parse_review` made of `leaf`.

    Raises:
        StaleHead: it was made for another head than there is now.
        UnknownReviewer: no reviewer is known here by the key that signed.
        Refused: it is of another log or version, it is not signed by the key that it names, or that was revoked.
        NotFoundError: nothing is saved under its key. ConflictError: the operation id was used for something else.
        IntegrityError: the store is not what was sealed, and so is not built upon.
    """
    reviewer = memory.reviewers.get(int(entry.by, 16))
    if reviewer is None:
        raise UnknownReviewer(f"No reviewer is known here by the key {entry.by}", by=entry.by)
    body, signature = split_leaf(leaf)
    if not reviewer.verify_raw(pae(PAYLOAD_TYPE, body), signature):
        raise Refused(f"The review is not signed by the key that it names, {entry.by}")
    try:
        return memory.lodge(entry, leaf)
    except HeadMoved as moved:
        raise StaleHead("Another writer was first: the head of the log is another one by now") from moved
    except (BadSignature, UsageError) as exc:
        raise _refused(exc) from exc


def _refused(exc: IntegrityError | UsageError) -> Refused:
    return exc if isinstance(exc, Refused) else Refused(f"The review is not taken: {exc.message}", cause=exc.slug)
