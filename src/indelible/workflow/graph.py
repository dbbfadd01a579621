"""The graph of what may happen next: targets, what each needs, reads and makes, and in which order they come.

Names of inputs and outputs:

    slot:10_ticket.md     a slot of the state directory, as it is sealed
    path:src/sort.py      a file, from the top of the checkout
    glob:src/**/*.py      all files that a glob means (`*` and `?` stop at a slash, `**` does not)
    change                what git would commit now: the exact change of the working tree
    head                  the commit at HEAD; made by a target: a commit of the change that was approved
    tree                  the tree of that commit

Pure values; `parsing` makes them from the text of `.indelible/workflow.toml`, and `frontier` judges them.
"""

from __future__ import annotations

import heapq
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import NotFoundError, NotPermitted
from indelible.light import sha256
from indelible.seal import canonical
from indelible.workflow.branches import PROTECTED, are_all, is_among
from indelible.workflow.guard import RECEIPT

if TYPE_CHECKING:
    from collections.abc import Sequence

HUMAN, CRITIC, NONE = "human", "critic", "none"
GATES = (HUMAN, CRITIC, NONE)
SLOT, PATH, GLOB = "slot:", "path:", "glob:"
CHANGE, HEAD, TREE = "change", "head", "tree"
OF_GIT = (CHANGE, HEAD, TREE)
CONDITIONS = ("failed", "done")
"""What `when` may ask of another target."""


class GraphWrong(NotPermitted):
    """Each target can be understood, and not how they stand to one another: a circle, a prerequisite that there is not."""

    slug = "graph-wrong"
    remedy = "Mend the workflow file, and seal it: 'indelible flow seal'"


class Target(NamedTuple):
    """One step, as the workflow has it."""

    id: str
    name: str
    needs: tuple[str, ...] = ()
    """Ids of the targets that have to be done before."""
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    run: tuple[str, ...] = ()
    """A command: its words, or `sh -c` and a text. Empty where a person or the agent does it by hand."""
    manual: str = ""
    """What is to be done by hand."""
    effects: str = ""
    """What it does outside of the repository, in words; empty for nothing. Such a step is never repeated without a word."""
    gate: str = NONE
    fork: bool = False
    """Whether its command runs in a child of its own, whose output the parent does not read."""
    when: tuple[str, str] | None = None
    """`(id, condition)` of another target, without which this one is not asked for."""

    @property
    def after(self) -> tuple[str, ...]:
        """Ids of all targets that are judged before this one."""
        return (*self.needs, *((self.when[0],) if self.when else ()))

    @property
    def title(self) -> str:
        """`5 (approved-diff)`."""
        return f"{self.id} ({self.name})"

    @property
    def definition(self) -> str:
        """SHA-256 of what it is: a stamp that was made under another one no longer holds. Words for people do not count."""
        members: dict[str, canonical.Json] = {
            "name": self.name, "needs": list(self.needs), "inputs": list(self.inputs), "outputs": list(self.outputs),
            "run": list(self.run), "effects": bool(self.effects), "gate": self.gate, "when": list(self.when or ()),
        }  # fmt: skip
        return sha256(canonical.dumps(members)).hexdigest()


class Guard(NamedTuple):
    """What is refused without a receipt, and where."""

    branches: tuple[str, ...] = ("*",)
    """Local branches (globs) whose commits need one."""
    protected: tuple[str, ...] = PROTECTED
    """Branches of a receiving repository that take no commit without one."""
    commands: tuple[tuple[str, str], ...] = ()
    """The beginning of a command, and the name of the target whose receipt it needs."""
    receipt: str = RECEIPT
    """Name of the target whose receipt a commit needs; empty where none does, whatever it is on."""

    @property
    def all_branches(self) -> bool:
        """Whether every local branch is guarded."""
        return are_all(self.branches)

    def guards(self, ref: str) -> bool:
        """Whether commits there need a receipt: on a branch (a full name), or on a detached HEAD (empty), as on a guarded branch."""
        return bool(self.receipt) and (not ref or is_among(ref, self.branches))

    def protects(self, ref: str) -> bool:
        """Whether nothing goes to that branch (a full name) of another repository without one."""
        return is_among(ref, self.protected)


class ForkRules(NamedTuple):
    """What an agent of depth 0 hands to a child."""

    refuse_heavy: bool = False
    heavy: tuple[str, ...] = ()
    """Patterns of commands, as a shell's (`bazel test *`), beside the ones that are built in."""
    most_files: int = 20


class Critic(NamedTuple):
    """By what a critic judges."""

    pillars: tuple[str, ...]


class Workflow(NamedTuple):
    """The whole graph, its targets in the order in which they come."""

    targets: tuple[Target, ...]
    guard: Guard
    fork: ForkRules
    critic: Critic
    digest: str
    """SHA-256 of the text that it was read from."""
    sealed: bool = False
    """Whether the owner signed that text; else it is the one that is built in."""
    warning: str = ""
    """What has to be said beside it: a file is here that nobody sealed."""

    def target(self, text: str) -> Target:
        """The target of that id or name.

        Raises:
            NotFoundError: there is none.
        """
        found = next((one for one in self.targets if text in (one.id, one.name)), None)
        if found is None:
            from difflib import get_close_matches

            near = get_close_matches(text, [one.name for one in self.targets], 1)
            known = ", ".join(one.title for one in self.targets)
            remedy = f"Did you mean {near[0]}?" if near else f"There is {known}"
            raise NotFoundError(f"There is no target {text!r} in this workflow", remedy=remedy, target=text)
        return found

    def ancestors(self, target: Target) -> frozenset[str]:
        """Ids of all that has to be done or judged before a target."""
        by_id = {one.id: one for one in self.targets}
        found: set[str] = set()
        left = [*target.after]
        while left:
            here = left.pop()
            if here not in found:
                found.add(here)
                left += by_id[here].after
        return frozenset(found)


def ordered(targets: Sequence[Target]) -> tuple[Target, ...]:
    """Every target behind those that it needs; among those that could come next, the one that was written first.

    Raises:
        GraphWrong: there is a cycle, which is named.
    """
    place = {one.id: at for at, one in enumerate(targets)}
    sorter = TopologicalSorter({one.id: one.after for one in targets})
    try:
        sorter.prepare()
    except CycleError as exc:
        raise GraphWrong(
            f"The targets need one another in a circle: {_path(exc.args[1], targets)}",
            remedy="Take one 'needs' (or 'when') of the circle out",
        ) from exc
    ready, order = [place[name] for name in sorter.get_ready()], []
    heapq.heapify(ready)
    while ready:
        at = heapq.heappop(ready)
        order.append(targets[at])
        sorter.done(targets[at].id)
        for name in sorter.get_ready():
            heapq.heappush(ready, place[name])
    return tuple(order)


def _path(circle: Sequence[str], targets: Sequence[Target]) -> str:
    """`a -> b -> a`: each needs the one behind it; it begins with the one that was written first."""
    ids = list(circle)[::-1][:-1]
    first = min(range(len(ids)), key=lambda at: next(i for i, one in enumerate(targets) if one.id == ids[at]))
    turned = [*ids[first:], *ids[:first], ids[first]]
    return " -> ".join(turned)
