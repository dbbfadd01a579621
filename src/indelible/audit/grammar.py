"""The strict reading of an entry and of a record's body, written for the audit alone.

An entry is matched whole against its grammar, as docs/format.md has it: there is one spelling of each, and what does
not match is none. A record's body is JSON in its canonical form (RFC 8785): parsed, written again and compared.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from indelible.errors import UsageError
from indelible.seal import canonical

PAYLOAD_TYPE = "application/vnd.indelible.entry.v1+json"
SIGNATURE_SIZE = 64
MAX_INT = 2**53 - 1
MAX_TEXT = 512
"""Bytes of UTF-8 in a key or an operation id."""

_SAFE_DIGITS = 15
_MAX_DEPTH = 64


class Fault(ValueError):
    """Bytes that are not what they should be; the text says how."""


class Entry(NamedTuple):
    """One entry of a log. What its type has no member for is empty."""

    type: str
    at: str
    by: str
    """Key id of who signed it, eight hex digits."""
    origin: str
    op: str
    seq: int
    key: str = ""
    version: int = 0
    prev: bytes = b""
    """Leaf hash of the entry about the same key before this one; empty for the first."""
    prev_seq: int = -1
    content: bytes = b""
    record: bytes = b""
    subject: str = ""
    """key-rotated: the new verifier key; key-revoked: the key id; store-restored: the root given up."""
    bound: int = -1
    """key-revoked: the first entry no longer trusted; store-restored: the size given up."""


_TEXT = r'"((?:[^"\\\x00-\x1f]++|\\(?:["\\bfnrt]|u00(?:0[0-7bef]|1[0-9a-f])))*+)"'
_INT = r"(0|[1-9][0-9]{0,15})"
_HASH = r'"([0-9a-f]{64})"'
_AT = (
    r'"at":"([0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])T(?:[01][0-9]|2[0-3]):[0-5][0-9]:(?:[0-5][0-9]|60)Z)"'
)
_BY = r'"by":"([0-9a-f]{8})"'
_PREV = rf'(?:"prev":null,"prev_seq":null|"prev":{_HASH},"prev_seq":{_INT})'
_REASON = rf'"reason":(?:null|{_TEXT})'

_SAVED = re.compile(
    rf'\{{{_AT},{_BY},"content":{_HASH},"how":"(?:saved|forced|imported|restored)","key":{_TEXT},"op":{_TEXT},"origin":{_TEXT},'
    rf'{_PREV},{_REASON},"record":{_HASH},"seq":{_INT},"type":"saved","version":{_INT}\}}'
)
_NOTED = re.compile(
    rf'\{{{_AT},{_BY},"digest":(?:null|{_TEXT}),"key":{_TEXT},"op":{_TEXT},"origin":{_TEXT},{_PREV},{_REASON},"seq":{_INT},'
    r'"type":"(reviewed|superseded|archived|unarchived|erased|stamped|receipt-issued|receipt-used|scar|waived)",'
    rf'"version":{_INT}\}}'
)
_GOVERNED = re.compile(
    rf'\{{{_AT},{_BY},"index":{_INT},"op":{_TEXT},"origin":{_TEXT},{_REASON},"seq":{_INT},"subject":{_TEXT},'
    r'"type":"(key-rotated|key-revoked|store-restored)"\}'
)
_SUBJECTS = {
    "key-rotated": re.compile(r"[^\x00-\x20+]+\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44}"),
    "key-revoked": re.compile(r"[0-9a-f]{8}"),
    "store-restored": re.compile(r"[0-9a-f]{64}"),
}


def parse_entry(body: bytes) -> Entry:
    """The entry in one spelling of it, the canonical one.

    Raises:
        Fault: anything else.
    """
    try:
        text = body.decode()
    except UnicodeDecodeError as exc:
        raise Fault("it is not UTF-8") from exc
    if match := _SAVED.fullmatch(text):
        return _saved(*match.groups())
    if match := _NOTED.fullmatch(text):
        return _noted(*match.groups())
    if match := _GOVERNED.fullmatch(text):
        return _governed(*match.groups())
    raise Fault("it is not in the form of an entry")


def _saved(  # noqa: PLR0913, PLR0917 - the members of the grammar, in its order
    at: str, by: str, content: str, key: str, op: str, origin: str, prev: str | None, prev_seq: str | None,
    _reason: str | None, record: str, seq: str, version: str,
) -> Entry:  # fmt: skip
    link, link_seq = (bytes.fromhex(prev), _number(prev_seq or "")) if prev else (b"", -1)
    return Entry("saved", at, by, _text(origin), _name(op), _number(seq), _name(key), _number(version), link, link_seq,
                 bytes.fromhex(content), bytes.fromhex(record))  # fmt: skip


def _noted(  # noqa: PLR0917 - the members of the grammar, in its order
    at: str, by: str, _digest: str | None, key: str, op: str, origin: str, prev: str | None, prev_seq: str | None,
    _reason: str | None, seq: str, kind: str, version: str,
) -> Entry:  # fmt: skip
    link, link_seq = (bytes.fromhex(prev), _number(prev_seq or "")) if prev else (b"", -1)
    return Entry(kind, at, by, _text(origin), _name(op), _number(seq), _name(key), _number(version), link, link_seq)


def _governed(  # noqa: PLR0917 - the members of the grammar, in its order
    at: str, by: str, index: str, op: str, origin: str, _reason: str | None, seq: str, subject: str, kind: str
) -> Entry:  # fmt: skip
    if not _SUBJECTS[kind].fullmatch(_text(subject)):
        raise Fault(f"a {kind} speaks of {subject[:80]!r}")
    return Entry(kind, at, by, _text(origin), _name(op), _number(seq), subject=_text(subject), bound=_number(index))


def _text(raw: str) -> str:
    """What a string token stands for, without its quotation marks."""
    return str(json.loads(f'"{raw}"')) if "\\" in raw else raw


def _name(raw: str) -> str:
    text = _text(raw)
    if not text or (len(text) > MAX_TEXT // 4 and len(text.encode()) > MAX_TEXT):
        raise Fault(f"a key or an operation id in it is not of 1 to {MAX_TEXT} bytes")
    return text


def _number(digits: str) -> int:
    number = int(digits)
    if number > MAX_INT:
        raise Fault("a number in it is beyond 2**53 - 1")
    return number


def parse_body(data: bytes) -> dict[str, object]:
    """The object in a record's body.

    Raises:
        Fault: it is not canonical JSON (RFC 8785), or no object.
    """
    try:
        text = data.decode()
        value, same = _parse_plain(text) if _is_plain(text) else _parse_odd(data)
    except _Odd:
        value, same = _parse_odd(data)
    except (ValueError, RecursionError) as exc:
        raise Fault("it is not JSON") from exc
    if not same or not isinstance(value, dict):
        raise Fault("it is not an object in canonical JSON")
    return value


class _Odd(Exception):
    """Something in which the C encoder and RFC 8785 may differ."""


def _parse_plain(text: str) -> tuple[object, bool]:
    value = _DECODER.decode(text)
    return value, _ENCODER.encode(value) == text


def _parse_odd(data: bytes) -> tuple[object, bool]:
    try:
        value = canonical.loads(data)
        return value, canonical.dumps(value) == data
    except UsageError as exc:
        raise Fault("it is not canonical JSON") from exc


def _is_plain(text: str) -> bool:
    """Whether the keys' order by code point is that by UTF-16 unit, and no nesting is too deep."""
    return (text.isascii() or max(text) <= "\uffff") and text.count("[") + text.count("{") <= _MAX_DEPTH


def _read_int(token: str) -> int:
    if len(token) > _SAFE_DIGITS:
        raise _Odd
    return int(token)


def _refuse(_token: str) -> object:
    raise _Odd


_DECODER = json.JSONDecoder(parse_int=_read_int, parse_float=_refuse, parse_constant=_refuse)
_ENCODER = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, check_circular=False
)
