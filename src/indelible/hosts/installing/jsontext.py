"""JSON as text that others wrote: members and elements are put in and taken out, and every other character stays.

Order, indentation, line ends, a byte order mark, unknown members, and comments (`//`, `/* */`) and trailing commas where a
host's parser takes them, are kept, since nothing is serialised again but what is put in. What was added at the end of a
container and taken out again leaves the text as it was.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import UsageError
from indelible.hosts.installing.jsonreading import Document, Node, Path, parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["Document", "Node", "Path", "add", "cut", "parse", "put", "style_of"]


class _Style(NamedTuple):
    """How a document is laid out."""

    unit: str
    newline: str
    is_flat: bool
    """Everything stands on one line."""


def style_of(document: Document) -> _Style:
    """The indentation of the first member, and the line ends; two spaces where nothing tells."""
    text, root = document.text, document.root
    newline = "\r\n" if "\r\n" in text else "\n"
    if not root.children:
        return _Style("  ", newline, is_flat=False)
    lead = text[: root.begins(0)]
    indent = lead[lead.rfind("\n") + 1 :]
    is_flat = "\n" not in text[root.start : root.end]
    return _Style(indent if "\n" in lead and not indent.strip(" \t") and indent else "  ", newline, is_flat)


def add(text: str, additions: Mapping[str, object]) -> str:
    """Put in what is missing: objects are merged by name, arrays get the elements at their end, a scalar that is there stays.

    Raises:
        UsageError: another kind of value stands where an object or an array is needed.
    """
    document = parse(text)
    splices: list[tuple[int, int, str]] = []
    _merge(document, document.root, additions, (), splices)
    return _apply(text, splices)


def _merge(
    document: Document, node: Node, value: object, path: Path, splices: list[tuple[int, int, str]]
) -> None:  # fmt: skip
    kind = "{" if isinstance(value, dict) else "[" if isinstance(value, list) else ""
    if kind != node.kind and kind:
        where = ".".join(map(str, path)) or "the whole document"
        raise UsageError(
            f"There is no {'object' if kind == '{' else 'list'} at {where}",
            remedy="It is not what the host documents; put it right, or move the file away",
        )
    if isinstance(value, list) and value:
        _append(document, node, [(None, item) for item in value], splices)
    if isinstance(value, dict):
        missing = []
        for name, inner in value.items():
            found = document.find((*path, name))
            if found is None:
                missing.append((name, inner))
            else:
                _merge(document, found, inner, (*path, name), splices)
        if missing:
            _append(document, node, missing, splices)


def _append(
    document: Document, node: Node, items: list[tuple[str | None, object]], splices: list[tuple[int, int, str]]
) -> None:
    """Put members or elements behind the last one."""
    text, style = document.text, style_of(document)
    inner = node.children[-1].end if node.children else node.start + 1
    gap = text[inner : node.end - 1]
    comments = [(a, b) for a, b in document.comments if inner <= a < node.end]
    comma = next((a for a in range(inner, node.end - 1) if text[a] == "," and not _within(a, comments)), None)
    at = max([inner, *(b for _, b in comments), *([comma + 1] if comma is not None else [])])
    base = _indent_at(text, node.start)
    opened = bool(comments) or "\n" in text[node.start : node.begins(0) if node.children else node.end]
    is_flat = not opened and (style.is_flat or bool(node.children))
    if node.children and opened and (own := _own_line(text, node.begins(0))) is not None:
        lead = own
    else:
        lead = base + style.unit
    before = " " if is_flat and node.children else "" if is_flat else style.newline + lead
    rendered = [_render(name, value, style, lead, is_flat=is_flat) for name, value in items]
    body = ("," + (before or " ")).join(rendered)
    closing = "" if is_flat or (node.children and opened) or "\n" in gap[at - inner :] else style.newline + base
    if node.children and comma is None:
        splices.append((inner, inner, ","))
    splices.append((at, at, before + body + ("," if comma is not None else "") + closing))


def _render(name: str | None, value: object, style: _Style, lead: str, *, is_flat: bool) -> str:
    if is_flat:
        body = json.dumps(value, ensure_ascii=False)
    else:
        body = json.dumps(value, ensure_ascii=False, indent=style.unit).replace("\n", style.newline + lead)
    return body if name is None else f"{json.dumps(name, ensure_ascii=False)}: {body}"


def put(text: str, values: Mapping[Path, object]) -> str:
    """Put other values in the places of those that are there, in the layout around each."""
    document = parse(text)
    style, splices = style_of(document), []
    for path, value in values.items():
        node = document.find(path)
        if node is not None:
            lead = _indent_at(text, node.start)
            flat = style.is_flat or (bool(node.kind) and "\n" not in text[node.start : node.end])
            splices.append((node.start, node.end, _render(None, value, style, lead, is_flat=flat)))
    return _apply(text, splices)


def cut(text: str, paths: Iterable[Path]) -> str:
    """Take out the values at `paths`, with the comma and the space that parted each from its neighbours."""
    for path in sorted(paths, key=_order, reverse=True):  # the last first: what comes before keeps its place
        document = parse(text)
        node, parent = document.find(path), document.find(path[:-1])
        if node is None or parent is None or not path:
            continue
        number = next(index for index, child in enumerate(parent.children) if child is node)
        text = _cut_one(document, parent, number)
    return text


def _order(path: Path) -> tuple[tuple[int, str, int], ...]:
    return tuple((0, step, 0) if isinstance(step, str) else (1, "", step) for step in path)


def _cut_one(document: Document, parent: Node, number: int) -> str:
    text, start, end = document.text, parent.begins(number), parent.children[number].end
    is_last = number == len(parent.children) - 1
    before = parent.children[number - 1].end if number else parent.start + 1
    after = parent.end - 1 if is_last else parent.begins(number + 1)
    lead = start
    while lead > before and text[lead - 1] in " \t\r\n" and not _within(lead - 1, document.comments):
        lead -= 1
    splices = [(lead, end, "")]
    comma = next((a for a in range(end, after) if text[a] == "," and not _within(a, document.comments)), None)
    if comma is not None:
        splices.append((comma, comma + 1, ""))
    elif number:
        comma = next(a for a in range(before, start) if text[a] == "," and not _within(a, document.comments))
        splices.append((comma, comma + 1, ""))
    elif not text[end:after].strip():  # nothing is left between the brackets
        splices = [(parent.start + 1, parent.end - 1, "")] if not text[before:lead].strip() else splices
    return _apply(text, splices)


def _within(at: int, comments: Iterable[tuple[int, int]]) -> bool:
    return any(a <= at < b for a, b in comments)


def _own_line(text: str, at: int) -> str | None:
    """The white space before `at` on its line; None where something else stands there."""
    lead = text[text.rfind("\n", 0, at) + 1 : at]
    return lead if not lead.strip(" \t") else None


def _indent_at(text: str, at: int) -> str:
    """The indentation of the line that `at` is on."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _apply(text: str, splices: list[tuple[int, int, str]]) -> str:
    """Make all replacements; none overlaps another, and those at one place stand in their order."""
    parts, at = [], 0
    for start, end, new in sorted(splices, key=lambda one: one[0]):
        parts += [text[at:start], new]
        at = end
    return "".join([*parts, text[at:]])
