"""forks: which there are, what they wrote, whether that is still what they wrote; stopping them, and taking away what is old."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from indelible.cli import common
from indelible.cli.forked import failed, how, seal, tell, tell_document
from indelible.cli.forking import complete_fork, meant
from indelible.cli.output import BAD, OK, WARN, counted, visible, write_bytes
from indelible.errors import IndelibleError, IntegrityError, NotFoundError

if TYPE_CHECKING:
    from indelible.cli.session import Session
    from indelible.forking.run import Run
    from indelible.settings import Settings

id_argument = click.argument("fork", metavar="NAME|ID", shell_complete=complete_fork)


@click.group(cls=common.Group, invoke_without_command=True)
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, metavar="N", help="The newest so many.")
@click.pass_context
def forks(ctx: click.Context, limit: int) -> int:
    """List forks, the newest last: those that go on, and those that ended; show, verify, stop or clean them."""
    return _list(ctx.obj, limit) if ctx.invoked_subcommand is None else 0


def _list(session: Session, limit: int) -> int:
    from indelible.forking import finding, places

    settings = common.settings_of(session)
    folder = places.forks_folder(settings)
    runs, broken = finding.every(folder, secrets=settings.secrets)
    shown, warning = _sealed_late(settings, folder, runs[-limit:])
    code = warning.exit_code if isinstance(warning, IntegrityError) else 0
    for run in shown:
        session.output.line(_row(run))
    for path in broken:
        session.output.line(f"{WARN} {visible(path)} has no record that can be read")
    more = f", the newest {limit} of {len(runs)}" if len(runs) > limit else ""
    session.output.line(f"{counted(len(shown), 'fork', 'forks')}{more}")
    if warning is not None:
        session.output.aside(f"{BAD if code else WARN} {warning}")
    session.output.document({
        "ok": not code, "exit_code": code, "slug": "forks", "forks": [tell_document(folder, run, None, 0) for run in shown], "broken": list(broken),
    })  # fmt: skip
    return code


def _sealed_late(
    settings: Settings, folder: str, runs: tuple[Run, ...]
) -> tuple[list[Run], IndelibleError | None]:  # fmt: skip
    """What ended and could not be sealed then is sealed now; gives what keeps one of them from it, where something does."""
    shown: list[Run] = []
    warning: IndelibleError | None = None
    for run in runs:
        if run.is_over and run.sealed is None and warning is None:
            run, warning = seal(settings, folder, run)  # noqa: PLW2901 - the same run, sealed
        shown.append(run)
    return shown, warning


def _row(run: Run) -> str:
    if not run.is_over:
        return f"…  {run.id}  goes on since {run.started}  {visible(run.command[:80])}"
    size = f"{run.output.size} bytes, sha256:{run.output.sha256}" if run.output is not None else "no output"
    gone = f", taken away {run.cleaned}" if run.cleaned else ""
    return f"{BAD if failed(run) else OK} {run.id}  {how(run)}  ({size}{gone})  {visible(run.command[:80])}"


@forks.command()
@id_argument
@click.option("--lines", metavar="A-B", help="Only those lines, counted from 1: 20-40, 20-, -40.")
@click.option("--grep", metavar="REGEX", help="Only lines that it matches.")
@click.option("--errors", is_flag=True, help="Its standard error, where that was kept apart.")
@click.pass_obj
def show(session: Session, fork: str, lines: str | None, grep: str | None, *, errors: bool) -> None:
    """Print a fork's output byte for byte, or a part of it."""
    from indelible.cli.forked import lines_of, span_of
    from indelible.forking import places

    folder = places.forks_folder(common.settings_of(session))
    run = places.named(folder, fork)[-1]
    path = os.path.join(folder, run.id, places.ERRORS if errors else places.OUTPUT)
    if not os.path.isfile(path):
        gone = f"was taken away at {run.cleaned}" if run.cleaned else "is not there"
        raise NotFoundError(
            f"The output of {run.id} {gone}", remedy="'indelible forks' lists what there is", fork=run.id
        )
    kept: list[bytes] = []
    for part in lines_of(path, span_of(lines), grep):
        if session.output.json:
            kept.append(part)
        else:
            write_bytes(part)
    session.output.document({
        "ok": True, "exit_code": 0, "slug": "output", "fork": run.id, "content": b"".join(kept).decode("utf-8", "replace"),
    })  # fmt: skip


