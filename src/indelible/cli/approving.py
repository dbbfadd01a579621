"""approve, reject: a person's yes and no to a target, bound to exactly what was shown."""

from __future__ import annotations

import os
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from indelible.cli import common, renewing, showing
from indelible.cli.output import OK, WARN, visible
from indelible.cli.scaradding import scar_options
from indelible.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import timedelta

    from indelible.cli.session import Session
    from indelible.stepping.approving import Approved, Shown
    from indelible.stepping.desk import Desk
    from indelible.workflow.graph import Target
    from indelible.workflow.scars import Scar


def _complete_target(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Names of targets that a person approves, for the shell."""
    from indelible import settings
    from indelible.errors import IndelibleError
    from indelible.stepping.desk import open_desk
    from indelible.workflow.graph import HUMAN

    chosen = ctx.find_root().params
    try:
        here = settings.load(store=chosen.get("store"), agent=chosen.get("agent"))
        with open_desk(here, settings.here()[1]) as desk:
            names = [one.name for one in desk.workflow.targets if one.gate == HUMAN]
    except IndelibleError:
        return []
    return [name for name in names if name.startswith(incomplete)]


target_argument = click.argument("target", required=False, shell_complete=_complete_target)


@click.command()
@target_argument
@click.option("--as", "approver", metavar="NAME", help="Whose approver's key signs. [the only one here]")
@click.option(
    "--expires", metavar="SPAN", default="24h", show_default=True, help="How long the receipt holds: 2h, 24h, 7d."
)
@click.option("--show", "only_show", is_flag=True, help="Show what there is to approve, and sign nothing.")
@click.option("--yes", is_flag=True, help="Do not ask once more; the passphrase is still wanted.")
@click.option(
    "--despite",
    metavar="TEXT",
    help="Approve although something before it is not done, and say why; it stands in the log.",
)
@click.option(
    "--ask",
    "asks",
    is_flag=True,
    help="Sign nothing: seal a request for an approver on another machine (-o FILE: as a file too).",
)
@click.option(
    "--asked", is_flag=True, help="Approve what was asked for elsewhere, in a clone that has the commit it stands on."
)
@click.option("--request", metavar="FILE", help="As --asked, of a request in FILE; -o FILE takes the receipt.")
@click.option("--receipt", metavar="FILE", help="Take in a receipt that was signed elsewhere.")
@click.option("-o", "--output", "file", metavar="FILE", help="Write the change as text (branch.diff) there too.")
@click.pass_obj
def approve(session: Session, /, target: str | None, expires: str, **given: Any) -> None:  # noqa: ANN401 - the options, each of its own kind
    """Say yes to TARGET as it is now: the exact change, untracked files too, or a plan. An approver's key signs the receipt.

    Without TARGET, the one whose receipt a commit needs. The passphrase is typed here, or read from the file that
    INDELIBLE_PASSPHRASE_FILE names. Exit 5 where anything changed since it was shown, 7 where something before it is missing.
    """
    from indelible.cli import elsewhere

    told = Told(target=target, holds=_span(expires), **given)
    if sum((told.asks, told.asked, told.request is not None, told.receipt is not None, told.only_show)) > 1:
        raise UsageError("--show, --ask, --asked, --request and --receipt are five things", remedy="Say one of them")
    if told.receipt is not None:
        elsewhere.take_in(session, told.receipt)
    elif told.asked or told.request is not None:
        elsewhere.approve_asked(session, told)
    else:
        _approve_here(session, told)


class Told(NamedTuple):
    """What the options say."""

    target: str | None
    holds: timedelta
    approver: str | None
    file: str | None
    despite: str | None
    request: str | None
    receipt: str | None
    asks: bool
    asked: bool
    only_show: bool
    yes: bool


def _approve_here(session: Session, told: Told) -> None:
    from indelible.cli import approvers, elsewhere
    from indelible.stepping import approving
    from indelible.stepping.desk import open_desk

    settings = common.settings_of(session)
    with open_desk(settings, showing.environ(), door="approve") as desk:
        wanted = approving.target_of(desk, told.target)
        regardless = told.only_show or told.despite is not None
        if not told.only_show:
            approving.require_ready(desk, wanted, despite=told.despite)
        if not told.only_show and not told.asks:
            approvers.require_approver(settings, told.approver)
        if told.asks:
            elsewhere.ask(session, desk, wanted, told.file, regardless=regardless)
            return
        with looked_at(desk, wanted, regardless=regardless) as (shown, path):
            _show(session, desk, shown, path, told.file)
            if told.only_show:
                session.output.document({"ok": True, "exit_code": 0, "slug": "shown", **showing.as_dict(shown)})
                return
            showing.ask(session, wanted.title, yes=told.yes)
            signer = approvers.approver_of(settings, told.approver)
            with looked_at(desk, wanted, regardless=regardless) as (again, _):
                now = desk.memory.now()
                done = approving.approve(desk, shown, again, signer, now=now, holds=told.holds, reason=told.despite)
            kept = approving.keep_beside(desk, done, path)
        renewing.renew(session, desk)
    _say(session, shown, done, kept, signer.name)


@click.command()
@target_argument
@click.option("--reason", metavar="TEXT", help="Why not, on one line; every waking agent reads it. Required.")
@click.option("--never", metavar="TEXT", multiple=True, help="What is not to be tried again. Any number of times.")
@click.option("--scar", "makes_scar", is_flag=True, help="Make a scar of it too, with the options of 'scar add'.")
@scar_options
@click.pass_obj
def reject(
    session: Session, /, target: str | None, reason: str | None, never: tuple[str, ...], *, makes_scar: bool, **said: Any,  # noqa: ANN401 - the options of a scar, each of its own kind
) -> None:  # fmt: skip
    """Say no to TARGET as it is now: a round in 30_critic_summary.md, bound to this very change; with --scar the next attempt is noticed."""
    from indelible.stepping import approving
    from indelible.stepping.desk import open_desk

    if not reason:
        raise UsageError("A no says why", remedy="Say --reason TEXT: it becomes a line of 30_critic_summary.md")
    if not makes_scar and any(said.values()):
        raise UsageError("Those options are a scar's", remedy="Say --scar as well")
    scar: Scar | None = None
    warnings: tuple[str, ...] = ()
    with open_desk(common.settings_of(session), showing.environ(), door="reject") as desk:
        wanted = approving.target_of(desk, target)
        if makes_scar:
            scar, warnings = _scar_of(
                desk, {**said, "title": said["title"] or reason, "why": said["why"] or reason}, never
            )
        number, saved = approving.reject(desk, wanted, reason, never, by=_user())
        renewing.renew(session, desk)
    session.output.line(f"{OK} rejected {wanted.title}: round {number} of 30_critic_summary.md")
    if scar is not None:
        session.output.line(f"{OK} recorded {scar.id} ({scar.level}): {visible(scar.title)}")
    for warning in warnings:
        session.output.aside(f"{WARN} {visible(warning)}")
    session.output.document({
        "ok": True, "exit_code": 0, "slug": "rejected", "target": wanted.name, "round": number, "seq": saved.seq,
        "scar": scar.id if scar is not None else None, "warnings": list(warnings),
    })  # fmt: skip


def _scar_of(desk: Desk, said: dict[str, Any], never: tuple[str, ...]) -> tuple[Scar, tuple[str, ...]]:
    """The scar that a no leaves: sealed before the no is, so that a no never stands without the scar that was asked for."""
    from indelible.cli.scaradding import put, renew

    tried = said["tried"] or "; ".join(never) or said["title"]
    made, _ = put(desk.settings, desk.memory, {**said, "tried": tried})
    return made, tuple(renew(desk.settings, desk.memory))


def _user() -> str:
    from indelible.cli.trusting import user

    return user()


@contextmanager
def looked_at(desk: Desk, target: Target, *, regardless: bool) -> Iterator[tuple[Shown, str]]:
    """What there is to approve now, and the path of its text, in a private folder that goes at the end."""
    from indelible.stepping import approving

    with TemporaryDirectory(prefix="indelible-") as folder, desk.opened() as opened:
        path = os.path.join(folder, "branch.diff")
        digest = showing.render_to(path, opened)
        yield approving.shown_now(desk, target, opened.change, digest, regardless=regardless), path


def _show(session: Session, desk: Desk, shown: Shown, path: str, file: str | None) -> None:
    from indelible.stepping.binding import draft_of

    for line in showing.lines_of(shown, critic_of(desk, shown)):
        session.output.line(line)
    drafted = draft_of(desk, shown.target)
    if drafted is not None:
        session.output.line(f"  {drafted[0]} becomes {drafted[1]}")
    if shown.about_change:
        showing.page(session, path)
    if file is not None:
        from indelible.cli.outputs import copy_output

        copy_output(desk.settings, file, path, mode=0o644)


def critic_of(desk: Desk, shown: Shown) -> str:
    """What the critic said of this very change, in a line; empty where no change is approved."""
    if not shown.about_change:
        return ""
    from indelible.stepping.rounds import verdict_on

    return verdict_on(desk.state, shown.change.digest)


def _span(text: str) -> timedelta:
    from indelible.spans import parse_span

    found = parse_span(text)
    if found is None:
        raise UsageError(f"--expires {text!r} is no span of time", remedy="Say 2h, 24h or 7d")
    return found


def _say(session: Session, shown: Shown, done: Approved, kept: str, approver: str) -> None:
    session.output.line(f"{OK} approved {shown.target.title}: receipt {done.id}, until {done.receipt.expires}")
    if done.became:
        session.output.line(f"{OK} written {done.became}")
    if kept.startswith("not kept"):
        session.output.aside(f"{WARN} the text of the change was {kept}")
    session.output.document({
        "ok": True, "exit_code": 0, "slug": "approved", "receipt": done.id, "approver": approver, "expires": done.receipt.expires,
        "became": done.became or None, "text": kept, **showing.as_dict(shown),
    })  # fmt: skip
