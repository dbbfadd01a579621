"""Ending a whole tree of processes: asked first, then killed, until none of them is left.

On Linux a tree is what descends from its supervisor, who adopts whatever is orphaned below it, or what carries the mark of a
run in its environment. Elsewhere it is the child's process group, and on Windows what `taskkill /T` finds.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

from indelible.forking import proc
from indelible.forking.places import BETWEEN, MARKER
from indelible.light import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

GRACE = 2.0
"""Seconds between the asking and the killing."""
_PATIENCE = 5.0
"""Seconds for which killing goes on; what is left then cannot be killed by us."""
_PAUSE, _LONGEST = 0.005, 0.1
"""Seconds between two looks: the first, and the longest."""
_LOOKS = 3
"""Looks that have to find nothing, while there is a child of ours of which it is not known whether it is dead."""
_QUICK = 200
"""Rounds without a pause against a process that is always a new one: it forks and ends."""
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)
_GO_ON = getattr(signal, "SIGCONT", None)


class Ended(NamedTuple):
    """What ending a tree came to."""

    killed: int
    left: tuple[int, ...]


class Tree(Protocol):
    """Processes that end together."""

    def alive(self) -> set[int]:
        """Those that run."""
        ...

    def near(self) -> tuple[int, ...]:
        """Those of them that are found at once, without looking at every process of the machine."""
        ...

    def send(self, pid: int, number: int) -> None:
        """Give one of them a signal; nothing happens where it is gone."""
        ...


class Below:
    """All that descends from this process, but for what was there before."""

    def __init__(self, outside: frozenset[int] = frozenset()) -> None:
        self._outside = outside

    def alive(self) -> set[int]:
        """A look is a list and then one file after another: what is forked in between, by a parent that ends, stands in none.

        It has become a child of this process by then, and so is looked for once more, there and everywhere, before none is told.
        """
        for _ in range(_LOOKS):
            if found := proc.descendants(os.getpid(), self._outside) | {pid for pid in self.near() if proc.runs(pid)}:
                return found
            if not self._has_child():
                break
        return set()

    def _has_child(self) -> bool:
        """Whether the system knows any child of this process, dead or alive: without one nothing descends from it."""
        try:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except (OSError, AttributeError):
            return False
        return True

    def near(self) -> tuple[int, ...]:
        return tuple(pid for pid in proc.children_of(os.getpid()) if pid not in self._outside)

    def send(self, pid: int, number: int) -> None:
        try:
            os.kill(pid, number)
        except OSError:
            return


class Marked:
    """All that was started with the mark of a run."""

    def __init__(self, run: str) -> None:
        self._run = run

    def alive(self) -> set[int]:
        return proc.marked(MARKER, self._run, BETWEEN)

    def near(self) -> tuple[int, ...]:
        return ()

    def send(self, pid: int, number: int) -> None:
        """By a handle: a process that took the number over in between is not the one that is meant."""
        try:
            handle = os.pidfd_open(pid)
        except (OSError, AttributeError):
            return
        try:
            if proc.is_marked(pid, MARKER, self._run, BETWEEN):
                signal.pidfd_send_signal(handle, number)
        except OSError:
            return
        finally:
            os.close(handle)


class Group:
    """A process group, for systems that tell no more than that it is there; `pid` stands for all of it."""

    def __init__(self, pid: int) -> None:
        self._pid = pid

    def alive(self) -> set[int]:
        if sys.platform == "win32" or not self._pid:
            return set()
        try:
            os.killpg(self._pid, 0)
        except OSError:
            return set()
        return {self._pid}

    def near(self) -> tuple[int, ...]:
        return ()

    def send(self, pid: int, number: int) -> None:
        if sys.platform == "win32":
            subprocess.run(["taskkill", "/F", "/T", "/PID", str(pid)], capture_output=True, check=False)
            return
        try:
            os.killpg(pid, number)
        except OSError:
            return


def end_tree(tree: Tree, *, grace: float = GRACE, reap: Callable[[], object] = lambda: None) -> Ended:
    """End all of a tree.

    Args:
        grace: seconds between the asking and the killing.
        reap: takes the dead of ours away.
    """
    met = tree.alive()
    if not met:
        return Ended(0, ())
    _ask(tree, met)
    for alive in _looks(tree, grace, reap):
        _ask(tree, alive - met)  # what was started a moment ago
        met |= alive
    for alive in _looks(tree, _PATIENCE, reap):
        met |= alive
        for pid in alive:
            tree.send(pid, KILL)
        met |= _hunt(tree, reap)
    left = tuple(sorted(tree.alive()))
    return Ended(len(met - set(left)), left)


def _ask(tree: Tree, pids: set[int]) -> None:
    """To end; what is stopped is woken for that."""
    for pid in pids:
        tree.send(pid, signal.SIGTERM)
        if _GO_ON is not None:
            tree.send(pid, _GO_ON)


def _looks(tree: Tree, seconds: float, reap: Callable[[], object]) -> Iterator[set[int]]:
    """What is alive, again and again, until that is nothing or the time is over."""
    until, pause = time.monotonic() + seconds, _PAUSE
    while (alive := tree.alive()) and time.monotonic() < until:
        yield alive
        reap()
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST)
    reap()


def _hunt(tree: Tree, reap: Callable[[], object]) -> set[int]:
    """Kill what became a child of ours meanwhile, faster than it can make another one of itself."""
    met: set[int] = set()
    for _ in range(_QUICK):
        reap()
        if not (found := tree.near()):
            break
        met |= set(found)
        for pid in found:
            tree.send(pid, KILL)
    return met
