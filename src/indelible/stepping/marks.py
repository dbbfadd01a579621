"""The `.stamp` files that make looks at: copies of nothing, which only say to make what the sealed stamps say."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from indelible.files import create_file, make_folder, remove
from indelible.workflow.frontier import DONE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from indelible.workflow.frontier import Standing

END = ".stamp"
_ONE_TIME = (946_684_800_000_000_000, 946_684_800_000_000_000)
"""Nanoseconds: 2000-01-01. Files of one time are none newer than another, and older than all that is done from now on."""


def agree(folder: str, standings: Iterable[Standing]) -> None:
    """Take away what is not done, and give the others one time.

    Raises:
        NotSaved, UsageError: a file could not be made.
    """
    make_folder(folder)
    done = {f"{one.target.id}{END}" for one in standings if one.state == DONE}
    for name in os.listdir(folder):
        if name.endswith(END) and name not in done:
            remove(os.path.join(folder, name))
    for name in done:
        path = os.path.join(folder, name)
        _touch(path, _ONE_TIME)


def set_mark(folder: str, standing: Standing) -> None:
    """Say of one target that it was done just now, or is not."""
    path = os.path.join(folder, f"{standing.target.id}{END}")
    if standing.state != DONE:
        remove(path)
    else:
        _touch(path, None)


def _touch(path: str, times: tuple[int, int] | None) -> None:
    """A file of that time (None: now). A link in its place is no mark of ours."""
    if os.path.islink(path):
        remove(path)
    create_file(path, b"", mode=0o644)
    os.utime(path) if times is None else os.utime(path, ns=times)
