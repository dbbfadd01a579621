"""What may be signed: only an entry that every reader will take. One that it would refuse poisons the log for ever."""

from __future__ import annotations

from indelible.entry import Entry, format_entry, parse_entry
from indelible.errors import Malformed, UsageError

REASON_LIMIT = 4096
"""Bytes of a reason: the log is kept for ever."""


def checked_body(entry: Entry) -> bytes:
    """The body of an entry, after reading it back.

    Raises:
        UsageError: a member holds what it may not.
    """
    if entry.reason is not None:
        check_reason(entry.reason)
    try:
        body = format_entry(entry)
        if parse_entry(body) == entry:
            return body
    except (Malformed, TypeError, ValueError) as exc:
        raise UsageError(
            "That cannot be put into the log", remedy="Check the words of the entry: its kind, key and reason"
        ) from exc
    raise UsageError(
        "That would not come out of the log as it went in",
        remedy="Check the words of the entry: its kind, key and reason",
    )


def check_reason(reason: object) -> None:
    """Raise unless it is a text of at most 4,096 bytes."""
    if not isinstance(reason, str):
        raise UsageError(f"The reason is {type(reason).__name__}, not text", remedy="Give it as text")
    try:
        size = len(reason.encode("utf-8"))
    except UnicodeEncodeError as exc:
        raise UsageError("The reason holds half of a surrogate pair", remedy="Write the character whole") from exc
    if size > REASON_LIMIT:
        raise UsageError(
            f"The reason has {size} bytes; the limit is {REASON_LIMIT}", remedy="Shorten it: the log is kept for ever"
        )
