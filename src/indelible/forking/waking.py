"""What wakes a supervisor: a child that ended, a word of its parent or the parent's end, a signal, the clock."""

from __future__ import annotations

import os
import signal
import sys
import time

from indelible.light import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess
    from typing import Self

_LOOK = 0.1
"""Seconds between two looks, on Windows, where nothing wakes."""
_WORD = 64
SIGNAL = b"signal"


class Waking:
    """Waits without asking again and again. Signals to end only wake it; what follows is for its user to say."""

    def __init__(self) -> None:
        self._word: bytes | None = None
        self._signalled = False
        self._read, self._write = -1, -1

    def __enter__(self) -> Self:
        if sys.platform == "win32":
            self._listen()
            return self
        self._read, self._write = os.pipe()
        os.set_blocking(self._read, False)
        os.set_blocking(self._write, False)
        signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        if sys.platform != "win32":
            signal.set_wakeup_fd(-1)

    def _note(self, *_: object) -> None:
        self._signalled = True

    def wait(self, seconds: float | None) -> bytes | None:
        """Sleep until something happens, or so long.

        Returns:
            None where nothing is asked for; the parent's word, or nothing at all (`b""`) where it is gone. A signal counts as
            a word of nobody's, `SIGNAL`.
        """
        if self._word is None:
            seconds = 0.0 if self._signalled else seconds
            if sys.platform == "win32":
                time.sleep(_LOOK if seconds is None else min(_LOOK, max(0.0, seconds)))
            else:
                self._sleep(seconds)
        if self._word is not None:
            return self._word
        return SIGNAL if self._signalled else None

    def _sleep(self, seconds: float | None) -> None:
        import select

        ready, _, _ = select.select([0, self._read], [], [], seconds)
        if self._read in ready:
            try:
                while os.read(self._read, 512):
                    pass
            except BlockingIOError:
                pass
        if 0 in ready:
            self._word = os.read(0, _WORD).strip()

    def _listen(self) -> None:
        """On Windows a pipe is read by a thread of its own."""
        from threading import Thread

        def listen() -> None:
            self._word = os.read(0, _WORD).strip()

        Thread(target=listen, daemon=True).start()

    def reap(self, child: subprocess.Popen[bytes], *, wait: bool = False) -> None:
        """Take the dead away, the child and what was adopted; the child's own code is kept.

        Args:
            wait: for the child, which is dying.
        """
        if sys.platform == "win32":
            child.poll()
            return
        while True:
            try:
                pid, status = os.waitpid(child.pid if wait else -1, 0 if wait else os.WNOHANG)
            except ChildProcessError:
                return
            if not pid:
                return
            if pid == child.pid:
                child.returncode = os.waitstatus_to_exitcode(status)
                if wait:
                    return
