"""What screening hands out."""

from __future__ import annotations

from typing import NamedTuple

REFUSE, MASK, ALLOW = "refuse", "mask", "allow"
MODES = (REFUSE, MASK, ALLOW)
"""What is done about a secret: nothing is stored, it is masked in the content, or nothing is looked for."""


class Found(NamedTuple):
    """One secret: what it looks like and where it stands; nothing of what it is."""

    kind: str
    """A stable slug: `aws-access-key`, `password`, `private-key`, …"""
    where: str
    """`content line 3`, `key`, `tag`, `title`, `reason`, …"""

    def __str__(self) -> str:
        return f"{self.kind} ({self.where})"


class Screened(NamedTuple):
    """What may be stored."""

    content: bytes
    """What was given, but for the marks that stand where a secret was."""
    found: tuple[Found, ...]
    """What was masked."""


class Span(NamedTuple):
    """A secret in a text, from `start` up to `end`."""

    start: int
    end: int
    kind: str
