"""`fork --detach`: a process of its own waits in the place of the one that was called, and seals what it waited for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, cast

from indelible.errors import IndelibleError
from indelible.forking.attending import Attended, program
from indelible.forking.job import format_job, parse_job

if TYPE_CHECKING:
    from typing import IO

    from indelible.forking.job import Job


def start(job: Job, agent: str | None, store: str | None) -> None:
    """Start it; it holds the run's lock before this one lets go of it.

    Raises:
        IndelibleError: no process could be started.
    """
    handed = tuple(one for one in (job.lock, job.given) if one is not None)
    try:
        waiting = subprocess.Popen(
            program(__name__), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=handed,
            start_new_session=True,
        )  # fmt: skip
    except OSError as exc:
        raise IndelibleError(f"No process could be started ({exc.strerror})", remedy="Nothing ran") from exc
    finally:
        if job.lock is not None:
            os.close(job.lock)
    with cast("IO[bytes]", waiting.stdin) as stdin:
        stdin.write(json.dumps({"agent": agent, "store": store}).encode() + b"\n" + format_job(job))
    waiting.returncode = 0  # nobody waits for it, and so nobody is to be warned


def main() -> None:
    """Wait for one run, and seal it."""
    from indelible import settings
    from indelible.cli.forked import seal

    chosen, job = json.loads(sys.stdin.buffer.readline()), parse_job(sys.stdin.buffer.readline())
    here = settings.load(store=chosen["store"], agent=chosen["agent"])
    with Attended(job, settings.here()[1]) as attended:
        seal(here, job.folder, attended.wait())


if __name__ == "__main__":
    main()
