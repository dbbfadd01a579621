"""A shell's command line, read as far as a text can be: commands, their words, where their output goes, in which folder.

A guard's reading, no shell: what it cannot know (a variable set elsewhere, the output of a command) is UNKNOWN, and what
it does not understand is taken for part of a command rather than for none.
"""

from __future__ import annotations

from indelible.hosts.expanding import Command, Expander
from indelible.hosts.nesting import closing, document
from indelible.hosts.words import UNKNOWN, Word, either, literal

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
    ("if", "then", "else", "elif", "do", "while", "until", "!", "{", "}", "time", "fi", "done", "esac", "coproc")
)
_BRANCHING = frozenset(("if", "then", "else", "elif", "do", "while", "until", "{", "&&", "||", "("))
_DECLARING = frozenset(("export", "local", "declare", "readonly", "typeset"))
_SETTING = frozenset(("read", "mapfile", "readarray", "getopts", "printf", "let"))
_MOST_ARGUMENTS = 99
_LONGEST_VALUE = 4_096
"""Characters of a variable that are kept in mind: `a=$a$a` again and again would fill any memory."""


class Reading(NamedTuple):
    """A whole text."""

    commands: tuple[Command, ...]
    """Those inside of substitutions and of subshells too."""
    operators: tuple[str, ...]
    """What stands between and around the commands of the text itself: `&&`, `(`, `if`, in their order."""
    is_whole: bool
    """Whether it does not end inside of a quote, a here-document or a parenthesis."""


def read(text: str, cwd: str, variables: Mapping[str, str]) -> Reading:
    """The text, as a shell would read it that stands in `cwd` and has these variables."""
    reader = _Reader(text, cwd, {name: literal(value) for name, value in variables.items()}, 0, [0, 0])
    reader.run()
    return Reading(tuple(reader.found), tuple(reader.operators), reader.is_whole)


class _Reader(Expander):
    """Goes through one text."""

    def __init__(self, text: str, cwd: str, variables: dict[str, str], depth: int, numbers: list[int]) -> None:
        super().__init__(text, cwd, variables, depth, numbers)
        self.operators: list[str] = []
        self.branches, self.counts = False, True
        self.pipeline = 0
        self.folders: list[str] = []
        self.waiting: list[tuple[str, bool, bool, int]] = []
        self.fed: list[str] = []
        self._number()
        self._begin()

    def _number(self) -> None:
        self.numbers[0] += 1
        self.pipeline = self.numbers[0]

    def _begin(self) -> None:
        self.words = []
        self.assigned: list[str] = []
        self.targets: list[Word] = []
        self.redirects: list[str] = []
        self.redirect = self.handle = ""

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
            elif char == "(" and self.text.startswith("((", self.at) and not self.words and self._arithmetic():
                pass
            elif operator := next((one for one in _OPERATORS if self.text.startswith(one, self.at)), ""):
                self.at += len(operator)
                self._operator(operator)
            else:
                self._word()
        self._end(";")
        self.is_whole = self.is_whole and not self.waiting and not self.folders

    def _operator(self, operator: str) -> None:
        if operator in _REDIRECTS:
            before = self.text[self.at - len(operator) - 1 : self.at - len(operator)]
            self.handle = (
                self.words.pop().text if self.words and self.words[-1].text.isdigit() and before.isdigit() else ""
            )
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
            self.operators.append(words[0].text)
            words = words[1:]
        words = self._assigned(words)
        if words or self.targets or self.assigned or self.redirects:
            self._set(words)
            self.found.append(
                Command(
                    tuple(words), tuple(self.targets), self.cwd, "\n".join(self.fed), self.pipeline, tuple(self.assigned),
                    tuple(self.redirects), self.depth,
                )
            )  # fmt: skip
            self._change_folder(words)
        self.waiting = [(*one[:3], len(self.found) - 1 if one[3] < 0 else one[3]) for one in self.waiting]
        self.operators.append(operator)
        self.branches = self.branches or not _BRANCHING.isdisjoint(self.operators[-4:])
        self.fed = []
        self._begin()
        if operator not in ("|", "|&"):
            self._number()

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
        self.dotted = self.dotted or name == "GLOBIGNORE"
        self._keep(name, self.variables.get(name, UNKNOWN) + value if adds else value)
        return True

    def _keep(self, name: str, value: str) -> None:
        before = self.variables.get(name, value)
        if self.branches and before != value:
            value = either((before, value))
        self.variables[name] = value if len(value) <= _LONGEST_VALUE else UNKNOWN

    def _set(self, words: list[Word]) -> None:
        """What a command does to variables: `for name in a b`, `set -- a b`, `read name`."""
        name = words[0].text if words else ""
        if len(words) > 3 and name in ("for", "select") and words[2].text == "in":
            self._keep(words[1].text, either([word.pattern for word in words[3:]] + [""]))
        elif name == "set" and len(words) > 1 and (given := [word for word in words[1:] if word.text != "--"]):
            together = either([word.pattern for word in given])
            self._keep("@", together)
            self._keep("*", together)
            for number, word in enumerate(given[:_MOST_ARGUMENTS], 1):
                self._keep(str(number), word.pattern)
        elif name in _SETTING:
            self.variables |= {word.text: UNKNOWN for word in words[1:] if word.text.isidentifier()}
        elif name in ("shopt", "setopt") and any("glob" in word.text for word in words):
            self.dotted = True

    def _change_folder(self, words: list[Word]) -> None:
        if not words or words[0].text not in ("cd", "pushd", "popd", "chdir", "Set-Location"):
            return
        named = [word for word in words[1:] if word.text == "-" or not word.text.startswith("-")]
        if words[0].text == "popd" or (named and named[0].text == "-"):
            self.cwd = UNKNOWN
            return
        where = named[0].pattern if named else self.variables.get("HOME", UNKNOWN)
        if "CDPATH" in self.variables and not where.startswith((".", "/")):
            where = UNKNOWN + "/" + where
        self.cwd = where if where.startswith(("/", "~", UNKNOWN)) else f"{self.cwd}/{where}"

    def _documents(self) -> None:
        """The here-documents that were announced on the line that just ended."""
        waiting, self.waiting = self.waiting, []
        for mark, strips, is_quoted, index in waiting:
            said, self.at, is_ended = document(self.text, self.at, mark, strips=strips)
            self.is_whole = self.is_whole and is_ended
            if not is_quoted:
                said = self._expanded(said).text
            if 0 <= index < len(self.found):
                self.found[index] = self.found[index]._replace(fed=self.found[index].fed + said)

    def _word(self) -> None:
        start = self.at
        word = self._read_word()
        redirect, self.redirect = self.redirect, ""
        if redirect in ("<<", "<<-"):
            is_quoted = any(char in self.text[start : self.at] for char in "'\"\\")
            self.waiting.append((word.text, redirect == "<<-", is_quoted, -1))
        elif redirect == "<<<":
            self.fed.append(word.text)
        elif not redirect:
            self.words.append(word)
        if redirect:
            self.redirects.append(f"{self.handle}{redirect}{word.text}")
        if redirect in _WRITING and not (redirect == ">&" and (word.text.isdigit() or word.text == "-")):
            self.targets.append(word)

    def _arithmetic(self) -> bool:
        """Pass over `((…))`, in which only substitutions are commands; false where it is none."""
        end = closing(self.text, self.at) if self.counts else len(self.text)
        self.counts = end < len(self.text) and self.text[end - 1] == ")"
        if not self.counts:
            return False
        self._expanded(self.text[self.at + 2 : end - 1])
        self.at = end + 1
        return True
