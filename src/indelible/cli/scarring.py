"""scar list, show, check, waive, retire, export: which scars count here, and who tries what failed before."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

import click

from indelible.cli import common, scartelling
from indelible.cli.inputs import read_input
from indelible.cli.output import BAD, OK, WARN, visible
from indelible.cli.scaradding import id_argument, opened, renew, scar
from indelible.errors import IntegrityError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indelible.cli.session import Session
    from indelible.memory import Memory
    from indelible.settings import Settings
    from indelible.workflow.scars import Attempt, Scar


@scar.command(name="list")
@click.option("--all", "every", is_flag=True, help="Those that are not in force here too, each with the reason.")
@click.option("--write", "anew", is_flag=True, help="Write .indelible/SCAR_REGISTRY.md anew.")
@click.pass_obj
def list_(session: Session, *, every: bool, anew: bool) -> int:
    """List the scars in force here. Exit 2 where one was changed past this program."""
    from indelible.stepping.scars import look

    with opened(session) as (settings, memory):
        found = look(memory)
        warnings = renew(settings, memory) if anew else _about_registry(settings, memory)
    return scartelling.tell_list(session, found, warnings, every=every)


@scar.command()
@id_argument
@click.pass_obj
def show(session: Session, ident: str) -> None:
    """Print a scar in the form that 'scar add' reads; on standard error who recorded it, its scope, and what was waived."""
    from indelible.stepping.scars import fetch
    from indelible.workflow.scartext import to_markdown

    with opened(session) as (_, memory):
        found = fetch(memory, ident)
        notes = [one for one in memory.sayings(f"scar/{ident}") if one.type == "waived"]
    session.output.give(to_markdown(found).decode().rstrip("\n"))
    if not session.output.json:
        for line in scartelling.beside(found, notes):
            session.output.aside(line)
    session.output.document({"ok": True, "exit_code": 0, "slug": "scar", "scar": scartelling.row(found)})


@scar.command()
@click.argument("command", nargs=-1)
@click.option(
    "--change", is_flag=True, help="The change of this checkout, untracked files too. [where nothing else is named]"
)
@click.option("--range", "span", metavar="A..B", help="The commits that B has and A has not, each by itself.")
@click.option(
    "--file",
    "files",
    metavar="PATH",
    multiple=True,
    help="A file, as if each of its lines were added. Any number of times.",
)
@click.option(
    "--scars",
    "export",
    metavar="FILE",
    help="The patterns of an export, which nothing vouches for, where there is no store.",
)
@click.pass_obj
def check(
    session: Session,
    command: tuple[str, ...],
    *,
    change: bool,
    span: str | None,
    files: tuple[str, ...],
    export: str | None,
) -> int:
    """Say whether COMMAND (after '--'), a change, commits or files are what failed before. Exit 2 where a barrier is hit."""
    from indelible.stepping.scarchecks import read_export
    from indelible.stepping.scars import look

    if not (command or span or files):
        change = True
    if export is not None:
        scars: Sequence[Scar] = read_export(export)
        session.output.aside(
            f"{WARN} the scars are those of {visible(export)}: plain patterns, which nothing vouches for"
        )
        findings: Sequence[IntegrityError] = ()
    else:
        with opened(session) as (_, memory):
            looked = look(memory)
        scars, findings = looked.scars, looked.findings
    found = _attempts(session, scars, command, files, span, change=change)
    return scartelling.tell_check(session, found, findings, len(scars))


def _attempts(
    session: Session, scars: Sequence[Scar], command: tuple[str, ...], files: tuple[str, ...], span: str | None, *, change: bool
) -> tuple[Attempt, ...]:  # fmt: skip
    from indelible.settings import here
    from indelible.stepping.scarchecks import attempts_of_tree
    from indelible.workflow.addedlines import attempts_in_range
    from indelible.workflow.scars import attempts

    folder, environ = here()
    said = (command[0] if len(command) == 1 else shlex.join(command),) if command else ()
    found = list(attempts(scars, commands=said, edits=[_whole(session, one) for one in files]))
    if change:
        found += attempts_of_tree(_checkout(session), environ, scars)[1]
    if span is not None:
        old, dots, new = span.partition("..")
        if not dots or not new or new.startswith(".") or old.startswith("-"):
            raise UsageError(f"--range {span!r} is no range", remedy="Say A..B: the commits that B has and A has not")
        found += attempts_in_range(folder, environ, old, new, scars)
    return tuple(sorted(found, key=lambda one: not one.is_barred))


def _whole(session: Session, path: str) -> tuple[str, list[str]]:
    """A file's path from the top of the checkout, and its lines."""
    top = os.path.realpath(_checkout(session))
    whole = os.path.join(os.path.realpath(os.path.dirname(os.path.abspath(path))), os.path.basename(path))
    if not whole.startswith(os.path.join(top, "")):
        raise UsageError(f"{path} is no file of this checkout", remedy=f"Name one below {top}")
    return os.path.relpath(whole, top).replace(os.sep, "/"), read_input(path).decode("utf-8", "replace").splitlines()


