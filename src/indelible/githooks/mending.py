"""Hooks of ours whose place another program took: lefthook, husky and pre-commit write theirs anew, over whatever stands there.

None of them writes `reference-transaction`, so that hook notices it, and puts the others back beside the new ones. One that a
person deleted stays deleted.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from indelible.errors import IndelibleError
from indelible.githooks import scripts
from indelible.githooks.installing import put_in, read_manifest
from indelible.githooks.places import find_places

if TYPE_CHECKING:
    from indelible.githooks.here import Here


def mend(here: Here) -> tuple[str, ...]:
    """Put them back; answers with what to say of it."""
    try:
        places = find_places(here.git, here.folder)
        manifest = read_manifest(places)
        folder, program, entries = (manifest.get(name) for name in ("folder", "program", "hooks"))
        if manifest.get("mode") != "beside" or folder != places.folder or not isinstance(entries, dict):
            return ()
        lost = [event for event in scripts.HOOKS if event in entries and is_displaced(places.folder, event)]
        for event in lost:
            head = scripts.head_of(event, str(program))
            put_in(places.folder, event, head, os.path.join(places.own, "before"), dict(entries))
    except (IndelibleError, OSError) as error:
        return (f"whether our other hooks still stand could not be seen ({error})",)
    names = " and ".join(lost)
    return (
        (f"another program had put its {names} in the place of ours, which stands beside it again: commit once more",)
        if lost
        else ()
    )


def is_displaced(folder: str, event: str) -> bool:
    """Whether another hook stands where ours was, and does not call it."""
    path = os.path.join(folder, event)
    return os.path.isfile(path) and not _has_ours(path) and not _has_ours(f"{path}.legacy")


def _has_ours(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return scripts.has_ours(file.read())
    except OSError:
        return False
