"""A shell's command line, read as far as a text can be: commands, their words, where their output goes, in which folder.

A guard's reading, no shell: what it cannot know (a variable set elsewhere, the output of a command) is UNKNOWN, and what
it does not understand is taken for part of a command rather than for none.
"""

from __future__ import annotations

from indelible.hosts.words import UNKNOWN, Word, literal, spoken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NamedTuple
else:
    from indelible.light import NamedTuple

_OPERATORS = (
    "&>>", "<<<", "<<-", "&&", "||", ";;", "|&", "&>", ">>", ">|", ">&", "<&", "<>", "<<", "|", ";", "&", "(", ")", "\n",
    "<", ">",
)  # fmt: skip
_REDIRECTS = frozenset(("&>>", "<<<", "<<-", "&>", ">>", ">|", ">&", "<&", "<>", "<<", "<", ">"))
_WRITING = frozenset(("&>>", "&>", ">>", ">|", ">&", "<>", ">"))
_KEYWORDS = frozenset(
    ("if", "then", "else", "elif", "do", "while", "until", "!", "{", "}", "time", "fi", "done", "esac")
)
_DECLARING = frozenset(("export", "local", "declare", "readonly", "typeset"))
_DEEPEST = 8
_LONGEST_VALUE = 4_096
"""Characters of a variable that are kept in mind: `a=$a$a` again and again would fill any memory."""


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


def read(text: str, cwd: str, variables: Mapping[str, str], depth: int = 0) -> tuple[Command, ...]:
    """Every command in the text, those inside of substitutions and of subshells too."""
    reader = _Reader(text, cwd, dict(variables), depth)
    reader.run()
    return tuple(reader.found)


