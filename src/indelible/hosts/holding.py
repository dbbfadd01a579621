"""What the workflow and the scars hold back of a tool call: a commit without its receipt, what failed before, heavy work.

All that is known here is the place's guard (`workflow/guard.py`). Only a call that commits, pushes, merges or runs a guarded
command has the change looked at.
"""

from __future__ import annotations

import os

from indelible.errors import IndelibleError
from indelible.hosts.host import OTHER, READ, SHELL, WRITE, Reply
from indelible.hosts.ledger import NO_STATE
from indelible.hosts.whereabouts import FOLDER, main_of, nearest, place_of
from indelible.hosts.words import UNKNOWN
from indelible.settings.folders import FORK
from indelible.workflow import guard as guards

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from indelible.hosts.commands import Line
    from indelible.hosts.committing import Deed
    from indelible.hosts.host import Event
    from indelible.hosts.ledger import Ledger
    from indelible.hosts.world import World
    from indelible.workflow.guard import Guard

EMPTY = "empty-state"
"""As in `boot.briefing`, which a gate does not load."""
HEAVY = "INDELIBLE_HEAVY"
"""Said by whoever starts the program: `refuse` or `allow`, whatever the workflow says."""
_ALLOW, _REFUSE = "allow", "refuse"
_NEXT = "'indelible flow next' says what comes next"
_APPROVE = "approving is your human's: 'indelible approve'"
_OF_ALL = "needs the approval of all that would go out with it"
_NEEDS = {"push": _OF_ALL, "merge": _OF_ALL}
_OF_CHANGE = "needs the approval of this very change"


def held(event: Event, world: World, ledger: Ledger, line: Line, *, reads: bool) -> Reply:
    """Deny it, tell something with it, or let it pass.

    Raises:
        IndelibleError: what is to be held back is not known.
    """
    guard = _guard(event, world, ledger)
    told = ""
    if guard is not None:
        if guard.scars and event.tool in (SHELL, WRITE, OTHER):
            denied, told = _by_scars(event, ledger.place, line, guard)
            if denied:
                return Reply(deny=denied)
        if _refuses_heavy(world, guard) and (said := _as_heavy(event, world, ledger, line, guard)):
            return Reply(deny=said)
    if not reads and event.tool != READ and (said := _unapproved(event, world, ledger, line, guard)):
        return Reply(deny=said)
    return Reply(context=told)


def forget_readings(event: Event, world: World) -> None:
    """A turn of the user's begins: what was read before does not count."""
    from indelible.hosts import readings

    readings.forget(world.ledger_path(event))


def _guard(event: Event, world: World, ledger: Ledger) -> Guard | None:
    """The guard of a place; None where there are no laws."""
    if ledger.slug in (NO_STATE, EMPTY):
        return None
    found = guards.read(world.state_dir, ledger.place)
    is_of_now = found is not None and found.head == guards.head_of(ledger.place)
    if is_of_now or world.inner or ledger.remote:
        return found or guards.Guard(ledger.place)
    from indelible.settings import load
    from indelible.stepping.guarding import renew

    try:
        return renew(load(ledger.cwd or None, world.variables(event)))
    except IndelibleError:  # what nobody can tell needs a receipt
        return found or guards.Guard(ledger.place)


def _refuses_heavy(world: World, guard: Guard) -> bool:
    said = world.environ.get(HEAVY, "")
    return not world.environ.get(FORK) and said != _ALLOW and (guard.refuse_heavy or said == _REFUSE)


def _by_scars(event: Event, place: str, line: Line, guard: Guard) -> tuple[str, str]:
    """Why it is refused, and what is told else."""
    from indelible.hosts.attempting import noticed, told

    found = noticed(event, place, line, guard.scars)
    barred = tuple(one for one in found if one.is_barred)
    if barred:
        return f"Not done: this failed before. {told(barred)}", ""
    return "", f"Indelible: this looks like what failed before. {told(found)}" if found else ""


