"""Whether a tool call is what failed before: the scars in force, held against its command, and against the lines that it would add.

What an edit adds is what its text has and the file, or the text that it replaces, has not. Of very much only the beginning
is looked at: `indelible scar check` and git's hooks see the whole change.
"""

from __future__ import annotations

import os

from indelible.hosts.commands import name_in
from indelible.hosts.host import WRITE
from indelible.hosts.prefixes import bare
from indelible.hosts.words import UNKNOWN, spoken
from indelible.hosts.writing import COPIERS, REMOVERS
from indelible.workflow.scars import COMMAND, Scar, attempts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from indelible.hosts.commands import Line
    from indelible.hosts.expanding import Command
    from indelible.hosts.host import Event
    from indelible.workflow.guard import Watch
    from indelible.workflow.scars import Attempt

_MOST = 200_000
"""Characters of a command, and of the lines that one call adds, that are looked at."""
_LARGEST = 1_000_000
"""Bytes of a file that is read to see which lines are new."""
_NEW = frozenset(("newstring", "newstr", "content", "contents", "filetext", "text", "newsource", "replacement", "replacementcontent", "codecontent",
                  "newtext", "insert", "inserttext", "code", "newcontent"))  # fmt: skip
_OLD = frozenset(("oldstring", "oldstr", "targetcontent", "oldtext", "search"))
_PATCH = frozenset(("command", "patchtext", "patch", "input", "diff"))
_HEADERS = ("*** Add File:", "*** Update File:", "*** Move to:", "+++ ")
_MOST_TOLD = 3
_WRITERS = REMOVERS | COPIERS | {"tee", "ln", "patch", "dd"}


def noticed(event: Event, place: str, line: Line, watches: tuple[Watch, ...]) -> tuple[Attempt, ...]:
    """Attempts in a tool call, barriers first.

    Args:
        place: top of the checkout, from which globs are meant.
        watches: the scars in force.

    Raises:
        UsageError: a pattern cannot be used.
    """
    edits = _edits(event, place, line)
    commands = (event.command[:_MOST],) if event.command else ()
    found = [
        one
        for watch in watches
        for one in attempts((_scar(watch),), commands=commands, edits=tuple(_within(watch, edits).items()))
    ]
    return tuple(sorted(found, key=lambda one: not one.is_barred))


def told(found: tuple[Attempt, ...]) -> str:
    """Which scars they are about, why that failed, and how a false alarm is waived."""
    return " ".join(_told(one) for one in found[:_MOST_TOLD])


def _told(one: Attempt) -> str:
    scar = one.scar
    where = "this command" if one.by == COMMAND else one.where + (f", added line {one.line}" if one.line else "")
    return (
        f"{scar.id} ({scar.level}): {scar.title}. Noticed in {where}. Tried before: {scar.tried.rstrip('.')}. "
        f"It failed: {scar.why.rstrip('.')}. If this is another thing, your human can waive it: "
        f"indelible scar waive {scar.id} --digest {one.digest} --reason TEXT."
    )


def _scar(watch: Watch) -> Scar:
    return Scar(
        watch.id, watch.title, watch.tried, watch.why, paths=watch.paths, commands=watch.commands, added=watch.added, level=watch.level,
        waived=watch.waived,
    )  # fmt: skip


def _within(watch: Watch, edits: dict[str, list[str]]) -> dict[str, list[str]]:
    from indelible.gate.globs import matches

    return {
        path: lines
        for path, lines in edits.items()
        if not watch.within or any(matches(glob, path) for glob in watch.within)
    }


