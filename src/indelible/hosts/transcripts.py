"""Whether a briefing still stands in a session's context, by the transcript that some hosts write as they go.

Such a host puts something of its own into the transcript where it makes the context anew (Gemini CLI: the whole list of
messages; Antigravity: a checkpoint), and writes what it sends to the model after it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from indelible.hosts.host import Event, Host
    from indelible.hosts.ledger import Ledger

MOST = 256_000_000
"""Bytes that are read of a transcript."""


def renewals(path: str, by: str) -> int:
    """How often the context was made anew so far."""
    return _read(path).count(by.encode()) if by else 0


def lost(path: str, mark: str, by: str, before: int) -> bool:
    """Whether the context was made anew since `before` renewals, and the mark does not stand in it any more."""
    text = _read(path)
    sign = by.encode()
    return text.count(sign) > before and mark.encode() not in text[text.rfind(sign) :]


def is_lost(event: Event, host: Host, ledger: Ledger) -> bool:
    """Whether the briefing that a session was given is not in its context any more; never, where an event would have said so."""
    if not host.renewed_by or not ledger.mark or ledger.mark in event.text:
        return False
    return lost(event.transcript, ledger.mark, host.renewed_by, ledger.renewals)


def _read(path: str) -> bytes:
    if not path:
        return b""
    try:
        with open(path, "rb") as file:
            return file.read(MOST)
    except (OSError, ValueError):
        return b""
