"""The process between a parent and the child that it forked: `python -P -m indelible.forking.supervisor`, told by a `Job`.

It starts the child in a session of its own, adopts whatever is orphaned below it, and ends all of that when the child ends,
when its time is over, and when the parent says so or is gone. Then it measures the output and writes down how it was.
A supervisor that is killed takes the child with it (a signal at the parent's death); what is left then falls to the parent.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

from indelible.errors import IndelibleError
from indelible.forking import locks, places, proc
from indelible.forking.closing import closed
from indelible.forking.ending import KILL, Below, Ended, Group, Marked, end_tree
from indelible.forking.job import parse_job
from indelible.forking.run import (
    EXITED,
    INTERRUPTED,
    NOT_STARTED,
    PARENT_GONE,
    SIGNALLED,
    STOPPED,
    TIME_LIMIT,
    to_document,
)
from indelible.forking.waking import SIGNAL, Waking
from indelible.light import TYPE_CHECKING
from indelible.settings import now

if TYPE_CHECKING:
    from indelible.forking.ending import Tree
    from indelible.forking.job import Job
    from indelible.forking.run import Run

_NEW = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_WORDS = {b"interrupted": INTERRUPTED, b"stopped": STOPPED}


def main() -> int:
    """Look after one child, to its end."""
    adopting = proc.adopt_orphans()
    with open(0, "rb", buffering=0, closefd=False) as told:
        job = parse_job(told.readline())
    if job.lock is None:
        locks.take(os.path.join(job.folder, job.run.id, places.LOCK))
    else:
        os.set_inheritable(job.lock, False)  # noqa: FBT003 - the call's own form
    with Waking() as waking:
        proc.die_with_parent(signal.SIGTERM)
        run = supervise(job, waking, adopting=adopting)
        _write_down(job, run)
    return 0


def supervise(job: Job, waking: Waking, *, adopting: bool) -> Run:
    """Start the child, and wait until it and all that it started have ended.

    Args:
        adopting: whether what is orphaned falls to this process; where not, it is known by its mark alone.
    """
    begun = time.monotonic()
    run = job.run._replace(supervisor=os.getpid())
    try:
        child = _start(job)
    except (OSError, ValueError, subprocess.SubprocessError) as exc:
        words = getattr(exc, "strerror", None) or "its command is none"
        return run._replace(ended=now(), reason=NOT_STARTED, detail=f"{words}: {job.command[0][:200]}")
    run = _kept(job, run._replace(child=child.pid))
    reason = _wait(job, child, waking, None if job.limit is None else begun + job.limit)
    ended = _end_all(child, waking)
    if proc.ON_LINUX and not adopting:
        strayed = end_tree(Marked(run.id))
        ended = Ended(ended.killed + strayed.killed, (*ended.left, *strayed.left))
    milliseconds = int(1000 * (time.monotonic() - begun))
    run = run._replace(ended=now(), milliseconds=milliseconds, killed=ended.killed, left=ended.left)
    return _outcome(run, reason, child.returncode)


def _start(job: Job) -> subprocess.Popen[bytes]:
    place = os.path.join(job.folder, job.run.id)
    output = os.open(os.path.join(place, places.OUTPUT), _NEW, 0o600)
    errors = os.open(os.path.join(place, places.ERRORS), _NEW, 0o600) if job.apart else output
    try:
        return subprocess.Popen(
            job.command, stdin=subprocess.DEVNULL if job.given is None else job.given, stdout=output, stderr=errors,
            cwd=job.run.cwd, start_new_session=True, preexec_fn=proc.binding_to_parent(KILL),  # noqa: PLW1509 - one thread, and nothing but a system call
        )  # fmt: skip
    finally:
        for descriptor in {output, errors, output if job.given is None else job.given}:
            os.close(descriptor)


def _wait(job: Job, child: subprocess.Popen[bytes], waking: Waking, until: float | None) -> str:
    """Wait for the child's end, for the end of its time, or for a word; gives why it ends where that is not its own doing."""
    stop = os.path.join(job.folder, job.run.id, places.STOP)
    while True:
        waking.reap(child)
        if child.returncode is not None:
            return ""
        if os.path.exists(stop):
            return STOPPED
        left = None if until is None else until - time.monotonic()
        if left is not None and left <= 0:
            return TIME_LIMIT
        word = waking.wait(left)
        if word == SIGNAL and os.path.exists(stop):
            return STOPPED
        if word is not None:
            return PARENT_GONE if not word else _WORDS.get(word, STOPPED)


def _end_all(child: subprocess.Popen[bytes], waking: Waking) -> Ended:
    """End what is left of the tree, the child among it, and take the dead away."""
    tree: Tree = Below() if proc.ON_LINUX else Group(child.pid)
    own = child.returncode is None
    ended = end_tree(tree, reap=lambda: waking.reap(child))
    if child.returncode is None and not ended.left:
        waking.reap(child, wait=True)
    return ended._replace(killed=max(0, ended.killed - own))


def _outcome(run: Run, reason: str, code: int | None) -> Run:
    if code is None:
        return run._replace(reason=reason or SIGNALLED)
    if code >= 0:
        return run._replace(reason=reason or EXITED, exit=code)
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return run._replace(reason=reason or SIGNALLED, signal=name)


def _write_down(job: Job, run: Run) -> None:
    """All that there is to know, on the disk and, where that is full, at least for the parent."""
    run = _kept(job, closed(job.folder, run, most=job.lines, secrets=job.secrets))
    try:
        sys.stdout.buffer.write(json.dumps(to_document(run)).encode())
        sys.stdout.buffer.flush()
    except OSError:  # there is no parent any more
        return


def _kept(job: Job, run: Run) -> Run:
    try:
        return places.keep(job.folder, run)
    except IndelibleError as error:
        with suppress(OSError):  # that is a file too, and perhaps on the same disk
            sys.stderr.write(f"{error}\n")
        return run


if __name__ == "__main__":
    sys.exit(main())
