"""The text of `.indelible/workflow.toml`, read strictly: what is not understood is refused, with its line and what to do.

The tables are `[guard]`, `[guard.commands]`, `[fork]`, `[critic]` and any number of `[[target]]`; `default` shows them all.
"""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING

from indelible.errors import UsageError
from indelible.light import sha256
from indelible.workflow.default import DEFAULT, PILLARS
from indelible.workflow.graph import HEAD, Critic, ForkRules, GraphWrong, Guard, Workflow
from indelible.workflow.targets import targets_of
from indelible.workflow.told import Table, Text

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_BYTES = 256_000
NAME = "workflow.toml"
_TOP = ("guard", "fork", "critic", "target")
_LINE = re.compile(r"at line ([0-9]+)")


def parse_workflow(text: bytes, path: str = NAME, *, sealed: bool = False) -> Workflow:
    """The workflow that a text describes.

    Args:
        path: how errors name the file.
        sealed: whether the owner stands behind it.

    Raises:
        UsageError: it cannot be understood; file, line and member are named, and what to do.
        GraphWrong: how the targets stand to one another cannot hold; as above.
    """
    source = Text(path, _decoded(text, path))
    members = _loaded(source)
    top = Table(source, "", members, 0)
    top.refuse_unknown(_TOP)
    guard, fork, critic = (Table(source, name, top.table(name), 0) for name in ("guard", "fork", "critic"))
    targets = targets_of(source, members.get("target"))
    workflow = Workflow(targets, _guard(guard), _fork(fork), _critic(critic), sha256(text).hexdigest(), sealed)
    _check_receipts(guard, workflow)
    return workflow


def default_workflow() -> Workflow:
    """The workflow that is built in."""
    return parse_workflow(DEFAULT.encode())


def _decoded(text: bytes, path: str) -> str:
    if len(text) > MOST_BYTES:
        raise UsageError(
            f"{path} has {len(text)} bytes; the limit is {MOST_BYTES}", remedy="Take out what no step needs", file=path
        )
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as exc:
        line = text[: exc.start].count(b"\n") + 1
        raise UsageError(
            f"{path}, line {line}: it is not UTF-8", remedy="Save it as UTF-8", file=path, line=line
        ) from exc


def _loaded(source: Text) -> Mapping[str, object]:
    try:
        return tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as exc:
        line = int(found[1]) if (found := _LINE.search(str(exc))) else 0
        said = str(exc).partition(" (at ")[0]
        raise source.refused(f"it is not TOML: {said}", "Mend that line", line) from exc
    except RecursionError as exc:
        raise source.refused("it is nested too deeply", "Tables and lists of texts are all there is") from exc


def _guard(table: Table) -> Guard:
    table.refuse_unknown(("branches", "protected", "receipt", "commands"))
    plain = Guard()
    commands = Table(table.source, "guard.commands", table.table("commands"), 0)
    rows = tuple((name, commands.text(name, most=200)) for name in commands.members)
    for words, _ in rows:
        if not words.strip() or not words.isprintable():
            raise commands.refused(words, "is no command", 'Write its first words: "gh pr merge"')
    if table.members.get("receipt") == "":
        return _unguarded(table, rows)
    return Guard(
        table.texts("branches", plain.branches), table.texts("protected", plain.protected), rows,
        table.text("receipt", plain.receipt),
    )  # fmt: skip


def _unguarded(table: Table, commands: tuple[tuple[str, str], ...]) -> Guard:
    """No commit needs a receipt, on no branch, here or elsewhere."""
    for member in ("branches", "protected"):
        if table.texts(member, ()):
            raise table.refused(
                member, "names what needs a receipt, and 'receipt' says that nothing does",
                f"Take {member} out, or name in 'receipt' a target that a human approves", kind=GraphWrong,
            )  # fmt: skip
    return Guard((), (), commands, "")


def _fork(table: Table) -> ForkRules:
    table.refuse_unknown(("refuse_heavy", "heavy", "most_files"))
    most = table.number_between("most_files", ForkRules().most_files, 1, 100_000)
    return ForkRules(table.flag("refuse_heavy"), table.texts("heavy", ()), most)


def _critic(table: Table) -> Critic:
    table.refuse_unknown(("pillars",))
    pillars = table.texts("pillars", PILLARS, most=20)
    if not pillars or len({one.casefold() for one in pillars}) < len(pillars):
        raise table.refused("pillars", "is empty, or names one twice", "Name each by one word, once")
    for one in pillars:
        if not re.fullmatch(r"[a-z][a-z0-9-]{0,39}", one):
            raise table.refused("pillars", f"has {one!r}", "A pillar is one word: a-z, 0-9 and '-'")
    return Critic(pillars)


def _check_receipts(table: Table, workflow: Workflow) -> None:
    """What asks for a receipt names a target that a human approves, and what waits for one can get it."""
    humans = {one.name for one in workflow.targets if one.gate == "human"}
    known = f'Name one with gate = "human": {", ".join(sorted(humans)) or "there is none yet"}'
    receipt = workflow.guard.receipt
    if receipt and receipt not in humans:
        raise table.refused(
            "receipt", f"is {receipt!r}, which is the name of no target that a human approves",
            f'{known}; or say receipt = "": then no commit needs one', kind=GraphWrong,
        )  # fmt: skip
    for words, name in workflow.guard.commands:
        if name not in humans:
            commands = Table(table.source, "guard.commands", {}, 0)
            said = f"is {name!r}, which is the name of no target that a human approves"
            raise commands.refused(words, said, known, kind=GraphWrong)
    maker = next((one for one in workflow.targets if HEAD in one.outputs and not receipt), None)
    if maker is not None:
        raise table.refused(
            "receipt", f"is empty, and {maker.title} makes 'head': a commit of what was approved",
            f"Take 'head' out of the outputs of {maker.id}, or name a target that a human approves", kind=GraphWrong,
        )  # fmt: skip
