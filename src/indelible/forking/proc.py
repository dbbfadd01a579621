"""Linux's processes, by /proc and prctl: who descends from whom, who carries a mark, and what happens when a parent dies.

Where there is no /proc (macOS, Windows, a sandbox) every list is empty.
"""

from __future__ import annotations

import os
import sys

from indelible.light import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_PROC = "/proc"
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
ON_LINUX = sys.platform.startswith("linux")


class Status(NamedTuple):
    """One process, a moment ago."""

    pid: int
    parent: int
    state: str
    """`R`, `S`, `D`, `T`, `Z`, …"""


def adopt_orphans() -> bool:
    """Have descendants whose parent dies become children of this process; False where the system has no such thing."""
    return _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent(signal: int) -> bool:
    """Get a signal when the thread that started this process ends."""
    return _prctl(_PR_SET_PDEATHSIG, signal)


def _prctl(option: int, value: int) -> bool:
    if not ON_LINUX:
        return False
    import ctypes

    try:
        return bool(ctypes.CDLL(None).prctl(option, value, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False


def binding_to_parent(signal: int) -> Callable[[], None] | None:
    """What a child does between fork and exec so that it gets a signal when this process dies; None where that cannot be had.

    The library is loaded here: between fork and exec there is no time for that.
    """
    if not ON_LINUX:
        return None
    import ctypes

    try:
        prctl = ctypes.CDLL(None).prctl
    except (OSError, AttributeError):
        return None
    parent = os.getpid()

    def bind() -> None:
        prctl(_PR_SET_PDEATHSIG, signal, 0, 0, 0)
        if os.getppid() != parent:  # it died before that
            os._exit(1)

    return bind


def statuses() -> dict[int, Status]:
    """Every process that can be seen."""
    return {one.pid: one for one in map(status_of, _pids()) if one is not None}


def status_of(pid: int) -> Status | None:
    """One process; None where it is gone."""
    try:
        with open(f"{_PROC}/{pid}/stat", "rb") as file:
            text = file.read()
    except OSError:
        return None
    state, parent = text[text.rfind(b")") + 1 :].split()[:2]  # a name may hold anything
    return Status(pid, int(parent), state.decode())


def runs(pid: int) -> bool:
    """Whether a process is there, and is not only waiting for its parent to take notice of its end."""
    status = status_of(pid)
    return status is not None and status.state not in "ZX"


def descendants(root: int, outside: frozenset[int] = frozenset()) -> set[int]:
    """All that descend from `root` and run; those of `outside`, and what descends from them, left out."""
    everyone = statuses()
    children: dict[int, list[int]] = {}
    for one in everyone.values():
        children.setdefault(one.parent, []).append(one.pid)
    found: set[int] = set()
    waiting = list(children.get(root, ()))
    while waiting:
        pid = waiting.pop()
        if pid not in found and pid not in outside:
            found.add(pid)
            waiting += children.get(pid, ())
    return {pid for pid in found if everyone[pid].state not in "ZX"}


def children_of(pid: int) -> tuple[int, ...]:
    """The children of one process, from one small file; empty where the kernel has none such."""
    try:
        with open(f"{_PROC}/{pid}/task/{pid}/children", "rb") as file:
            return tuple(map(int, file.read().split()))
    except OSError:
        return ()


def marked(variable: str, word: str, between: str) -> set[int]:
    """Processes that run and were started with `word` among the words of an environment variable, this one left out."""
    own = os.getpid()
    return {pid for pid in _pids() if pid != own and is_marked(pid, variable, word, between)}


def is_marked(pid: int, variable: str, word: str, between: str) -> bool:
    """Whether it runs, and was started with that mark."""
    name = f"{variable}=".encode()
    try:
        with open(f"{_PROC}/{pid}/environ", "rb") as file:
            members = file.read().split(b"\0")
    except OSError:
        return False
    words = next((member[len(name) :].decode("utf-8", "replace") for member in members if member.startswith(name)), "")
    return word in words.split(between) and runs(pid)


def _pids() -> Iterator[int]:
    if not ON_LINUX:
        return
    try:
        names = os.listdir(_PROC)
    except OSError:
        return
    yield from (int(name) for name in names if name.isdigit())
