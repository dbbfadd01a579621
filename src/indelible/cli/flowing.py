"""flow: the workflow, and what git's hooks and CI ask of it."""

from __future__ import annotations

import click

from indelible.cli import common, flowgit


@click.group(cls=common.Group)
def flow() -> None:
    """What may happen next, and whether it was approved."""


flow.add_command(flowgit.hook)
flow.add_command(flowgit.check)