def _checkout(session: Session) -> str:
    top = common.settings_of(session).checkout
    if top is None:
        raise UsageError(
            "This folder is in no repository", remedy="Go into one, or name a command: indelible scar check -- COMMAND"
        )
    return top


@scar.command()
@id_argument
@click.option("--reason", metavar="TEXT", help="Why it is no attempt; it stands in the log. Required.")
@click.option("--command", metavar="TEXT", help="This very command.")
@click.option("--change", is_flag=True, help="The change of this checkout as it is now, and no other.")
@click.option("--digest", metavar="HEX", help="What 'scar check' and refusals call the attempt by.")
@click.pass_obj
def waive(
    session: Session, ident: str, reason: str | None, command: str | None, digest: str | None, *, change: bool
) -> None:
    """Say that one exact attempt is none: a false alarm is waived once, with a reason, and only as it is."""
    from indelible.settings import here
    from indelible.stepping.scarchecks import attempts_of_tree
    from indelible.stepping.scars import waive as seal
    from indelible.workflow.scars import command_digest

    if sum((command is not None, change, digest is not None)) != 1:
        raise UsageError("A waiver is of one thing", remedy="Say --command TEXT, --change or --digest HEX")
    if command is not None:
        digest = command_digest(command)
    elif change:
        digest = attempts_of_tree(_checkout(session), here()[1], ())[0]
    with opened(session) as (settings, memory):
        saved = seal(memory, ident, (digest or "").removeprefix("sha256:"), reason or "")
        warnings = renew(settings, memory)
    again = "already " if saved.repeated else ""
    session.output.line(f"{OK} {again}waived  {ident}  sha256:{digest}")
    scartelling.close(session, "waived", warnings, id=ident, digest=digest, seq=saved.seq, repeated=saved.repeated)


@scar.command()
@id_argument
@click.option("--reason", metavar="TEXT", help="Why; it stands in the scar and in the log. Required.")
@common.op_option
@click.pass_obj
def retire(session: Session, ident: str, reason: str | None, op: str | None) -> None:
    """Take a scar out of force. The owner's key signs that; its passphrase is asked for, or read from the file that INDELIBLE_PASSPHRASE_FILE names."""
    from indelible import wiring
    from indelible.cli.trusting import owner_signer
    from indelible.stepping.scars import fetch
    from indelible.stepping.scars import retire as seal

    if not reason or not reason.strip():
        raise UsageError("A scar is retired with a reason", remedy="Say --reason TEXT; it stands in the log")
    with opened(session) as (settings, memory):
        try:
            fetch(memory, ident)
        except IntegrityError as spoilt:
            session.output.aside(f"{BAD} {visible(spoilt.message)}")
        saved = seal(memory, ident, reason, by=owner_signer(settings, wiring.keystore(settings)), op=op)
        warnings = renew(settings, memory)
    session.output.line(f"{OK} retired  {ident} (version {saved.version}, entry {saved.seq})")
    scartelling.close(session, "retired", warnings, id=ident, version=saved.version, seq=saved.seq)


@scar.command()
@click.argument("file", required=False, default="-")
@click.option("--all", "every", is_flag=True, help="Those that are not in force here, too.")
@click.pass_obj
def export(session: Session, file: str, *, every: bool) -> None:
    """Write the scars in force to FILE: JSON Lines for 'scar check --scars', or a page for people where it ends in .md. Nothing of it is signed."""
    from indelible.cli.outputs import write_output
    from indelible.stepping.registry import render
    from indelible.stepping.scarchecks import write_export
    from indelible.stepping.scars import look

    with opened(session) as (settings, memory):
        found = look(memory)
        scars = found.every if every else found.scars
        chosen = found if every else found._replace(held=(), retired=())
        content = render(chosen, memory.agent) if file.endswith(".md") else write_export(scars)
    if file == "-":
        session.output.give(content.decode().rstrip("\n"))
    else:
        write_output(settings, file, content, mode=0o644)
        session.output.line(
            f"{OK} {scartelling.counted_scars(len(scars))} in {visible(file)}: plain patterns, which nothing vouches for"
        )
    scartelling.close(session, "exported", [], count=len(scars), scars=[scartelling.row(one) for one in scars])


def _about_registry(settings: Settings, memory: Memory) -> list[str]:
    """What is to be said of the registry as it lies there."""
    from indelible.stepping import registry
    from indelible.stepping.scars import look

    path = registry.registry_path(settings)
    state = registry.state_of(path, registry.render(look(memory), memory.agent)) if path else registry.ABSENT
    remedy = "'indelible scar list --write' writes it anew; what is sealed counts"
    words = {registry.EDITED: "was edited by hand, or by something else", registry.OLD: "is of an earlier time"}
    return [f"{registry.NAME_OF_FILE} {words[state]}: {remedy}"] if state in words else []
