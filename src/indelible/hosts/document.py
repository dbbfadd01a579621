"""What a host sent: bytes that should be one JSON object, and are whatever they are."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MOST = 5_000_000
"""Bytes of a document; a larger one is not looked into."""
_DEEPEST = 24
_MOST_TEXTS = 2_000
_BOM = b"\xef\xbb\xbf"


class Unreadable(ValueError):
    """Not a document of a host; says why, in words without any of its content."""


def read(data: bytes) -> Mapping[str, object]:
    """The members of the document.

    Raises:
        Unreadable: it is empty, too large, not UTF-8, not JSON, nested too deeply, or no object.
    """
    if len(data) > MOST:
        raise Unreadable(f"the host sent more than {MOST // 1_000_000} MB")
    text = data.removeprefix(_BOM)
    if not text.strip():
        raise Unreadable("the host sent nothing")
    try:
        members = json.loads(text.decode("utf-8"))
    except UnicodeDecodeError:
        raise Unreadable("the host sent bytes that are not UTF-8") from None
    except RecursionError:
        raise Unreadable("the host sent JSON that is nested too deeply") from None
    except ValueError:
        raise Unreadable("the host sent something that is not JSON") from None
    if not isinstance(members, dict):
        raise Unreadable("the host sent JSON that is no object")
    return members


def text(members: Mapping[str, object], *names: str) -> str:
    """The first of these members that is a text with something in it; empty where none is."""
    for name in names:
        value = members.get(name)
        if isinstance(value, str) and value:
            return value
    return ""


def table(members: Mapping[str, object], *names: str) -> Mapping[str, object]:
    """The first of these members that is an object; one that is JSON in a text counts, as some hosts send it."""
    for name in names:
        value = members.get(name)
        if isinstance(value, str) and value.startswith("{"):
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                continue
        if isinstance(value, dict):
            return value
    return {}


def flag(members: Mapping[str, object], *names: str) -> bool:
    """Whether one of these members is true."""
    return any(members.get(name) is True for name in names)


def texts(value: object) -> Iterator[tuple[str, str]]:
    """Every text somewhere in a value, with the name of the member that it stands under, the outermost first.

    Raises:
        Unreadable: there are more than two thousand, or they are nested too deeply.
    """
    level: list[tuple[str, object]] = [("", value)]
    found = 0
    for _ in range(_DEEPEST):
        below: list[tuple[str, object]] = []
        for name, one in level:
            if isinstance(one, str):
                found += 1
                yield name, one
            elif isinstance(one, dict):
                below += [(str(key), member) for key, member in one.items()]
            elif isinstance(one, list):
                below += [(name, member) for member in one]
            if found > _MOST_TEXTS:
                raise Unreadable(f"the tool call holds more than {_MOST_TEXTS} texts")
        level = below
        if not level:
            return
    raise Unreadable("the tool call is nested too deeply")


def format_json(value: Mapping[str, object]) -> str:
    """One line of ASCII: what no terminal's encoding can break."""
    return json.dumps(value, separators=(",", ":")) + "\n"
