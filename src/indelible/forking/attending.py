"""The parent's side: start a supervisor, hold it by a thread, wait for its end, and take over where it was killed.

    with Attended(job, environ) as attended:
        run = attended.wait()

While it waits, Ctrl-C, SIGTERM and SIGHUP do not end this process but the child: what it wrote is measured and told first. A
second one kills the supervisor, and the tree with it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, cast

from indelible import files
from indelible.errors import IndelibleError, Malformed, NotFoundError
from indelible.forking import places, proc
from indelible.forking.closing import close_unsupervised
from indelible.forking.ending import Below, Group, end_tree
from indelible.forking.job import format_job
from indelible.forking.run import parse_run
from indelible.settings import now
from indelible.settings.secrets import for_others

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import FrameType
    from typing import IO, Any, Self

    from indelible.forking.ending import Tree
    from indelible.forking.job import Job
    from indelible.forking.run import Run

_SUPERVISOR = "indelible.forking.supervisor"
_TROUBLE = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
_TO_END = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


def program(module: str) -> list[str]:
    """The command that runs a module of ours, whatever lies in the current folder."""
    return [sys.executable, "-P", "-m", module]


def marks_of(job: Job) -> Mapping[str, str]:
    """What the environment of everything in a run has beside that of its parent."""
    within = [job.run.within] if job.run.within else []
    return {places.MARKER: places.BETWEEN.join([*within, job.run.id])}


class Attended:
    """A supervisor at work.

    Args:
        environ: what the child's environment is to be, but for the mark.

    Raises:
        IndelibleError: no process could be started. Nothing of the command ran.
    """

    def __init__(self, job: Job, environ: Mapping[str, str]) -> None:
        self._job, self.signalled, self.warning = job, 0, ""
        self._outside = frozenset(proc.descendants(os.getpid()))
        proc.adopt_orphans()
        place = os.path.join(job.folder, job.run.id)
        self._trouble = os.path.join(place, places.TROUBLE)
        handed = tuple(one for one in (job.lock, job.given) if one is not None)
        trouble = os.open(self._trouble, _TROUBLE, 0o600)
        try:
            self._process = subprocess.Popen(
                program(_SUPERVISOR), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=trouble, pass_fds=handed,
                env={**for_others(environ), **marks_of(job)}, start_new_session=True, bufsize=0,
            )  # fmt: skip
        except OSError as exc:
            raise IndelibleError(f"No process could be started ({exc.strerror})", remedy="Nothing ran") from exc
        finally:
            for descriptor in (trouble, *((job.lock,) if job.lock is not None else ())):
                os.close(descriptor)
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        """From here on a signal to end is one for the child. A thread gets none, and leaves them to whoever does."""
        for number in _TO_END if current_thread() is main_thread() else ():
            if signal.getsignal(number) is not signal.SIG_IGN:  # as `nohup` leaves it
                self._before[number] = signal.signal(number, self._heed)
        return self

    def __exit__(self, *_: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()

    def _heed(self, number: int, _frame: FrameType | None) -> None:
        if self.signalled:
            self._process.kill()
        else:
            self.signalled = number
            self._say(b"interrupted\n")

    def _say(self, words: bytes) -> None:
        stdin = cast("IO[bytes]", self._process.stdin)
        try:
            left = memoryview(words)
            while left:
                left = left[os.write(stdin.fileno(), left) :]
        except OSError:  # it is gone, and its end is found by whoever waits for it
            return

    def wait(self) -> Run:
        """Tell the supervisor what to do, and wait until all has ended; gives the run as it was closed."""
        self._say(format_job(self._job))
        stdout = cast("IO[bytes]", self._process.stdout)
        told = b"".join(iter(lambda: stdout.read(1 << 16), b""))
        self._process.wait()
        run = self._closed(told)
        if not self._is_written_down():
            self.warning = f"How {run.id} ended could not be written down: its disk is full, or its folder is gone"
        if not self._troubled():
            files.remove(self._trouble)
        return run

    def _is_written_down(self) -> bool:
        try:
            return places.read(self._job.folder, self._job.run.id).is_over
        except (NotFoundError, Malformed):
            return False

    def _troubled(self) -> bool:
        """Whether the supervisor said that something is wrong with itself."""
        try:
            return os.path.getsize(self._trouble) > 0
        except OSError:
            return False

    def _closed(self, told: bytes) -> Run:
        if told:
            try:
                run = parse_run(told, "What the supervisor said")
            except Malformed:  # it was killed in the middle of it
                return self._take_over()
            return run
        return self._take_over()

    def _take_over(self) -> Run:
        """The supervisor was killed: end what it leaves, and close the run in its place."""
        folder, name = self._job.folder, self._job.run.id
        tree: Tree = Below(self._outside) if proc.ON_LINUX else Group(places.read(folder, name).child)
        ended = end_tree(tree, reap=self._reap)
        run = places.read(folder, name)
        return close_unsupervised(
            self._job.folder, run, now(), ended, most=self._job.lines, secrets=self._job.secrets
        )  # fmt: skip

    def _reap(self) -> None:
        """Take away the dead that fell to this process, and no child of anybody else's in it."""
        for pid in proc.children_of(os.getpid()):
            if pid not in self._outside:
                try:
                    os.waitpid(pid, os.WNOHANG)
                except ChildProcessError:
                    continue
