"""What a host's gate has to know of the workflow and of the scars, derived from the log and put where the gate reads it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from indelible.errors import IndelibleError, IntegrityError
from indelible.settings.repository import FOLDER
from indelible.workflow import guard as guards
from indelible.workflow.guard import Guard, Watch

NAME = "workflow.toml"
"""As in `workflow.parsing`, which a start of a session does not load."""

if TYPE_CHECKING:
    from indelible.memory import Memory
    from indelible.settings import Settings
    from indelible.workflow.graph import Workflow
    from indelible.workflow.scars import Scar


def refresh(settings: Settings, memory: Memory) -> Guard:
    """Derive the guard of this checkout, and keep it. Whoever changes the workflow or a scar calls this.

    Raises:
        IntegrityError: the log is not what was sealed. NotSaved, DiskFull, ReadOnly: it could not be kept.
    """
    seen = _seen(settings, memory.now())  # before it is read: what changes meanwhile has other stamps
    found = derived(settings, memory)._replace(seen=seen)
    guards.write(settings.state_dir, found.place, found)
    return found


def kept(settings: Settings, memory: Memory) -> str:
    """As `refresh`, for who has changed something that gates go by; answers with a warning, empty where all is well."""
    if settings.checkout is None:
        return ""
    try:
        refresh(settings, memory)
        _tell_git(settings.checkout, memory, settings)
    except IndelibleError as error:
        return f"What gates go by could not be written anew ({error.slug}: {error}); they do at the next start of a session"
    return ""


def _tell_git(checkout: str, memory: Memory, settings: Settings) -> None:
    """What git's hook reads of the workflow, where git's hooks were put in."""
    from indelible.stepping.inforce import workflow_in_force
    from indelible.workflow import guarded
    from indelible.workflow.moved import common_of

    common = common_of(checkout)[1]
    if not common or not os.path.isdir(os.path.dirname(os.path.join(common, guarded.NAME))):
        return
    try:
        branches = tuple(workflow_in_force(memory, settings).guard.branches)
    except IntegrityError:
        branches = ()
    guarded.keep(common, branches)


def is_current(settings: Settings, now: str) -> bool:
    """Whether what is kept for this checkout was derived from the very files that are there, on this day."""
    place, seen = settings.checkout or "", _seen(settings, now)
    found = guards.read(settings.state_dir, place) if seen else None
    return found is not None and found.seen == seen and found.head == guards.head_of(place)


def renew(settings: Settings) -> Guard:
    """As `refresh`, with the memory that the settings name.

    Raises:
        As `refresh` and `open_memory`.
    """
    from indelible import wiring

    with wiring.open_memory(settings, door="gate") as memory:
        return refresh(settings, memory)


def derived(settings: Settings, memory: Memory) -> Guard:
    """What the log says. Where the workflow was altered, the one that is built in holds: it asks for a receipt."""
    from indelible.stepping.scars import look

    workflow, place = _workflow(memory, settings), settings.checkout or ""
    scars = tuple(_watch(scar) for scar in look(memory).scars if scar.notices)
    return Guard(
        place, receipt=workflow.guard.receipt, commands=tuple(workflow.guard.commands),
        refuse_heavy=workflow.fork.refuse_heavy, heavy=workflow.fork.heavy, most_files=workflow.fork.most_files, scars=scars,
        head=guards.head_of(place),
    )  # fmt: skip


def _seen(settings: Settings, now: str) -> str:
    """The day, and size and time of the store, of the workflow's file and of the folder of keys; empty of a store elsewhere."""
    if settings.remote:
        return ""
    told = [now[:10]]
    files = [os.path.join(top, FOLDER, NAME) for top in (settings.repository_top, settings.checkout) if top]
    for path in (settings.store, f"{settings.store}-wal", os.path.join(settings.config_dir, "keys"), *files):
        try:
            at = os.stat(path)
            told.append(f"{at.st_ino} {at.st_size} {at.st_mtime_ns}")
        except OSError:
            told.append("-")
    return "\n".join(told)


def _workflow(memory: Memory, settings: Settings) -> Workflow:
    from indelible.stepping.inforce import workflow_in_force
    from indelible.workflow.parsing import default_workflow

    try:
        return workflow_in_force(memory, settings)
    except IntegrityError:  # said at boot and by every verb of the workflow
        return default_workflow()


def _watch(scar: Scar) -> Watch:
    within = scar.scope.paths if scar.scope is not None and scar.scope.level == "path" else ()
    return Watch(
        scar.id, scar.title, scar.level, scar.tried, scar.why, tuple(within), scar.paths, scar.commands, scar.added, scar.waived
    )  # fmt: skip
