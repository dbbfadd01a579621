"""flow status, next, why, run, done, resolve: where the work stands, what may be done next, and doing it."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from indelible.cli import common
from indelible.cli.output import BAD, OK, WARN, visible
from indelible.errors import IndelibleError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indelible.cli.session import Session
    from indelible.stepping.flow import Flow, Taken, View
    from indelible.workflow.frontier import Standing

_MARKS = {"done": OK, "may-have-happened": BAD, "failed": BAD, "needs-approval": WARN, "needs-critic": WARN}
"""A state that is not here has no mark: there is nothing wrong with it."""


@click.group(cls=common.Group)
def flow() -> None:
    """What may happen next: targets with their stamps, receipts and critic rounds, judged by digests and never by times."""


@contextmanager
def opened(session: Session) -> Iterator[Flow]:
    """The workflow of this checkout; what has to be said beside it is said at the end."""
    from indelible import settings
    from indelible.stepping.desk import open_desk
    from indelible.stepping.flow import Flow

    with open_desk(common.settings_of(session), settings.here()[1]) as desk:
        yield Flow(desk)
        for warning in filter(None, (desk.workflow.warning, desk.memory.warning)):
            session.output.aside(f"{WARN} {warning}")


def _complete_target(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Ids and names of targets that begin so, for the shell."""
    from indelible import settings
    from indelible.stepping.desk import open_desk

    chosen = ctx.find_root().params
    try:
        found = settings.load(store=chosen.get("store"), agent=chosen.get("agent"))
        with open_desk(found, settings.here()[1]) as desk:
            names = [text for one in desk.workflow.targets for text in (one.id, one.name)]
    except IndelibleError:
        return []
    return [name for name in names if name.startswith(incomplete)]


target_argument = click.argument("target", shell_complete=_complete_target)


@flow.command()
@click.pass_obj
def status(session: Session) -> None:
    """Show every target: done, or why not. Changes nothing."""
    with opened(session) as found:
        view = found.view()
    for one in view.standings:
        session.output.line(_line(one))
    session.output.line(f"next: {visible(view.next.action)}")
    session.output.document({"ok": True, "exit_code": 0, "slug": "flow", **document_of(view)})


@flow.command(name="next")
@click.pass_obj
def next_(session: Session) -> None:
    """Say the next permitted action, and write it into 99_next_action.md."""
    with opened(session) as found:
        view = found.next()
    session.output.line(visible(view.next.action))
    session.output.document({"ok": True, "exit_code": 0, "slug": "next", **document_of(view)})


@flow.command()
@target_argument
@click.pass_obj
def why(session: Session, target: str) -> None:
    """Say how TARGET stands, with every reason, and of what it waits for too."""
    with opened(session) as found:
        view = found.view()
        wanted = found.workflow.target(target)
    before = found.workflow.ancestors(wanted)
    rows = [one for one in view.standings if one.target.id in before and one.state not in ("done", "optional")]
    for one in (view.of(wanted), *rows):
        session.output.line(_line(one, short=True))
        for reason in one.reasons:
            session.output.line(f"     {reason.slug}: {visible(reason.text)}")
    document = {**_row(view.of(wanted)), "before": [_row(one) for one in rows]}
    session.output.document({"ok": True, "exit_code": 0, "slug": "why", **document})


@flow.command()
@target_argument
@click.pass_obj
def run(session: Session, target: str) -> int:
    """Take the step TARGET by its command; of one that is done by hand, say what is to be done. Never before its prerequisites.

    Exit 7 where something is missing, or it is done by hand; 5 where another process is at it; else the command's own.
    """
    stdout = sys.stderr.fileno() if session.output.json else None
    with opened(session) as found:
        return _say(session, found.run(target, stdout=stdout))


@flow.command()
@target_argument
@click.option("--note", metavar="TEXT", default="", help="What is worth knowing, on one line; it stands in the stamp.")
@click.option("--failed", is_flag=True, help="It was taken, and failed.")
@click.pass_obj
def done(session: Session, target: str, note: str, *, failed: bool) -> int:
    """Say that TARGET, which is done by hand, is done (or, with --failed, failed)."""
    with opened(session) as found:
        return _say(session, found.done(target, note=note, failed=failed))


@flow.command()
@target_argument
@click.option("--happened", is_flag=True, help="Somebody looked: it did happen.")
@click.option("--did-not-happen", "not_happened", is_flag=True, help="Somebody looked: it did not, and may be done.")
@click.option("--reason", metavar="TEXT", default="", help="How that is known; it stands in the log. Required.")
@click.pass_obj
def resolve(session: Session, target: str, reason: str, *, happened: bool, not_happened: bool) -> int:
    """Say of TARGET, which was begun and never ended, whether it happened."""
    if happened == not_happened:
        raise UsageError("Say what was found", remedy="--happened, or --did-not-happen")
    with opened(session) as found:
        return _say(session, found.resolve(target, happened=happened, reason=reason))


def _say(session: Session, taken: Taken) -> int:
    """What a step came to, and what comes next."""
    one = taken.standing
    code = taken.code
    if taken.child is not None:
        from indelible.cli.forked import tell

        tell(session.output, taken.child, None)
    words = "already done" if taken.already else one.state
    session.output.line(f"{_MARKS.get(one.state, '  ')} {one.target.title}  {words}{_because(one)}")
    session.output.line(f"next: {visible(taken.next.action)}")
    session.output.document({
        "ok": not code, "exit_code": code, "slug": one.state, **_row(one), "already": taken.already, "child": taken.child.id if taken.child else None,
        "next": taken.next.action,
    })  # fmt: skip
    return code


def _line(one: Standing, *, short: bool = False) -> str:
    mark = _MARKS.get(one.state, "  ")
    return f"{mark} {one.target.id:>2} {one.target.name}  {one.state}{'' if short else _because(one)}"


def _because(one: Standing) -> str:
    if one.state in ("done", "optional") or not one.reasons:
        return ""
    more = f", and {len(one.reasons) - 1} more reasons" if len(one.reasons) > 1 else ""
    return f": {visible(one.reasons[0].text)}{more}"


def _row(one: Standing) -> dict[str, object]:
    """One target for `--json`."""
    target = one.target
    return {
        "target": target.id, "name": target.name, "state": one.state, "reasons": [reason._asdict() for reason in one.reasons],
        "gate": target.gate, "fork": target.fork, "effects": target.effects or None, "by": "command" if target.run else "hand",
    }  # fmt: skip


def document_of(view: View) -> dict[str, object]:
    """Everything for `--json`."""
    about = view.next.standing
    return {
        "targets": [_row(one) for one in view.standings], "next": view.next.action, "current": about.target.id if about else None,
        "last": view.next.last, "workflow": view.workflow.digest, "sealed": view.workflow.sealed,
    }  # fmt: skip
