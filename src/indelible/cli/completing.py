"""completion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.shell_completion import get_completion_class

if TYPE_CHECKING:
    from indelible.cli.session import Session


@click.command()
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.pass_obj
def completion(session: Session, shell: str) -> None:
    """Print the completion script of a shell: eval "$(indelible completion bash)"."""
    from indelible.cli.main import cli

    kind = get_completion_class(shell)
    script = kind(cli, {}, "indelible", "_INDELIBLE_COMPLETE").source() if kind is not None else ""
    session.output.give(script.rstrip("\n"))
    session.output.document({"ok": True, "exit_code": 0, "slug": "completion", "shell": shell, "script": script})
