"""Words of a shell's command line as far as a text tells them: what is quoted, what would be expanded, what nobody can know.

A word has its plain text, and a pattern in which what the shell would match against files (`*`, `?`, `[…]`, `{a,b}`) is
active, what was quoted is not, and UNKNOWN stands for whatever a variable or a command would put there.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import NamedTuple
else:
    from indelible.light import NamedTuple

UNKNOWN = "\0"
_ACTIVE = "*?[{,}"
_MOST = 64
_LONGEST_END = 18


class Word(NamedTuple):
    """One word."""

    text: str
    pattern: str

    @property
    def is_known(self) -> bool:
        """Whether nothing in it is left to a variable or a command."""
        return UNKNOWN not in self.pattern


def literal(text: str) -> str:
    """A pattern that matches just this text."""
    return "".join(f"[{char}]" if char in _ACTIVE else char for char in text)


def spoken(pattern: str) -> str:
    """The text that a pattern says, quoted or not."""
    for char in _ACTIVE:
        pattern = pattern.replace(f"[{char}]", char)
    return pattern


def plain(text: str) -> Word:
    """A word that is what it says."""
    return Word(text, literal(text))


def either(patterns: Sequence[str]) -> str:
    """A pattern that stands for each of these."""
    return "{" + ",".join(patterns) + "}" if len(patterns) > 1 else "".join(patterns)


def alternatives(pattern: str) -> tuple[str, ...]:
    """The patterns of each of its braces: `{a,b}c` is `ac` and `bc`; the first sixty-four."""
    found: list[str] = []
    left = [pattern]
    while left and len(found) + len(left) <= _MOST:
        one = left.pop(0)
        braces = _braces(one)
        if braces is None:
            found.append(one)
        else:
            start, end = braces
            left += [one[:start] + part + one[end + 1 :] for part in _parts(one[start + 1 : end])]
    return tuple(found + left)


def _braces(pattern: str) -> tuple[int, int] | None:
    """Where the first braces with a comma in them begin and end."""
    opened: list[int] = []
    for index, char in _unquoted(pattern):
        if char == "{":
            opened.append(index)
        elif char == "}" and opened:
            start = opened.pop()
            if not opened and len(_parts(pattern[start + 1 : index])) > 1:
                return start, index
    return None


def _parts(inside: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for index, char in _unquoted(inside):
        depth += (char == "{") - (char == "}")
        if char == "," and depth == 0:
            parts.append(inside[start:index])
            start = index + 1
    return [*parts, inside[start:]] if parts else _sequence(inside)


def _sequence(inside: str) -> list[str]:
    """`a..e` and `1..9`, each of their parts; what is longer than can be looked at is unknown."""
    ends = inside.split("..")
    if len(ends) not in (2, 3) or not all(ends):
        return [inside]
    first, last = ends[:2]
    if max(len(first), len(last)) > _LONGEST_END:
        return [inside]
    if first.lstrip("-").isdigit() and last.lstrip("-").isdigit():
        low, high = sorted((int(first), int(last)))
        width = max(len(first), len(last)) if first[:1] == "0" or last[:1] == "0" else 0
        return [str(number).zfill(width) for number in range(low, high + 1)] if high - low < _MOST else [UNKNOWN, ""]
    if len(first) == len(last) == 1:
        low, high = sorted((ord(first), ord(last)))
        found = [chr(number) for number in range(low, high + 1)] if high - low < _MOST else [UNKNOWN, ""]
        return found if len(found) > 1 else [*found, *found]
    return [inside]


def _unquoted(pattern: str) -> Iterator[tuple[int, str]]:
    """Each character that is not one of a quoted `[x]`."""
    index = 0
    while index < len(pattern):
        if (
            pattern[index] == "["
            and pattern[index + 1 : index + 2] in _ACTIVE
            and pattern[index + 2 : index + 3] == "]"
        ):
            index += 3
            continue
        yield index, pattern[index]
        index += 1
