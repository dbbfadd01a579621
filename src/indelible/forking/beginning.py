"""Beginning a run: a folder of its own, a lock that its supervisor is to hold, and all that the supervisor has to know."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from indelible.errors import UsageError
from indelible.forking import places
from indelible.forking.closing import screened
from indelible.forking.job import Job
from indelible.forking.run import Run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from indelible.settings import Settings

_SHOWN = 2_000
"""Characters of a command that are written down."""


def begun(
    settings: Settings,
    environ: Mapping[str, str],
    name: str,
    command: Sequence[str],
    *,
    folder: str,
    at: str,
    given: int | None = None,
) -> Job:
    """A run that is written down, and not started yet: `Attended` starts it.

    Args:
        environ: of this process, which may itself be in a run.
        folder: where the command is started.
        at: the time.
        given: a descriptor that the child is to read.

    Raises:
        UsageError: the name, the command or the folder is none. NotSaved, DiskFull, ReadOnly: there is no room for it.
    """
    where = os.path.realpath(folder)
    if not os.path.isdir(where):
        raise UsageError(f"There is no folder {where}", remedy="Name one that is there: --cwd")
    if not command or any("\0" in word for word in command):
        raise UsageError("That is no command: it is empty, or has a NUL character in it")
    forks = places.forks_folder(settings)
    (said,) = screened((shlex.join(command)[:_SHOWN],), settings.secrets)
    run = Run("", places.check_name(name), said, where, at, environ.get(places.MARKER, ""))
    run, lock = places.begin(forks, run)
    return Job(forks, run, tuple(command), given=given, lock=lock, secrets=settings.secrets)
