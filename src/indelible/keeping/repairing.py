"""Repair: sealed copies put back into the state directory, and what stood there kept aside for a person to look at."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import IntegrityError, NotFoundError
from indelible.files import not_written, remove
from indelible.state import filing
from indelible.state.directory import read_slot
from indelible.state.slot import named, slot_of_key

if TYPE_CHECKING:
    from indelible.keeping.checking import Inspected
    from indelible.keeping.directory import StateDirectory
    from indelible.memory.results import Loaded
    from indelible.state.directory import Finding

_ABSENT = frozenset({"slot-removed", "slot-renamed"})
_LATE = {"slot-interrupted": "finished", "slot-absent": "brought", "slot-behind": "brought"}
"""What only waits for its file, and what is said once it has it."""
_OF_THE_LOG = frozenset({"slot-rewritten", "slot-withdrawn", "slot-doubled"})
_OF_THE_FOLDER = frozenset({"directory-symlink", "directory-not-a-folder"})


class Repaired(NamedTuple):
    """What was done about one slot's file."""

    name: str
    did: str
    """`restored`, `finished`, `brought` (from elsewhere), `protected`, `removed`, or `healed`: the store had lost the bytes."""
    aside: str = ""
    """The name under which what stood there is kept; empty where nothing was worth keeping."""


class Mended(NamedTuple):
    """What `repair` did, and what it left."""

    done: tuple[Repaired, ...]
    left: tuple[Finding, ...]
    """What no copy puts right: it stands in the log, and is the owner's to judge."""


def repair(state: StateDirectory) -> Mended:
    """As `StateDirectory.repair` says."""
    healed = tuple(_heal(state))
    found = state.check()
    left = tuple(finding for finding in found.findings if finding.slug in _OF_THE_LOG | _OF_THE_FOLDER)
    if any(finding.slug in _OF_THE_FOLDER for finding in left):
        return Mended(healed, left)
    stamp = state.memory.now().replace("-", "").replace(":", "")
    sealed = {one.slot.name: one.loaded for one in found.slots}
    done = [_mend(state, finding, sealed.get(finding.name), stamp) for finding in _on_the_disk(found)]
    state.done_with_all()
    return Mended((*healed, *done), left)


def _on_the_disk(found: Inspected) -> list[Finding]:
    return [finding for finding in found.findings if finding.slug not in _OF_THE_LOG | _OF_THE_FOLDER]


def _heal(state: StateDirectory) -> list[Repaired]:
    """Give the store the bytes back that it lost, where a file still has them: the log says whether they are the ones."""
    done: list[Repaired] = []
    while True:
        try:
            state.slots()
            return done
        except IntegrityError as error:
            found = slot_of_key(str(error.facts.get("key") or error.facts.get("subject") or ""))
            if found is None or found[1].name in [one.name for one in done]:
                raise
            try:
                content = read_slot(state.path, found[1].name)
                state.memory.save(f"{state.namespace}/{found[1].name}", content, how="restored", reason="state repair")
            except (OSError, NotFoundError):
                raise error from None
            done.append(Repaired(found[1].name, "healed"))


def _mend(state: StateDirectory, finding: Finding, loaded: Loaded | None, stamp: str) -> Repaired:
    slot, aside = named(finding.name), ""
    if finding.slug == "slot-closed":
        remove(os.path.join(state.path, slot.name))
        return Repaired(slot.name, "removed")
    if finding.slug == "slot-writable":
        _protect(os.path.join(state.path, slot.name), filing.mode_of(slot))
        return Repaired(slot.name, "protected")
    if finding.slug in _LATE and loaded is not None:
        state.finish(slot, loaded.content)
        return Repaired(slot.name, _LATE[finding.slug])
    if finding.slug not in _ABSENT:
        aside = filing.put_aside(state.path, slot.name, stamp)
    if loaded is None:
        return Repaired(slot.name, "removed", aside)
    state.finish(slot, loaded.content)
    return Repaired(slot.name, "restored", aside)


def _protect(place: str, mode: int) -> None:
    try:
        os.chmod(place, mode, follow_symlinks=os.chmod not in os.supports_follow_symlinks)
    except OSError as exc:
        raise not_written(place, exc) from exc
