"""What is so, here and now, for the frontier: slots, files, the change, stamps, receipts, the critic's last round.

What cannot be looked at is a problem by its name, and never an empty answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import NotFoundError, StoreError, Unchecked, UsageError
from indelible.gitsource.command import Git
from indelible.keeping import Altered
from indelible.light import sha256
from indelible.stepping.approvals import approvals_of, carried_by
from indelible.stepping.locking import is_held
from indelible.workflow.frontier import Facts
from indelible.workflow.graph import CHANGE, GLOB, HEAD, HUMAN, OF_GIT, PATH, SLOT, TREE
from indelible.workflow.looking import CannotLook, digest_of_glob, digest_of_path
from indelible.workflow.stamp import parse_stamp, stamp_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from indelible.memory.slotted import SealedSlot
    from indelible.stepping.desk import Desk
    from indelible.workflow.change import Change
    from indelible.workflow.frontier import Round
    from indelible.workflow.stamp import Stamp

PATIENCE = 30.0
"""Seconds for what git is asked beside the change."""
_SHA256 = 64


class Committed(NamedTuple):
    """The commit at HEAD; texts are empty where there is none yet."""

    commit: str = ""
    tree: str = ""
    parents: tuple[str, ...] = ()


class Looker:
    """One look at a checkout: what is asked for twice is looked at once.

    Args:
        top: of the checkout, absolute.
    """

    def __init__(self, desk: Desk, top: str, slots: Sequence[SealedSlot]) -> None:
        self._desk, self._top = desk, top
        self._slots = {one.slot.name: one.loaded.sha256 for one in slots}
        self.problems: dict[str, str] = {}
        self.change: Change | None = None
        self.head = Committed()

    def digests(self, names: Sequence[str]) -> dict[str, str]:
        """Name and digest of inputs and outputs; empty for what is not there, or cannot be looked at."""
        if not set(names).isdisjoint(OF_GIT):
            self._look_at_git(change=CHANGE in names)
        return {name: self._digest(name) for name in names}

    def _digest(self, name: str) -> str:
        if name.startswith(SLOT):
            return self._slots.get(name.removeprefix(SLOT), "")
        if name == CHANGE:
            return self.change.digest if self.change is not None and not self.change.is_empty else ""
        if name in (HEAD, TREE):
            return self.head.commit if name == HEAD else self.head.tree
        look, kind = (digest_of_path, PATH) if name.startswith(PATH) else (digest_of_glob, GLOB)
        try:
            return look(self._top, name.removeprefix(kind))
        except CannotLook as exc:
            self.problems[name] = str(exc)
            return ""

    def _look_at_git(self, *, change: bool) -> None:
        """A folder without git has no change: whoever asks for one is told, and not given an empty one."""
        try:
            self.head = head_of(self._top, self._desk.environ)
            if change:
                with self._desk.opened() as opened:
                    self.change = opened.change
        except (Unchecked, NotFoundError, UsageError, StoreError) as error:
            self.problems |= dict.fromkeys(OF_GIT, error.message)


def gather(desk: Desk, top: str, stamp_folder: str) -> Facts:
    """All that the workflow in force names, and what was said of its targets.

    Args:
        stamp_folder: where the locks of running targets are.

    Raises:
        Altered: a slot is not what was sealed: nothing is judged by it. IntegrityError: the log, or a fact in it, is not.
    """
    workflow, found = desk.workflow, desk.state.check()
    if found.tampering:
        raise Altered(found.tampering[0])
    looker = Looker(desk, top, found.slots)
    digests = looker.digests(sorted({name for one in workflow.targets for name in (*one.inputs, *one.outputs)}))
    humans = [one for one in workflow.targets if one.gate == HUMAN]
    committed = ""
    if not digests.get(CHANGE) and looker.head.commit:
        begun = max((one.loaded.seq for one in found.slots if 10 <= one.slot.number < 30), default=-1)
        committed = carried_by(desk, looker.head, after=begun)
    running = frozenset(one.id for one in workflow.targets if is_held(stamp_folder, one.id))
    return Facts(
        digests,
        stamps_of(desk),
        approvals_of(desk, humans, looker.change),
        last_round(desk, digests.get(CHANGE, "")),
        committed,
        looker.problems,
        running,
    )


def digests(desk: Desk, names: Sequence[str]) -> dict[str, str]:
    """Name and SHA-256 of inputs or outputs, as they are now; what is not there is left out.

    Raises:
        Unchecked: one of them cannot be looked at.
    """
    looker = Looker(desk, desk.top, desk.state.slots())
    found = looker.digests(names)
    wrong = next(((name, looker.problems[name]) for name in names if name in looker.problems), None)
    if wrong is not None:
        raise Unchecked(
            f"{wrong[0]} is not known: {wrong[1]}", remedy="Mend that; nothing is approved by what cannot be looked at"
        )
    return {name: _sha256(digest) for name, digest in found.items() if digest}


def _sha256(digest: str) -> str:
    """Git's own names may be shorter: a receipt has one form for all digests."""
    return digest if len(digest) == _SHA256 else sha256(digest.encode()).hexdigest()


def stamps_of(desk: Desk) -> dict[str, Stamp]:
    """The last stamp of each target, by its id."""
    keys = {one.id: stamp_key(desk.state.namespace, one.id) for one in desk.workflow.targets}
    with desk.memory.following() as (table, _, _):
        there = [name for name, key in keys.items() if (row := table.get(key)) is not None and row.state == "active"]
    return {name: parse_stamp(desk.memory.fetch(keys[name]).content) for name in there}


def last_round(desk: Desk, digest: str) -> Round | None:
    """The critic's round that counts for the change of that digest; None where there is none."""
    from indelible.stepping.rounds import rounds_of
    from indelible.workflow.frontier import Round
    from indelible.workflow.rounds import deciding

    found = deciding(rounds_of(desk.state), digest)
    return Round(found.number, found.digest, found.is_approved) if found is not None else None


def head_of(top: str, environ: Mapping[str, str]) -> Committed:
    """The commit at HEAD.

    Raises:
        Unchecked: git cannot say. UsageError: it is no working tree. ObjectAltered: that commit is not what its id says.
    """
    from indelible.workflow.history import read_commits, resolve

    git = Git(environ, PATIENCE)
    inside = git.run(top, "rev-parse", "--is-inside-work-tree")
    if inside.code or inside.out.strip() != b"true":
        raise UsageError(f"{top} is no working tree of a git repository")
    if git.run(top, "rev-parse", "--verify", "--quiet", "HEAD").code:
        return Committed()
    (head,) = read_commits(git, top, [resolve(git, top, "HEAD")])
    return Committed(head.id, head.tree, head.above)
