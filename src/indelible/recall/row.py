"""One memory as the index knows it: no text, but what was derived from a verified one.

A packed row is a JSON array of what is short, a newline, and the two byte strings:

    [seq, labels, times, group, order, size, len(features)] LF bits(128) sha256(32) commitment(32) features
"""

from __future__ import annotations

import json
from typing import NamedTuple

from indelible.errors import Malformed

BITS_SIZE = 128
"""Bytes of the beginning of a text that are compared bit by bit."""
DIGEST_SIZE = 32
FOREVER = float("inf")
_FIXED = BITS_SIZE + 2 * DIGEST_SIZE


class Row(NamedTuple):
    """What is kept of the present version of one memory."""

    seq: int
    """The log entry that saved it."""
    features: bytes
    """What `tokens.features` made of its text."""
    labels: tuple[str, ...]
    """`kind:…`, `tag:…`, `scope:…`: what a query may be narrowed to."""
    times: tuple[float, float, float, float]
    """Saved at, valid from, valid until, expires at: seconds since 1970; -inf and inf where nothing is said."""
    group: int
    """Which episode it is a turn of (64 bits), 0 for none."""
    order: int
    """Its place there."""
    size: int
    """Bytes of the text."""
    bits: bytes
    """The first 128 bytes of the text, zeros behind a shorter one."""
    sha256: bytes
    commitment: bytes
    """The salted commitment to its content that the log holds: what binds this row to an entry."""


def pack(row: Row) -> bytes:
    """The bytes of a row."""
    times = [when if abs(when) != FOREVER else None for when in row.times]
    short = [row.seq, list(row.labels), times, row.group, row.order, row.size, len(row.features)]
    head = json.dumps(short, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")
    return b"".join((head, b"\n", row.bits, row.sha256, row.commitment, row.features))


def unpack(packed: bytes) -> Row:
    """The exact inverse of `pack`.

    Raises:
        Malformed: these are not a row's bytes.
    """
    head, _, rest = packed.partition(b"\n")
    try:
        seq, labels, times, group, order, size, length = json.loads(head)
        saved, since, until, expires = times
    except (ValueError, TypeError) as exc:
        raise Malformed("A row of the index does not parse") from exc
    if len(rest) != _FIXED + length:
        raise Malformed("A row of the index is cut")
    digests = rest[BITS_SIZE:_FIXED]
    return Row(
        seq, rest[_FIXED:], tuple(labels),
        (_or(saved, -FOREVER), _or(since, -FOREVER), _or(until, FOREVER), _or(expires, FOREVER)), group, order, size,
        rest[:BITS_SIZE], digests[:DIGEST_SIZE], digests[DIGEST_SIZE:],
    )  # fmt: skip


def _or(value: float | None, other: float) -> float:
    return other if value is None else value


def bits_of(content: bytes) -> bytes:
    """The beginning of a text, at its fixed size."""
    return content[:BITS_SIZE].ljust(BITS_SIZE, b"\0")
