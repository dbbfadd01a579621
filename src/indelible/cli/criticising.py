"""critic add, list, show, status: rounds of the critic, each of one exact change."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from indelible.cli import common
from indelible.cli.inputs import read_input
from indelible.cli.output import OK, WARN, counted, visible
from indelible.errors import NotPermitted, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from indelible.cli.session import Session
    from indelible.stepping.desk import Desk
    from indelible.workflow.change import Change
    from indelible.workflow.rounds import Round

_POINTS = ("blocked", "fixed", "ignored", "never")


@click.group(cls=common.Group)
def critic() -> None:
    """Rounds of the critic, in 30_critic_summary.md: each judges one exact change, and a later change makes it stale."""


@contextmanager
def _desk(session: Session) -> Iterator[Desk]:
    from indelible.settings import here
    from indelible.stepping.desk import open_desk

    with open_desk(common.settings_of(session), here()[1], door="critic") as desk:
        yield desk
        if desk.memory.warning:
            session.output.aside(f"{WARN} {desk.memory.warning}")


@critic.command()
@click.argument("file", required=False)
@click.option(
    "--verdict", type=click.Choice(("approved", "rejected")), help="What the round comes to. Required, but in FILE."
)
@click.option(
    "--pillar",
    "pillars",
    metavar="NAME=ok|blocked[:NOTE]",
    multiple=True,
    help="The verdict on one pillar; every one of the workflow's needs one.",
)
@click.option("--blocked", metavar="TEXT", multiple=True, help="What has to be mended first. Any number of times.")
@click.option("--fixed", metavar="TEXT", multiple=True, help="What an earlier round blocked, and is mended.")
@click.option("--ignored", metavar="TEXT", multiple=True, help="A false alarm, and why it is one.")
@click.option("--never", metavar="TEXT", multiple=True, help="What is not to be tried again.")
@click.option("--critic", "name", metavar="NAME", help="Who judged.")
@common.reason_option
@common.op_option
@click.pass_obj
def add(
    session: Session, /, file: str | None, reason: str | None, op: str | None, **said: Any  # noqa: ANN401 - click hands options by name
) -> None:  # fmt: skip
    """Append a round about the change of this checkout as it is now, from options, or from FILE ('-' is standard input) in the form of 'critic show'."""
    from indelible.cli.renewing import renew
    from indelible.stepping.rounds import add_round
    from indelible.workflow.rounds import PILLARS

    found = _said(read_input(file) if file is not None else None, said)
    with _desk(session) as desk:
        wanted = desk.workflow.critic.pillars or PILLARS
        change = _change(desk)
        made, saved = add_round(desk.state, found, change, pillars=wanted, reason=reason, op=op)
        renew(session, desk)
    again = "already " if saved.repeated else ""
    session.output.line(f"{OK} {again}appended  round {made.number}: {made.verdict}  change sha256:{made.digest}")
    for warning in saved.warnings:
        session.output.aside(f"{WARN} {warning}")
    session.output.document({
        "ok": True, "exit_code": 0, "slug": "appended", "round": _row(made), "key": saved.key, "seq": saved.seq, "repeated": saved.repeated,
        "warnings": list(saved.warnings),
    })  # fmt: skip


def _change(desk: Desk) -> Change:
    """What is judged.

    Raises:
        NotPermitted: there is none. UsageError: the round would be a part of it, and so stale at once.
    """
    from indelible.initialising import exclude_state
    from indelible.settings.repository import within

    exclude_state(desk.settings)
    with desk.opened() as opened:
        change = opened.change
    if change.is_empty:
        raise NotPermitted(
            "There is no change to judge: the working tree is as the last commit left it",
            remedy="Judge it before it is committed",
        )
    if any(within(desk.state.path, os.path.join(desk.top, one.path)) for one in change.files):
        raise UsageError(
            f"git has the state directory {desk.state.path}, so each round would change what it judges",
            remedy="Take it out of git: 'git rm -r --cached' that folder",
        )
    return change


def _said(content: bytes | None, said: dict[str, Any]) -> Round:
    """The round of a file, with what the options say beside.

    Raises:
        UsageError: it has no verdict, or a verdict on a pillar is none.
    """
    from indelible.workflow.rounds import Round, parse_one, parse_pillar

    given = parse_one(content) if content is not None else Round(0, "")
    blocked, fixed, ignored, never = ((*getattr(given, name), *said[name]) for name in _POINTS)
    verdict, name = said["verdict"] or given.verdict, said["name"] or given.critic
    if not verdict:
        raise UsageError(
            "The round has no verdict",
            remedy="Say --verdict approved or --verdict rejected; a FILE may begin '## Round: rejected'",
        )
    pillars = (*given.pillars, *map(parse_pillar, said["pillars"]))
    return Round(0, verdict, name, "", "", "", pillars, blocked, fixed, ignored, never)


def _complete_round(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Numbers of the rounds that there are, for the shell."""
    from indelible import settings, wiring
    from indelible.errors import IndelibleError
    from indelible.stepping.rounds import rounds_of

    chosen = ctx.find_root().params
    try:
        here = settings.load(store=chosen.get("store"), agent=chosen.get("agent"))
        with wiring.open_state(here, door="critic") as state:
            numbers = [str(one.number) for one in rounds_of(state)]
    except IndelibleError:
        return []
    return [number for number in numbers if number.startswith(incomplete)]


