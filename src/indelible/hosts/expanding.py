"""Words of a shell's command line, as a shell makes them: quotes taken off, variables and substitutions in their places.

What a variable or a command stands for is put there where the text tells it; else it is UNKNOWN.
"""

from __future__ import annotations

from indelible.hosts.nesting import after_quote, closing
from indelible.hosts.words import UNKNOWN, Word, either, literal, spoken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple, Self
else:
    from indelible.light import NamedTuple

_DEEPEST = 8
_MOST_EXPANDED = 1_000_000
"""Characters that variables may come to in one text, over all: what would be more is unknown."""
_NUMBERED = {"x": 2, "u": 4, "U": 8}
_OCTAL, _HEX = "01234567", "0123456789abcdefABCDEF"
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b", "E": "\x1b"}


class Command(NamedTuple):
    """One simple command."""

    words: tuple[Word, ...]
    targets: tuple[Word, ...]
    """Files that its output goes to."""
    cwd: str
    """The folder it runs in; UNKNOWN within where nobody can tell."""
    fed: str
    """The text of a here-document or here-string."""
    pipeline: int
    """Commands of one pipeline have the same number."""
    assigned: tuple[str, ...] = ()
    """The assignments in front of it, as `NAME=value`; of a line of nothing else, all that it has."""
    redirects: tuple[str, ...] = ()
    """All that its input and output are turned to, as `2>/dev/null`."""
    depth: int = 0
    """How many substitutions it stands in."""


class Expander:
    """Goes through one text, and reads the words in it."""

    def __init__(self, text: str, cwd: str, variables: dict[str, str], depth: int, numbers: list[int]) -> None:
        """Begin a text.

        Args:
            variables: patterns, by their names.
            depth: of how many substitutions it is part.
            numbers: that of the last pipeline, and of characters of variables so far, of this text and of all that it is part of.
        """
        self.text, self.cwd, self.variables, self.depth, self.numbers = text, cwd, variables, depth, numbers
        self.found: list[Command] = []
        self.words: list[Word] = []
        self.at = 0
        self.is_whole, self.dotted = True, False

    def run(self) -> None:
        """Word by word, operator by operator, to the end."""
        raise NotImplementedError

    def _read_word(self) -> Word:
        text: list[str] = []
        pattern: list[str] = []
        start = self.at
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == "(" and self.text[self.at - 1] == "=" and self.at > start and not self.words[1:]:
                plain, active = self._array()
            elif char in " \t\r\n;|&" or (
                char in "<>()" and not (self.at == start and self.text[self.at + 1 : self.at + 2] == "(")
            ):
                break
            elif char == "~" and self.at == start and self.text[self.at + 1 : self.at + 2] in ("+", "-"):
                plain = active = self.cwd if self.text[self.at + 1] == "+" else UNKNOWN
                self.at += 2
            else:
                plain, active = self._piece(char)
            text.append(plain)
            pattern.append(active)
        found = "".join(pattern)
        if self.dotted:
            found = "/".join("{,.}" + part if part[:1] in ("*", "?", "[") else part for part in found.split("/"))
        return Word("".join(text), found)

    def _piece(self, char: str) -> tuple[str, str]:
        """The next piece of a word: what it says, and as a pattern."""
        if char == "'":
            inside = self._quoted(escapes=False)
            return inside, literal(inside)
        if char == '"':
            self.at += 1
            return self.until_quote()
        if char == "\\":
            escaped = self.text[self.at + 1 : self.at + 2]
            self.at += 2
            return ("", "") if escaped == "\n" else (escaped, literal(escaped))
        if char == "$":
            return self._dollar(quoted=False)
        if char == "`":
            return self._backticks()
        if char in "<>":
            self.at += 1
            self._inner(self._enclosed())
            return UNKNOWN, UNKNOWN
        self.at += 1
        return char, char

    def _quoted(self, *, escapes: bool) -> str:
        start = self.at + 1
        self.at = after_quote(self.text, start, escapes=escapes)
        self.is_whole = self.is_whole and self.text[start : self.at].endswith("'")
        return self.text[start : self.at].removesuffix("'")

    def until_quote(self, *, to_the_end: bool = False) -> tuple[str, str]:
        """What stands in double quotes; to the end, of a here-document."""
        text, pattern = [], []
        while self.at < len(self.text) and (to_the_end or self.text[self.at] != '"'):
            char = self.text[self.at]
            if char == "\\" and self.text[self.at + 1 : self.at + 2] in ("$", "`", '"', "\\", "\n"):
                plain, active = self._piece(char)
            elif char == "$":
                plain, active = self._dollar(quoted=True)
            elif char == "`":
                plain, active = self._backticks()
            else:
                self.at += 1
                plain, active = char, literal(char)
            text.append(plain)
            pattern.append(active)
        self.is_whole = self.is_whole and (to_the_end or self.at < len(self.text))
        self.at += 1
        return "".join(text), "".join(pattern)

    def _backticks(self) -> tuple[str, str]:
        start, index = self.at + 1, self.at + 1
        while index < len(self.text) and self.text[index] != "`":
            index += 2 if self.text[index] == "\\" else 1
        self.is_whole = self.is_whole and index < len(self.text)
        self.at = index + 1
        value = self._inner(self.text[start:index].replace("\\`", "`"))
        return spoken(value), value

    def _dollar(self, *, quoted: bool) -> tuple[str, str]:
        rest = self.text[self.at + 1 : self.at + 2]
        if rest == "'" and not quoted:
            self.at += 1
            inside = _unescaped(self._quoted(escapes=True))
            return inside, literal(inside)
        if rest == '"' and not quoted:
            self.at += 2
            return self.until_quote()
        if rest == "(":
            self.at += 1
            counts = self.text.startswith("((", self.at)
            inside = self._enclosed()
            value = (
                self._expanded(inside).pattern and UNKNOWN if counts and inside.endswith(")") else self._inner(inside)
            )
        elif rest == "{":
            self.at += 1
            value = self._parameter(self._enclosed())
        else:
            end = self.at + 1
            while end < len(self.text) and (self.text[end].isalnum() or self.text[end] == "_"):
                end += 1
            end = self.at + 2 if rest.isdigit() or (rest and rest in "?!#@*$-") else end
            name = self.text[self.at + 1 : end]
            self.at = end
            if not name:
                return "$", "$"
            value = self._value(name)
        return spoken(value), value if quoted else _parted(value)

    def _value(self, name: str) -> str:
        value = self.cwd if name == "PWD" else self.variables.get(name, UNKNOWN)
        self.numbers[1] += len(value)
        return value if self.numbers[1] <= _MOST_EXPANDED else UNKNOWN

    def _parameter(self, inside: str) -> str:
        """The value of what stands in `${…}`."""
        end = next((index for index, char in enumerate(inside) if not (char.isalnum() or char == "_")), len(inside))
        name, rest = inside[: end or 1], inside[end or 1 :]
        if rest.startswith("["):
            rest = rest.partition("]")[2]
        if not rest:
            return self._value(name)
        how = rest[1:2] if rest[0] == ":" else rest[:1]
        other = self._expanded(rest[1 + (rest[0] == ":") :]).pattern
        if how == "?" or (how in ("-", "=") and name in self.variables):
            return self._value(name)
        if how in ("-", "="):
            return either((UNKNOWN, other))
        return either((other, "")) if how == "+" else UNKNOWN

    def _array(self) -> tuple[str, str]:
        """The words of `name=(…)`, each of which the name may stand for."""
        inside = self._enclosed()
        if self.depth >= _DEEPEST:
            return UNKNOWN, UNKNOWN
        inner = self._within(inside)
        inner.run()
        self.found += [command for command in inner.found if command.depth > inner.depth]
        patterns = [word.pattern for command in inner.found if command.depth == inner.depth for word in command.words]
        return " ".join(map(spoken, patterns)), either(patterns)

    def _enclosed(self) -> str:
        """What stands inside of the parentheses or braces that open here; they are passed."""
        start, end = self.at, closing(self.text, self.at)
        self.is_whole = self.is_whole and end < len(self.text)
        self.at = end + 1
        return self.text[start + 1 : end]

    def _within(self, text: str) -> Self:
        return type(self)(text, self.cwd, dict(self.variables), self.depth + 1, self.numbers)

    def _expanded(self, text: str) -> Word:
        """A text in which a shell replaces variables and commands, as in double quotes."""
        if not any(char in text for char in "$`\\"):
            return Word(text, literal(text))
        if self.depth >= _DEEPEST:
            return Word(UNKNOWN, UNKNOWN)
        inner = self._within(text)
        said = inner.until_quote(to_the_end=True)
        self.found += inner.found
        return Word(*said)

    def _inner(self, inside: str) -> str:
        """Read a command whose output stands in its place; answers with that, where the text tells it."""
        if inside.strip() == "pwd":
            return self.cwd
        if self.depth >= _DEEPEST:
            return UNKNOWN
        inner = self._within(inside)
        inner.run()
        self.is_whole = self.is_whole and inner.is_whole
        self.found += inner.found
        alone = [command for command in inner.found if command.depth == inner.depth]
        return printed(alone[0]) if len(alone) == 1 else UNKNOWN


