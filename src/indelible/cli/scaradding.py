"""scar add: what failed before is written down; and what the verbs of `scar` share."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from indelible.cli import common, scartelling
from indelible.cli.inputs import read_input
from indelible.cli.output import OK, WARN, visible
from indelible.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from indelible.cli.session import Session
    from indelible.memory import Memory
    from indelible.memory.results import Saved
    from indelible.settings import Settings
    from indelible.workflow.scars import Scar


@click.group(cls=common.Group)
def scar() -> None:
    """Scars: what was tried and failed, why, and how the next attempt is noticed. A barrier refuses it, a warning tells it."""


@contextmanager
def opened(session: Session) -> Iterator[tuple[Settings, Memory]]:
    """The settings and the memory that the options name; its warning is said at the end.

    Raises:
        UsageError: the store is a server that keeps no log.
    """
    from indelible import wiring

    settings = common.settings_of(session)
    if settings.remote and wiring.is_plain(settings):
        raise UsageError(
            f"{settings.store} keeps no log, and so no scars", remedy="Use a local store, or an Indelible server"
        )
    with wiring.open_memory(settings, door="scar") as memory:
        yield settings, memory
        if memory.warning:
            session.output.aside(f"{WARN} {memory.warning}")


def _complete_scar(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Ids that begin so, for the shell."""
    from indelible.workflow.scars import ROOT

    keys = common.complete_key(ctx, _param, f"{ROOT}{incomplete}")
    return [key.removeprefix(ROOT) for key in keys]


id_argument = click.argument("ident", metavar="ID", shell_complete=_complete_scar)


def scar_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What a scar says, as options: those of `scar add`, and of `reject --scar`."""
    options = (
        click.option("--id", "ident", metavar="SCAR-AREA-NN", help="[the next free number of --area]"),
        click.option("--area", metavar="AREA", help="2 to 12 capitals or digits: GIT, SORT, PROC."),
        click.option("--title", metavar="TEXT", help="A line for people."),
        click.option("--tried", metavar="TEXT", help="What was tried."),
        click.option("--why", metavar="TEXT", help="Why it failed."),
        click.option("--evidence", metavar="TEXT", multiple=True, help="Where that can be seen. Any number of times."),
        click.option("--path", "paths", metavar="GLOB", multiple=True, help="An edit of such a file is an attempt; with --added, only such lines in it."),
        click.option("--command", "commands", metavar="REGEX", multiple=True, help="A command that matches is an attempt."),
        click.option("--added", metavar="REGEX", multiple=True, help="An added line that matches is an attempt."),
        click.option("--level", type=click.Choice(("barrier", "warning")), help="Refuse an attempt, or tell it. [warning]"),
        click.option("--scope", metavar="LEVEL[:VALUE]", help="Where it applies: repo, branch:NAME, path:GLOB, agent, … [this repository]"),
        click.option("--expires", metavar="TIME", help="When it stops applying: 90d, 2026-12-31, or RFC 3339."),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


@scar.command()
@click.argument("file", required=False)
@scar_options
@click.option(
    "--from-round", "number", type=click.IntRange(1), metavar="N", help="Begin with what round N of the critic says."
)
@common.reason_option
@common.op_option
@click.pass_obj
def add(
    session: Session,
    /,
    file: str | None,
    number: int | None,
    reason: str | None,
    op: str | None,
    **said: Any,  # noqa: ANN401 - click hands options by name
) -> None:
    """Record a scar, from options or from FILE ('-' is standard input) in the form that 'scar show' prints. It is written once."""
    template = read_input(file) if file is not None else None
    with opened(session) as (settings, memory):
        begun = _from_round(session, number) if number is not None else None
        made, saved = put(settings, memory, said, template=template, begun=begun, reason=reason, op=op)
        warnings = renew(settings, memory)
    did = "already recorded" if saved.repeated else "recorded"
    session.output.line(f"{OK} {did}  {made.id} ({made.level}): {visible(made.title)}  sha256:{saved.sha256}")
    scartelling.close(
        session, "recorded", warnings, scar=scartelling.row(made), key=saved.key, seq=saved.seq, repeated=saved.repeated
    )


def put(
    settings: Settings, memory: Memory, said: dict[str, Any], *, template: bytes | None = None, begun: Scar | None = None,
    reason: str | None = None, op: str | None = None,
) -> tuple[Scar, Saved]:  # fmt: skip
    """Seal the scar that the options of `scar_options` describe, over what a file or a round says.

    Raises:
        UsageError: it is none. DisciplineError: there is one of that id.
    """
    from indelible.cli.drafting import parse_scope, parse_time
    from indelible.cli.standing import place_here
    from indelible.gate.scope import resolve_scope
    from indelible.record import Scope
    from indelible.stepping.scars import add as seal
    from indelible.workflow.scars import WARNING, Scar
    from indelible.workflow.scartext import from_template

    area = said["area"] or ""
    base = from_template(template) if template is not None else begun or Scar("", "", "", "", level=WARNING)
    fields = {name: said[name] for name in ("title", "tried", "why", "level") if said[name]}
    fields |= {name: tuple(said[name]) for name in ("evidence", "paths", "commands", "added") if said[name]}
    made = base._replace(**fields, id=said["ident"] or base.id)
    if not made.id and not area:
        raise UsageError(
            "The scar has no id and no area", remedy="Say --area GIT for the next number, or --id SCAR-GIT-07"
        )
    place = place_here()
    scope = parse_scope(said["scope"]) if said["scope"] else Scope("repo" if place.repo else "agent")
    scope = resolve_scope(scope, place, reader=settings.agent, facts=settings.facts)
    expires = parse_time(said["expires"], memory.now()) if said["expires"] else None
    return seal(memory, made, scope=scope, area=area, expires=expires, reason=reason, op=op)


def _from_round(session: Session, number: int) -> Scar:
    """A scar with what a round of the critic says; what it does not say is left for the options."""
    from indelible.cli.slots import opened as opened_state
    from indelible.stepping.rounds import round_of
    from indelible.workflow.scars import TITLE, Scar

    with opened_state(session) as state:
        found = round_of(state, number)
    tried = next(iter((*found.never, *found.blocked)), "")
    why = "; ".join(found.blocked) or "a critic rejected it"
    return Scar("", tried[:TITLE].strip(), tried, why[:1000].strip(), (f"round {number} of 30_critic_summary.md",))


def renew(settings: Settings, memory: Memory) -> list[str]:
    """Write the registry and what gates go by anew; gives what is to be said of that."""
    from indelible.stepping import guarding, registry
    from indelible.stepping.scars import look

    content = registry.render(look(memory), memory.agent)
    path = registry.registry_path(settings)
    edited = bool(path) and registry.state_of(path, content) == registry.EDITED
    unwritten = registry.write_registry(settings, content)
    said = f"{registry.NAME_OF_FILE} had been edited, and was written anew: what is sealed counts"
    ungated = guarding.kept(settings, memory)
    return [*([unwritten] if unwritten else [said] if edited else []), *filter(None, (ungated,))]
