"""Whether a briefing still stands in a session's context, by the transcript that some hosts write as they go.

Such a host puts something of its own into the transcript where it makes the context anew (Gemini CLI: the whole list of
messages; Antigravity: a checkpoint), and writes what it sends to the model after it.
"""

from __future__ import annotations

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


def _read(path: str) -> bytes:
    if not path:
        return b""
    try:
        with open(path, "rb") as file:
            return file.read(MOST)
    except (OSError, ValueError):
        return b""
