"""What the global options chose, handed to each verb."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from indelible.cli.output import Output


class Session(NamedTuple):
    """One run of the command. Nothing is opened before a verb needs it."""

    agent: str | None
    store: str | None
    output: Output
