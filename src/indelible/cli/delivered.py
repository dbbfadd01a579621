"""deliveries."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from indelible.cli import common
from indelible.cli.output import BAD, OK, WARN, counted, shown, visible
from indelible.errors import NotFoundError
from indelible.gate.presets import CUSTOM

if TYPE_CHECKING:
    from indelible.cli.session import Session
    from indelible.deliveries import Delivery
    from indelible.settings import Settings

SHOWN_AT_ONCE = 1000
DOORS = ("load", "recall", "similarity", "verify", "save", "edit", "state", "boot", "library", "http", "plain")
"""Those through which something is handed out or saved; `plain` is the seeds' wire form on a server. A write that was refused names the verb."""


@click.command()
@click.argument("key", required=False, shell_complete=common.complete_key)
@click.option("--since", metavar="TIME", help="From then on: 7d (ago), 2026-12-31, or RFC 3339.")
@click.option("--until", metavar="TIME", help="Before then.")
@click.option("--held", is_flag=True, help="Only what was not handed over.")
@click.option("--door", metavar="DOOR", help=f"Only through this one: {', '.join(DOORS)}.")
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=SHOWN_AT_ONCE,
    show_default=True,
    help="At most so many: the newest, or with --after the next.",
)
@click.option(
    "--after", type=click.IntRange(0), metavar="N", help="Begin after the delivery of this number (the next page)."
)
@click.pass_obj
def deliveries(
    session: Session, *, key: str | None, since: str | None, until: str | None, held: bool, door: str | None, limit: int, after: int | None
) -> None:  # fmt: skip
    """List what was handed out, held back, verified and saved on this machine: when, to whom, by which policy and why. Never content."""
    from indelible.cli.drafting import parse_time
    from indelible.deliveries import journal_of
    from indelible.settings import now
    from indelible.store.follower import name_of

    settings, today = common.settings_of(session), now()
    _require_store(settings)
    times = [None if text is None else parse_time(text, today, back=True) for text in (since, until)]
    journal = journal_of(settings.state_dir, name_of(settings.store, settings.agent))
    found = list(journal.read(
        after or 0, key=key, outcome="held" if held else None, door=door, since=times[0], until=times[1],
        limit=limit if after is not None else None, last=limit if after is None else None,
    ))  # fmt: skip
    journal.close()
    for one in found:
        session.output.line(_line(one))
    more = len(found) == limit and after is not None
    session.output.line(
        counted(len(found), "delivery", "deliveries")
        + (f"; the next page begins with --after {found[-1].number}" if more else "")
    )
    if journal.warning:
        session.output.aside(f"{WARN} {journal.warning}")
    session.output.document({
        "ok": True, "exit_code": 0, "slug": "deliveries", "next": found[-1].number if more else None, "warning": journal.warning,
        "deliveries": [one.as_dict() for one in found],
    })  # fmt: skip


def _require_store(settings: Settings) -> None:
    """What was noted of a store that is gone is listed still; of one that never was, there is nothing to list.

    Raises:
        NotFoundError: there is no store, and this reader knows of none.
    """
    from indelible import wiring

    if not settings.remote and not os.path.lexists(settings.store) and wiring.gone(settings, settings.agent) is None:
        raise NotFoundError(f"There is no store at {settings.store}", remedy="Run 'indelible init' to make one")


def _line(one: Delivery) -> str:
    version = f" (version {one.version})" if one.version else ""
    how = visible(one.outcome + (f" as {one.delivered_as}" if one.delivered_as else ""))
    to = f" to {visible(one.reader)}" if one.reader else ""
    by = f"  {visible(one.policy if one.mode == CUSTOM else one.mode)}" if one.mode else ""
    why = "  " + ", ".join(visible(slug) for slug, _ in (*one.reasons, *one.notes)) if one.reasons or one.notes else ""
    mark = BAD if one.outcome in ("held", "refused") else OK
    return f"{mark} {one.number}  {visible(one.at)}  {how}  {shown(one.key)}{version}  {visible(one.door)}{to}{by}{why}"
