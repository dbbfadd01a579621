"""JSON, with comments and trailing commas as `jsonc` has them, read with the place of every value in the text."""

from __future__ import annotations

import json
import re
from typing import NamedTuple, NoReturn

from indelible.errors import UsageError

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

    __slots__ = ("_children", "_names", "_unread", "end", "kind", "start")

    def __init__(self, kind: str, start: int) -> None:
        self.kind = kind
        """`{`, `[`, or empty for a scalar."""
        self.start = self.end = start
        self._children: list[Node] = []
        self._names: list[tuple[str, int]] = []
        self._unread = ""
        """The whole text, where what is within was passed over: settings are long, and the hooks in them short."""

    @property
    def children(self) -> list[Node]:
        self._read()
        return self._children

    @property
    def names(self) -> list[tuple[str, int]]:
        """Of an object: each member's name, and where it begins."""
        self._read()
        return self._names

    @property
    def has_any(self) -> bool:
        """Whether a value was read within it so far."""
        return bool(self._children)

    def name_next(self, name: str, start: int) -> None:
        """The next value is that of this member."""
        self._names.append((name, start))

    def put(self, child: Node) -> None:
        """Take a value in, while it is read."""
        self._children.append(child)

    def pass_over(self, text: str, end: int) -> None:
        """Read what is within only when it is asked for."""
        self._unread, self.end = text, end

    def _read(self) -> None:
        if self._unread:
            text, self._unread = self._unread, ""
            within = _Reader(text, self.start).read()
            self._children, self._names = within._children, within._names  # noqa: SLF001 - of its own kind

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
        if not node.kind or self.is_strict:
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
    reader = _Reader(text, is_strict=_is_strict(text))
    root = reader.read()
    return Document(text, root, tuple(reader.comments), reader.trailing)


def _is_strict(text: str) -> bool:
    """Whether it is JSON as RFC 8259 has it; what is wrong with it otherwise is found by reading it."""
    try:
        _STRICT.decode(text)
    except (ValueError, RecursionError):
        return False
    return True


def _no_number(text: str) -> NoReturn:
    raise ValueError(text)


_STRICT = json.JSONDecoder(parse_constant=_no_number)


class _Reader:
    """One pass over the tokens, without recursion: a document may be deep on purpose.

    Args:
        start: where the value begins; what follows behind its end is looked at only from the beginning on.
        is_strict: known to be strict JSON; what stands in the members of the top is passed over.
    """

    def __init__(self, text: str, start: int | None = None, *, is_strict: bool = False) -> None:
        self._text, self._at, self._is_whole, self._is_strict = text, start or 0, start is None, is_strict
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
                if not stack and not self._is_whole:
                    return node
            elif root is not None and not stack:
                raise self._broken(start)
            else:
                container = stack[-1] if stack else None
                node, opened = self._value(container, kind, token, start, after_comma)
                after_comma = False
                root = node if root is None else root
                if opened and self._is_strict and stack:
                    self._at = _STRICT.raw_decode(self._text, node.start)[1]
                    node.pass_over(self._text, self._at)
                elif opened:
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
        if container is not None and container.has_any and not after_comma:
            raise self._broken(start)
        if container is not None and container.kind == "{":
            if not token.startswith('"'):
                raise self._broken(start)
            container.name_next(json.loads(token), start)
            colon = self._next()
            if colon is None or colon[1] != ":":
                raise self._broken(colon[2] if colon else len(self._text))
            kind, token, start = self._next() or ("", "", len(self._text))
        if kind != "value" and token not in _CLOSE:
            raise self._broken(start)
        node = Node(token if token in _CLOSE else "", start)
        node.end = start + len(token)
        if container is not None:
            container.put(node)
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
