"""completion."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
def completion(shell: str) -> None:
    """Print the completion script of a shell: eval "$(indelible completion bash)"."""
    from indelible.cli.main import cli

    kind = get_completion_class(shell)
    if kind is not None:
        click.echo(kind(cli, {}, "indelible", "_INDELIBLE_COMPLETE").source())