def _as_heavy(event: Event, world: World, ledger: Ledger, line: Line, guard: Guard) -> str:
    """That it is to be forked; empty where it is not heavy."""
    from indelible.hosts.heavy import files_read, heavy

    if event.tool == SHELL and (what := heavy(line, ledger.place, world.home, guard.heavy)):
        return (
            f"Not done: {what} is not for this context. Fork it: indelible fork NAME -- COMMAND. You get at most 15 lines and the exit "
            "code, and all of its output lies on disk. A part of it (one file, one folder, one name) is not heavy."
        )
    paths = list(files_read(line)) if event.tool == SHELL else _read_by(event)
    if not paths:
        return ""
    from indelible.hosts.readings import count

    number = count(world.ledger_path(event), paths)
    if number <= guard.most_files:
        return ""
    return (
        f"Not done: with this, {number} files were read in this turn, and {guard.most_files} is the most. Fork the reading: indelible fork "
        "NAME -- COMMAND, with a child agent that reads them and answers in 15 lines."
    )


def _read_by(event: Event) -> list[str]:
    """Files that a reading tool names."""
    from indelible.hosts.tools import named

    return [os.path.join(event.cwd, path) for path in named(event.given or {})] if event.tool == READ else []


def _unapproved(event: Event, world: World, ledger: Ledger, line: Line, guard: Guard | None) -> str:
    """Why what it would commit, push, merge or publish may not be done; empty where it may, or does none of it."""
    for deed in _deeds(event, world, line, guard):
        folder = _folder(deed, event, world)
        if _is_guarded(folder, event, world, ledger) and (said := _permitted(deed, folder, event, world)):
            then = _NEXT if "indelible approve" in said else f"{_NEXT}; {_APPROVE}"
            return f"Not done: '{deed.said}' {_NEEDS.get(deed.what, _OF_CHANGE)}. {said.rstrip('.')}. {then}."
    return ""


def _deeds(event: Event, world: World, line: Line, guard: Guard | None) -> Iterator[Deed]:
    from indelible.hosts.committing import Deed, deeds
    from indelible.hosts.publishing import of_tool

    if event.command:
        commands = guard.commands if guard is not None else guards.COMMANDS
        yield from deeds(line, commands, lambda folder, name: _alias(folder, name, world))
    if event.tool in (WRITE, OTHER) and (what := of_tool(event.tool_name)):
        yield Deed(what, event.tool_name, event.cwd)


def _folder(deed: Deed, event: Event, world: World) -> str:
    """The innermost folder that is there of where it would be done; the session's own where nobody can tell."""
    if UNKNOWN in deed.folder or "\0" in deed.folder:
        return event.cwd
    folder = deed.folder
    folder = world.home + folder[1:] if folder == "~" or folder.startswith("~/") else folder
    return nearest(os.path.normpath(os.path.join(event.cwd, folder))) or event.cwd


def _is_guarded(folder: str, event: Event, world: World, ledger: Ledger) -> bool:
    """Whether laws hold where it would be done: of that checkout, or of the repository that it is a worktree of."""
    place = place_of(folder)
    return any(_has_laws(one, event, world, ledger) for one in dict.fromkeys((place, main_of(place))) if one)


def _has_laws(place: str, event: Event, world: World, ledger: Ledger) -> bool:
    there = event._replace(cwd=place)
    known = ledger if place == ledger.place else world.ledger(there)
    if known is not None and known.slug not in (NO_STATE, EMPTY):
        return True
    if not os.path.isdir(os.path.join(place, FOLDER)) and known is not None:
        return False
    from indelible.hosts.informing import introduce

    return introduce(there, world)[0].slug not in (NO_STATE, EMPTY)  # laws may have come since


def _permitted(deed: Deed, folder: str, event: Event, world: World) -> str:
    """Why it may not be done; empty where it may."""
    from indelible.settings import load
    from indelible.stepping.permitting import permitted

    try:
        return permitted(load(folder, world.variables(event)), folder, deed.what, world.environ, deed.words)
    except IndelibleError as error:
        return f"Whether it has that cannot be told ({error.slug}: {error})"


def _alias(folder: str, name: str, world: World) -> str:
    """What git's settings in a folder say of a name that is no subcommand."""
    from indelible.gitsource.command import Git

    try:
        return Git(world.environ, 2.0).line(
            folder if os.path.isdir(folder) else os.curdir, "config", "--get", f"alias.{name}"
        )
    except IndelibleError:  # no git, no alias
        return ""