@critic.command(name="list")
@click.pass_obj
def list_(session: Session) -> None:
    """List the rounds, the first one first."""
    from indelible.cli.slots import opened
    from indelible.stepping.rounds import rounds_of

    with opened(session) as state:
        rounds = rounds_of(state)
    for one in rounds:
        bound = f"sha256:{one.digest}" if one.digest else "of no change that it names"
        session.output.line(f"{one.number}  {visible(one.verdict) or '?'}  {bound}  {visible(one.critic)}".rstrip())
    session.output.line(counted(len(rounds), "round", "rounds"))
    session.output.document({"ok": True, "exit_code": 0, "slug": "rounds", "rounds": [_row(one) for one in rounds]})


@critic.command()
@click.argument("number", type=click.IntRange(1), metavar="N", shell_complete=_complete_round)
@click.pass_obj
def show(session: Session, number: int) -> None:
    """Print round N."""
    from indelible.cli.slots import opened
    from indelible.stepping.rounds import round_of
    from indelible.workflow.rounds import format_round

    with opened(session) as state:
        found = round_of(state, number)
    session.output.give(visible_lines(format_round(found).decode()))
    session.output.document({"ok": True, "exit_code": 0, "slug": "round", "round": _row(found)})


def visible_lines(text: str) -> str:
    """A text line by line, with nothing in it that a terminal would act on."""
    return "\n".join(map(visible, text.rstrip("\n").split("\n")))


@critic.command()
@click.pass_obj
def status(session: Session) -> int:
    """Say whether the last round approves the change as it is now. Exit 3 where there is no round, 7 where it is stale or rejects it."""
    from indelible.stepping.rounds import APPROVED, NONE, current, in_words

    with _desk(session) as desk, desk.opened() as opened:
        found = current(desk.state, opened.change)
    code = {APPROVED: 0, NONE: 3}.get(found.standing, 7)
    words = in_words(found.standing, found.last)
    (session.output.aside if code else session.output.line)(f"{WARN if code else OK} {visible(words)}")
    if code == 7 and found.last is not None and found.last.digest != found.digest:
        session.output.aside(f"   the round: sha256:{found.last.digest or 'none'}\n   now:       sha256:{found.digest}")
        session.output.aside(f"   {_told(found.paths)}. 'indelible critic add' judges it as it is now")
    session.output.document({
        "ok": not code, "exit_code": code, "slug": f"critic-{found.standing}", "change": found.digest, "message": words,
        "round": _row(found.last) if found.last is not None else None, "paths": list(found.paths) if found.paths is not None else None,
    })  # fmt: skip
    return code


def _told(paths: Sequence[str] | None) -> str:
    if paths is None:
        return "which files changed since cannot be told"
    shown = ", ".join(map(visible, paths[:10])) + (f" and {len(paths) - 10} more" if len(paths) > 10 else "")
    return f"changed since: {shown or 'no file; what it merges or stands on'}"


def _row(one: Round) -> dict[str, object]:
    return {
        "number": one.number, "verdict": one.verdict, "critic": one.critic or None, "change": one.digest or None, "base": one.base or None,
        "tree": one.tree or None, "pillars": [pillar._asdict() for pillar in one.pillars],
        **{name: list(getattr(one, name)) for name in _POINTS},
    }  # fmt: skip
