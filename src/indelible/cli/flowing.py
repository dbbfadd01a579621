"""flow: its group, and of its verbs those about the text of the workflow: init, seal, restore, show, makefile."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from indelible.cli import common, flowgit
from indelible.cli.flows import document_of, flow, opened
from indelible.cli.output import OK, WARN, visible, write_bytes
from indelible.errors import ConflictError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indelible.cli.session import Session
    from indelible.memory import Memory
    from indelible.settings import Settings
    from indelible.stepping.flow import Flow

__all__ = ["flow"]


@contextmanager
def _memory(session: Session) -> Iterator[tuple[Settings, Memory]]:
    """The log that the workflow is sealed in, whatever the file and the slots hold."""
    from indelible import wiring

    settings = common.settings_of(session)
    with wiring.open_state(settings, door="flow") as state:
        yield settings, state.memory
        if state.memory.warning:
            session.output.aside(f"{WARN} {state.memory.warning}")


@flow.command()
@click.option("--unsealed", is_flag=True, help="Only write the file, for the owner to edit and seal.")
@click.pass_obj
def init(session: Session, *, unsealed: bool) -> None:
    """Write the workflow that is built in to .indelible/workflow.toml, to edit, and seal it. The owner's key signs that."""
    from indelible.stepping.inforce import write_default

    with _memory(session) as (settings, memory):
        path = write_default(settings)
        session.output.line(f"{OK} written {visible(path)}")
        if not unsealed:
            _seal(session, settings, memory, "the workflow that is built in")
            return
    session.output.line("It is in force once the owner sealed it: indelible flow seal")
    session.output.document({"ok": True, "exit_code": 0, "slug": "written", "file": path, "sealed": False})


@flow.command()
@click.option("--reason", metavar="TEXT", help="Why; it stands in the log. Required for a change.")
@click.pass_obj
def seal(session: Session, reason: str | None) -> None:
    """Put .indelible/workflow.toml in force as it is now. The owner's key signs that; its passphrase is asked for, or read from the file that INDELIBLE_PASSPHRASE_FILE names."""
    with _memory(session) as (settings, memory):
        _seal(session, settings, memory, reason)


def _seal(session: Session, settings: Settings, memory: Memory, reason: str | None) -> None:
    from indelible import wiring
    from indelible.cli.trusting import owner_signer
    from indelible.memory.bound import WORKFLOW
    from indelible.stepping.guarding import kept
    from indelible.stepping.inforce import is_sealed, refuse_broken, seal_workflow

    refuse_broken(settings)
    if is_sealed(memory, settings):
        loaded = memory.fetch(WORKFLOW)
        digest, version, slug = loaded.sha256, loaded.version, "sealed-already"
    else:
        if not reason:
            raise UsageError("Sealing a workflow says why", remedy="Say --reason TEXT; it stands in the log")
        owner = owner_signer(settings, wiring.keystore(settings))
        saved = seal_workflow(memory, settings, owner, reason)
        digest, version, slug = saved.sha256, saved.version, "sealed"
    if unkept := kept(settings, memory):
        session.output.aside(f"{WARN} {unkept}")
    session.output.line(f"{OK} {'already ' if slug != 'sealed' else ''}in force  sha256:{digest} (version {version})")
    session.output.document({"ok": True, "exit_code": 0, "slug": slug, "sha256": digest, "version": version})


@flow.command()
@click.pass_obj
def restore(session: Session) -> None:
    """Put the sealed workflow back where its file was changed or taken away; what stands there is kept aside."""
    from indelible.stepping.guarding import kept
    from indelible.stepping.inforce import restore_workflow

    with _memory(session) as (settings, memory):
        done = restore_workflow(memory, settings)
        if unkept := kept(settings, memory):
            session.output.aside(f"{WARN} {unkept}")
    session.output.line(f"{OK} {visible(done.path)} is what the owner sealed")
    if done.aside:
        session.output.line(f"what stood there is kept: {visible(done.aside)}")
    session.output.document({
        "ok": True, "exit_code": 0, "slug": "restored", "file": done.path, "aside": done.aside or None,
    })  # fmt: skip


@flow.command()
@click.option("--default", "builtin", is_flag=True, help="The one that is built in, whatever is sealed.")
@click.pass_obj
def show(session: Session, *, builtin: bool) -> None:
    """Print the text of the workflow that is in force, byte for byte."""
    from indelible.stepping.inforce import text_in_force
    from indelible.workflow.default import DEFAULT

    if builtin:
        text, sealed = DEFAULT.encode(), False
    else:
        with _memory(session) as (settings, memory):
            text, sealed = text_in_force(memory, settings)
    if not session.output.json:
        write_bytes(text)
    session.output.document({
        "ok": True, "exit_code": 0, "slug": "workflow", "sealed": sealed, "text": text.decode("utf-8", "replace"),
    })  # fmt: skip


@flow.command()
@click.option("-o", "--output", "file", metavar="FILE", help="[standard output]")
@click.option(
    "--agree", metavar="DIGEST", help="Make the stamp files agree with what is sealed; the Makefile calls it."
)
@click.pass_obj
def makefile(session: Session, file: str | None, agree: str | None) -> None:
    """Write a Makefile of the workflow: 'make -f FILE', at the top of the checkout, goes on where the work stopped."""
    from indelible.workflow.makefile import AGREED, make_text

    with opened(session) as found:
        if agree is None:
            text = make_text(found.workflow)
            _write(session, file, text)
            return
        _require_same(found, agree)
        view = found.agree()
    session.output.give(AGREED)
    session.output.document({"ok": True, "exit_code": 0, "slug": "agreed", **document_of(view)})


def _require_same(found: Flow, digest: str) -> None:
    """A Makefile of another workflow would ask for other targets, and one elsewhere for other files."""
    if found.workflow.digest != digest:
        raise ConflictError(
            "This Makefile is of another workflow than the one in force",
            remedy="Write it anew: 'indelible flow makefile -o FILE'",
        )
    if os.path.realpath(os.getcwd()) != os.path.realpath(found.top):
        raise UsageError("make runs elsewhere than at the top of the checkout", remedy=f"Run it in {found.top}")


def _write(session: Session, file: str | None, text: str) -> None:
    from indelible.cli.outputs import write_output

    if file is None or file == "-":
        session.output.give(text.rstrip("\n"))
    else:
        write_output(common.settings_of(session), file, text.encode(), mode=0o644)
        session.output.line(f"{OK} written {visible(file)}")
    session.output.document({"ok": True, "exit_code": 0, "slug": "makefile", "text": text, "file": file})


flow.add_command(flowgit.hook)
flow.add_command(flowgit.check)
