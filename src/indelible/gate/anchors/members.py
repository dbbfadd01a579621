"""A member of a JSON or TOML file, by its path: how the version of an API or one setting is anchored.

    openapi.json#info.version
    pyproject.toml#tool.ruff.lint.per-file-ignores."src/**"
    openapi.json#/paths/~1users/get        (a JSON Pointer, RFC 6901)

A part that is a number counts from 0 in a list. The digest is that of the member's canonical JSON, so that layout and
the order of members do not count.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time
from hashlib import sha256
from math import isfinite
from typing import TYPE_CHECKING, cast

from indelible.gate.anchors.locating import CHANGED, MISSING, Doubt
from indelible.seal import canonical

if TYPE_CHECKING:
    from collections.abc import Mapping

_PART = re.compile(r'"((?:[^"\\]|\\.)*)"(?:\.|$)|([^."]+)(?:\.|$)')
_INDEX = re.compile("[0-9]{1,9}")
_SAFE = 2**53 - 1
_DEEP = 64


def member_digest(document: object, member: str) -> str:
    """`sha256:` and the digest of a member's canonical JSON.

    Raises:
        Doubt: there is no such member.
    """
    value = document
    for part in parse_member(member):
        if isinstance(value, dict) and part in value:
            value = value[part]
        elif isinstance(value, list) and _INDEX.fullmatch(part) and int(part) < len(value):
            value = value[int(part)]
        else:
            raise Doubt(MISSING, "has no such member any more")
    return f"sha256:{sha256(canonical.dumps(value)).hexdigest()}"


def parse_member(member: str) -> tuple[str, ...]:
    """The parts of a member's path.

    Raises:
        Doubt: it is none.
    """
    if member.startswith("/"):
        return tuple(part.replace("~1", "/").replace("~0", "~") for part in member[1:].split("/"))
    parts: list[str] = []
    at = 0
    while at < len(member):
        found = _PART.match(member, at)
        if found is None:
            raise Doubt(MISSING, "names no member", 'Write it as info.version, or "quoted.part".version')
        parts.append(re.sub(r"\\(.)", r"\1", found[1]) if found[1] is not None else found[2])
        at = found.end()
    return tuple(parts)


def read_document(content: bytes) -> Mapping[str, object] | list[object]:
    """The content of a JSON or TOML file, as JSON has it.

    Raises:
        Doubt: it is neither.
    """
    if content.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"["):
        try:
            found = canonical.loads(content.removeprefix(b"\xef\xbb\xbf"))
        except canonical.CanonicalError:
            found = None  # a TOML file may begin with a table's name
        if isinstance(found, dict | list):
            return found  # type: ignore[return-value] # Json is invariant
    return _read_toml(content)


def _read_toml(content: bytes) -> dict[str, object]:
    import tomllib

    try:
        plain = _plain(tomllib.loads(content.decode("utf-8-sig")), 0)
    except (ValueError, RecursionError):
        raise Doubt(CHANGED, "cannot be read as JSON or TOML", "Anchor the file as a whole") from None
    return cast("dict[str, object]", plain)


def _plain(value: object, depth: int) -> object:
    """TOML's values as JSON has them: what it lacks becomes text."""
    if depth > _DEEP:
        raise RecursionError
    if isinstance(value, dict):
        return {name: _plain(member, depth + 1) for name, member in value.items()}
    if isinstance(value, list):
        return [_plain(member, depth + 1) for member in value]
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, int) and not -_SAFE <= value <= _SAFE:
        return str(value)
    return repr(value) if isinstance(value, float) and not isfinite(value) else value
