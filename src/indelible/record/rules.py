"""What one member of a record may hold: a reader for each kind of leaf, written by hand.

A reader takes a value as JSON gave it and returns it as the model keeps it, or raises `Fault`: what was found and what
is allowed, never where. Whoever reads an object adds the where on the way out, so that a sound record pays nothing for
it, and `Fault.as_usage` makes the one sentence that a user sees::

    scope.level: "galaxy" is none of global, org, user, project, repo, branch, path, session, agent
"""

import json
import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any, NamedTuple

from indelible.errors import UsageError
from indelible.seal import canonical

MAX_INTEGER = 2**53 - 1
"""The largest integer that every JSON reader holds exactly (RFC 7493)."""

MAX_KEY = 512
"""Bytes of UTF-8."""

ACTORS = ("human", "process", "agent", "import", "unknown")

Members = tuple[tuple[str, bytes], ...]
"""Members of a JSON object by name, each with the canonical JSON of its value: frozen, whatever is inside."""

NEVER = object()

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TIME = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?Z")
_LINE_BREAK = re.compile("[\n\r\u2028\u2029]")


class Fault(Exception):
    """One thing that is off: what was found, what is wrong with it, and the path to it."""

    def __init__(self, found: str, problem: str, path: str = "") -> None:
        super().__init__(found, problem, path)
        self.found = found
        self.problem = problem
        self.path = path

    def under(self, step: str) -> "Fault":
        """Return the same fault as seen from one level further out."""
        dot = "." if self.path and not self.path.startswith("[") else ""
        return Fault(self.found, self.problem, f"{step}{dot}{self.path}")

    def as_usage(self) -> UsageError:
        """Return the error for the caller, which names the member."""
        said = f"{self.found} {self.problem}".strip()
        return UsageError(f"{self.path or 'record'}: {said}", member=self.path)


class Rule(NamedTuple):
    """How one kind of value is read and written."""

    read: Callable[[Any], object]
    empty: object = NEVER
    """The value that says no more than the member's absence; it is kept, as an unknown member would be."""
    write: Callable[[Any], object] | None = None
    """None where JSON takes the model's value as it is."""


def shown(value: object) -> str:
    """Return `value` as an error may show it: short, on one line, and safe in any encoding that holds its letters."""
    if isinstance(value, str):
        head = value if len(value) <= 60 else value[:59] + "…"
        return json.dumps(head, ensure_ascii=not head.isprintable())
    if value is None or isinstance(value, bool | int | float):
        return json.dumps(value)[:60]
    if isinstance(value, list):
        return "a list"
    return "an object" if isinstance(value, dict) else f"a Python {type(value).__name__}"


def _read_text(value: object) -> str:
    if type(value) is not str:
        raise Fault(shown(value), "is not text")
    if not value.isascii():
        _utf8(value)
    return value


def _utf8(value: str) -> bytes:
    try:
        return value.encode()
    except UnicodeEncodeError as exc:
        raise Fault(f"character {exc.start}", "is half of a surrogate pair, which UTF-8 cannot hold") from None


def _read_key(value: object) -> str:
    key = _read_text(value)
    size = len(key) if key.isascii() else len(_utf8(key))
    if size > MAX_KEY:
        raise Fault(f"{size} bytes", f"are too many: a key has at most {MAX_KEY} bytes of UTF-8")
    return key


def check_key(key: str) -> str:
    """Return `key` if a memory may be saved under it: any text of 1 to 512 bytes of UTF-8.

    Raises:
        UsageError: It is empty, too long, or holds a lone surrogate.
    """
    if not key:
        raise UsageError(f"key: it is empty; a key has 1 to {MAX_KEY} bytes of UTF-8", member="key")
    try:
        return _read_key(key)
    except Fault as fault:
        raise fault.under("key").as_usage() from None


def _read_time(value: object) -> str:
    found = _TIME.fullmatch(value) if type(value) is str else None
    if type(value) is not str or found is None:
        raise Fault(shown(value), "is not a time in UTC as RFC 3339 writes it: 2026-11-30T09:00:00Z")
    year, month, day, hour, minute, second = map(int, found.groups())
    if hour > 23 or minute > 59:
        raise Fault(shown(value), "is no time of day: 00:00:00 to 23:59:59; midnight is 00:00 of the next day")
    if second > 59:
        why = "has a leap second, which computers' clocks do not count" if second == 60 else "has no such second"
        raise Fault(shown(value), f"{why}: 00 to 59 are allowed")
    try:
        date(year, month, day)
    except ValueError:
        raise Fault(shown(value), "is no day of the calendar") from None
    return value


