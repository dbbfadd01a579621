"""audit, checkpoint, proof, incident."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from indelible.cli import common
from indelible.cli.inputs import read_input
from indelible.cli.output import BAD, OK, WARN, counted, visible, write_bytes
from indelible.errors import IntegrityError, UsageError

if TYPE_CHECKING:
    from indelible.audit import Report
    from indelible.cli.session import Session

_TAMPERED = IntegrityError.exit_code


@click.command()
@click.option("--hashes-only", is_flag=True, help="Leave the signatures of entries out: faster, and says less.")
@click.option("--all-agents", is_flag=True, help="Every agent's log in the store, not this agent's alone.")
@click.pass_obj
def audit(session: Session, hashes_only: bool, all_agents: bool) -> int:  # noqa: FBT001 - click's call
    """Read the whole store a second time, by code that shares nothing with 'verify', and name everything that is wrong."""
    from indelible.inspecting import inspect, is_pinned

    settings = common.settings_of(session)
    with common.progress(session.output, "Auditing") as advance:
        report = inspect(
            settings, signatures=not hashes_only, agents=None if all_agents else (settings.agent,), progress=advance
        )
    _say_report(session, report)
    if not is_pinned(settings):
        session.output.aside(f"{WARN} rollback not checked: this reader has no pin of {visible(settings.agent)} yet")
    code = 0 if report.ok else _TAMPERED if report.tampered else 1
    session.output.document(
        {"exit_code": code, "slug": {0: "sound", 1: "unchecked", _TAMPERED: "tampered"}[code], **report.as_dict()}
    )
    return code


def _say_report(session: Session, report: Report) -> None:
    for finding in report.store:
        session.output.line(f"{BAD if finding.severity == 'error' else WARN} {visible(finding.message)}")
    for agent in report.agents:
        mark = OK if agent.ok else BAD
        held = f"{counted(agent.size, 'entry', 'entries')}, {counted(agent.keys, 'memory', 'memories')}, {counted(agent.versions, 'version', 'versions')}"
        session.output.line(
            f"{mark} {visible(agent.agent)}: {held}" + (f", root {agent.root[:16]}…" if agent.root else "")
        )
        for finding in agent.findings:
            session.output.line(
                f"  {BAD if finding.severity == 'error' else WARN} {finding.slug}: {visible(finding.message)}"
            )


@click.command()
@click.option("-o", "--output", "file", metavar="FILE", help="[standard output]")
@click.pass_obj
def checkpoint(session: Session, file: str | None) -> None:
    """Print the verified head of the log: a C2SP signed note, which another reader can take as its pin."""
    with common.target(session) as memory:
        note = memory.checkpoint()
    _give(session, note, file)
    session.output.document({"ok": True, "exit_code": 0, "slug": "checkpoint", "note": note.decode("utf-8")})


@click.command()
@click.argument("key", required=False)
@click.option("--version", "number", type=click.IntRange(1), metavar="N", help="An older version.")
@click.option("-o", "--output", "file", metavar="FILE", help="[standard output]")
@click.option("--check", metavar="FILE", help="Check a proof instead, offline, with the keys that are trusted here.")
@click.pass_obj
def proof(session: Session, key: str | None, number: int | None, file: str | None, check: str | None) -> None:
    """Prove that a version of KEY stands in the signed log: a C2SP tlog-proof, with the entry itself as its extra line."""
    if (key is None) == (check is None):
        raise UsageError(
            "Say what to prove, or what to check", remedy="Use 'indelible proof KEY', or 'indelible proof --check FILE'"
        )
    if check is not None:
        _check_proof(session, check)
        return
    with common.target(session) as memory:
        leaf, made = memory.proof(str(key), number)
    data = replace(made, extra=leaf).format()
    _give(session, data, file)
    session.output.document({"ok": True, "exit_code": 0, "slug": "proof", "proof": data.decode("utf-8")})


def _check_proof(session: Session, file: str) -> None:
    from indelible import wiring
    from indelible.entry import parse_entry, split_leaf
    from indelible.errors import Unchecked
    from indelible.seal import proof as proofs
    from indelible.seal.merkle import leaf_hash

    given = proofs.parse(read_input(file))
    if given.extra is None:
        raise UsageError(f"{file} does not carry the entry that it proves", remedy="Make it with 'indelible proof KEY'")
    entry = parse_entry(split_leaf(given.extra)[0])
    keys = wiring.KeyFolder(wiring.keystore(common.settings_of(session)))
    verifiers = (*keys.verifiers(entry.origin), *keys.servers())
    if not verifiers:
        raise Unchecked(
            f"No key is known for {entry.origin}", remedy="Trust its verifier key first: 'indelible key trust VKEY'"
        )
    head = given.verify(leaf_hash(given.extra), verifiers, entry.origin)
    what = f"{entry.type} {visible(getattr(entry, 'key', ''))}".strip()
    session.output.line(
        f"{OK} proven: entry {entry.seq} of {entry.origin} ({what}, {entry.at}) stands in the signed log of {head.size} entries"
    )
    session.output.document({"ok": True, "exit_code": 0, "slug": "proven", "entry": entry._asdict(), "size": head.size})


def _give(session: Session, data: bytes, file: str | None) -> None:
    if file is not None and file != "-":
        from indelible.cli.outputs import write_output

        write_output(common.settings_of(session), file, data, mode=0o644)
        session.output.line(f"{OK} written to {file}")
    elif not session.output.json:
        write_bytes(data)


@click.command()
@click.pass_obj
def incident(session: Session) -> int:
    """After an exit code 2: what was altered, since when at the earliest, what was handed out since, and what to do, in order."""
    from indelible.incident import inquire

    settings = common.settings_of(session)
    found = inquire(settings)
    if not found.altered:
        session.output.line(f"{OK} nothing is wrong with the store as it is now")
    if found.warning:
        session.output.aside(f"{WARN} {found.warning}")
    for one in found.altered:
        session.output.line(f"{BAD} {one.slug}: {visible(one.message)}")
        session.output.line(
            f"   not before {one.earliest}"
            if one.earliest
            else "   since when is not known: it was never verified here"
        )
    if found.altered:
        session.output.line(
            f"Handed out since {found.since or 'the beginning'}: {counted(len(found.delivered), 'time', 'times')}, none that had failed its check"
        )
        for item in found.delivered[-20:]:
            session.output.line(
                f"   {visible(item.at)}  {visible(item.key)}{f' version {item.version}' if item.version else ''}  ({visible(item.door)})"
            )
        session.output.line("What to do, in order:")
        for number, step in enumerate(found.steps, 1):
            session.output.line(f"   {number}. {visible(step)}")
    code = _TAMPERED if found.altered else 0
    session.output.document({
        "ok": not found.altered, "exit_code": code, "slug": "incident" if found.altered else "sound",
        "altered": [one._asdict() for one in found.altered], "since": found.since,
        "delivered": [item.as_dict() for item in found.delivered], "steps": list(found.steps), "warning": found.warning,
    })  # fmt: skip
    return code