@forks.command()
@id_argument
@click.pass_obj
def verify(session: Session, fork: str) -> None:
    """Hold a fork's output against the digest that was sealed when it ended. Exit 2 where it was altered or is gone."""
    from indelible import wiring
    from indelible.forking import places
    from indelible.stepping import forks as sealing

    settings = common.settings_of(session)
    folder = places.forks_folder(settings)
    name = _named(folder, fork)
    with wiring.open_memory(settings, door="forks") as memory:
        run = sealing.verify(memory, folder, name)
    sha = run.output.sha256 if run.output is not None else ""
    session.output.line(f"{OK} {run.id}  sha256:{sha}  as it was sealed (entry {run.sealed})")
    session.output.document({
        "ok": True, "exit_code": 0, "slug": "intact", "fork": run.id, "sha256": sha, "seq": run.sealed,
    })  # fmt: skip


def _named(folder: str, word: str) -> str:
    """An id; of one whose record is gone or broken, as it was given."""
    from indelible.errors import Malformed
    from indelible.forking import places

    try:
        return places.named(folder, word)[-1].id
    except (NotFoundError, Malformed):
        return word


@forks.command()
@id_argument
@click.pass_obj
def stop(session: Session, fork: str) -> None:
    """End a fork and everything that it started; what it wrote is kept."""
    from indelible.forking import finding, places

    settings = common.settings_of(session)
    folder = places.forks_folder(settings)
    stopped: list[dict[str, object]] = []
    for name in meant(folder, (fork,), settings):
        run = finding.stop(folder, name, secrets=settings.secrets)
        if not run.is_over:
            raise IndelibleError(f"{name} has not ended yet", remedy="Look again: 'indelible forks'", fork=name)
        run, warning = seal(settings, folder, run)
        tell(session.output, run, warning)
        stopped.append(tell_document(folder, run, warning, 0))
    session.output.document({"ok": True, "exit_code": 0, "slug": "forks", "forks": stopped})


@forks.command()
@click.option(
    "--older", metavar="TIME", required=True, help="Those that ended before that: 30d (ago), 2026-12-31, or RFC 3339."
)
@click.pass_obj
def clean(session: Session, older: str) -> int:
    """Take the outputs of forks away that ended long ago. Their digests stand in the log, and that they were taken away stands there too.

    An output that is not what was sealed is left as it is: exit 2.
    """
    from indelible.cli.drafting import parse_time
    from indelible.cli.forked import taken_away
    from indelible.forking import finding, places
    from indelible.settings import now

    settings = common.settings_of(session)
    before = parse_time(older, now(), back=True)
    folder = places.forks_folder(settings)
    old = [
        run
        for run in finding.every(folder, secrets=settings.secrets)[0]
        if run.is_over and not run.cleaned and run.ended < before
    ]
    done: list[str] = []
    left: dict[str, IndelibleError] = {}
    for run in old:
        if warning := taken_away(settings, folder, run, now()):
            left[run.id] = warning
            mark = BAD if isinstance(warning, IntegrityError) else WARN
            session.output.aside(f"{mark} {run.id} is left as it is: {warning}")
            continue
        done.append(run.id)
        session.output.line(f"{OK} cleaned  {run.id}")
    session.output.line(f"{counted(len(done), 'output', 'outputs')} taken away")
    code = max((one.exit_code for one in left.values() if isinstance(one, IntegrityError)), default=0)
    session.output.document({
        "ok": not code, "exit_code": code, "slug": "tampered" if code else "cleaned", "cleaned": done,
        "left": [{"fork": name, **error.as_dict()} for name, error in left.items()],
    })  # fmt: skip
    return code
