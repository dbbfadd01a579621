"""approve, reject: a person's yes and no to a target, bound to exactly what was shown."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from hashlib import sha256
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

import click

from indelible.cli import common, showing
from indelible.cli.output import OK, WARN, visible
from indelible.errors import AccessDenied, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import timedelta

    from indelible.cli.session import Session
    from indelible.stepping.approving import Approved, Shown
    from indelible.stepping.desk import Desk
    from indelible.workflow.graph import Target


class Looked(NamedTuple):
    """What was put before the approver, and where its text is."""

    shown: Shown
    diff: str
    """Path of the rendered change."""


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
@click.option("-o", "--output", "file", metavar="FILE", help="Write the change as text (branch.diff) there too.")
@click.pass_obj
def approve(
    session: Session, target: str | None, approver: str | None, expires: str, file: str | None, despite: str | None, *,
    only_show: bool, yes: bool,
) -> None:  # fmt: skip
    """Say yes to TARGET as it is now: the exact change, untracked files too, or a plan. An approver's key signs the receipt.

    Without TARGET, the one whose receipt a commit needs. The passphrase is typed here, or read from the file that
    INDELIBLE_PASSPHRASE_FILE names. Exit 5 where anything changed since it was shown, 7 where something before it is missing.
    """
    from indelible.cli import approvers
    from indelible.stepping import approving
    from indelible.stepping.desk import open_desk

    settings, environ = common.settings_of(session), _environ()
    holds = _span(expires)
    with open_desk(settings, environ, door="approve") as desk:
        wanted = approving.target_of(desk, target)
        approving.require_ready(desk, wanted, despite=despite)
        with looked_at(desk, wanted) as looked:
            _show(session, desk, looked, file)
            if only_show:
                return
            _ask(session, looked.shown, yes=yes)
            signer = approvers.approver_of(settings, approver)
            with looked_at(desk, wanted) as again:
                done = approving.approve(
                    desk, looked.shown, again.shown, signer, now=desk.memory.now(), holds=holds, reason=despite
                )
            kept = approving.keep_beside(desk, done, looked.diff)
    _say(session, looked.shown, done, kept, signer.name)


@contextmanager
def looked_at(desk: Desk, target: Target) -> Iterator[Looked]:
    """What there is to approve now, with its text in a private folder that goes at the end."""
    from indelible.stepping import approving

    with TemporaryDirectory(prefix="indelible-") as folder, desk.opened() as opened:
        path = os.path.join(folder, "branch.diff")
        digest = sha256()
        with open(path, "wb") as file:
            for piece in opened.render():
                digest.update(piece)
                file.write(piece)
        yield Looked(approving.shown_now(desk, target, opened.change, digest.hexdigest()), path)


def _show(session: Session, desk: Desk, looked: Looked, file: str | None) -> None:
    from indelible.stepping.binding import draft_of

    shown = looked.shown
    for line in showing.lines_of(shown, critic_of(desk, shown)):
        session.output.line(line)
    drafted = draft_of(desk, shown.target)
    if drafted is not None and not session.output.json:
        session.output.line(f"  {drafted[0]} becomes {drafted[1]}:")
        for line in desk.state.show(drafted[0]).content.decode("utf-8", "replace").splitlines():
            session.output.line(f"    {visible(line)}")
    if shown.about_change:
        showing.page(session, looked.diff)
    if file is not None:
        from indelible.cli.outputs import write_output

        with open(looked.diff, "rb") as diff:
            write_output(desk.settings, file, diff.read(), mode=0o644)
    if session.output.json:
        session.output.document({"ok": True, "exit_code": 0, "slug": "shown", **showing.as_dict(shown)})


def critic_of(desk: Desk, shown: Shown) -> str:
    """What the critic said of this very change, in a line; empty where no change is approved."""
    if not shown.about_change:
        return ""
    from indelible.stepping.rounds import verdict_on

    return verdict_on(desk.state, shown.change.digest)


def _ask(session: Session, shown: Shown, *, yes: bool) -> None:
    """Make sure that it is meant."""
    if yes:
        return
    if session.output.json or sys.stdin is None or not sys.stdin.isatty():
        raise AccessDenied(
            "An approval is asked for on a terminal, and there is none",
            remedy="Approve where you can read and type; with INDELIBLE_PASSPHRASE_FILE, --yes says that it was looked at",
        )
    click.confirm(f"Approve {shown.target.title} as it is shown?", abort=True, err=True)


def _span(text: str) -> timedelta:
    from indelible.spans import parse_span

    found = parse_span(text)
    if found is None:
        raise UsageError(f"--expires {text!r} is no span of time", remedy="Say 2h, 24h or 7d")
    return found


def _environ() -> dict[str, str]:
    from indelible import settings

    return dict(settings.here()[1])


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
