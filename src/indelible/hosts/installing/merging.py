"""Our entries in a host's settings: found by their command lines, put in where they are missing, taken out without a trace.

Text in, text out. An entry of ours is known by its command and by nothing else, so that one of an older version, or of a
program that has moved since, is replaced in its place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

from indelible.hosts.installing import jsontext
from indelible.hosts.installing.calling import is_hook, is_statusline
from indelible.hosts.installing.shapes import OWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from indelible.hosts.installing.jsontext import Document, Node, Path

_COMMANDS = ("command", "bash", "powershell")
_TOPS = ("hooks", OWN)
"""Members at the top that hold hooks."""


class Entry(NamedTuple):
    """One hook of ours."""

    path: Path
    """Of the element in its event's list: of the whole group, where a host has such."""
    leaf: Path
    """Of the hook itself."""
    alone: bool
    """No hook of somebody else's stands in the same group."""

    @property
    def event(self) -> Path:
        """Of its event's list."""
        return self.path[:-1]


class Merged(NamedTuple):
    """What a merge came to."""

    text: str
    made: tuple[Path, ...]
    """What was not there before but for our entries: lists, objects, and a scalar that the host wants; the innermost first."""


def entries(document: Document) -> tuple[Entry, ...]:
    """Every hook of ours in a document, in its order."""
    tops = [
        (name, child)
        for (name, _), child in zip(document.root.names, document.root.children, strict=False)
        if name in _TOPS
    ]
    walked = (found for name, child in tops for found in _walk(child, (name,)))
    return tuple(_entry(document, path) for path, node in walked if _is_ours(document, node))


def merge(text: str, wanted: Mapping[str, object]) -> Merged:
    """Put `wanted` in: entries that are there and the same stay, others of ours are replaced, and those of no event any more go.

    Raises:
        UsageError: the text is no JSON, or something else stands where the host has its lists.
    """
    text = text if text.strip() else "{}\n"
    before = jsontext.parse(text)
    lists = dict(_lists(wanted, ()))
    gone, replaced = [], {}
    missing = dict(lists)
    for entry in entries(before):
        if entry.event in missing:
            replaced.update(_replaced(before, entry, missing.pop(entry.event)[0]))
        else:  # of an event that we answer no more, or a second one of the same
            gone.append(entry)
    text = jsontext.put(text, replaced) if replaced else text
    text = _cut(text, gone) if gone else text
    rest = _only(wanted, (), missing)
    text = jsontext.add(text, rest) if rest else text
    return Merged(text, tuple(path for path in _places(wanted, ()) if before.find(path) is None))


def take_out(text: str, made: tuple[Path, ...] | None) -> str:
    """The text without our entries, and without the lists and objects that were made for them and are empty now.

    Args:
        made: those that `merge` made; None where that is not known: then all that our entries leave empty go.
    """
    document = jsontext.parse(text)
    ours = entries(document)
    text = _cut(text, ours)
    around = {entry.event[:end] for entry in ours for end in range(len(entry.event), 0, -1)}
    text = _prune(text, sorted(around if made is None else made, key=len, reverse=True))
    document = jsontext.parse(text)
    left = {path: node for path in made or () if (node := document.find(path)) is not None}
    if any(node.kind for node in left.values()):
        return text  # others have put theirs there since, and need the scalar as well
    return jsontext.cut(text, left)


def _prune(text: str, paths: Iterable[Path]) -> str:
    """Take out those that are empty."""
    for path in paths:
        node = jsontext.parse(text).find(path)
        if node is not None and node.kind and not node.children:
            text = jsontext.cut(text, [path])
    return text


def set_statusline(text: str, path: Path, command: str) -> Merged:
    """Put our status line in; where one of ours is there, its command is replaced. One of somebody else's stays.

    Raises:
        UsageError: as `merge`.
    """
    text = text if text.strip() else "{}\n"
    document = jsontext.parse(text)
    value: object = {"type": "command", "command": command}
    node = document.find(path)
    if node is None:
        wanted = value
        for name in reversed(path):
            wanted = {name: wanted}
        made = tuple(path[:end] for end in range(len(path) - 1, 0, -1) if document.find(path[:end]) is None)
        return Merged(jsontext.add(text, cast("dict[str, object]", wanted)), made)
    if document.value(node) != value and has_statusline(document, path):
        return Merged(jsontext.put(text, {path: value}), ())
    return Merged(text, ())


def has_statusline(document: Document, path: Path) -> bool:
    """Whether the status line at `path` is ours."""
    node = document.find((*path, "command"))
    return node is not None and is_statusline(document.value(node))


def take_statusline_out(text: str, path: Path, made: tuple[Path, ...]) -> str:
    """The text without our status line, and without what was made for it and is empty now."""
    if not has_statusline(jsontext.parse(text), path):
        return text
    return _prune(jsontext.cut(text, [path]), made)


def _replaced(document: Document, entry: Entry, wanted: object) -> dict[Path, object]:
    node = document.find(entry.path)
    if node is None or document.value(node) == wanted:
        return {}
    if entry.alone:
        return {entry.path: wanted}
    (hook,) = cast("dict[str, list[object]]", wanted)["hooks"]
    leaf = document.find(entry.leaf)
    return {} if leaf is None or document.value(leaf) == hook else {entry.leaf: hook}


def _cut(text: str, ours: tuple[Entry, ...] | list[Entry]) -> str:
    return jsontext.cut(text, {entry.path if entry.alone else entry.leaf for entry in ours})


def _walk(node: Node, path: Path) -> Iterator[tuple[Path, Node]]:
    yield path, node
    steps: list[str | int] = [name for name, _ in node.names] if node.kind == "{" else list(range(len(node.children)))
    for step, child in zip(steps, node.children, strict=True):
        if child.kind:
            yield from _walk(child, (*path, step))


def _is_ours(document: Document, node: Node) -> bool:
    if node.kind != "{":
        return False
    named = [child for (name, _), child in zip(node.names, node.children, strict=True) if name in _COMMANDS]
    return any(is_hook(document.value(child)) for child in named if not child.kind)


def _entry(document: Document, leaf: Path) -> Entry:
    if len(leaf) > 3 and leaf[-2] == "hooks" and isinstance(leaf[-3], int):
        group = document.find(leaf[:-1])
        hooks = group.children if group is not None else []
        return Entry(leaf[:-2], leaf, all(_is_ours(document, hook) for hook in hooks))
    return Entry(leaf, leaf, alone=True)


def _lists(wanted: object, path: Path) -> Iterator[tuple[Path, list[object]]]:
    """The lists of events in what is wanted, by their paths."""
    if isinstance(wanted, dict):
        for name, inner in wanted.items():
            yield from _lists(inner, (*path, name))
    elif isinstance(wanted, list):
        yield path, wanted


def _only(wanted: Mapping[str, object], path: Path, missing: Mapping[Path, object]) -> dict[str, object]:
    """What is wanted, without the lists that have their entry; scalars stay, since only those that are missing are put in."""
    kept: dict[str, object] = {}
    for name, inner in wanted.items():
        here = (*path, name)
        if isinstance(inner, dict):
            if deeper := _only(inner, here, missing):
                kept[name] = deeper
        elif not isinstance(inner, list) or here in missing:
            kept[name] = inner
    return kept


def _places(wanted: object, path: Path) -> Iterator[Path]:
    """Every member in what is wanted, the innermost first; not what stands in the lists."""
    if isinstance(wanted, dict):
        for name, inner in wanted.items():
            yield from _places(inner, (*path, name))
    if path:
        yield path
