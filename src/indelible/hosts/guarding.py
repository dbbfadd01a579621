"""Whether a tool call would write to a protected place, and what to do instead."""

from __future__ import annotations

import os

from indelible.hosts.commands import Line
from indelible.hosts.host import READ
from indelible.hosts.places import KEYS, OWN, PINS, STATE, STORE, Place, Places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from indelible.hosts.host import Event
    from indelible.hosts.ledger import Ledger
    from indelible.hosts.places import Named

UNHOOKED = (
    "Not done: another core.hooksPath leaves out the git hooks of this repository, and with them what they check before a commit. "
    "Run git without it; if a hook is in the way, ask your human. 'git config --get core.hooksPath' is allowed."
)
_NO_STATE = "no-state"
_INSTEAD = {
    STORE: "is the store, which 'indelible' alone writes: 'indelible save KEY FILE' saves a memory, 'indelible verify KEY' checks one",
    KEYS: "holds keys, which 'indelible key' alone handles; ask your human",
    PINS: "holds what this machine remembers of its stores, which 'indelible' alone writes; ask your human if it is in the way",
    OWN: "is Indelible's own folder; its settings are your human's to change",
}


def places_of(ledger: Ledger, home: str) -> Places:
    """The protected places of a session."""
    return Places(tuple(Place(path, kind) for path, kind in ledger.places), home, ledger.caseless)


def line_of(event: Event, home: str) -> Line:
    """The shell's command of a tool call, read."""
    return Line(event.command, event.cwd, {"HOME": home})


def refusal(event: Event, ledger: Ledger, places: Places, line: Line) -> str:
    """Why this call may not be made, and what to do instead; empty where it writes to no protected place and leaves git its hooks."""
    if event.tool == READ:
        return ""
    if event.command and ledger.slug != _NO_STATE and line.unhooks:
        return UNHOOKED
    named = line.writes(places) if event.command else None
    if named is None:
        named = next((found for path in event.paths if (found := _named(path, event.cwd, ledger, places))), None)
    return reason(named, ledger) if named else ""


def reason(named: Named, ledger: Ledger) -> str:
    """What is said of a protected place."""
    if named.place.kind == STATE:
        return _of_slot(named, ledger)
    instead = _INSTEAD[named.place.kind]
    return f"Not done: {named.path} {instead}. Reading it is allowed."


def _named(path: str, cwd: str, ledger: Ledger, places: Places) -> Named | None:
    return places.named(path, cwd) or _by_other_name(path, cwd, ledger)


def _by_other_name(path: str, cwd: str, ledger: Ledger) -> Named | None:
    """A slot that is reached by another hard link."""
    from indelible.hosts.places import Named

    try:
        at = os.stat(os.path.join(cwd, path))
    except (OSError, ValueError):
        return None
    if at.st_nlink < 2:
        return None
    slot = next((str(stamp[0]) for stamp in ledger.stamps if len(stamp) > 1 and stamp[1] == at.st_ino), "")
    return (
        Named(Place(os.path.join(ledger.directory, slot), STATE), os.path.join(ledger.directory, slot))
        if slot
        else None
    )


def _of_slot(named: Named, ledger: Ledger) -> str:
    name = os.path.basename(named.path)
    number = name[:2]
    if not (len(name) > 3 and number.isdigit() and name[2] == "_"):
        return (
            f"Not done: {named.path} belongs to the state directory, which 'indelible state' alone writes: "
            "'indelible state list' shows its slots, 'indelible state write NN_name.md FILE' adds one. Reading it is allowed."
        )
    return f"Not done: {name} {_discipline(name, number, ledger)} Reading it is allowed."


def _discipline(name: str, number: str, ledger: Ledger) -> str:
    """By the number of the slot: see `state/slot.py`, whose rule this tells."""
    if number >= "90":
        return f"is replaced by its verb, which seals it: 'indelible state write {name} -' takes the whole new text."
    if number >= "30":
        return f"is only ever added to, by its verb, which seals it: 'indelible state append {name} -' takes the new round."
    if os.path.lexists(os.path.join(ledger.directory, name)):
        return (
            f"is written once. To change it, ask your human: only the owner amends it ('indelible state amend {name} FILE'). "
            "To note a round or an objection: 'indelible state append 30 -'."
        )
    return f"is written once, by its verb, which seals it: 'indelible state write {name} -' takes its text."
