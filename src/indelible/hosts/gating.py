"""A tool call is about to be made: whether it may.

Nothing is opened and nothing verified while the slots' stamps are those that were verified last. Whatever goes wrong is
raised, and the hook program denies by it.
"""

from __future__ import annotations

from indelible.errors import IndelibleError
from indelible.hosts.guarding import abroad, line_of, places_of, refusal, reminder
from indelible.hosts.holding import held
from indelible.hosts.host import OTHER, READ, SHELL, Reply
from indelible.hosts.ledger import MENDED_BY_A_PERSON, NO_STATE, TAMPERED, TOO_LONG
from indelible.hosts.reserved import ASK
from indelible.hosts.transcripts import is_lost
from indelible.hosts.whereabouts import others, place_of
from indelible.hosts.words import UNKNOWN
from indelible.state.stamps import stamps_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from indelible.hosts.booting import Boot
    from indelible.hosts.commands import Line
    from indelible.hosts.host import Event
    from indelible.hosts.ledger import Ledger
    from indelible.hosts.places import Places
    from indelible.hosts.world import World


def before_tool(event: Event, world: World) -> Reply:
    """Deny it, or let it pass.

    Raises:
        IndelibleError: what is protected is not known.
    """
    ledger, unkept = world.ledger(event), ""
    line = line_of(event, world.home)
    reads = event.tool == READ or (event.tool == SHELL and line.is_reading)
    if ledger is None:
        try:
            ledger, unkept = _introduced(event, world)
        except IndelibleError:
            if reads:  # which is how the fault is found
                return Reply()
            raise
    places = places_of(ledger, world.home)
    if not reads and event.tool != READ:
        places = _with_others(event, world, ledger, line, places)
    said = _reserved(ledger, line) or refusal(event, ledger, places, line)
    if said:
        return Reply(deny=said)
    if event.tool == READ and ledger.level != "all":
        return held(event, world, ledger, line, reads=True)
    if (not reads and event.tool != OTHER) or line.seals:
        ledger = _verified(event, world, ledger)
        if ledger.slug == TAMPERED:
            return Reply(deny=_alarm(ledger))
    unread = _unread(event, world, ledger, line, reads=reads, unkept=unkept)
    return Reply(deny=unread) if unread else _held(event, world, ledger, line, reads=reads)


def _introduced(event: Event, world: World) -> tuple[Ledger, str]:
    from indelible.hosts.informing import introduce

    return introduce(event, world)


def _held(event: Event, world: World, ledger: Ledger, line: Line, *, reads: bool) -> Reply:
    """What the workflow and the scars say of it, and the reminder to seal a memory that it writes to."""
    answer = held(event, world, ledger, line, reads=reads)
    if answer.deny or not (answer.context or world.host.tells_before):
        return answer
    if not world.host.tells_before:
        return Reply(warning=answer.context)
    said = "" if reads else reminder(event, ledger, line, world.home)
    return Reply(context="\n".join(filter(None, (answer.context, said))))


def _reserved(ledger: Ledger, line: Line) -> str:
    """Why a command is left to a person; empty where it is not."""
    found = line.reserved(altered=ledger.slug == TAMPERED)
    return f"Not done: '{found}': {ASK}." if found else ""


def _with_others(event: Event, world: World, ledger: Ledger, line: Line, places: Places) -> Places:
    """The protected places, with those of every other repository that this call reaches."""
    for other in others(abroad(event, line), ledger.place, world.home):
        there = event._replace(cwd=other)
        known = world.ledger(there)
        if known is None:
            from indelible.hosts.informing import introduce

            try:
                known = introduce(there, world)[0]
            except IndelibleError:  # its folder is protected by its name
                continue
        places = places._replace(places=(*places.places, *places_of(known, world.home).places))
    return places


def _verified(event: Event, world: World, ledger: Ledger) -> Ledger:
    """The ledger after another look, if anything was touched since the last one, or something is to be cleared."""
    if world.inner or ledger.remote or not ledger.directory:
        return ledger
    to_clear = ledger.slug == TAMPERED or (ledger.slug in MENDED_BY_A_PERSON and not ledger.briefed)
    if not to_clear and stamps_of(ledger.directory) == ledger.stamps:
        return ledger
    from indelible.hosts.informing import look_again

    return look_again(event, world, ledger)


def _alarm(ledger: Ledger) -> str:
    return (
        f"Not done: the state of this work is not what was sealed ({ledger.found}). Stop, and tell your human. "
        "Nothing is written or committed until 'indelible boot' is clean again; reading is allowed."
    )


def _is_of(shown: Boot, event: Event, world: World, ledger: Ledger) -> bool:
    """Whether a boot shows the briefing of this place."""
    if UNKNOWN in shown.cwd or place_of(shown.cwd) != ledger.place:
        return False
    is_elsewhere = world.variables(event) is not world.environ
    return shown.assigned == ((f"INDELIBLE_STATE_DIR={event.artifacts}/state",) if is_elsewhere else ())


def _unread(event: Event, world: World, ledger: Ledger, line: Line, *, reads: bool, unkept: str) -> str:
    """Why the briefing has to be read first; empty where it was, or need not be."""
    if ledger.slug == NO_STATE or ledger.level == "off" or world.inner:
        return ""
    if ledger.briefed and not ledger.owed and not is_lost(event, world.host, ledger):
        return ""
    if event.tool == SHELL and (shown := line.boot) is not None and _is_of(shown, event, world, ledger):
        from indelible.hosts.informing import reread

        reread(event, world, ledger, budget=shown.budget, characters=shown.characters)
        return ""
    if ledger.level == "writes" and (reads or event.tool == OTHER):
        return ""
    if ledger.slug in MENDED_BY_A_PERSON:
        return (
            f"Not done: there is no briefing to read ({ledger.slug}). {ledger.found.rstrip('.')}. A human must mend it: tell yours, and "
            "change nothing until then. Reading is allowed."
        )
    if unkept:
        return (
            f"Not done: whether the briefing was read cannot be noted ({unkept.rstrip('.')}). Ask your human to make that "
            "folder writable, or to set INDELIBLE_BRIEFING_FIRST=off."
        )
    named = world.variables(event) is not world.environ
    boot = f"INDELIBLE_STATE_DIR='{event.artifacts}/state' indelible boot" if named else "'indelible boot'"
    why = f" ({ledger.found.partition(': ')[2].partition('. ')[0]})" if ledger.slug == TOO_LONG else ""
    return (
        f"Not done: read the briefing first{why}, since this context does not hold it. Run {boot}, alone and with its output "
        "shown, do what it says, and then repeat this call."
    )
