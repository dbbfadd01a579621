"""What the verbs share: opening memory, reading what the user gave, saying how long work goes."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

import click

from indelible.cli.output import WARN
from indelible.errors import IndelibleError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from indelible.cli.output import Output
    from indelible.cli.session import Session
    from indelible.gate.policy import Policy
    from indelible.memory import Memory
    from indelible.settings import Settings

WHOLE = 200
"""Characters of a verb's first sentence in the help: none is longer."""


class Group(click.Group):
    """A group whose help shows the first sentence of each of its verbs whole."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        described = [(name, command.get_short_help_str(WHOLE)) for name, command in self.commands.items()]
        with formatter.section("Commands"):
            formatter.write_dl(described)


def settings_of(session: Session) -> Settings:
    """The settings that hold here, with the global options on top."""
    from indelible import settings

    return settings.load(store=session.store, agent=session.agent)


def settings_or_spare(session: Session) -> tuple[Settings, IndelibleError | None]:
    """The settings; where they are broken, what is known without them, and what is wrong with them.

    Raises:
        UsageError: it is an option that is off, or the current folder is gone.
    """
    from indelible import settings

    try:
        settings.load()
    except IndelibleError as error:
        return settings.spare(), error
    return settings_of(session), None


@contextmanager
def target(session: Session, files: tuple[str, ...] = ()) -> Iterator[Memory]:
    """The memory that the options and settings name; its warning is said at the end.

    A server that has the seeds' plain wire form and nothing more is stood in for by what it can do.

    Args:
        files: what is worked on, from the current folder.
    """
    from indelible import wiring

    settings = settings_of(session)
    if settings.remote and wiring.is_plain(settings):
        from indelible.cli.plainly import plain_target

        with plain_target(settings) as plain:
            yield cast("Memory", plain)
        return
    with wiring.open_memory(settings, door=_verb()) as memory:
        if files:
            from indelible.settings import here
            from indelible.surroundings import about

            memory.gate = memory.gate.through(context=about(memory.gate.context, files, here()[0]))
        yield memory
        if memory.warning:
            session.output.aside(f"{WARN} {memory.warning}")


def _verb() -> str:
    """The verb that is run, as the deliveries name the door; `library` where none is."""
    context = click.get_current_context(silent=True)
    words = context.command_path.split() if context is not None else []
    return words[1] if len(words) > 1 else "library"


@contextmanager
def progress(output: Output, title: str) -> Iterator[Callable[[int, int], None]]:
    """A bar for long work, on a terminal only; `rich` is imported only then."""
    if output.json or sys.stderr is None or not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def dated(key: str, day: str | None = None) -> str:
    """The seed's dated key: `MEMORY.md` becomes `MEMORY_MD_20260610`, today in UTC unless told."""
    from indelible.plain.forms import dated_key
    from indelible.settings import today

    return dated_key(key, day or today())


def _not_empty(_context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """An empty id (a shell variable that was not set) would silently be none."""
    if value == "":
        raise click.BadParameter("it is empty; leave the option out, or give an id", param=parameter)
    return value


def complete_key(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Keys that begin so, for the shell: of the local store, and none rather than an error."""
    from indelible import settings, wiring
    from indelible.errors import IndelibleError

    chosen = ctx.find_root().params
    try:
        found = settings.load(store=chosen.get("store"), agent=chosen.get("agent"))
        if found.remote:
            return []
        with wiring.open_memory(found) as memory, memory.following() as (table, _, _):
            return [
                key
                for key, row in table.keys(prefix=incomplete, limit=COMPLETED)
                if row.state != "erased" and key.isprintable()
            ]
    except IndelibleError:
        return []


def _complete_policy(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Presets that begin so; of conditions with commas between, the last one."""
    from indelible.gate.presets import CONDITIONS, PRESETS

    before, comma, last = incomplete.rpartition(",")
    names = CONDITIONS if comma else PRESETS
    return [f"{before}{comma}{name}" for name in names if name.startswith(last)]


policy_option = click.option(
    "--policy",
    metavar="NAME",
    shell_complete=_complete_policy,
    help="Judge by this one: a preset, or conditions with commas between. [the settings']",
)


files_option = click.option(
    "--file", "files", metavar="PATH", multiple=True,
    help="A file that is worked on: memories of other paths are held. Any number of times.",
)  # fmt: skip


def policy_of(text: str | None) -> Policy | None:
    """The policy that an option names; None for the one in force.

    Raises:
        UsageError: there is no such one.
    """
    from indelible.gate import presets

    return None if text is None else presets.policy_of(text)


COMPLETED = 200
"""Keys that a shell is offered at once."""
key_argument = click.argument("key", shell_complete=complete_key)
reason_option = click.option("--reason", metavar="TEXT", help="Why; it stands in the log.")
op_option = click.option(
    "--op-id", "op", metavar="ID", callback=_not_empty, help="Operation id: a repeat of it changes nothing."
)
