"""boot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from indelible.cli import briefly

if TYPE_CHECKING:
    from indelible.cli.session import Session


@click.command()
@click.option("--budget", metavar="TOKENS", help="How much the briefing may take. [1800, or as the settings say]")
@click.option("--characters", metavar="N", help="A second bound, for a host that passes on no more.")
@click.option("--laws", is_flag=True, help="For a subagent: what is written once (00 to 29), and the rules.")
@click.pass_obj
def boot(session: Session, *, budget: str | None, characters: str | None, laws: bool) -> int:
    """Wake up: the state directory, verified slot by slot and in order, as a briefing that ends in what to do next.

    Standard output is for the agent's context and has nothing else; the verdict and the warnings go to standard error. Exit 2
    where anything is not as it was sealed: then no slot is shown. Exit 3 where there is no state directory, 4 where laws and
    next action alone are too long for the budget, 1 where it could not be checked, or half of it is missing.
    """
    bounds = {name: briefly.number(text, name) for name, text in (("budget", budget), ("characters", characters))}
    return briefly.run(session.output, session.store, session.agent, **bounds, only_laws=laws)
