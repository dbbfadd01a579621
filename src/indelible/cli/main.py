"""The whole command line: click, with a file for each group of verbs, imported when one of its verbs is called."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import NoReturn

import click

from indelible.cli.common import WHOLE
from indelible.cli.output import Output, write
from indelible.cli.session import Session
from indelible.errors import IndelibleError, UsageError

GROUPS: dict[str, tuple[str, ...]] = {
    "setting_up": ("init", "adopt", "doctor"),
    "saving": ("save", "save-file", "edit"),
    "reading": ("load", "verify", "list", "history", "diff"),
    "recalling": ("recall", "reindex"),
    "comparing": ("similarity",),
    "changing": ("archive", "unarchive", "restore", "erase"),
    "checking": ("audit", "checkpoint", "proof", "incident"),
    "reviewing": ("review",),
    "explaining": ("why", "held"),
    "gating": ("gate",),
    "keeping": ("state",),
    "flowing": ("flow",),
    "approving": ("approve", "reject"),
    "criticising": ("critic",),
    "scarring": ("scar",),
    "delivered": ("deliveries",),
    "retaining": ("retention",),
    "trusting": ("pin", "key", "restore-store"),
    "serving": ("serve", "apikey"),
    "waking": ("boot",),
    "forking": ("fork", "wait"),
    "forks": ("forks",),
    "hooking": ("hooks",),
    "completing": ("completion",),
}
"""Each file of verbs, in the order in which `--help` shows them."""
_MODULE_OF = {verb: module for module, verbs in GROUPS.items() for verb in verbs}

INTERRUPTED = 130
"""128 and the number of the signal, as shells have it."""


class Verbs(click.Group):
    """A group that knows its verbs by name and imports each when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(_MODULE_OF)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        if cmd_name not in _MODULE_OF:
            return None
        module = import_module(f"indelible.cli.{_MODULE_OF[cmd_name]}")
        name = cmd_name.replace("-", "_")
        command: click.Command = getattr(module, "list_" if name == "list" else name)
        command.epilog = command.epilog or "--agent, --store and --json may stand here too: see 'indelible --help'."
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in _MODULE_OF and not args[0].startswith("-"):
            _no_such(args[0], ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for module, verbs in GROUPS.items():
            with formatter.section(module.replace("_", " ").capitalize()):
                formatter.write_dl([(verb, self.get_command(ctx, verb).get_short_help_str(WHOLE)) for verb in verbs])  # type: ignore[union-attr]


def _no_such(name: str, ctx: click.Context) -> NoReturn:
    from difflib import get_close_matches

    near = get_close_matches(name, _MODULE_OF, 2)
    meant = f"; perhaps you meant {' or '.join(repr(verb) for verb in near)}" if near else ""
    raise click.UsageError(f"No such command {name!r}{meant}", ctx)


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option("--agent", metavar="NAME", help="Whose memory. [INDELIBLE_AGENT, or the repository's settings]")
@click.option("--store", metavar="PATH|URL", help="Which store: a file, or a server's http address. [INDELIBLE_STORE]")
@click.option("--json", "as_json", is_flag=True, help="One JSON document for the outcome.")
@click.version_option(package_name="indelible", message="indelible %(version)s")
@click.pass_context
def cli(ctx: click.Context, agent: str | None, store: str | None, as_json: bool) -> None:  # noqa: FBT001 - click's call
    """Memory for AI agents that can be checked before it is believed.

    Exit codes: 0 fine; 1 could not be done or checked; 2 tampered; 3 nothing there; 4 held; 5 conflict;
    6 refused by a rule of writing; 7 a step that may not be taken yet; 64 usage.
    """
    ctx.obj = Session(agent, store, Output(as_json))


def run(arguments: list[str]) -> int:
    """Run one command line and give its exit code. In either form exactly one outcome is said.

    This is the process's door: what nobody expected is a fault of ours, shown whole on standard error, and exit code 1.
    """
    output = Output("--json" in arguments)
    try:
        result = cli.main(_lift(arguments), prog_name="indelible", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except IndelibleError as error:
        return output.error(error)
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        return _help(error, output)
    except click.ClickException as error:
        return output.error(_usage(error))
    except (click.Abort, KeyboardInterrupt) as error:  # click makes the one of the other
        by_hand = isinstance(error, KeyboardInterrupt) or isinstance(error.__context__, KeyboardInterrupt)
        return output.error(IndelibleError("Stopped; nothing more was done"), code=INTERRUPTED if by_hand else None)
    except MemoryError:
        return output.error(IndelibleError("There is not enough memory for that"))
    except Exception as error:  # noqa: BLE001 - the door
        return _fault(error, output)


def _help(error: click.exceptions.NoArgsIsHelpError, output: Output) -> int:
    """A group without a verb: its help, in full, on standard error."""
    usage = UsageError("No command was given", remedy=f"See '{error.ctx.command_path} --help'")
    if output.json:
        return output.error(usage)
    write(sys.stderr, error.format_message() + "\n")
    return usage.exit_code


def _fault(error: Exception, output: Output) -> int:
    from traceback import format_exception

    write(sys.stderr, "".join(format_exception(error)))
    words = f"This is a fault of Indelible, not of yours ({type(error).__name__})"
    return output.error(
        IndelibleError(words, remedy="Nothing was verified by this run; please report what stands above")
    )


def _lift(arguments: list[str]) -> list[str]:
    """`--json`, `--agent` and `--store` may stand behind the verb as well, up to a `--`."""
    lifted: list[str] = []
    rest: list[str] = []
    words = iter(arguments)
    for word in words:
        if word == "--":
            rest += [word, *words]
        elif word == "--json" or word.startswith(("--agent=", "--store=")):
            lifted.append(word)
        elif word in ("--agent", "--store"):
            lifted += [word, *(value for value in [next(words, None)] if value is not None)]
        else:
            rest.append(word)
    return lifted + rest


def _usage(error: click.ClickException) -> UsageError:
    path = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "indelible"
    said = " ".join(error.format_message().split()).rstrip(".")
    said, _, meant = said.partition(". Did you mean ")
    return UsageError(said, remedy=f"{f'Did you mean {meant} ' if meant else ''}See '{path} --help'")
