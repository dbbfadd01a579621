"""The command of a target that forks: a child with its own process group, its output on disk, and a few lines for the parent."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from indelible.forking import places
from indelible.forking.attending import Attended
from indelible.forking.closing import screened
from indelible.forking.job import Job
from indelible.forking.run import EXITED, Run
from indelible.stepping import forks
from indelible.stepping.running import VARIABLE

if TYPE_CHECKING:
    from indelible.stepping.desk import Desk
    from indelible.workflow.graph import Target

_SHOWN = 2_000
"""Characters of a command that are written down."""


def run_child(desk: Desk, target: Target, top: str) -> Run:
    """Run the command in a child, and seal how it ended.

    Raises:
        IndelibleError: it cannot be started, and did nothing; or its end cannot be sealed.
    """
    settings, environ = desk.settings, desk.environ
    (said,) = screened((shlex.join(target.run)[:_SHOWN],), settings.secrets)
    begun = Run("", places.check_name(target.name), said, top, desk.memory.now(), environ.get(places.MARKER, ""))
    folder = places.forks_folder(settings)
    run, lock = places.begin(folder, begun)
    job = Job(folder, run, target.run, lock=lock, secrets=settings.secrets)
    with Attended(job, {**environ, VARIABLE: target.id}) as attended:
        run = attended.wait()
    return places.keep(folder, run._replace(sealed=forks.seal(desk.memory, run).seq))


def ended_by_itself(run: Run) -> bool:
    """Whether nobody ended it from outside: else nobody knows how far it came."""
    return run.reason == EXITED


def code_of(run: Run) -> int:
    """The exit code that a run comes to: its own, or 1 where it has none."""
    return run.exit if run.exit is not None else 1
