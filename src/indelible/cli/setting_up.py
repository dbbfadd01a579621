"""init, adopt, doctor."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

import click

from indelible.cli import common, hooking
from indelible.cli.drafting import ORIGINS, Told, drafting
from indelible.cli.inputs import read_input
from indelible.cli.lookalikes import warnings_of
from indelible.cli.output import BAD, OK, WARN, shown, visible
from indelible.cli.saving import masking_of
from indelible.cli.standing import stand
from indelible.errors import DisciplineError, IntegrityError, NotFoundError, OriginRaised, SecretRefused, UsageError
from indelible.sources import note_source, source_of_file, write_source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indelible.cli.session import Session
    from indelible.memory import Memory, Saved
    from indelible.settings import Settings


OWNERLESS = (
    "there is no owner's key yet: whoever first needs one makes it, an agent too. "
    "'indelible key create --role owner' makes it, with a passphrase that no agent knows"
)


@click.command()
@click.option(
    "--anew", is_flag=True, help="Where a store was deleted on purpose: forget what was known of it, and begin again."
)
@click.option("--governance", metavar="FILE", help="The laws, sealed as 00_governance.md. [a usable template]")
@click.option(
    "--host",
    "hosts",
    metavar="HOST",
    multiple=True,
    shell_complete=hooking.complete_host,
    help="Put our hooks into the settings of a coding agent as well, as 'hooks install' does. Any number of times.",
)
@click.pass_obj
def init(session: Session, anew: bool, governance: str | None, hosts: tuple[str, ...]) -> int:  # noqa: FBT001 - click's call
    """Make a store here, a key for the agent, and in a repository the laws of its state directory. Nothing that is there already is changed."""
    from indelible.initialising import initialise

    settings = common.settings_of(session)
    install = hooking.prepared(settings, hosts)  # a host that is none is said before anything is made
    laws = None if governance is None else read_input(governance)
    made = initialise(settings, anew=anew, governance=laws)
    again = "made" if made.fresh else "is here already"
    session.output.line(f"{OK} the store {settings.store} {again}")
    session.output.line(f"{OK} agent {visible(settings.agent)}, verifier key {made.vkey}")
    if made.governance:
        session.output.line(f"{OK} laws sealed  sha256:{made.governance}  00_governance.md ('indelible state show 00')")
    if made.warning:
        session.output.aside(f"{WARN} {made.warning}")
    if made.ownerless:
        session.output.line(f"{WARN} {OWNERLESS}")
    session.output.line(
        "Next: 'indelible adopt' takes MEMORY.md in; 'indelible save KEY FILE' saves; 'indelible verify KEY' checks"
        + ("; 'indelible state write 99' says the next action" if settings.boot.directory else "")
    )
    hooked = install()
    hooking.say_all(session, hooked)
    error = next((one.error for one in hooked if one.error is not None), None)
    code = error.exit_code if error is not None else 0
    session.output.document(
        {
            "ok": not code,
            "exit_code": code,
            "slug": error.slug if error is not None else "initialised",
            "store": settings.store,
            "agent": settings.agent,
            "vkey": made.vkey,
            "fresh": made.fresh,
            "governance": made.governance or None,
            "warnings": [made.warning] if made.warning else [],
            "hooks": [hooking.as_dict(one) for one in hooked],
        }
    )
    return code


@click.command()
@click.argument("files", nargs=-1)
@click.option("--origin", type=click.Choice(ORIGINS), help="What kind of source these texts come from. [agent]")
@click.pass_obj
def adopt(session: Session, files: tuple[str, ...], origin: str | None) -> int:
    """Take existing memory in: FILES and folders, or what is found here (MEMORY.md, CLAUDE.md, AGENTS.md, GEMINI.md, memory folders).

    The files stay where they are. What is sealed already with the same bytes is passed over.
    """
    from indelible.adopting import found_here, links_here
    from indelible.initialising import initialise

    settings = common.settings_of(session)
    here = settings.repository_top or os.getcwd()
    chosen = files or found_here(here)
    for link in () if files else links_here(here):
        session.output.aside(f"{WARN} {shown(link)} is a link, and was passed over: name the file itself to adopt it")
    if not chosen:
        raise NotFoundError(
            f"There is no MEMORY.md, CLAUDE.md or memory folder in {here}",
            remedy="Name the files: indelible adopt FILE…",
        )
    texts = _texts(chosen, here)
    if not settings.remote:
        made = initialise(settings)
        if made.warning and settings.boot.directory is not None:
            session.output.aside(f"{WARN} {made.warning}")
    adopted = []
    with common.target(session) as memory, common.progress(session.output, "Adopting") as advance:
        for text in texts:
            adopted.append(_adopt(session, memory, text, origin))
            advance(len(adopted), len(texts))
    code = max(one.code for one in adopted)
    session.output.document({
        "ok": not code, "exit_code": code, "slug": "adopted" if not code else DisciplineError.slug,
        "memories": [{"key": one.key, "adopted": one.fresh, "refused": one.refused, "warnings": list(one.warnings)} for one in adopted],
    })  # fmt: skip
    return code


class _Text(NamedTuple):
    """One file to take in, and the key for it."""

    key: str
    content: bytes
    file: str


class _Adopted(NamedTuple):
    """What became of it."""

    key: str
    fresh: bool
    refused: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def code(self) -> int:
        return DisciplineError.exit_code if self.refused else 0


def _texts(chosen: Sequence[str], here: str) -> list[_Text]:
    """Every text with a key of its own: where two files would have one, the second is named with its folder."""
    from indelible.adopting import texts_of

    texts: dict[str, _Text] = {}
    for path in chosen:
        folder = os.path.basename(os.path.abspath(path)) if os.path.isdir(path) else ""
        for key, content in texts_of(path, here):
            file = os.path.join(path, key.removeprefix(f"{folder}/")) if folder else path
            own = f"{folder}/{key}" if folder and key in texts else key
            if own in texts and not os.path.samefile(texts[own].file, file):
                raise UsageError(
                    f"{texts[own].file} and {file} would both be {own!r}",
                    remedy="Adopt one, and save the other with 'indelible save KEY FILE'",
                )
            texts[own] = _Text(own, content, file)
    if not texts:
        raise NotFoundError(f"There is no Markdown file in {', '.join(chosen)}", remedy="Name the files themselves")
    return list(texts.values())


def _adopt(session: Session, memory: Memory, text: _Text, origin: str | None) -> _Adopted:
    """Take one in; one that may not be taken does not keep the others out."""
    try:
        saved = _save(common.settings_of(session), memory, text, origin)
        adopted = _Adopted(text.key, saved is not None, warnings=tuple(masking_of(saved)) if saved is not None else ())
    except SecretRefused as error:
        in_key = "(key)" in str(error.facts["found"])
        adopted = _Adopted("(its name holds a secret)" if in_key else text.key, fresh=False, refused=str(error))
    except OriginRaised as error:
        adopted = _Adopted(text.key, fresh=False, refused=str(error))
    except DisciplineError as error:
        meant = f"{error.message}. If that is meant: 'indelible save {text.key} {text.file} --allow-empty'"
        adopted = _Adopted(text.key, fresh=False, refused=str(error) if "slot" in error.facts else meant)
    did = "not adopted" if adopted.refused else "adopted" if adopted.fresh else "already sealed"
    session.output.line(f"{WARN if adopted.refused else OK} {did}  {shown(adopted.key)}  ({len(text.content)} bytes)")
    if adopted.refused:
        session.output.aside(f"{WARN} {adopted.refused}")
    for warning in (*adopted.warnings, *warnings_of(text.key)) if adopted.fresh else ():
        session.output.aside(f"{WARN} {warning}")
    return adopted


def _save(settings: Settings, memory: Memory, text: _Text, origin: str | None) -> Saved | None:
    """None where the very same is sealed already."""
    from indelible.settings import now

    screened = memory.admit(text.content, {"key": text.key})
    content = screened.content
    try:
        if memory.fetch(text.key).content == content:
            return None
    except NotFoundError:
        pass
    make = drafting(memory, text.key, content, Told(origin=origin), now(), os.urandom)
    source, branch = ("", "") if screened.found else source_of_file(text.file, os.environ)
    saved = memory.save(
        text.key,
        screened,
        record=lambda earlier: write_source(make(earlier), content, source, branch, embedded=False),
        how="imported",
    )
    note_source(settings, saved, content, source, branch, embedded=False)
    return saved


@click.command()
@click.option("--scope", is_flag=True, help="Say only in which scope and repository this folder is, and by which rule.")
@click.pass_obj
def doctor(session: Session, scope: bool) -> int:  # noqa: FBT001 - click's call
    """Look at everything that memory here depends on, and say what to do. Exit 1 where something does not work, 2 where memory was altered."""
    from indelible.examining import examine

    if scope:
        return stand(session)
    marks = {"good": OK, "warning": WARN, "bad": BAD}
    settings = common.settings_of(session)
    findings = [*examine(settings), *hooking.findings(settings)]
    for finding in findings:
        session.output.line(
            f"{marks[finding.state]} {visible(finding.text)}" + (f". {finding.remedy}" if finding.remedy else "")
        )
    code = (
        IntegrityError.exit_code
        if any(finding.slug == "tampered" for finding in findings)
        else int(any(finding.state == "bad" for finding in findings))
    )
    session.output.document(
        {"ok": not code, "exit_code": code, "slug": "examined", "findings": [finding._asdict() for finding in findings]}
    )
    return code
