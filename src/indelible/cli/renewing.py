"""What comes next is another thing after a yes, a no or a round: the program counter says so at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indelible.cli.output import WARN, visible

if TYPE_CHECKING:
    from indelible.cli.session import Session
    from indelible.stepping.desk import Desk


def renew(session: Session, desk: Desk) -> None:
    """What comes next is another thing now: say so to whoever wakes up, where the flow keeps `99_next_action.md`."""
    from indelible.stepping.flow import Flow

    if warning := Flow(desk).renew():
        session.output.aside(f"{WARN} {visible(warning)}")
