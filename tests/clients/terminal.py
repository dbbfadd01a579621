"""A pseudo terminal with a client in it: for what a client does only when a person sits before it.

What is typed waits for what the model is asked, never for the clock alone, so that a slow machine is only slower.
"""

from __future__ import annotations

import os
import select
import signal
import struct
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tests.clients.sandbox import Sandbox

SETTLING = 0.5
"""Seconds that a client's screen gets to take in what was typed."""


class Terminal:
    """One program in a terminal of 120 columns; `shown` is everything that it ever wrote."""

    def __init__(self, box: Sandbox, command: Sequence[str], more: Mapping[str, str]) -> None:
        import fcntl
        import pty
        import termios

        self.shown = b""
        variables = {**box.environment(more), "TERM": "xterm-256color"}
        del variables["CI"]  # with it, clients take the terminal for none
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self._process = subprocess.Popen(
            command, cwd=box.project, env=variables, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
        )
        os.close(theirs)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for kind in (signal.SIGTERM, signal.SIGKILL):
            if self._process.poll() is None:
                os.killpg(self._process.pid, kind)
                self.wait(lambda: self._process.poll() is not None, 5)
        self._process.wait()
        os.close(self._ours)

    def wait(self, until: Callable[[], bool], limit: float = 60) -> bool:
        """Read on until something holds; says whether it came to hold within `limit` seconds."""
        end = time.monotonic() + limit
        while not until() and time.monotonic() < end:
            if select.select([self._ours], [], [], 0.05)[0]:
                try:
                    self.shown += os.read(self._ours, 65_536)
                except OSError:  # the program has ended
                    return until()
        return until()

    def say(self, text: str, until: Callable[[], bool]) -> None:
        """Type a line, and wait for what must come of it."""
        self._pause()
        os.write(self._ours, text.encode())
        self._pause()
        os.write(self._ours, b"\r")
        assert self.wait(until), f"nothing came of {text!r}:\n{self.screen()}"
        self._pause()

    def screen(self) -> str:
        """The last of what was shown, without its colours."""
        import re

        return re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b"", self.shown)[-4_000:].decode(errors="replace")

    def _pause(self) -> None:
        self.wait(lambda: False, SETTLING)


HERE = sys.platform != "win32"
"""Whether this system has pseudo terminals."""
