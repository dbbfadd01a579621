"""init, adopt, doctor."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from indelible.cli import common
from indelible.cli.drafting import ORIGINS, Told, drafting
from indelible.cli.output import BAD, OK, WARN, visible
from indelible.errors import NotFoundError

if TYPE_CHECKING:
    from indelible.cli.main import Session
    from indelible.memory import Memory


@click.command()
@click.pass_obj
def init(session: Session) -> None:
    """Make a store here, and a key for the agent. Nothing that is there already is changed."""
    from indelible.initialising import initialise

    settings = common.settings_of(session)
    made = initialise(settings)
    again = "made" if made.fresh else "is here already"
    session.output.line(f"{OK} the store {settings.store} {again}")
    session.output.line(f"{OK} agent {visible(settings.agent)}, verifier key {made.vkey}")
    session.output.line("Next: 'indelible adopt' takes MEMORY.md in; 'indelible save KEY FILE' saves; 'indelible verify KEY' checks")
    session.output.document({"ok": True, "exit_code": 0, "slug": "initialised", "store": settings.store, "agent": settings.agent,
                             "vkey": made.vkey, "fresh": made.fresh})


@click.command()
@click.argument("files", nargs=-1)
@click.option("--origin", type=click.Choice(ORIGINS), default="agent", show_default=True, help="What kind of source these texts come from.")
@click.pass_obj
def adopt(session: Session, files: tuple[str, ...], origin: str) -> None:
    """Take existing memory in: FILES and folders, or what is found here (MEMORY.md, CLAUDE.md, AGENTS.md, GEMINI.md, memory folders).

    The files stay where they are. What is sealed already with the same bytes is passed over.
    """
    from indelible.adopting import found_here, texts_of
    from indelible.initialising import initialise

    settings = common.settings_of(session)
    here = settings.repository_top or os.getcwd()
    chosen = files or found_here(here)
    if not chosen:
        raise NotFoundError(f"There is no MEMORY.md, CLAUDE.md or memory folder in {here}", remedy="Name the files: indelible adopt FILE…")
    texts = [text for path in chosen for text in texts_of(path, here)]
    if not settings.remote:
        initialise(settings)
    adopted = []
    with common.target(session) as memory, common.progress(session.output, "Adopting") as advance:
        for done, (name, content) in enumerate(texts, 1):
            fresh = _adopt(memory, name, content, origin)
            adopted.append({"key": name, "adopted": fresh})
            session.output.line(f"{OK} {'adopted' if fresh else 'already sealed'}  {visible(name)}  ({len(content)} bytes)")
            advance(done, len(texts))
    session.output.document({"ok": True, "exit_code": 0, "slug": "adopted", "memories": adopted})


def _adopt(memory: Memory, name: str, content: bytes, origin: str) -> bool:
    from indelible.settings import now

    try:
        if memory.load(name, held=True).content == content:
            return False
    except NotFoundError:
        pass
    memory.save(name, content, record=drafting(memory, name, content, Told(origin=origin), now(), os.urandom), how="imported", allow_empty=True)
    return True


@click.command()
@click.pass_obj
def doctor(session: Session) -> int:
    """Look at everything that memory here depends on, and say what to do. Exit 1 where something does not work."""
    from indelible.examining import examine

    marks = {"good": OK, "warning": WARN, "bad": BAD}
    findings = list(examine(common.settings_of(session)))
    for finding in findings:
        session.output.line(f"{marks[finding.state]} {visible(finding.text)}" + (f". {finding.remedy}" if finding.remedy else ""))
    code = int(any(finding.state == "bad" for finding in findings))
    session.output.document({"ok": not code, "exit_code": code, "slug": "examined", "findings": [finding._asdict() for finding in findings]})
    return code