class _Reader:
    """Goes through one text."""

    def __init__(self, text: str, cwd: str, variables: dict[str, str], depth: int) -> None:
        self.text, self.cwd, self.depth = text, cwd, depth
        self.variables = {name: literal(value) for name, value in variables.items()}
        self.found: list[Command] = []
        self.at = self.pipeline = 0
        self.folders: list[str] = []
        self.waiting: list[tuple[str, bool]] = []
        self.fed: list[str] = []
        self._begin()

    def _begin(self) -> None:
        self.words: list[Word] = []
        self.assigned: list[str] = []
        self.targets: list[Word] = []
        self.redirect = ""

    def run(self) -> None:
        """Word by word, operator by operator, to the end."""
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in " \t\r":
                self.at += 1
            elif self.text.startswith("\\\n", self.at):
                self.at += 2
            elif char == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            elif self.text.startswith(("<(", ">("), self.at):
                self._word()
            elif operator := next((one for one in _OPERATORS if self.text.startswith(one, self.at)), ""):
                self.at += len(operator)
                self._operator(operator)
            else:
                self._word()
        self._end(";")

    def _operator(self, operator: str) -> None:
        if operator in _REDIRECTS:
            if (
                self.words
                and self.words[-1].text.isdigit()
                and self.text[self.at - len(operator) - 1 : self.at - len(operator)].isdigit()
            ):
                self.words.pop()
            self.redirect = operator
            return
        self._end(operator)
        if operator == "(":
            self.folders.append(self.cwd)
        elif operator == ")" and self.folders:
            self.cwd = self.folders.pop()
        elif operator == "\n":
            self._documents()

    def _end(self, operator: str) -> None:
        words = self.words
        while words and words[0].text in _KEYWORDS:
            words = words[1:]
        words = self._assigned(words)
        if words or self.targets or self.assigned:
            self._loop(words)
            fed = "\n".join(self.fed)
            self.found.append(
                Command(tuple(words), tuple(self.targets), self.cwd, fed, self.pipeline, tuple(self.assigned))
            )
            self._change_folder(words)
        self.fed = []
        self._begin()
        if operator not in ("|", "|&"):
            self.pipeline += 1

    def _assigned(self, words: list[Word]) -> list[Word]:
        """The words after the assignments in front, which are kept in mind."""
        if words and words[0].text in _DECLARING:
            for word in words[1:]:
                self._assign(word)
            return words
        while words and self._assign(words[0]):
            self.assigned.append(words[0].text)
            words = words[1:]
        return words

    def _assign(self, word: Word) -> bool:
        name, equals, value = word.pattern.partition("=")
        adds = name.endswith("+")
        name = name.removesuffix("+")
        if not equals or not name.isidentifier():
            return False
        self._keep(name, self.variables.get(name, UNKNOWN) + value if adds else value)
        return True

    def _keep(self, name: str, value: str) -> None:
        self.variables[name] = value if len(value) <= _LONGEST_VALUE else UNKNOWN

    def _loop(self, words: list[Word]) -> None:
        """`for name in a b`: the name stands for either."""
        if len(words) > 3 and words[0].text in ("for", "select") and words[2].text == "in":
            self._keep(words[1].text, "{" + ",".join(word.pattern for word in words[3:]) + ",}")
        elif words and words[0].text == "read":
            self.variables.update({word.text: UNKNOWN for word in words[1:]})

    def _change_folder(self, words: list[Word]) -> None:
        if not words or words[0].text not in ("cd", "pushd", "popd", "chdir", "Set-Location"):
            return
        named = [word for word in words[1:] if word.text == "-" or not word.text.startswith("-")]
        if words[0].text == "popd" or (named and named[0].text == "-"):
            self.cwd = UNKNOWN
            return
        where = named[0].pattern if named else self.variables.get("HOME", UNKNOWN)
        self.cwd = where if where.startswith(("/", "~", UNKNOWN)) else f"{self.cwd}/{where}"

    def _documents(self) -> None:
        """The here-documents that were announced on the line that just ended."""
        for mark, strips in self.waiting:
            lines: list[str] = []
            while self.at < len(self.text):
                end = self.text.find("\n", self.at)
                end = len(self.text) if end < 0 else end
                line = self.text[self.at : end]
                self.at = end + 1
                if (line.lstrip("\t") if strips else line).rstrip("\r") == mark:
                    break
                lines.append(line)
            if self.found:
                self.found[-1] = self.found[-1]._replace(fed=self.found[-1].fed + "\n".join(lines))
        self.waiting = []

    def _word(self) -> None:
        word = self._read_word()
        redirect, self.redirect = self.redirect, ""
        if redirect in ("<<", "<<-"):
            self.waiting.append((word.text, redirect == "<<-"))
        elif redirect == "<<<":
            self.fed.append(word.text)
        elif redirect in _WRITING:
            if not (redirect == ">&" and (word.text.isdigit() or word.text == "-")):
                self.targets.append(word)
        elif not redirect:
            self.words.append(word)

    def _read_word(self) -> Word:
        text: list[str] = []
        pattern: list[str] = []
        start = self.at
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in " \t\r\n;|&" or (
                char in "<>()" and not (self.at == start and self.text[self.at + 1 : self.at + 2] == "(")
            ):
                break
            plain, active = self._piece(char)
            text.append(plain)
            pattern.append(active)
        return Word("".join(text), "".join(pattern))

    def _piece(self, char: str) -> tuple[str, str]:
        """The next piece of a word: what it says, and as a pattern."""
        if char == "'":
            inside = self._until("'", self.at + 1)
            return inside, literal(inside)
        if char == '"':
            return self._double()
        if char == "\\":
            escaped = self.text[self.at + 1 : self.at + 2]
            self.at += 2
            return ("", "") if escaped == "\n" else (escaped, literal(escaped))
        if char == "$":
            return self._dollar(quoted=False)
        if char == "`":
            self._inner(self._until("`", self.at + 1))
            return UNKNOWN, UNKNOWN
        if char in "<>":
            self._inner(self._parenthesis(self.at + 1))
            return UNKNOWN, UNKNOWN
        self.at += 1
        return char, char

    def _double(self) -> tuple[str, str]:
        text, pattern = [], []
        self.at += 1
        while self.at < len(self.text) and self.text[self.at] != '"':
            char = self.text[self.at]
            if char == "\\" and self.text[self.at + 1 : self.at + 2] in ("$", "`", '"', "\\", "\n"):
                plain, active = self._piece(char)
            elif char == "$":
                plain, active = self._dollar(quoted=True)
            elif char == "`":
                plain, active = self._piece(char)
            else:
                self.at += 1
                plain, active = char, literal(char)
            text.append(plain)
            pattern.append(active)
        self.at += 1
        return "".join(text), "".join(pattern)

    def _dollar(self, *, quoted: bool) -> tuple[str, str]:
        rest = self.text[self.at + 1 : self.at + 2]
        if rest == "'" and not quoted:
            self.at += 1
            inside = _unescaped(self._until("'", self.at + 1, escapes=True))
            return inside, literal(inside)
        if rest == '"' and not quoted:
            self.at += 1
            return self._double()
        if rest == "(":
            inside = self._parenthesis(self.at + 1)
            self._inner(inside)
            value = self.cwd if inside.strip() == "pwd" else UNKNOWN
            return value, value
        if rest == "{":
            return self._variable(self._until("}", self.at + 2))
        end = self.at + 1
        while end < len(self.text) and (self.text[end].isalnum() or self.text[end] == "_"):
            end += 1
        name = self.text[self.at + 1 : end]
        if not name:
            self.at += 1 + (rest in tuple("?!#@*$-"))
            return (UNKNOWN, UNKNOWN) if rest in tuple("?!#@*$-") else ("$", "$")
        self.at = end
        return self._variable(name)

    def _variable(self, name: str) -> tuple[str, str]:
        if name == "PWD":
            return self.cwd, self.cwd
        pattern = self.variables.get(name, UNKNOWN)
        return spoken(pattern), pattern

    def _inner(self, inside: str) -> None:
        if self.depth < _DEEPEST:
            self.found += read(inside, self.cwd, self.variables, self.depth + 1)

    def _until(self, end: str, start: int, *, escapes: bool = False) -> str:
        """The text up to a closing character, which is passed; all that is left where there is none."""
        index = start
        while index < len(self.text) and self.text[index] != end:
            index += 2 if self.text[index] == "\\" and (escapes or end == "`") else 1
        self.at = index + 1
        return self.text[start:index]

    def _parenthesis(self, start: int) -> str:
        """What stands inside of the parentheses that open at `start`; quotes are minded."""
        depth, index, quote = 0, start, ""
        while index < len(self.text):
            char = self.text[index]
            if char == "\\" and quote != "'":
                index += 1
            elif quote:
                quote = "" if char == quote else quote
            elif char in "'\"":
                quote = char
            else:
                depth += (char == "(") - (char == ")")
                if depth == 0:
                    break
            index += 1
        self.at = index + 1
        return self.text[start + 1 : index]


def _unescaped(text: str) -> str:
    """What `$'…'` stands for."""
    try:
        return text.encode("latin-1", "backslashreplace").decode("unicode_escape")
    except ValueError:
        return text
