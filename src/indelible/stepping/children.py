"""The command of a target that forks: a child with its own process group, its output on disk, and a few lines for the parent."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from indelible.errors import NotSaved
from indelible.forking import places
from indelible.forking.attending import Attended
from indelible.forking.beginning import begun
from indelible.forking.run import EXITED
from indelible.stepping import forks
from indelible.stepping.running import VARIABLE

if TYPE_CHECKING:
    from indelible.forking.run import Run
    from indelible.stepping.desk import Desk
    from indelible.workflow.graph import Target


def run_child(desk: Desk, target: Target, top: str) -> Run:
    """Run the command in a child, and seal how it ended.

    Raises:
        IndelibleError: it cannot be started, and did nothing; or its end cannot be sealed.
    """
    job = begun(desk.settings, desk.environ, target.name, target.run, folder=top, at=desk.memory.now())
    with Attended(job, {**desk.environ, VARIABLE: target.id}) as attended:
        run = attended.wait()
    run = run._replace(sealed=forks.seal(desk.memory, run).seq)
    with suppress(NotSaved):  # what counts is sealed
        places.keep(job.folder, run)
    return run


def ended_by_itself(run: Run) -> bool:
    """Whether nobody ended it from outside: else nobody knows how far it came."""
    return run.reason == EXITED


def code_of(run: Run) -> int:
    """The exit code that a run comes to: its own, or 1 where it has none."""
    return run.exit if run.exit is not None else 1
