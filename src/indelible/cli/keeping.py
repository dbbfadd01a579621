"""state: its group, and of its verbs those for the directory as a whole: init, template, adopt, repair, close, protect."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from indelible.cli import common
from indelible.cli.output import BAD, OK, WARN, counted, visible, write_bytes
from indelible.cli.slots import documents, opened, over_budget_option, say, slot_argument, state
from indelible.errors import AccessDenied, IndelibleError, IntegrityError, NotFoundError

if TYPE_CHECKING:
    from indelible.cli.session import Session
    from indelible.keeping import Closed


_switch_option = click.option(
    "--switch", is_flag=True, help="Let the directory belong to the agent, namespace and store that the settings name now. At a terminal only."
)  # fmt: skip


def _switch(session: Session) -> None:
    """On a person's word, forget whose this directory was.

    Raises:
        AccessDenied: there is no terminal to give it on.
    """
    from indelible.state import belonging

    settings = common.settings_of(session)
    if sys.stdin is None or not sys.stdin.isatty():
        raise AccessDenied(
            "Whose a state directory is changes on a person's word only, and there is no terminal to ask on",
            remedy="Say it at a terminal; an agent may be given a directory of its own: INDELIBLE_STATE_DIR",
        )
    now = belonging.belonging_of(settings)
    whose = f"agent {now.agent!r}, namespace {now.namespace!r}, store {now.store!r}"
    click.confirm(visible(f"From now on {now.directory} holds the slots of {whose}?"), abort=True, err=True)
    belonging.forget(settings)


@state.command()
@_switch_option
@click.pass_obj
def init(session: Session, switch: bool) -> None:  # noqa: FBT001 - click's call
    """Seal a usable 00_governance.md, where there is none: the human gates, the workflow skills that are here, the boot rule."""
    from indelible.initialising import exclude_state

    settings = common.settings_of(session)
    if switch:
        _switch(session)
    with opened(session) as directory:
        saved = directory.begin()
        place = directory.path
    exclude_state(settings)
    if saved is not None:
        say(session, saved, "begun")
        return
    session.output.line(f"{OK} the laws are sealed already, and their files are in {place}")
    session.output.document({"ok": True, "exit_code": 0, "slug": "begun", "repeated": True})


@state.command()
@slot_argument
@click.pass_obj
def template(session: Session, slot: str) -> None:
    """Print the form of a slot: 00, 10, 20, 30 or 99."""
    from indelible.state.slot import named
    from indelible.state.templates import template as form

    name = named(slot).name
    text = form(name, common.settings_of(session).checkout)
    if not session.output.json:
        write_bytes(text)
    session.output.document({"ok": True, "exit_code": 0, "slug": "template", "slot": name, "content": text.decode()})


@state.command()
@click.argument("folder", required=False)
@_switch_option
@over_budget_option
@click.pass_obj
def adopt(session: Session, folder: str | None, *, switch: bool, over_budget: bool) -> None:
    """Take the slots' files of FOLDER in, each as its first version; by default those that lie unsealed in the state directory."""
    from indelible.initialising import initialise

    settings = common.settings_of(session)
    if switch:
        _switch(session)
    if not settings.remote:
        initialise(settings, laws=False)
    with opened(session) as directory:
        saved = directory.adopt(folder, over_budget=over_budget)
        begun = directory.begin()
    for one in saved:
        did = "already sealed" if one.repeated else "adopted"
        session.output.line(f"{OK} {did}  sha256:{one.sha256}  {one.key.rpartition('/')[2]}")
        for warning in one.warnings:
            session.output.aside(f"{WARN} {warning}")
    if begun is not None:
        session.output.line(f"{OK} laws sealed  sha256:{begun.sha256}  00_governance.md: there were none to adopt")
    session.output.document({
        "ok": True, "exit_code": 0, "slug": "adopted", "governance": begun.sha256 if begun is not None else None,
        "slots": [{"slot": one.key.rpartition("/")[2], "sha256": one.sha256, "seq": one.seq, "adopted": not one.repeated} for one in saved],
    })  # fmt: skip