def instant(when: str) -> int:
    """Return the nanoseconds from 1970 to a time: two times are compared by these, never by their text.

    Raises:
        UsageError: It is no RFC 3339 time in UTC.
    """
    try:
        _read_time(when)
    except Fault as fault:
        raise fault.under("time").as_usage() from None
    since = datetime.fromisoformat(when[:19]).replace(tzinfo=UTC) - _EPOCH
    return (since.days * 86_400 + since.seconds) * 10**9 + int(f"{when[20:-1]:0<9}"[:9])


def _read_actor(value: object) -> str:
    actor = _read_text(value)
    if not actor.startswith(ACTORS) or _LINE_BREAK.search(actor):
        raise Fault(shown(value), "is no actor: human:…, process:…, agent:…, import:… or unknown, on one line")
    return actor


def _read_confidence(value: object) -> float:
    if type(value) not in (int, float) or not 0 <= value <= 1:  # type: ignore[operator]
        raise Fault(shown(value), "is no number from 0 to 1")
    return float(value)  # type: ignore[arg-type]


def _read_members(value: object) -> Members:
    if type(value) is not dict:
        raise Fault(shown(value), "is not an object")
    return tuple(sorted((name, canonical.dumps(member)) for name, member in value.items()))


def write_members(members: Members) -> dict[str, object]:
    """Return `members` as the JSON object they were read from."""
    return {name: canonical.loads(member) for name, member in members}


def integer(least: int) -> Rule:
    """A whole number from `least` up; 3.0 is one, true is none."""

    def read(value: object) -> int:
        if type(value) is float and value.is_integer():
            value = int(value)
        if type(value) is not int or not least <= value <= MAX_INTEGER:
            raise Fault(shown(value), f"is no whole number from {least} to {MAX_INTEGER}")
        return value

    return Rule(read)


def one_of(*allowed: str, empty: object = NEVER) -> Rule:
    """One of a closed set of words."""
    words = frozenset(allowed)

    def read(value: object) -> str:
        if type(value) is not str or value not in words:
            raise Fault(shown(value), f"is none of {', '.join(allowed)}")
        return value

    return Rule(read, empty)


def matching(pattern: str, allowed: str) -> Rule:
    """Text that matches `pattern` from end to end; `allowed` says so in words."""
    matches = re.compile(pattern).fullmatch

    def read(value: object) -> str:
        text = _read_text(value)
        if matches(text) is None:
            raise Fault(shown(text), f"is not {allowed}")
        return text

    return Rule(read)


def nullable(rule: Rule) -> Rule:
    """The same, or null, which says no more than absence."""
    return rule._replace(empty=None)


def list_of(rule: Rule) -> Rule:
    """A list of such values, kept as a tuple."""

    def read(value: object) -> tuple[object, ...]:
        if type(value) is not list:
            raise Fault(shown(value), "is not a list")
        return tuple(_read_item(rule, index, item) for index, item in enumerate(value))

    def write(items: tuple[object, ...]) -> list[object]:
        return list(items) if rule.write is None else [rule.write(item) for item in items]

    return Rule(read, [], write)


def _read_item(rule: Rule, index: int, item: object) -> object:
    try:
        return rule.read(item)
    except Fault as fault:
        raise fault.under(f"[{index}]") from None


def members(names: Rule | None = None) -> Rule:
    """An object that is kept whole and never looked into; `names` may say what its members are called."""

    def read(value: object) -> Members:
        kept = _read_members(value)
        if names is not None:
            for name, _ in kept:
                names.read(name)
        return kept

    return Rule(read, {}, write_members)


TEXT = Rule(_read_text)
KEY = Rule(_read_key, None)
TIME = Rule(_read_time)
ACTOR = Rule(_read_actor)
CONFIDENCE = Rule(_read_confidence)
DIGEST = matching("sha256:[0-9a-f]{64}", "sha256: and 64 lower-case hex digits")