def printed(command: Command) -> str:
    """What a command plainly prints, as a pattern: `echo` and `printf` of plain words, `cat` of a here-document; else UNKNOWN."""
    name, words = command.words[0].text if command.words else "", command.words[1:]
    if command.targets or (not words and name != "cat"):
        return UNKNOWN
    if name == "cat" and not words and command.fed:
        return literal(command.fed) if UNKNOWN not in command.fed else UNKNOWN
    if name not in ("echo", "printf") or any(
        word.text[:1] == "-" or "\\" in word.text or "%" in word.text for word in words
    ):
        return UNKNOWN
    return " ".join(word.pattern for word in words)


def _parted(value: str) -> str:
    """A value that stands without quotes: a shell makes a word of each of its parts."""
    parts = value.split()
    return either(parts) if len(parts) > 1 else value


def _unescaped(text: str) -> str:
    """What `$'…'` stands for: a shell's text ends at a zero."""
    said, at = [], 0
    while at < len(text):
        after = text[at + 1 : at + 2]
        if text[at] != "\\" or not after:
            said.append(text[at])
            at += 1
        elif after in _NUMBERED or after in _OCTAL:
            most, base = (_NUMBERED[after], _HEX) if after in _NUMBERED else (3, _OCTAL)
            start = at + 2 if after in _NUMBERED else at + 1
            end = start
            while end < min(start + most, len(text)) and text[end] in base:
                end += 1
            number = int(text[start:end], len(base) if base is _OCTAL else 16) if end > start else -1
            said.append(chr(number) if 0 <= number < 0x110000 else text[at:end])
            at = end
        else:
            said.append(_ESCAPES.get(after, after if after in "\\'\"?" else text[at : at + 2]))
            at += 2
    return "".join(said).partition("\0")[0]