def _edits(event: Event, place: str, line: Line) -> dict[str, list[str]]:
    """Path from the top to the lines that are added there."""
    found: dict[str, list[str]] = {}
    if event.tool == WRITE:
        patch = _patch_of(event.given or {})
        told = list(_patched(patch)) if patch else [(path, _added(event, path)) for path in event.paths]
        cwd = event.cwd
    else:
        told, cwd = [], ""
        if "*** Begin Patch" in event.command or "+++ " in event.command:
            told += [(os.path.join(event.cwd, event.folder, path), lines) for path, lines in _patched(event.command)]
        for command in line.commands:
            told += _written(command, bare(command))
    left = _MOST
    for path, lines in told:
        below = _below(os.path.join(cwd, path), place)
        if below:
            kept = found.setdefault(below, [])
            for text in lines:
                left -= len(text) + 1
                if left >= 0 and text not in kept[-_MOST_TOLD:]:
                    kept.append(text)
    return found


def _below(path: str, place: str) -> str:
    """A path from the top of the checkout, with forward slashes; empty where it lies elsewhere."""
    try:
        whole = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
    except (OSError, ValueError):
        return ""
    return os.path.relpath(whole, place).replace(os.sep, "/") if place and whole.startswith(place + os.sep) else ""


def _written(command: Command, short: Command) -> Iterator[tuple[str, list[str]]]:
    """Files that a shell's command says it writes to, with what it would write there where its text tells that."""
    said = command.fed.splitlines()
    name = name_in(short) if short.words else ""
    if name in ("echo", "printf"):
        said += " ".join(word.text for word in short.words[1:]).replace("\\n", "\n").splitlines()
    targets = list(command.targets)
    texts = [word.text for word in short.words]
    edits_in_place = name in ("sed", "perl", "ruby") and any(
        text[:1] == "-" and "i" in text.partition("=")[0] for text in texts[1:]
    )
    if name in _WRITERS or edits_in_place:
        targets += short.words[1:]
        said += texts[1:] if edits_in_place else []
    for target in targets:
        path = spoken(target.pattern)
        if UNKNOWN not in path and UNKNOWN not in command.cwd and path[:1] != "-":
            yield os.path.join(spoken(command.cwd), path), said


def _added(event: Event, path: str) -> list[str]:
    """The lines that a writing tool adds to a file."""
    fresh: list[str] = []
    gone: set[str] = set()
    for new, old in _texts(event.given or {}):
        fresh += new
        gone.update(old)
    return (
        [text for text in fresh if text not in gone and text not in _there(os.path.join(event.cwd, path))]
        if fresh
        else []
    )


def _there(path: str) -> frozenset[str]:
    """The lines that a file has already."""
    if path not in _SEEN:
        try:
            with open(path, "rb") as file:
                _SEEN[path] = frozenset(file.read(_LARGEST).decode("utf-8", "replace").splitlines())
        except (OSError, ValueError):
            _SEEN[path] = frozenset()
    return _SEEN[path]


_SEEN: dict[str, frozenset[str]] = {}


def _texts(given: Mapping[str, object]) -> Iterator[tuple[list[str], list[str]]]:
    """New lines and replaced ones, of a tool's own members and of those of each edit in a list."""
    new: list[str] = []
    old: list[str] = []
    for name, value in given.items():
        plain = name.replace("_", "").lower()
        if isinstance(value, str) and plain in _NEW:
            new += value.splitlines()
        elif isinstance(value, str) and plain in _OLD:
            old += value.splitlines()
        elif isinstance(value, list):
            for one in value:
                if isinstance(one, dict):
                    yield from _texts(one)
    yield new, old


def _patch_of(given: Mapping[str, object]) -> str:
    texts = (
        value for name, value in given.items() if name.replace("_", "").lower() in _PATCH and isinstance(value, str)
    )
    return next((text for text in texts if "*** " in text or "+++ " in text), "")


def _patched(patch: str) -> Iterator[tuple[str, list[str]]]:
    """The files of a patch, ours or a unified one, with what it adds to each."""
    path = ""
    lines: list[str] = []
    for text in patch.splitlines():
        header = next((one for one in _HEADERS if text.startswith(one)), "")
        if header:
            if path:
                yield path, lines
            path = text.removeprefix(header).split("\t")[0].strip().strip("\"'")
            path, lines = path.removeprefix("b/") if header == "+++ " else path, []
        elif text.startswith("+"):
            lines.append(text[1:])
    if path:
        yield path, lines
