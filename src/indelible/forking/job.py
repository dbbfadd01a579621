"""What a supervisor is told: one line of JSON on its standard input, which stays open as the thread by which its parent holds it.

Whatever comes after that line is the reason why the parent wants it to end; the end of the input says that the parent is gone.
The command is told so and never written down as it is: what is kept of it has marks in the place of secrets.
"""

from __future__ import annotations

import json

from indelible.forking.run import Run, to_document
from indelible.light import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any


class Job(NamedTuple):
    """One child to be started and looked after."""

    folder: str
    """Of all runs of this place; the run's own is in it."""
    run: Run
    command: tuple[str, ...]
    """As it is to be started."""
    limit: float | None = None
    """Seconds that it may take."""
    apart: bool = False
    """Whether its standard error goes to a file of its own."""
    lines: int = 15
    """Lines that its parent is told at most."""
    secrets: str = "mask"
    """`allow` where a secret in those lines may stand."""
    given: int | None = None
    """The descriptor of its standard input; None for one with nothing in it."""
    lock: int | None = None
    """The descriptor that holds the lock of the run."""


def format_job(job: Job) -> bytes:
    """One line."""
    return json.dumps({**job._asdict(), "run": to_document(job.run)}).encode() + b"\n"


def parse_job(line: bytes) -> Job:
    """The inverse.

    Raises:
        ValueError, TypeError, KeyError: it is none.
    """
    from indelible.forking.run import parse_run

    members: dict[str, Any] = json.loads(line)
    run = parse_run(json.dumps(members.pop("run")).encode(), "the job")
    return Job(run=run, command=tuple(members.pop("command")), **members)
