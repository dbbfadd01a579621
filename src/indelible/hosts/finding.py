"""What `find` would act on: its expression, held against each protected place under its folders.

An expression is true, false, or unknown (None) of a path: what it asks of a file's age or size, nobody looks up.
"""

from __future__ import annotations

import os
from fnmatch import fnmatchcase

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from indelible.hosts.places import Named, Places
    from indelible.hosts.words import Word

    _Test = Callable[[str, int], bool | None]

ACTS = frozenset(("-delete", "-fprint", "-fprintf", "-fls", "-fprint0"))
RUNS = frozenset(("-exec", "-execdir", "-ok", "-okdir"))
_FLAGS = frozenset(
    ("-print", "-print0", "-ls", "-depth", "-d", "-mount", "-xdev", "-follow", "-daystart", "-noleaf", "-warn", "-nowarn", "-readable",
     "-writable", "-executable", "-nouser", "-nogroup", "-quit", "-ignore_readdir_race")
)  # fmt: skip
_MOST = 2_000
_DEEPEST = 40


def runs(words: tuple[Word, ...]) -> list[tuple[Word, ...]]:
    """The commands that it runs."""
    found, index = [], 0
    while index < len(words):
        if words[index].text in RUNS:
            end = next((i for i in range(index + 1, len(words)) if words[i].text in (";", "+")), len(words))
            found.append(words[index + 1 : end])
            index = end
        index += 1
    return found


def acted_on(
    words: tuple[Word, ...], cwd: str, places: Places, is_reader: Callable[[tuple[Word, ...]], bool]
) -> Named | None:
    """The place that it would write to, remove or hand to a program which is not known to only read."""
    given = words[1:]
    while given and given[0].text in ("-H", "-L", "-P", "-E", "-X"):
        given = given[1:]
    first = next((index for index, word in enumerate(given) if word.text[:1] in ("-", "(", "!")), len(given))
    folders = [word.pattern for word in given[:first]] or ["."]
    targets = [given[i + 1] for i, word in enumerate(given[:-1]) if word.text.startswith(("-fprint", "-fls"))]
    if found := next((found for word in targets if (found := places.named_by(word, cwd))), None):
        return found
    if "-delete" not in [word.text for word in given] and all(map(is_reader, runs(given))):
        return None
    for folder in folders:
        for held, depth, start in places.under(folder, cwd):
            if not os.path.lexists(held.path):
                continue
            if not depth or len(given) > _MOST or _Expression(given[first:], start, is_reader).acts(held.path, depth):
                return held._replace(whole=start if depth else "")
    return None


class _Expression:
    """Read while it is answered: short, and once for each place."""

    def __init__(self, words: tuple[Word, ...], start: str, is_reader: Callable[[tuple[Word, ...]], bool]) -> None:
        self.words, self.start, self.is_reader = words, start, is_reader
        self.texts = [word.text for word in words]
        self.at, self.acted, self.pruned = 0, False, False

    def acts(self, path: str, depth: int) -> bool:
        """Whether an action may come to this path, `depth` below where it starts: none does below a folder that is left out."""
        parts = path.split(os.sep)
        base = os.sep.join(parts[: len(parts) - depth])
        for level in range(depth + 1):
            self.at, self.acted, self.pruned = 0, False, False
            below = parts[len(parts) - depth : len(parts) - depth + level]
            self.said = "/".join((self.start.rstrip("/") if below else self.start, *below))
            self._or(os.sep.join((base, *below)), level, reached=True, nested=0)
            if self.acted and level == depth:
                return True
            if self.pruned and "-depth" not in self.texts and "-delete" not in self.texts:
                return False
        return False

    def _or(self, path: str, depth: int, *, reached: bool | None, nested: int) -> bool | None:
        value = self._and(path, depth, reached=reached, nested=nested)
        while self._next() in ("-o", "-or", ","):
            comma = self.texts[self.at] == ","
            self.at += 1
            goes_on = reached if comma or value is False else False if value else _least(reached, None)
            right = self._and(path, depth, reached=goes_on, nested=nested)
            value = right if comma else True if value or right else None if None in (value, right) else False
        return value

    def _and(self, path: str, depth: int, *, reached: bool | None, nested: int) -> bool | None:
        value: bool | None = True
        while self.at < len(self.texts) and self._next() not in ("-o", "-or", ",", ")"):
            if self._next() in ("-a", "-and"):
                self.at += 1
                continue
            value = _least(value, self._not(path, depth, reached=_least(reached, value), nested=nested))
        return value

    def _not(self, path: str, depth: int, *, reached: bool | None, nested: int) -> bool | None:
        turned = False
        while self._next() in ("!", "-not"):
            turned, self.at = not turned, self.at + 1
        if self._next() == "(" and nested < _DEEPEST:
            self.at += 1
            value = self._or(path, depth, reached=reached, nested=nested + 1)
            self.at += self._next() == ")"
        else:
            value = self._primary(path, depth, reached=reached)
        return value if value is None or not turned else not value

    def _primary(self, path: str, depth: int, *, reached: bool | None) -> bool | None:
        name, self.at = self._next(), self.at + 1
        if name in RUNS:
            end = next((i for i in range(self.at, len(self.texts)) if self.texts[i] in (";", "+")), len(self.texts))
            self.acted = self.acted or (reached is not False and not self.is_reader(self.words[self.at : end]))
            self.at = end + 1
            return True if self.texts[end : end + 1] == ["+"] else None
        if name in ACTS:
            self.acted = self.acted or (reached is not False and name == "-delete")
            self.at += 0 if name == "-delete" else 1
            return True
        if name == "-prune":
            self.pruned = self.pruned or reached is True
            return True
        if name in ("-true", *_FLAGS):
            return (
                True
                if name in ("-true", "-print", "-print0", "-ls", "-depth", "-mount", "-xdev", "-daystart")
                else None
            )
        if name == "-false":
            return False
        if name == "-empty":
            return _is_empty(path)
        value, self.at = self._next(), self.at + 1
        return self._asked(name, value, path, depth)

    def _asked(self, name: str, value: str, path: str, depth: int) -> bool | None:
        """Of a test that takes a value."""
        if name in ("-name", "-iname"):
            return _like(os.path.basename(path), value, is_caseless=name == "-iname")
        if name in ("-path", "-wholename", "-ipath", "-iwholename"):
            return _like(self.said, value, is_caseless=name[1] == "i")
        if name == "-type":
            kinds = value.split(",")
            return "d" in kinds if os.path.isdir(path) else "f" in kinds if os.path.isfile(path) else None
        if name in ("-maxdepth", "-mindepth") and value.isdecimal():
            return depth <= int(value) if name == "-maxdepth" else depth >= int(value)
        return None

    def _next(self) -> str:
        return self.texts[self.at] if self.at < len(self.texts) else ""


def _like(text: str, pattern: str, *, is_caseless: bool) -> bool:
    return fnmatchcase(text.lower(), pattern.lower()) if is_caseless else fnmatchcase(text, pattern)


def _is_empty(path: str) -> bool | None:
    try:
        return not os.listdir(path) if os.path.isdir(path) else os.stat(path).st_size == 0
    except OSError:
        return None


def _least(*values: bool | None) -> bool | None:
    """All of them, as `and` has it: false if one is, else unknown if one is."""
    if False in values:
        return False
    return None if None in values else True
