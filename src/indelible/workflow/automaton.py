"""Regular expressions that cannot explode: those of `re`, without what needs backtracking, searched in linear time.

Python's own engine tries the ways through a pattern one after the other, so that `(a+)+b` takes a week for forty letters. Here
all ways are followed at once (Thompson 1968): a text of n characters takes n steps of at most as many states as the pattern
has. What cannot be had that way is refused when a pattern is compiled, as RE2 refuses it: looking round, going back to a
group, possessive and atomic groups.

`^` and `$` are the beginning and the end of a line, `.` is any character but a newline. What a pattern means is otherwise what
`re.search` with `re.MULTILINE` says of it.
"""

from __future__ import annotations

import re
import warnings
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from indelible.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Test = Callable[[str], bool]

MOST_STATES = 1_000
"""States of one pattern: `(a{30}){30}` has 900."""
MOST_KNOWN = 4_096
"""Steps that are remembered at once; more of them are worked out again."""
EDGE, LINE, WORD, OTHER = range(4)
"""What stands beside a place in a text: nothing, a newline, a letter of a word, anything else."""
_CHAR, _SPLIT, _AT, _END = range(4)
_FLAGS = re.IGNORECASE | re.DOTALL | re.MULTILINE | re.VERBOSE | re.UNICODE
_REFUSED = {
    "ASSERT": "looks ahead or behind", "ASSERT_NOT": "looks ahead or behind", "GROUPREF": "goes back to a group",
    "GROUPREF_EXISTS": "goes back to a group", "POSSESSIVE_REPEAT": "has a possessive quantifier", "ATOMIC_GROUP": "has an atomic group",
    "GROUPREF_IGNORE": "goes back to a group", "FAILURE": "can never match",
}  # fmt: skip
_PLACES: dict[str, Callable[[int, int], bool]] = {
    "AT_BEGINNING": lambda before, _: before <= LINE,
    "AT_BEGINNING_STRING": lambda before, _: before == EDGE,
    "AT_END": lambda _, after: after <= LINE,
    "AT_END_STRING": lambda _, after: after == EDGE,
    "AT_BOUNDARY": lambda before, after: (before == WORD) != (after == WORD),
    "AT_NON_BOUNDARY": lambda before, after: (before == WORD) == (after == WORD),
}
_CATEGORIES: dict[str, Test] = {
    "DIGIT": str.isdecimal, "SPACE": str.isspace, "WORD": lambda letter: letter.isalnum() or letter == "_",
}  # fmt: skip


class Automaton:
    """One compiled pattern.

    Raises:
        UsageError: it is no regular expression, needs backtracking, or is too large.
    """

    def __init__(self, pattern: str) -> None:
        self._states: list[tuple[int, Any, int]] = [(_END, None, 0)]
        self._closed: dict[tuple[frozenset[int], int, int], frozenset[int]] = {}
        self._next: dict[tuple[frozenset[int], str], frozenset[int]] = {}
        parsed = _parse(pattern)
        flags = parsed.state.flags
        if flags & ~_FLAGS:
            raise UsageError("The pattern switches re.ASCII or re.LOCALE on", remedy="Take that flag out")
        self._start = self._sequence(list(parsed), 0, flags)
        self.literal = "" if flags & re.IGNORECASE else _longest_literal(parsed)
        """Text that stands in whatever the pattern matches: where it is not there, nothing need be searched."""

    @property
    def matches_nothing(self) -> bool:
        r"""Whether it matches a place without any text there (`x*`, `\b`, the empty pattern), and so nearly everywhere."""
        seen, waiting = {self._start}, [self._start]
        while waiting:
            kind, first, second = self._states[waiting.pop()]
            if kind == _END:
                return True
            after = () if kind == _CHAR else (first, second) if kind == _SPLIT else (second,)
            waiting += [state for state in after if state not in seen]
            seen.update(after)
        return False

    def search(self, text: str) -> bool:
        """Whether the pattern matches somewhere in `text`."""
        if self.literal not in text:
            return False
        start, here, before = frozenset((self._start,)), frozenset[int](), EDGE
        for letter in text:
            after = _beside(letter)
            closed = self._closure(here | start, before, after)
            if 0 in closed:
                return True
            here, before = self._step(closed, letter), after
        return 0 in self._closure(here | start, before, EDGE)

    def _closure(self, states: frozenset[int], before: int, after: int) -> frozenset[int]:
        """Where one can be without reading on."""
        known = self._closed.get((states, before, after))
        if known is not None:
            return known
        seen, waiting = set(states), list(states)
        while waiting:
            kind, first, second = self._states[waiting.pop()]
            more = (first, second) if kind == _SPLIT else (second,) if kind == _AT and first(before, after) else ()
            waiting += [state for state in more if state not in seen]
            seen.update(more)
        if len(self._closed) >= MOST_KNOWN:
            self._closed.clear()
        found = self._closed[states, before, after] = frozenset(seen)
        return found

    def _step(self, states: frozenset[int], letter: str) -> frozenset[int]:
        known = self._next.get((states, letter))
        if known is not None:
            return known
        rows = (self._states[state] for state in states)
        found = frozenset(second for kind, first, second in rows if kind == _CHAR and first(letter))
        if len(self._next) >= MOST_KNOWN:
            self._next.clear()
        self._next[states, letter] = found
        return found

    def _add(self, kind: int, first: object, second: int) -> int:
        if len(self._states) >= MOST_STATES:
            raise UsageError(
                f"The pattern is too large: counted out it has more than {MOST_STATES} places",
                remedy="Use smaller numbers between braces, or * and +",
            )
        self._states.append((kind, first, second))
        return len(self._states) - 1

    def _sequence(self, items: Sequence[tuple[object, Any]], after: int, flags: int) -> int:
        """The state at which a row of items begins whose end leads to `after`: made from its end."""
        for op, value in reversed(items):
            after = self._item(str(op), value, after, flags)
        return after

    def _item(self, op: str, value: Any, after: int, flags: int) -> int:  # noqa: ANN401 - as `re` parsed it
        if op in _REFUSED:
            raise UsageError(
                f"The pattern {_REFUSED[op]}, which cannot be searched in linear time",
                remedy="Say it without, or with two patterns",
            )
        if op == "BRANCH":
            return self._either([self._sequence(list(way), after, flags) for way in value[1]])
        if op == "SUBPATTERN":
            return self._sequence(list(value[3]), after, (flags | value[1]) & ~value[2])
        if op in ("MAX_REPEAT", "MIN_REPEAT"):
            return self._repeat(*value, after=after, flags=flags)
        if op == "AT":
            return self._add(_AT, _PLACES[str(value)], after)
        return self._add(_CHAR, _test(op, value, flags), after)

    def _either(self, ways: list[int]) -> int:
        found = ways.pop()
        while ways:
            found = self._add(_SPLIT, ways.pop(), found)
        return found

    def _repeat(self, least: int, most: Any, items: Any, *, after: int, flags: int) -> int:  # noqa: ANN401 - as `re` parsed it
        row = list(items)
        if str(most) == "MAXREPEAT":
            loop = self._add(_SPLIT, 0, after)
            self._states[loop] = (_SPLIT, self._sequence(row, loop, flags), after)
            after = loop
        else:
            end = after
            for _ in range(int(most) - least):
                after = self._add(_SPLIT, self._sequence(row, after, flags), end)
        for _ in range(least):
            after = self._sequence(row, after, flags)
        return after


