"""Whether a tool call would write to a protected place, and what to do instead."""

from __future__ import annotations

import os

from indelible.hosts.commands import Line
from indelible.hosts.host import READ, WRITE
from indelible.hosts.ledger import NO_STATE
from indelible.hosts.places import GIT, HOOKS, KEYS, OWN, PINS, STATE, STORE, UNSURE, Place, Places
from indelible.hosts.reserved import ASK
from indelible.hosts.whereabouts import FOLDER
from indelible.hosts.words import spoken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from indelible.hosts.host import Event
    from indelible.hosts.ledger import Ledger
    from indelible.hosts.places import Named

UNHOOKED = (
    "Not done: another core.hooksPath leaves out the git hooks of this repository, and with them what they check before a commit. "
    "Run git without it; if a hook is in the way, ask your human. 'git config --get core.hooksPath' is allowed."
)
_MOST_WORDS = 64
_MEMORY = "memory"
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./")
_INSTEAD = {
    STORE: "is the store, which 'indelible' alone writes: 'indelible save KEY FILE' saves a memory, 'indelible verify KEY' checks one, "
    "'sqlite3 -readonly' looks into it",
    KEYS: "holds keys, which 'indelible key' alone handles; ask your human",
    PINS: "holds what this machine remembers of its stores, which 'indelible' alone writes; ask your human if it is in the way",
    HOOKS: f"holds the hooks of a coding agent; {ASK}",
    GIT: f"is where git's hooks are, or says where: they look at every commit here; {ASK}",
    OWN: "is Indelible's own folder; its settings are your human's to change",
}


def places_of(ledger: Ledger, home: str) -> Places:
    """The protected places of a session."""
    numbers = [(stamp[1], os.path.join(ledger.directory, str(stamp[0]))) for stamp in ledger.stamps if len(stamp) > 1]
    return Places(
        tuple(Place(path, kind) for path, kind in ledger.places), home, ledger.caseless,
        tuple((number, path) for number, path in numbers if isinstance(number, int)),
    )  # fmt: skip


def line_of(event: Event, home: str) -> Line:
    """The shell's command of a tool call, read."""
    return Line(event.command, os.path.join(event.cwd, event.folder), {"HOME": home})


def abroad(event: Event, line: Line) -> Iterator[str]:
    """Absolute paths that a call works in or speaks of, by which it may reach another repository."""
    for command in line.commands:
        yield spoken(command.cwd)
        for word in (*command.words[1:_MOST_WORDS], *command.targets):
            text = spoken(word.pattern)
            if text[:1] in ("/", "~") or ".." in text:
                yield text if text[:1] in ("/", "~") else f"{spoken(command.cwd)}/{text}"
    for path in event.paths[:_MOST_WORDS]:
        yield os.path.join(event.cwd, path)


def refusal(event: Event, ledger: Ledger, places: Places, line: Line) -> str:
    """Why this call may not be made, and what to do instead; empty where it writes to no protected place and leaves git its hooks."""
    if event.tool == READ:
        return ""
    if event.command and ledger.slug != NO_STATE and line.unhooks:
        return UNHOOKED
    named = line.writes(places) if event.command else None
    if named is None:
        named = next((found for path in event.paths if (found := places.named(path, event.cwd))), None)
    return reason(named) if named else ""


def reminder(event: Event, ledger: Ledger, line: Line, home: str) -> str:
    """To seal a memory file that this call writes to, since the next boot holds it against its sealed text; else empty."""
    for path, key in ledger.memories:
        base = os.path.basename(path)
        if not any(base in text for text in (event.command, *event.paths)):
            continue
        places = Places((Place(path, _MEMORY),), home, ledger.caseless)
        found = [line.writes(places), *(places.named(one, event.cwd) for one in event.paths if event.tool == WRITE)]
        if any(one is not None and one.place.kind == _MEMORY for one in found):
            word = key if _PLAIN.issuperset(key) else "'" + key.replace("'", "'\\''") + "'"
            return (
                f"Indelible: {key} is a memory that is sealed. Once your edit is done, seal it: indelible save {word} {word} (from "
                "the top of the repository). Until then the next boot finds it altered, and stops."
            )
    return ""


def reason(named: Named) -> str:
    """What is said of a protected place."""
    if named.place.kind == UNSURE:
        return (
            f"Not done: this command speaks of {named.path}, and changes something that its text does not tell (a variable, an input, "
            "a quote that stays open). Write the paths out, or read in one call and change in another. Reading it is allowed."
        )
    if named.whole:
        return _of_whole(named)
    if named.place.kind == STATE:
        return _of_slot(named)
    instead = _INSTEAD[named.place.kind]
    return f"Not done: {named.path} {instead}. Reading it is allowed."


def _of_whole(named: Named) -> str:
    """A folder above a place would go, with whatever is in it."""
    if named.place.kind in (HOOKS, GIT):
        return f"Not done: this would remove or change {named.path}, which {_INSTEAD[named.place.kind]}. Reading it is allowed."
    before, found, _ = f"{named.path}{os.sep}".partition(f"{os.sep}{FOLDER}{os.sep}")
    lost = os.path.join(before, FOLDER) if found else named.path
    return (
        f"Not done: this would remove or change {lost}, and with it what is sealed and kept there. Name the files that you mean, "
        f"and leave that folder out ('git clean -e {FOLDER}'). Reading it is allowed."
    )


def _of_slot(named: Named) -> str:
    name = os.path.basename(named.path)
    number = name[:2]
    if not (len(name) > 3 and number.isdigit() and name[2] == "_"):
        return (
            f"Not done: {named.path} belongs to the state directory, which 'indelible state' alone writes: "
            "'indelible state list' shows its slots, 'indelible state write NN_name.md FILE' adds one. Reading it is allowed."
        )
    return f"Not done: {name} {_discipline(name, number, named.path)} Reading it is allowed."


def _discipline(name: str, number: str, path: str) -> str:
    """By the number of the slot: see `state/slot.py`, whose rule this tells."""
    if number >= "90":
        return f"is replaced by its verb, which seals it: 'indelible state write {name} -' takes the whole new text."
    if number >= "30":
        return f"is only ever added to, by its verb, which seals it: 'indelible state append {name} -' takes the new round."
    if os.path.lexists(path):
        return (
            f"is written once. To change it, ask your human: only the owner amends it ('indelible state amend {name} FILE'). "
            "To note a round or an objection: 'indelible state append 30 -'."
        )
    return f"is written once, by its verb, which seals it: 'indelible state write {name} -' takes its text."