@state.command()
@click.option(
    "--sweep", metavar="TIME", help="Then take away what was put aside before that: 30d (ago), 2026-12-31, or RFC 3339."
)
@click.pass_obj
def repair(session: Session, sweep: str | None) -> int:
    """Put the sealed copies back, and keep what stood in their place aside. Exit 2 where the log itself holds something wrong."""
    before = None if sweep is None else stamp_of(sweep)
    with opened(session) as directory:
        mended = directory.repair()
        swept = () if before is None else swept_from(directory.path, before)
        place = directory.path
    code = IntegrityError.exit_code if mended.left else 0
    for one in mended.done:
        kept = f"; what stood there is kept as {os.path.join(place, one.aside)}" if one.aside else ""
        session.output.line(f"{OK} {one.did}  {one.name}{kept}")
    for finding in mended.left:
        session.output.line(f"{BAD} {visible(finding.text)}. {finding.remedy}")
    session.output.line(counted(len(mended.done), "file", "files") + " put right")
    for name in swept:
        session.output.line(f"{OK} swept  {name}")
    session.output.document({
        "ok": not code, "exit_code": code, "slug": "repaired" if not code else IntegrityError.slug,
        "repaired": [one._asdict() for one in mended.done], "findings": documents(mended.left), "swept": list(swept),
    })  # fmt: skip
    return code


def stamp_of(text: str) -> str:
    """A time as the names of files that were put aside have it.

    Raises:
        UsageError: it is none.
    """
    from indelible.cli.drafting import parse_time
    from indelible.settings import now

    return parse_time(text, now(), back=True).replace("-", "").replace(":", "")


def swept_from(path: str, before: str) -> tuple[str, ...]:
    """Take away what was put aside before that time; gives the names."""
    from indelible.files import remove
    from indelible.state.filing import asides

    names = asides(path, before)
    for name in names:
        remove(os.path.join(path, name))
    return names


@state.command()
@common.reason_option
@common.op_option
@click.pass_obj
def close(session: Session, reason: str | None, op: str | None) -> None:
    """End the ticket: seal the whole directory as one record, and begin a new one. The laws, 00-09, stay in force."""
    with opened(session) as directory:
        _say_closed(session, directory.close(reason=reason, op=op))


def _say_closed(session: Session, closed: Closed) -> None:
    key = closed.saved.key
    session.output.line(
        f"{OK} closed  sha256:{closed.saved.sha256}  {visible(key)} ({counted(len(closed.names), 'slot', 'slots')} put away; the laws are in it too)"
    )
    for name in closed.left:
        session.output.aside(
            f"{WARN} {name} is put away, and its file could not be: 'indelible state repair' does that"
        )
    session.output.document({
        "ok": True, "exit_code": 0, "slug": "closed", "key": key, "sha256": closed.saved.sha256, "seq": closed.saved.seq,
        "op": closed.saved.op, "repeated": closed.saved.repeated, "slots": list(closed.names), "left": list(closed.left),
    })  # fmt: skip


@state.command()
@click.option("--off", is_flag=True, help="Take the attributes away again.")
@click.pass_obj
def protect(session: Session, off: bool) -> int:  # noqa: FBT001 - click's call
    """Set the system's own attributes: immutable for 00-29, append-only for 30-89. On Linux that takes root, and so does undoing it."""
    from indelible.state.attributes import protect as change

    done: list[dict[str, object]] = []
    failed: IndelibleError | None = None
    with opened(session) as directory:
        for one in directory.slots():
            try:
                attribute = change(os.path.join(directory.path, one.slot.name), one.slot, on=not off)
            except IndelibleError as error:
                failed = error
                session.output.aside(f"{WARN} {error}")
                continue
            if attribute:
                done.append({"slot": one.slot.name, "attribute": attribute})
                session.output.line(f"{OK} {one.slot.name}  {'no longer ' if off else ''}{attribute}")
    if failed is not None:
        raise failed
    if not done:
        raise NotFoundError(
            "No slot is written that an attribute is for", remedy="'indelible state init' seals a first 00"
        )
    session.output.document({"ok": True, "exit_code": 0, "slug": "unprotected" if off else "protected", "slots": done})
    return 0
