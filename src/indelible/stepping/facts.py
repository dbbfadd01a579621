"""What is so, here and now, for the frontier: slots, files, the change, stamps, receipts, the critic's last round.

What cannot be looked at is a problem by its name, and never an empty answer.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import IndelibleError, NotFoundError, StoreError, Unchecked, UsageError
from indelible.gitsource.command import Git
from indelible.keeping import Altered
from indelible.stepping.locking import is_held
from indelible.workflow.frontier import Approval, Facts, Round
from indelible.workflow.graph import CHANGE, GLOB, HEAD, HUMAN, OF_GIT, PATH, SLOT, TREE
from indelible.workflow.looking import CannotLook, digest_of_glob, digest_of_path
from indelible.workflow.stamp import parse_stamp, stamp_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from indelible.keeping import StateDirectory
    from indelible.memory.slotted import SealedSlot
    from indelible.workflow.change import Change
    from indelible.workflow.graph import Target, Workflow
    from indelible.workflow.stamp import Stamp

PATIENCE = 30.0
"""Seconds for what git is asked beside the change."""


class Place(NamedTuple):
    """Where facts are looked for."""

    top: str
    """Of the checkout, absolute."""
    environ: Mapping[str, str]
    folder: str
    """Of stamp files and locks."""


class Committed(NamedTuple):
    """The commit at HEAD; texts are empty where there is none yet."""

    commit: str = ""
    tree: str = ""
    parents: tuple[str, ...] = ()


class Gatherer:
    """One look at everything that a workflow names.

    Raises:
        Altered: a slot is not what was sealed: nothing is judged by it.
    """

    def __init__(self, directory: StateDirectory, workflow: Workflow, place: Place) -> None:
        self._directory, self._memory, self._workflow, self._place = directory, directory.memory, workflow, place
        found = directory.check()
        if found.tampering:
            raise Altered(found.tampering[0])
        self.slots: tuple[SealedSlot, ...] = found.slots
        self._problems: dict[str, str] = {}
        self._change: Change | None = None
        self._head = Committed()

    def facts(self) -> Facts:
        """All of it."""
        names = {name for one in self._workflow.targets for name in (*one.inputs, *one.outputs)}
        if not names.isdisjoint(OF_GIT):
            self._look_at_git(change=CHANGE in names)
        digests = {name: self.digest(name) for name in sorted(names)}
        stamps = self._stamps()
        from indelible.stepping.approvals import approvals_of

        given = approvals_of(self._memory, self, [one for one in self._workflow.targets if one.gate == HUMAN])
        committed = given.carried(self._workflow.guard.receipt, self._head) if not digests.get(CHANGE) else ""
        running = frozenset(one.id for one in self._workflow.targets if is_held(self._place.folder, one.id))
        return Facts(digests, stamps, given.by_target(), self._round(), committed, dict(self._problems), running)

    @property
    def change(self) -> Change | None:
        """The change of the working tree; None where it is not known."""
        return self._change

    def digest(self, name: str) -> str:
        """Digest of one input or output; empty where it is not there, or cannot be looked at."""
        if name.startswith(SLOT):
            return next((one.loaded.sha256 for one in self.slots if one.slot.name == name[len(SLOT) :]), "")
        if name == CHANGE:
            return self._change.digest if self._change is not None and not self._change.is_empty else ""
        if name in (HEAD, TREE):
            return self._head.commit if name == HEAD else self._head.tree
        try:
            look, kind = (digest_of_path, PATH) if name.startswith(PATH) else (digest_of_glob, GLOB)
            return look(self._place.top, name.removeprefix(kind))
        except CannotLook as exc:
            self._problems[name] = str(exc)
            return ""

    def _look_at_git(self, *, change: bool) -> None:
        """A folder without git has no change: whoever asks for one is told, and not given an empty one."""
        try:
            self._head = _head_of(self._place)
            if change:
                from indelible.workflow.change import open_change

                with open_change(self._place.top, self._place.environ) as opened:
                    self._change = opened.change
        except (Unchecked, NotFoundError, UsageError, StoreError) as error:
            self._problems |= dict.fromkeys(OF_GIT, error.message)

    def _stamps(self) -> dict[str, Stamp]:
        with self._memory.following() as (table, _, _):
            keys = {one.id: stamp_key(self._directory.namespace, one.id) for one in self._workflow.targets}
            there = [name for name, key in keys.items() if (row := table.get(key)) is not None and row.state == "active"]
        return {name: parse_stamp(self._memory.fetch(keys[name]).content) for name in there}

    def _round(self) -> Round | None:
        return None


def _head_of(place: Place) -> Committed:
    """The commit at HEAD.

    Raises:
        Unchecked: git cannot say. UsageError: it is no repository.
    """
    git = Git(place.environ, PATIENCE)
    inside = git.run(place.top, "rev-parse", "--is-inside-work-tree")
    if inside.code or inside.out.strip() != b"true":
        raise UsageError(f"{place.top} is no working tree of a git repository ({inside.fault})")
    if git.run(place.top, "rev-parse", "--verify", "--quiet", "HEAD").code:
        return Committed()
    text = os.fsdecode(git.must(place.top, "show", "-s", "--no-show-signature", "--format=%H%n%T%n%P", "HEAD"))
    commit, tree, parents = (text.split("\n") + ["", ""])[:3]
    return Committed(commit, tree, tuple(parents.split()))


def tickets(slots: Iterable[SealedSlot]) -> int:
    """The entry behind which a receipt is of this ticket: the last that wrote a slot which a ticket has for itself."""
    return max((one.loaded.seq for one in slots if 10 <= one.slot.number < 30), default=-1)


def needed_by(target: Target) -> bool:
    """Whether a target is about the change itself."""
    return CHANGE in target.inputs


__all__ = ["Committed", "Gatherer", "IndelibleError", "Place", "needed_by", "tickets"]
