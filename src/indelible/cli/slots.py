"""state write, append, amend, show, list, history, check: one slot at a time, and a look at all of them."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from indelible.cli import common
from indelible.cli.inputs import read_input
from indelible.cli.output import BAD, OK, WARN, counted, visible
from indelible.cli.saving import masking_of
from indelible.errors import IndelibleError, IntegrityError, NotFoundError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from indelible.cli.session import Session
    from indelible.keeping import Inspected, StateDirectory
    from indelible.memory.results import Saved, Version
    from indelible.memory.slotted import SealedSlot
    from indelible.state.directory import Finding


@click.group(cls=common.Group)
def state() -> None:
    """The state directory, .indelible/state: laws 00-29 are written once, records 30-89 only grow, 90-99 are replaced."""


@contextmanager
def opened(session: Session, *, create: bool = False) -> Iterator[StateDirectory]:
    """The state directory that the options and settings name; its memory's warning is said at the end."""
    from indelible import wiring

    with wiring.open_state(common.settings_of(session), create=create) as directory:
        yield directory
        if directory.memory.warning:
            session.output.aside(f"{WARN} {directory.memory.warning}")


def _complete_slot(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Names of slots that begin so, for the shell: those of the files and the known ones."""
    from indelible import settings
    from indelible.state.slot import KNOWN, parse_name

    chosen = ctx.find_root().params
    try:
        directory = settings.load(store=chosen.get("store"), agent=chosen.get("agent")).boot.directory or ""
        there = [name for name in os.listdir(directory) if parse_name(name)]
    except (IndelibleError, OSError):
        there = []
    return [name for name in sorted({*KNOWN, *there}) if name.startswith(incomplete)]


over_budget_option = click.option(
    "--over-budget", is_flag=True, help="Seal it although no boot with these settings can carry it."
)
slot_argument = click.argument("slot", metavar="NN|NAME", shell_complete=_complete_slot)


@state.command()
@slot_argument
@click.argument("file", required=False, default="-")
@common.reason_option
@common.op_option
@over_budget_option
@click.pass_obj
def write(
    session: Session, slot: str, file: str, reason: str | None, op: str | None, *, over_budget: bool
) -> None:  # fmt: skip
    """Write a slot from FILE (or standard input): 00-29 once, 30-89 only with what stood there before it, 90-99 anew each time."""
    content = read_input(file)
    with opened(session) as directory:
        say(session, directory.write(slot, content, reason=reason, op=op, over_budget=over_budget), "written")


@state.command()
@slot_argument
@click.argument("file", required=False, default="-")
@common.reason_option
@common.op_option
@click.pass_obj
def append(session: Session, slot: str, file: str, reason: str | None, op: str | None) -> None:
    """Add FILE (or standard input) at the end of a slot, on a line of its own."""
    content = read_input(file)
    with opened(session) as directory:
        say(session, directory.append(slot, content, reason=reason, op=op), "appended")


@state.command()
@slot_argument
@click.argument("file", required=False, default="-")
@click.option("--reason", metavar="TEXT", help="Why; it stands in the log. Required.")
@common.op_option
@over_budget_option
@click.pass_obj
def amend(
    session: Session, slot: str, file: str, reason: str | None, op: str | None, *, over_budget: bool
) -> None:  # fmt: skip
    """Replace what a slot's rule keeps, from FILE (or standard input). The owner's key signs that; its passphrase is asked for, or read from the file that INDELIBLE_PASSPHRASE_FILE names."""
    from indelible import wiring
    from indelible.cli.trusting import owner_signer

    if not reason:
        raise UsageError("An amendment says why", remedy="Say --reason TEXT; it stands in the log")
    content = read_input(file)
    settings = common.settings_of(session)
    with opened(session) as directory:
        owner = owner_signer(settings, wiring.keystore(settings))
        saved = directory.amend(slot, content, by=owner, reason=reason, op=op, over_budget=over_budget)
        say(session, saved, "amended")


def say(session: Session, saved: Saved, did: str) -> None:
    """What a write did."""
    name = saved.key.rpartition("/")[2]
    warnings = [*saved.warnings, *masking_of(saved)]
    again = "already " if saved.repeated else ""
    session.output.line(
        f"{OK} {again}{did}  sha256:{saved.sha256}  {name} (version {saved.version}, entry {saved.seq})"
    )
    for warning in warnings:
        session.output.aside(f"{WARN} {warning}")
    session.output.document({
        "ok": True, "exit_code": 0, "slug": did, "slot": name, "key": saved.key, "version": saved.version, "seq": saved.seq,
        "op": saved.op, "sha256": saved.sha256, "repeated": saved.repeated, "warnings": warnings, "masked": list(saved.masked),
    })  # fmt: skip


@state.command()
@slot_argument
@click.option("--version", "number", type=click.IntRange(1), metavar="N", help="An older version. [the present one]")
@click.pass_obj
def show(session: Session, slot: str, number: int | None) -> int:
    """Print a slot's sealed text, byte for byte. Exit 2 where its file is another one."""
    from indelible.cli.output import write_bytes

    with opened(session) as directory:
        loaded = directory.show(slot, number)
        name = loaded.key.rpartition("/")[2]
        findings = [] if number is not None else [one for one in directory.check().findings if one.name == name]
    code = _code(findings)
    if not session.output.json:
        write_bytes(loaded.content)
    for finding in findings:
        session.output.aside(f"{_mark(finding)} {visible(finding.text)}. {finding.remedy}")
    session.output.document({
        "ok": not code, "exit_code": code, "slug": "slot" if not code else IntegrityError.slug, "slot": name, "version": loaded.version,
        "sha256": loaded.sha256, "seq": loaded.seq, "content": loaded.content.decode("utf-8", "replace"), "findings": documents(findings),
    })  # fmt: skip
    return code


@state.command(name="list")
@click.pass_obj
def list_(session: Session) -> None:
    """List the slots that are written, in the order in which they are read."""
    with opened(session) as directory:
        slots, closed = directory.slots(), directory.closed()
    for one in slots:
        rule = f"{one.slot.discipline}, version {one.loaded.version}, {len(one.loaded.content)} bytes"
        session.output.line(f"{one.slot.name}  sha256:{one.loaded.sha256}  ({rule})")
    session.output.line(counted(len(slots), "slot", "slots"))
    for key in closed:
        session.output.line(f"closed before: {visible(key)}")
    warn_beside(session)
    session.output.document({
        "ok": True, "exit_code": 0, "slug": "slots", "slots": [row(one) for one in slots], "closed": list(closed),
    })  # fmt: skip


def row(one: SealedSlot) -> dict[str, object]:
    """One slot for `--json`."""
    return {
        "slot": one.slot.name, "discipline": one.slot.discipline, "version": one.loaded.version, "seq": one.loaded.seq,
        "bytes": len(one.loaded.content), "sha256": one.loaded.sha256,
    }  # fmt: skip


@state.command()
@slot_argument
@click.pass_obj
def history(session: Session, slot: str) -> None:
    """Show everything the log says about a slot, newest first."""
    with opened(session) as directory:
        found = directory.history(slot)
        gone = any(one.type == "archived" for one in found)
        closings = [(directory.memory.history(key)[-1].seq, key) for key in directory.closed()] if gone else []
    for one in found:
        closing = next((key for seq, key in reversed(closings) if seq < one.seq), "") if one.type == "archived" else ""
        how = f", {one.how}" if one.how not in ("", "saved") else ""
        why = (f"  closed as {visible(closing)}" if closing else "") + (
            f"  {visible(one.reason)}" if one.reason else ""
        )
        session.output.line(f"{one.at}  {one.type}{how}  version {one.version}  entry {one.seq}  by {one.by}{why}")
    session.output.document({
        "ok": True, "exit_code": 0, "slug": "history", "events": [_event(one) for one in found],
    })  # fmt: skip


def _event(one: Version) -> dict[str, object]:
    names = ("type", "seq", "version", "at", "by", "how", "reason", "op", "revoked")
    return {**{name: getattr(one, name) for name in names}, "leaf_hash": one.leaf.hex()}


@state.command()
@click.pass_obj
def check(session: Session) -> int:
    """Hold every slot's file against the log, and the log against the rules of writing. Exit 2 names what was altered."""
    place = common.settings_of(session).boot.directory or ""
    try:
        with opened(session) as directory:
            found = directory.check()
    except NotFoundError:
        if not names_in(place):
            raise
        raise Empty(place) from None  # a clone that brought files, and no store to hold them against
    if not found.slots and all(finding.slug == "slot-unsealed" for finding in found.findings):
        if not os.path.isdir(place):
            raise NotFoundError(
                f"There is no state directory at {place}", remedy="'indelible state init' begins one", slot=None
            )
        raise Empty(place)
    code = _code(found.findings)
    _tell(session, found)
    warn_beside(session)
    session.output.document({
        "ok": not code, "exit_code": code, "slug": "intact" if not code else IntegrityError.slug,
        "slots": [row(one) for one in found.slots], "findings": documents(found.findings),
    })  # fmt: skip
    return code


class Empty(IndelibleError):
    """There is a state directory, and no slot in it: nothing to go by."""

    slug = "empty-state"

    def __init__(self, place: str) -> None:
        names = names_in(place)
        if names:
            super().__init__(
                f"The files in {place} ({', '.join(names)}) were never sealed, so nobody knows whose words they are",
                remedy="'indelible state adopt' seals them, once you have read them",
            )
        else:
            super().__init__(
                f"The state directory {place} has no slot in it", remedy="'indelible state init' seals a first 00"
            )


def names_in(place: str) -> list[str]:
    """Names of slots' files in a folder; none where it is not there."""
    from indelible.state.slot import parse_name

    try:
        return sorted(name for name in os.listdir(place) if parse_name(name))
    except OSError:
        return []


def warn_beside(session: Session) -> None:
    """What else lies in the folder and may surprise: files that look like slots and are none, and what was put aside."""
    from indelible.state.filing import asides
    from indelible.state.slot import parse_name

    place = common.settings_of(session).boot.directory or ""
    try:
        names = sorted(os.listdir(place))
    except OSError:
        return
    for name in names:
        if name[:2].isdigit() and name.lower().endswith(".md") and parse_name(name) is None:
            session.output.aside(
                f"{WARN} {name} looks like a slot and is none, so no boot reads it: a slot is NN_name.md"
            )
    if kept := asides(place):
        session.output.aside(
            f"{WARN} {counted(len(kept), 'file', 'files')} put aside by repairs ({kept[0].split('-')[1]} the oldest): "
            "'indelible state repair --sweep 30d' takes away what is older than that"
        )


def _tell(session: Session, found: Inspected) -> None:
    bad = {finding.name for finding in found.tampering}
    for one in found.slots:
        if one.slot.name not in bad:
            session.output.line(f"{OK} {one.slot.name}  sha256:{one.loaded.sha256}")
    for finding in found.findings:
        session.output.line(f"{_mark(finding)} {visible(finding.text)}. {finding.remedy}")


def _mark(finding: Finding) -> str:
    return BAD if finding.is_tampering else WARN


def _code(findings: Iterable[Finding]) -> int:
    return IntegrityError.exit_code if any(finding.is_tampering for finding in findings) else 0


def documents(findings: Iterable[Finding]) -> list[dict[str, object]]:
    """Findings for `--json`."""
    return [{**finding._asdict(), "tampering": finding.is_tampering} for finding in findings]
