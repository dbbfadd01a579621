"""Runs that somebody asks about: which there are, which still go on, which lost their supervisor; stopping and sweeping them."""

from __future__ import annotations

import os
import shutil
import signal
import time
from typing import TYPE_CHECKING

from indelible import files
from indelible.errors import Malformed, NotFoundError
from indelible.forking import places
from indelible.forking.closing import MASKED, close_abandoned
from indelible.forking.ending import GRACE
from indelible.settings import now

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from indelible.forking.run import Run

_PAUSE, _LONGEST = 0.02, 0.5
"""Seconds between two looks at a run that goes on: the first, and the longest."""
STOPPING = GRACE + 10.0
"""Seconds within which a supervisor has ended whatever it was told to end."""


def settled(folder: str, name: str, *, secrets: str = MASKED) -> Run:
    """A run as it is: going on, ended, or, where its supervisor is gone, closed just now.

    Raises:
        NotFoundError, Malformed: as `places.read`.
    """
    held = places.is_held(folder, name)
    run = places.read(folder, name)  # afterwards: a supervisor writes down how it was before it lets go
    return run if run.is_over or held else close_abandoned(folder, run, now(), secrets=secrets)


def every(folder: str, *, secrets: str = MASKED) -> tuple[tuple[Run, ...], tuple[str, ...]]:
    """All runs there, the oldest first, and the paths of what is none."""
    found: list[Run] = []
    broken: list[str] = []
    for name in places.ids(folder):
        try:
            found.append(settled(folder, name, secrets=secrets))
        except Malformed:
            broken.append(os.path.join(folder, name))
        except NotFoundError:  # it was cleaned away meanwhile, or never came to be
            continue
    return tuple(sorted(found, key=lambda run: (run.started, run.id))), tuple(broken)


def wait_for(
    folder: str, names: Iterable[str], *, seconds: float | None, secrets: str = MASKED, tell: Callable[[Run], None]
) -> tuple[str, ...]:
    """Wait until runs have ended, and tell of each when it has; gives the ids of those that had not when the time was over.

    Args:
        seconds: how long to wait; None for as long as it takes.
    """
    until = None if seconds is None else time.monotonic() + seconds
    left, pause = list(names), _PAUSE
    while True:
        for name in tuple(left):
            run = settled(folder, name, secrets=secrets)
            if run.is_over:
                left.remove(name)
                tell(run)
                pause = _PAUSE
        if not left or (until is not None and time.monotonic() >= until):
            return tuple(left)
        time.sleep(pause if until is None else min(pause, max(0.0, until - time.monotonic())))
        pause = min(2 * pause, _LONGEST)


def stop(folder: str, name: str, *, secrets: str = MASKED) -> Run:
    """Have a run ended, and wait for that; nothing happens to one that has ended."""
    if settled(folder, name, secrets=secrets).is_over:
        return places.read(folder, name)
    files.create_file(os.path.join(folder, name, places.STOP), b"")
    run = places.read(folder, name)
    if os.name == "posix" and run.supervisor and places.is_held(folder, name):
        _wake(run.supervisor)
    wait_for(folder, [name], seconds=STOPPING, secrets=secrets, tell=lambda _: None)
    return settled(folder, name, secrets=secrets)


def _wake(supervisor: int) -> None:
    """Its lock is held, so it lives, and the number is its own."""
    try:
        os.kill(supervisor, signal.SIGTERM)
    except OSError:
        return


def take_away(folder: str, run: Run, *, whole: bool) -> None:
    """Remove the output of a run that has ended.

    Args:
        whole: its record too: nothing of it was sealed.
    """
    place = os.path.join(folder, run.id)
    if whole:
        shutil.rmtree(place, ignore_errors=True)
        return
    places.keep(folder, run)
    for name in (places.OUTPUT, places.ERRORS, places.STOP, places.TROUBLE):
        files.remove(os.path.join(place, name))
