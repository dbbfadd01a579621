"""What an approval of a target is bound to beside the change: its inputs by their digests, a draft by the name of what it becomes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from indelible.errors import ConflictError
from indelible.stepping.receipts import Wanted
from indelible.workflow.graph import PATH, SLOT
from indelible.workflow.looking import digest_of_path

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indelible.stepping.desk import Desk
    from indelible.workflow.change import Change
    from indelible.workflow.graph import Target

_DRAFT = f"{SLOT}9"
"""How the names of slots begin that are replaced at will."""


def bound(desk: Desk, target: Target) -> dict[str, str]:
    """Name and SHA-256 of everything that a receipt for a target names, as it is now; what is not there is left out.

    A draft stands under the name of the slot that it becomes: the same bytes, and a name that stays.
    """
    found = {name: digest for name, digest in desk.inputs(target).items() if not is_draft(name)}
    found |= desk.digests([name for name in target.outputs if name.startswith(SLOT)])
    drafted = draft_of(desk, target)
    if drafted is not None:
        draft, slot = (f"{SLOT}{name}" for name in drafted)
        found[slot] = desk.digests([draft])[draft]
    return found


def wanted(desk: Desk, change: Change, target: str) -> Wanted:
    """What a receipt has to be for, if it is to be for that change, here and now.

    Raises:
        NotFoundError: there is no such target.
    """
    inputs = bound(desk, desk.workflow.target(target))
    return Wanted(change, desk.memory.now(), target, change.branch, desk.repository, desk.workflow.digest, inputs)


def texts(desk: Desk, inputs: Mapping[str, str]) -> dict[str, bytes]:
    """Name and content of what is bound by name, for whoever is to read it: slots and single files. Each has the digest that is bound.

    Raises:
        ConflictError: something changed since its digest was taken.
    """
    found = {}
    slots = {one.loaded.sha256: one.loaded.content for one in desk.state.slots()}
    for name, digest in inputs.items():
        if name.startswith(SLOT):
            content = slots.get(digest)
        elif name.startswith(PATH):
            content = _file(desk.top, name.removeprefix(PATH), digest)
        else:
            continue
        if content is None:
            raise ConflictError(f"{name} changed while it was looked at", remedy="Look at it again")
        found[name] = content
    return found


def _file(top: str, path: str, digest: str) -> bytes | None:
    """A file's bytes, if they have that digest."""
    with open(os.path.join(top, path), "rb") as file:
        content = file.read()
    return content if digest_of_path(top, path) == digest else None


def draft_of(desk: Desk, target: Target) -> tuple[str, str] | None:
    """`(draft, slot)` of a target that turns a replaceable slot into another one, while that one is not written."""
    drafts = [name.removeprefix(SLOT) for name in target.inputs if is_draft(name)]
    made = [name.removeprefix(SLOT) for name in target.outputs if name.startswith(SLOT)]
    if len(drafts) != 1 or len(made) != 1:
        return None
    written = {one.slot.name for one in desk.state.slots()}
    return (drafts[0], made[0]) if made[0] not in written and drafts[0] in written else None


def is_draft(name: str) -> bool:
    """Whether an input is a slot that is replaced at will."""
    return name.startswith(_DRAFT)
