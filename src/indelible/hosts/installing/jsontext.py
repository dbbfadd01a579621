"""JSON as text that others wrote: members and elements are put in and taken out, and every other character stays.

Order, indentation, line ends, a byte order mark, unknown members, and comments (`//`, `/* */`) and trailing commas where a
host's parser takes them, are kept, since nothing is serialised again but what is put in. What was added at the end of a
container and taken out again leaves the text as it was.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Path = tuple[str | int, ...]
"""Where a value stands: names of members and numbers of elements, from the top."""

MAX_DEPTH = 200
_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n]+)|(?P<comment>//[^\r\n]*|/\*.*?\*/)|(?P<mark>[{}\[\],:])
    |(?P<value>"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"
      |-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?(?![\w.])|(?:true|false|null)(?!\w))""",
    re.DOTALL | re.VERBOSE,
)
_CLOSE = {"{": "}", "[": "]"}


class Node:
    """One value, with where it stands in the text: `text[start:end]`."""

    __slots__ = ("children", "end", "kind", "names", "start")

    def __init__(self, kind: str, start: int) -> None:
        self.kind = kind
        """`{`, `[`, or empty for a scalar."""
        self.start = self.end = start
        self.children: list[Node] = []
        self.names: list[tuple[str, int]] = []
        """Of an object: each member's name, and where it begins."""

    def begins(self, number: int) -> int:
        """Where the child of that number begins, its name included."""
        return self.names[number][1] if self.kind == "{" else self.children[number].start


class Document(NamedTuple):
    """A text with its values; `comments` are the spans of those."""

    text: str
    root: Node
    comments: tuple[tuple[int, int], ...]
    trailing: bool
    """Whether a comma stands behind a last member or element."""

    @property
    def is_strict(self) -> bool:
        """Whether every parser of JSON takes it."""
        return not (self.comments or self.trailing)

    def find(self, path: Path) -> Node | None:
        """The value at `path`, or None where there is none.

        Raises:
            UsageError: a member on the way stands there twice.
        """
        node = self.root
        for step in path:
            number = self._child(node, step)
            if number is None:
                return None
            node = node.children[number]
        return node

    def value(self, node: Node) -> object:
        """A value in Python's terms."""
        if not node.kind:
            return json.loads(self.text[node.start : node.end])
        if node.kind == "[":
            return [self.value(child) for child in node.children]
        return {name: self.value(child) for (name, _), child in zip(node.names, node.children, strict=True)}

    def _child(self, node: Node, step: str | int) -> int | None:
        if isinstance(step, int):
            return step if node.kind == "[" and step < len(node.children) else None
        if node.kind != "{":
            return None
        found = [number for number, (name, _) in enumerate(node.names) if name == step]
        if len(found) > 1:
            raise UsageError(f"The member {step!r} stands there twice", remedy="Take one of them out")
        return found[0] if found else None


def parse(text: str) -> Document:
    """Read a JSON text, with comments and trailing commas as `jsonc` has them.

    Raises:
        UsageError: it is none; line and column are named.
    """
    reader = _Reader(text)
    root = reader.read()
    return Document(text, root, tuple(reader.comments), reader.trailing)


class _Reader:
    """One pass over the tokens, without recursion: a document may be deep on purpose."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0
        self.comments: list[tuple[int, int]] = []
        self.trailing = False

    def read(self) -> Node:
        root: Node | None = None
        stack: list[Node] = []
        after_comma = False
        while (found := self._next()) is not None:
            kind, token, start = found
            if stack and token == _CLOSE[stack[-1].kind]:
                self.trailing = self.trailing or after_comma
                node, after_comma = stack.pop(), False
                node.end = start + 1
            elif root is not None and not stack:
                raise self._broken(start)
            else:
                container = stack[-1] if stack else None
                node, opened = self._value(container, kind, token, start, after_comma)
                after_comma = False
                root = node if root is None else root
                if opened:
                    stack.append(node)
                    if len(stack) > MAX_DEPTH:
                        raise self._broken(start, "is nested too deeply")
                    continue
            if stack:
                after_comma = self._comma(stack[-1])
        if root is None or stack:
            raise self._broken(len(self._text))
        return root

    def _value(self, container: Node | None, kind: str, token: str, start: int, after_comma: bool) -> tuple[Node, bool]:  # noqa: FBT001
        """A value that begins here, put into its container."""
        if container is not None and container.children and not after_comma:
            raise self._broken(start)
        if container is not None and container.kind == "{":
            if not token.startswith('"'):
                raise self._broken(start)
            container.names.append((json.loads(token), start))
            colon = self._next()
            if colon is None or colon[1] != ":":
                raise self._broken(colon[2] if colon else len(self._text))
            kind, token, start = self._next() or ("", "", len(self._text))
        if kind != "value" and token not in _CLOSE:
            raise self._broken(start)
        node = Node(token if token in _CLOSE else "", start)
        node.end = start + len(token)
        if container is not None:
            container.children.append(node)
        return node, token in _CLOSE

    def _comma(self, container: Node) -> bool:
        """Whether a comma follows; if not, the container's end must."""
        at = self._at
        found = self._next()
        if found is not None and found[1] == ",":
            return True
        if found is None or found[1] != _CLOSE[container.kind]:
            raise self._broken(found[2] if found else len(self._text))
        self._at = at
        while self.comments and self.comments[-1][0] >= at:
            self.comments.pop()
        return False

    def _next(self) -> tuple[str, str, int] | None:
        """Kind, text and place of the next token; None at the end."""
        while self._at < len(self._text):
            found = _TOKEN.match(self._text, self._at)
            if found is None:
                raise self._broken(self._at)
            start, self._at = self._at, found.end()
            if found.lastgroup == "comment":
                self.comments.append(found.span())
            elif found.lastgroup != "space":
                return str(found.lastgroup), found.group(), start
        return None

    def _broken(self, at: int, how: str = "is broken") -> UsageError:
        line, column = self._text.count("\n", 0, at) + 1, at - self._text.rfind("\n", 0, at)
        return UsageError(f"The JSON {how} at line {line}, column {column}", line=line, column=column)


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
