"""What was handed out, when and through which door: a file of JSON Lines for each log, outside the store, without content.

Kept so that after an alarm it can be said what an agent was given since things were last known good.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

try:  # the C half alone: a verify must not wait for the whole of json
    from _json import encode_basestring_ascii as _quote
except ImportError:  # another Python than CPython
    from json.encoder import encode_basestring_ascii as _quote

from indelible.errors import NotSaved, UsageError
from indelible.files import append_line

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_BYTES = 8 * 1024 * 1024
"""At this size the file becomes the older one of two, and a new one begins."""


class Delivery(NamedTuple):
    """One memory handed out, or verified."""

    at: str
    door: str
    key: str
    version: int
    seq: int
    agent: str = ""
    reader: str = ""
    outcome: str = ""
    id: str = ""
    leaf: str = ""
    commitment: str = ""
    sha256: str | None = None
    mode: str = ""
    policy: str = ""
    context: object = None
    reasons: object = ()
    notes: object = ()
    review: object = None
    checkpoint: str = ""
    delivered_as: str | None = None


class Journal:
    """The deliveries of one log; `path` lies in the user's state folder."""

    def __init__(self, path: str) -> None:
        self.path = path

    def add(self, delivery: Delivery) -> bool:
        """Append one line in one write; False where it could not be kept, which holds nothing back."""
        words = ",".join(_quote(word) for word in (delivery.at, delivery.door, delivery.key))
        line = f"[{words},{delivery.version},{delivery.seq}]\n".encode("ascii")
        try:
            if append_line(self.path, line) > MAX_BYTES:
                os.replace(self.path, self.path + ".1")
        except (OSError, NotSaved, UsageError):
            return False
        return True

    def read(self) -> Iterator[Delivery]:
        """All that is kept, oldest first; a line cut by a crash is passed over."""
        import json

        for path in (self.path + ".1", self.path):
            try:
                with open(path, encoding="ascii", errors="replace") as file:
                    lines = file.readlines()
            except OSError:
                continue
            for line in lines:
                try:
                    yield Delivery(*json.loads(line))
                except (ValueError, TypeError):
                    continue

    def forget_digests(self, key: str) -> None: ...
    def close(self) -> None: ...


def journal_of(state_dir: str, name: str) -> Journal:
    """The journal of the log whose follower is called `name`."""
    return Journal(os.path.join(state_dir, "deliveries", name + ".jsonl"))
