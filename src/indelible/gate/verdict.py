"""What judging a memory comes to: handed over or held, with every reason, and with what it was judged by."""

from __future__ import annotations

import re
from shlex import quote
from typing import NamedTuple

REFERENCE, RULE = "reference", "rule"
_KEY = re.compile(r"\bKEY\b")


class Reason(NamedTuple):
    """One thing that speaks against a memory, or that has to be said of it."""

    slug: str
    """Stable; docs/gate.md lists them."""
    message: str
    """For people. It holds what is known about a memory, never its text."""
    remedy: str = ""

    def about(self, key: str) -> Reason:
        """The same with the memory's key where its remedy says KEY."""
        if not key or "KEY" not in self.remedy:
            return self
        return self._replace(remedy=_KEY.sub(lambda _: as_argument(key), self.remedy))


def as_argument(key: str) -> str:
    """A key as a shell and the command line take it."""
    return f"-- {quote(key)}" if key.startswith("-") else quote(key)


class Verdict(NamedTuple):
    """The judgement of one version of one memory in one context."""

    mode: str
    """The preset, or `custom`."""
    policy: str
    """The conditions, as they stood together."""
    reasons: tuple[Reason, ...]
    """Why it is held; empty where it is handed over."""
    notes: tuple[Reason, ...] = ()
    """What is said beside a memory that is handed over: unreviewed, contradicted, no expiry, …"""
    delivered_as: str = REFERENCE
    """`reference`, or `rule`: reviewed, and of authority `instruction`."""
    review: str = "unreviewed"
    reviewer: str = ""
    """Name of the reviewer's key, where a review counted."""
    reviewed_at: str = ""

    @property
    def held(self) -> bool:
        """Whether it is held."""
        return bool(self.reasons)

    @property
    def slugs(self) -> tuple[str, ...]:
        """The reasons' slugs, in the order of the conditions."""
        return tuple(reason.slug for reason in self.reasons)

    def as_dict(self) -> dict[str, object]:
        """The shape that `--json`, the deliveries and the HTTP API share."""
        return {
            "held": self.held, "mode": self.mode, "policy": self.policy, "delivered_as": None if self.held else self.delivered_as,
            "reasons": [reason._asdict() for reason in self.reasons], "notes": [note._asdict() for note in self.notes],
            "review": {"value": self.review, "by": self.reviewer or None, "at": self.reviewed_at or None},
        }  # fmt: skip
