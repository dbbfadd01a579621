"""A subagent is done: a summary that is too long is sent back, once (seed 004: fifteen lines)."""

from __future__ import annotations

from indelible.hosts.host import Reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from indelible.hosts.host import Event
    from indelible.hosts.world import World

LINES = 15
_REMEMBERED = 64


def after_subagent(event: Event, world: World) -> Reply:
    """Send it back, or let it be.

    Claude Code's own compaction summariser comes with an empty type, and is let be. Whoever the host says was sent back
    already, or the ledger does, is let be too: without a ledger nobody would know, so that nothing is sent back then.
    """
    count = len([line for line in event.text.splitlines() if line.strip()])
    if count <= LINES or event.again or not event.agent_type:
        return Reply()
    ledger = world.ledger(event)
    who = event.agent or event.agent_type
    if ledger is None or who in ledger.returned:
        return Reply()
    said = world.change(event, lambda old: old._replace(returned=(*old.returned, who)[-_REMEMBERED:]))
    if said:
        return Reply(warning=said)
    return Reply(
        back=f"Your summary has {count} lines. Say it again in at most {LINES}: what was done, what was found, which files "
        "hold it. Write what is longer to a file, and name the file."
    )
