"""Choosing among the rows that a plain server sends for one key. Pure.

A server may keep every version, answer in any order, and add keys that only begin with the one asked for. The
pair that counts is the newest content for which there is a checksum: taking content from one version and the
checksum from another would show tampering where there is none. Newest is told by `updated_at` or `created_at`,
then by a whole number in `id`; where all rows have it, and never by their order.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, TypeAlias

from indelible.errors import Malformed, Unchecked
from indelible.plain.forms import Unreadable, read_checksum
from indelible.seal.digest import Digest

if TYPE_CHECKING:
    from collections.abc import Callable

Rank: TypeAlias = tuple[float, int]

_SHOWN = 12
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FOREVER = 250_000_000_000
"""Seconds, in the year 9892: numbers beyond are no times."""
_TIMES = ("updated_at", "created_at")


@dataclass(frozen=True, slots=True)
class Row:
    """One version of one key, as a server sent it."""

    content: str
    id: int | None
    at: float | None
    """Seconds since 1970."""
    digest: Digest
    """Of the content, as bytes of UTF-8."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The version that counts."""

    content: Row
    checksum: str | None
    """None where the key has none at all."""
    warnings: tuple[str, ...]
    versions: str
    """What was there, in words, for a person who has to find out."""


def parse_rows(memories: list[object], key: str) -> tuple[Row, ...]:
    """The rows of exactly this key.

    Raises:
        Malformed: one of them has no text, or a text that is not Unicode.
    """
    return tuple(_row(one, key) for one in memories if isinstance(one, dict) and one.get("key_name") == key)


def choose(contents: tuple[Row, ...], checksums: tuple[Row, ...]) -> Choice:
    """The newest consistent pair; without one, the newest of each, for the verdict to judge.

    Args:
        contents: The rows of the key; at least one.
        checksums: The rows of its `KEY.sha256`.

    Raises:
        Unchecked: several versions could be the newest, and the server says of none that it is.
    """
    rank, versions = _ranking(contents), _describe(contents, checksums)
    stated = {named for row in checksums if isinstance(named := read_checksum(row.content), Digest)}
    paired = [row for row in contents if row.digest in stated]
    best = _newest(paired or list(contents), rank, versions)
    if not paired:
        beside = _newest(list(checksums), _ranking(checksums), versions).content if checksums else None
        return Choice(best, beside, (), versions)
    newer = [row for row in contents if rank(row) > rank(best) and row.digest not in stated]
    warnings = tuple(
        f"A newer row ({_label(row, row.digest)}) has no checksum of its own, as after an edit or a save that was cut in half; "
        f"the newest pair that belongs together is used ({_label(best, best.digest)})"
        for row in newer
    )
    return Choice(best, best.digest.hex, warnings, versions)


def _row(found: dict[str, object], key: str) -> Row:
    content = found.get("content")
    if not isinstance(content, str):
        raise Malformed(f"The server's row for {key!r} has no text", key=key)
    try:
        data = content.encode()
    except UnicodeEncodeError as exc:
        raise Malformed(
            f"The server's row for {key!r} holds half of a surrogate pair: no client saved that", key=key
        ) from exc
    at = next((seconds for name in _TIMES if (seconds := _seconds(found.get(name))) is not None), None)
    return Row(content, _number(found.get("id")), at, Digest.of(data))


def _ranking(rows: tuple[Row, ...]) -> Callable[[Row], Rank]:
    """How new a row is, by what all of these rows have."""
    timed = all(row.at is not None for row in rows)
    numbered = all(row.id is not None for row in rows)
    return lambda row: ((row.at or 0.0) if timed else 0.0, (row.id or 0) if numbered else 0)


def _newest(rows: list[Row], rank: Callable[[Row], Rank], versions: str) -> Row:
    top = max(map(rank, rows))
    firsts = [row for row in rows if rank(row) == top]
    if len({row.digest for row in firsts}) > 1:
        raise Unchecked(
            f"Not checked: the server sends several versions and nothing tells which is the newest ({versions})",
            remedy="Delete the ones that are not wanted, or ask the server for times or ids",
        )
    return firsts[0]


def _describe(contents: tuple[Row, ...], checksums: tuple[Row, ...]) -> str:
    """In an order of their own, so that the words do not depend on the server's."""
    said = sorted(f"content {_label(row, row.digest)}" for row in contents)
    said += sorted(f"checksum {_label(row, read_checksum(row.content))}" for row in checksums)
    more = [f"and {len(said) - _SHOWN} more"] if len(said) > _SHOWN else []
    return "; ".join(said[:_SHOWN] + more)


def _label(row: Row, named: Digest | Unreadable) -> str:
    """By which a person finds a row again: `id 7 of 2026-11-01T00:00:00Z, sha256:b67c82e2…`."""
    number = f"id {row.id}" if row.id is not None else "a row"
    when = f" of {_EPOCH + timedelta(seconds=row.at):%Y-%m-%dT%H:%M:%SZ}" if row.at is not None else ""
    return f"{number}{when}, {f'sha256:{named.hex[:8]}…' if isinstance(named, Digest) else named.why}"


def _number(value: object) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20 else None


def _seconds(value: object) -> float | None:
    """The instant of an RFC 3339 time or of a number of seconds. A time without a zone is taken for UTC."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value) if 0 <= value < _FOREVER else None
    try:
        time = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    if time is None:
        return None
    return ((time if time.tzinfo else time.replace(tzinfo=UTC)) - _EPOCH).total_seconds()
