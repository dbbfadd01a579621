"""A tool call is about to be made: whether it may.

Nothing is opened and nothing verified while the slots' stamps are those that were verified last. Whatever goes wrong is
raised, and the hook program denies by it.
"""

from __future__ import annotations

from indelible.errors import IndelibleError
from indelible.hosts.guarding import line_of, places_of, refusal
from indelible.hosts.host import OTHER, READ, SHELL, Reply
from indelible.hosts.transcripts import is_lost
from indelible.state.stamps import stamps_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from indelible.hosts.commands import Line
    from indelible.hosts.host import Event
    from indelible.hosts.ledger import Ledger
    from indelible.hosts.world import World

BOOTED, TAMPERED, NO_STATE = "booted", "tampered", "no-state"
"""As in `boot.briefing`, which a gate does not load."""


def before_tool(event: Event, world: World) -> Reply:
    """Deny it, or let it pass.

    Raises:
        IndelibleError: what is protected is not known.
    """
    ledger, unkept = world.ledger(event), ""
    line = line_of(event, world.home)
    reads = event.tool == READ or (event.tool == SHELL and line.is_reading)
    if ledger is None:
        from indelible.hosts.informing import introduce

        try:
            ledger, unkept = introduce(event, world)
        except IndelibleError:
            if reads:  # which is how the fault is found
                return Reply()
            raise
    said = refusal(event, ledger, places_of(ledger, world.home), line)
    if said:
        return Reply(deny=said)
    if event.tool == READ and ledger.level != "all":
        return Reply()
    if not reads and event.tool != OTHER:
        ledger = _verified(event, world, ledger)
        if ledger.slug == TAMPERED:
            return Reply(deny=_alarm(ledger))
    return Reply(deny=_unread(event, world, ledger, line, reads=reads, unkept=unkept))


def _verified(event: Event, world: World, ledger: Ledger) -> Ledger:
    """The ledger after another look, if anything was touched since the last one, or something is to be cleared."""
    if world.inner or ledger.remote or not ledger.directory:
        return ledger
    if ledger.slug != TAMPERED and stamps_of(ledger.directory) == ledger.stamps:
        return ledger
    from indelible.hosts.informing import look_again

    return look_again(event, world, ledger)


def _alarm(ledger: Ledger) -> str:
    return (
        f"Not done: the state of this work is not what was sealed ({ledger.found}). Stop, and tell your human. "
        "Nothing is written or committed until 'indelible boot' is clean again; reading is allowed."
    )


def _unread(event: Event, world: World, ledger: Ledger, line: Line, *, reads: bool, unkept: str) -> str:
    """Why the briefing has to be read first; empty where it was, or need not be."""
    if ledger.slug == NO_STATE or ledger.level == "off" or world.inner:
        return ""
    if ledger.briefed and not ledger.owed and not is_lost(event, world.host, ledger):
        return ""
    if event.tool == SHELL and line.boots:
        from indelible.hosts.informing import reread

        reread(event, world, ledger, line.budget)
        return ""
    if ledger.level == "writes" and (reads or event.tool == OTHER):
        return ""
    if unkept:
        return (
            f"Not done: whether the briefing was read cannot be noted ({unkept.rstrip('.')}). Ask your human to make that "
            "folder writable, or to set INDELIBLE_BRIEFING_FIRST=off."
        )
    named = world.variables(event) is not world.environ
    boot = f"INDELIBLE_STATE_DIR='{event.artifacts}/state' indelible boot" if named else "'indelible boot'"
    if ledger.found and ledger.slug not in ("", BOOTED):
        return (
            f"Not done: this context holds no briefing, and there was none to read ({ledger.found.rstrip('.')}). Tell your human; "
            f"once that is mended, run {boot}, alone and with its output shown, and repeat this call."
        )
    return (
        f"Not done: read the briefing first, since this context does not hold it. Run {boot}, alone and with its output "
        "shown, do what it says, and then repeat this call."
    )
