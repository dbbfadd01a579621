"""fork, wait, forks: a child in a process group of its own, its output on disk, and a few lines of it for whoever called."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from indelible.cli import common
from indelible.cli.forked import seal, tell, tell_document
from indelible.cli.output import WARN
from indelible.errors import IndelibleError, UsageError
from indelible.forking.artifact import SUMMARY_LINES

if TYPE_CHECKING:
    from indelible.cli.session import Session
    from indelible.forking.job import Job
    from indelible.forking.run import Run
    from indelible.settings import Settings

MOST_LINES = 200
A_YEAR = 366 * 24 * 60
"""Minutes: who wants more than that wants no limit."""


def complete_fork(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Ids of forks that begin so, for the shell."""
    from indelible import settings
    from indelible.forking import places

    chosen = ctx.find_root().params
    try:
        folder = places.forks_folder(settings.load(store=chosen.get("store"), agent=chosen.get("agent")))
    except IndelibleError:
        return []
    return [name for name in places.ids(folder) if name.startswith(incomplete)]


def _finite(_context: click.Context, parameter: click.Parameter, value: float | None) -> float | None:
    """`nan` is within every range."""
    if value is not None and not value >= 0:
        raise click.BadParameter("it is no number", param=parameter)
    return value


@click.command()
@click.argument("name")
@click.option(
    "--limit-minutes",
    type=click.FloatRange(0, A_YEAR, min_open=True),
    callback=_finite,
    metavar="N",
    help="End it after so long. [no limit]",
)
@click.option(
    "--summary-lines", type=click.IntRange(0, MOST_LINES), default=SUMMARY_LINES, show_default=True, metavar="N",
    help="Lines of its result that are printed at most.",
)  # fmt: skip
@click.option("--detach", is_flag=True, help="Return at once with its id; 'indelible wait ID' waits for it.")
@click.option(
    "--input", "given", metavar="FILE|-", help="Its standard input: a file, or (-) this command's own. [nothing]"
)
@click.option("--separate", is_flag=True, help="Keep its standard error in a file of its own, 'errors'.")
@click.option("--cwd", metavar="DIR", help="The folder that it is started in. [this one]")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND...")
@click.pass_obj
def fork(
    session: Session, name: str, *, command: tuple[str, ...], limit_minutes: float | None, summary_lines: int, given: str | None,
    cwd: str | None, detach: bool, separate: bool,
) -> int:  # fmt: skip
    """Run a command (claude -p, codex exec, pytest, …) as a child: all that it prints goes to disk, you get at most 15 lines. Exit 0 where it ended with 0, else 1."""
    from indelible.forking.beginning import begun
    from indelible.settings import here as current
    from indelible.settings import now

    settings = common.settings_of(session)
    here, environ = current()
    job = begun(settings, environ, name, command, folder=os.path.join(here, cwd or ""), at=now(), given=_input(given))
    job = job._replace(limit=None if limit_minutes is None else 60 * limit_minutes, apart=separate, lines=summary_lines)
    if detach:
        return _detach(session, job)
    from indelible.forking.attending import Attended

    with Attended(job, environ) as attended:
        run = attended.wait()
        if attended.warning:
            session.output.aside(f"{WARN} {attended.warning}")
        code = _say(session, settings, job.folder, run)
    return 128 + attended.signalled if attended.signalled else code


def _input(given: str | None) -> int | None:
    """The descriptor of what the child is to read."""
    if given is None:
        return None
    if os.name == "nt":
        raise UsageError(
            "Nothing can be handed to a child on Windows", remedy="Let its own shell read the file: cmd /c …"
        )
    try:
        return os.dup(0) if given == "-" else os.open(given, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    except OSError as exc:
        raise UsageError(f"The input {given} cannot be read ({exc.strerror})", remedy="Name a file, or - ") from exc


def _detach(session: Session, job: Job) -> int:
    """Hand it to a process that waits in this one's place, and seals."""
    from indelible.cli.detached import start

    start(job, session.agent, session.store)
    session.output.give(job.run.id)
    session.output.aside(
        f"It goes on by itself: 'indelible wait {job.run.id}' waits for it, 'indelible forks' lists it"
    )
    session.output.document({"ok": True, "exit_code": 0, "slug": "detached", "fork": job.run.id, "folder": job.folder})
    return 0


def _say(session: Session, settings: Settings, folder: str, run: Run) -> int:
    """Seal a run, print what there is to know of it, and give the exit code."""
    run, warning = seal(settings, folder, run)
    code = tell(session.output, run, warning)
    session.output.document(tell_document(folder, run, warning, code))
    return code


@click.command()
@click.argument("forks", metavar="[NAME|ID]...", nargs=-1, shell_complete=complete_fork)
@click.option(
    "--timeout",
    type=click.FloatRange(0, 60 * A_YEAR),
    callback=_finite,
    metavar="SECONDS",
    help="Wait no longer than that; what goes on then is exit 1. [as long as it takes]",
)
@click.pass_obj
def wait(session: Session, forks: tuple[str, ...], timeout: float | None) -> int:
    """Wait for forks to end (all that go on, where none is named) and print what 'fork' prints. Exit 0 where every one ended with 0, else 1."""
    from indelible.forking import finding, places

    settings = common.settings_of(session)
    folder = places.forks_folder(settings)
    names = meant(folder, forks, settings)
    documents: list[dict[str, object]] = []

    def ended(run: Run) -> None:
        run, warning = seal(settings, folder, run)
        code = tell(session.output, run, warning)
        documents.append(tell_document(folder, run, warning, code))

    left = finding.wait_for(folder, names, seconds=timeout, secrets=settings.secrets, tell=ended)
    for name in left:
        session.output.line(f"{WARN} {name} goes on")
    code = max([int(str(one["exit_code"])) for one in documents], default=0) or int(bool(left))
    session.output.document({
        "ok": not code, "exit_code": code, "slug": "still-running" if left else "waited", "forks": documents, "running": list(left),
    })  # fmt: skip
    return code


def meant(folder: str, words: tuple[str, ...], settings: Settings) -> tuple[str, ...]:
    """Ids of what is waited for: of a name those that go on, else the newest."""
    from indelible.forking import finding, places

    if not words:
        return tuple(run.id for run in finding.every(folder, secrets=settings.secrets)[0] if not run.is_over)
    found: list[str] = []
    for word in words:
        runs = [finding.settled(folder, run.id, secrets=settings.secrets) for run in places.named(folder, word)]
        found += [run.id for run in runs if not run.is_over] or [runs[-1].id]
    return tuple(dict.fromkeys(found))
