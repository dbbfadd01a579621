"""The server's log: one JSON line on stderr for each write, each failure, start and stop. No key, no content, no query.

    {"at":"2026-11-30T09:00:00Z","event":"request","method":"POST","route":"/memory/save","status":200,"agent":"eros",…}

Lines are written by a thread of its own: a terminal or a pipe that nobody reads must not hold up the server. When
more wait than there is room for, the rest are dropped and counted.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from queue import Empty, Full, Queue
from threading import Thread
from typing import TYPE_CHECKING

from indelible.settings import now

if TYPE_CHECKING:
    from collections.abc import Callable

ROOM = 1_000
"""Lines that may wait."""


class Journal:
    """Where one-line events go.

    Args:
        write: writes one line; by default to stderr.
    """

    def __init__(self, write: Callable[[str], object] | None = None) -> None:
        self._write = write or _to_stderr
        self._waiting: Queue[str | None] = Queue(ROOM)
        self._dropped = 0
        self._thread = Thread(target=self._run, name="indelible-journal", daemon=True)
        self._thread.start()

    def event(self, event: str, **facts: object) -> None:
        """Note one event; never waits."""
        line = {"at": now(), "event": event, **{name: value for name, value in facts.items() if value is not None}}
        if self._dropped:
            line["dropped_before"] = self._dropped
        try:
            self._waiting.put_nowait(json.dumps(line, default=str))
            self._dropped = 0
        except Full:
            self._dropped += 1

    def close(self) -> None:
        """Write what waits, for a second at most."""
        with suppress(Full):
            self._waiting.put(None, timeout=0.5)
            self._thread.join(0.5)

    def _run(self) -> None:
        while True:
            with suppress(Empty):
                line = self._waiting.get(timeout=60)
                if line is None:
                    return
                self._write(line)


def _to_stderr(line: str) -> None:
    """Past Python's own buffer: what stands in that when a pipe is full would hold up the end of the process."""
    data = f"{line}\n".encode("utf-8", "backslashreplace")
    with suppress(OSError, ValueError, AttributeError):  # nobody is left to read it
        descriptor = sys.stderr.fileno()
        while data:
            data = data[os.write(descriptor, data) :]
