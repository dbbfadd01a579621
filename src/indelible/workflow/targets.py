"""The `[[target]]` tables of the settings text: each alone, and then all of them together."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from indelible.gate.globs import matches
from indelible.state.slot import parse_name
from indelible.workflow.graph import (
    CHANGE,
    CONDITIONS,
    GATES,
    GLOB,
    NONE,
    OF_GIT,
    PATH,
    SLOT,
    TREE,
    GraphWrong,
    Target,
    ordered,
)  # fmt: skip
from indelible.workflow.told import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indelible.workflow.told import Text

MOST_TARGETS = 200
_MEMBERS = ("id", "name", "needs", "inputs", "outputs", "run", "manual", "effects", "gate", "fork", "when")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,31}")
_NAME = re.compile(r"[a-z][a-z0-9-]{0,47}")
_RESERVED = frozenset({"all", "force"})
_DRIVE = re.compile(r"[A-Za-z]:")
_OURS = (".git", ".indelible")
_FORMS = "slot:NN_name.md, path:FILE, glob:PATTERN, change, head or tree"


def targets_of(source: Text, found: object) -> tuple[Target, ...]:
    """All targets, in the order in which they come.

    Raises:
        UsageError: one of them cannot be understood. GraphWrong: how they stand to one another cannot hold.
    """
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found) or not found:
        raise source.refused(
            "there is no target", "Write at least one [[target]]; 'indelible flow show' shows the default"
        )
    if len(found) > MOST_TARGETS:
        raise source.refused(f"there are {len(found)} targets; the limit is {MOST_TARGETS}", "Join some of them")
    tables = [Table(source, "target", one, number) for number, one in enumerate(found, 1)]
    targets = [_target(table) for table in tables]
    ids = _ids(tables, targets)
    targets = [_resolved(table, one, ids) for table, one in zip(tables, targets, strict=True)]
    try:
        made = ordered(targets)
    except GraphWrong as error:
        raise source.refused(error.message, error.remedy, kind=GraphWrong) from error
    _check_made(tables, targets)
    return made


def _target(table: Table) -> Target:
    table.refuse_unknown(_MEMBERS)
    name, gate = table.text("name", most=48), table.text("gate", NONE)
    made = Target(
        table.text("id", most=32), name, table.texts("needs", ()), table.texts("inputs", ()), table.texts("outputs", ()),
        _command(table), table.text("manual"), table.text("effects"), gate, table.flag("fork"), _condition(table),
    )  # fmt: skip
    if not _ID.fullmatch(made.id):
        raise table.refused("id", "is missing, or is no id", "Letters, digits, '.', '_' and '-': id = \"7a\"")
    if not _NAME.fullmatch(name) or name in _RESERVED:
        raise table.refused(
            "name", "is missing, or is no name", "a-z, 0-9 and '-', and not all or force: name = \"approved-diff\""
        )
    if gate not in GATES:
        raise table.refused("gate", f"is {gate!r}", f"A gate is {', '.join(GATES)}")
    _check_hands(table, made)
    for member, names in (("inputs", made.inputs), ("outputs", made.outputs)):
        for one in names:
            _check_name(table, member, one)
    return made


def _check_hands(table: Table, made: Target) -> None:
    """Either a command does it or somebody by hand, and what is done is said."""
    if made.run and made.manual:
        raise table.refused("manual", "stands beside 'run'", "A step is a command, or is done by hand: take one out")
    if not made.run and not made.manual:
        raise table.refused("run", "is missing, and so is 'manual'", "Say the command, or what is to be done by hand")
    if CHANGE in made.outputs and made.run and made.gate != NONE:
        raise table.refused(
            "gate", "stands on a command that makes the change", "Approve the change in a target behind it"
        )


def _command(table: Table) -> tuple[str, ...]:
    found = table.members.get("run")
    if found is None:
        return ()
    if isinstance(found, str):
        return ("sh", "-c", table.text("run"))
    if (
        not isinstance(found, list)
        or not found
        or not all(isinstance(one, str) and "\0" not in one for one in found)
        or not found[0]
    ):
        raise table.refused("run", "is no command", 'Write run = "make test", or its words: run = ["make", "test"]')
    if len(found) > 1_000 or sum(map(len, found)) > 100_000:
        raise table.refused("run", "is too long", "Put it into a script of the repository")
    return tuple(found)


def _condition(table: Table) -> tuple[str, str] | None:
    text = table.text("when")
    if not text:
        return None
    name, _, condition = text.partition(" ")
    if condition not in CONDITIONS:
        raise table.refused("when", f"is {text!r}", "Say a target and 'failed' or 'done': when = \"7 failed\"")
    return name, condition


def _check_name(table: Table, member: str, name: str) -> None:
    """Whether that can be read (or made) in this repository, and nowhere else."""
    if name in OF_GIT:
        if member == "outputs" and name == TREE:
            raise table.refused(member, "has 'tree', which a commit makes", "Say head")
        return
    kind = next((one for one in (SLOT, PATH, GLOB) if name.startswith(one)), "")
    value = name.removeprefix(kind)
    if not kind or not value:
        raise table.refused(member, f"has {name!r}, which names nothing", f"It is {_FORMS}")
    if kind == SLOT:
        if parse_name(value) is None:
            raise table.refused(
                member,
                f"has {name!r}, which is no slot's name",
                "Two digits, an underline, a name and .md: slot:40_notes.md",
            )
        return
    if kind == GLOB and member == "outputs":
        raise table.refused(
            member, f"has {name!r}", "A glob may mean nothing: name the files that are made, each as path:FILE"
        )
    _check_path(table, member, name, value)


def _check_path(table: Table, member: str, name: str, value: str) -> None:
    steps = value.split("/")
    if value.startswith("/") or "\\" in value or _DRIVE.match(value) or ".." in steps or "" in steps or "." in steps:
        raise table.refused(
            member, f"has {name!r}, which leads out of the repository or has no plain form",
            "Write it from the top, with '/' between: path:src/sort.py",
        )  # fmt: skip
    if steps[0].lower() in _OURS:
        raise table.refused(
            member, f"has {name!r}, which is not part of the work", "Slots are named slot:NN_name.md, commits head"
        )


def _ids(tables: Sequence[Table], targets: Sequence[Target]) -> dict[str, str]:
    """Id and name of each target to its id; names and ids are of one kind, and capitals do not tell them apart."""
    found: dict[str, str] = {}
    owners: dict[str, int] = {}
    for at, (table, one) in enumerate(zip(tables, targets, strict=True)):
        for member, text in (("id", one.id), ("name", one.name)):
            if owners.setdefault(text.casefold(), at) != at:
                raise table.refused(
                    member, f"is {text!r}, which another target has", "Give it one of its own", kind=GraphWrong
                )
            found[text] = one.id
    return found


def _resolved(table: Table, target: Target, ids: dict[str, str]) -> Target:
    """With ids where names stood."""

    def resolve(member: str, name: str) -> str:
        if name not in ids:
            raise table.refused(
                member,
                f"names {name!r}, and there is no such target",
                f"There is {', '.join(dict.fromkeys(ids.values()))}",
                kind=GraphWrong,
            )
        return ids[name]

    needs = tuple(resolve("needs", one) for one in target.needs)
    when = (resolve("when", target.when[0]), target.when[1]) if target.when else None
    return target._replace(needs=tuple(dict.fromkeys(needs)), when=when)


def _check_made(tables: Sequence[Table], targets: Sequence[Target]) -> None:
    """What one target makes has one maker, and whoever reads it comes behind it."""
    made: dict[str, Target] = {}
    for table, one in zip(tables, targets, strict=True):
        for name in one.outputs:
            if name in made:
                raise table.refused(
                    "outputs", f"has {name!r}, which {made[name].title} makes too", "Only one target makes a thing",
                    kind=GraphWrong,
                )  # fmt: skip
            made[name] = one
    before = {one.id: _before(one, targets) for one in targets}
    for table, one in zip(tables, targets, strict=True):
        for name, maker in made.items():
            reads = any(_means(text, name) for text in one.inputs)
            if reads and maker.id != one.id and maker.id not in before[one.id] and one.id not in before[maker.id]:
                raise table.refused(
                    "inputs",
                    f"reads {name!r}, which {maker.title} makes",
                    f'Put it behind that: needs = ["{maker.id}"]',
                    kind=GraphWrong,
                )


def _means(text: str, name: str) -> bool:
    return text == name or (
        text.startswith(GLOB) and name.startswith(PATH) and matches(text[len(GLOB) :], name[len(PATH) :])
    )


def _before(target: Target, targets: Sequence[Target]) -> frozenset[str]:
    by_id = {one.id: one for one in targets}
    found: set[str] = set()
    left = list(target.after)
    while left:
        here = left.pop()
        if here not in found:
            found.add(here)
            left += by_id[here].after
    return frozenset(found)