def _parse(pattern: str) -> Any:  # noqa: ANN401 - the parser of `re` has no types
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return import_module("re._parser").parse(pattern)
    except (re.error, OverflowError, RecursionError) as exc:
        said = exc.msg if isinstance(exc, re.error) else type(exc).__name__
        place = f" at character {exc.pos + 1}" if isinstance(exc, re.error) and exc.pos is not None else ""
        raise UsageError(
            f"The pattern is no regular expression: {said}{place}",
            remedy="A \\ before a character means it by its letter",
        ) from exc


def _beside(letter: str) -> int:
    return LINE if letter == "\n" else WORD if letter.isalnum() or letter == "_" else OTHER


def _test(op: str, value: Any, flags: int) -> Test:  # noqa: ANN401 - as `re` parsed it
    """Whether one character is what an item means."""
    if op == "ANY":
        return (lambda _: True) if flags & re.DOTALL else (lambda letter: letter != "\n")
    negated, tests = op == "NOT_LITERAL", []
    if op == "IN":
        negated = bool(value) and str(value[0][0]) == "NEGATE"
        tests = [_member(str(kind), what) for kind, what in value[negated:]]
    else:
        tests = [_member("LITERAL", value)]
    cases = _cases if flags & re.IGNORECASE else tuple[str]

    def test(letter: str) -> bool:
        return any(one(case) for case in cases((letter,)) for one in tests) != negated

    return test


def _cases(letters: Iterable[str]) -> tuple[str, ...]:
    """A letter in each of its forms."""
    return tuple({form for letter in letters for form in (letter, letter.lower(), letter.upper(), letter.lower().upper()) if len(form) == 1})  # fmt: skip


def _member(kind: str, value: Any) -> Test:  # noqa: ANN401 - as `re` parsed it
    if kind == "RANGE":
        return lambda letter: value[0] <= ord(letter) <= value[1]
    if kind == "CATEGORY":
        _, _, name = str(value).partition("_")
        test = _CATEGORIES[name.removeprefix("NOT_")]
        return (lambda letter: not test(letter)) if name.startswith("NOT_") else test
    return lambda letter: ord(letter) == value


def _longest_literal(items: Iterable[tuple[object, Any]]) -> str:
    """The longest run of letters that stands in every match, of those that stand side by side at the top."""
    runs = [""]
    for op, value in items:
        if str(op) == "LITERAL":
            runs[-1] += chr(value)
        elif str(op) == "SUBPATTERN" and not value[1] | value[2]:
            runs += [_longest_literal(value[3]), ""]
        elif str(op) != "AT":
            runs.append("")
    return max(runs, key=len)


@lru_cache(maxsize=512)
def compiled(pattern: str) -> Automaton:
    """The automaton of a pattern, made once in a process.

    Raises:
        UsageError: as `Automaton`.
    """
    return Automaton(pattern)
