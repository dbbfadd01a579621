"""The strict reading of an entry, written for the audit alone.

An entry is matched whole against its grammar, as docs/format.md has it: there is one spelling of each, and what does
not match is none.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

PAYLOAD_TYPE = "application/vnd.indelible.entry.v1+json"
SIGNATURE_SIZE = 64
MAX_NAME = 512
"""Bytes of UTF-8 in a key or an operation id."""

_SHORT = MAX_NAME // 4
"""So few characters have no more bytes than that."""

_PLAIN = r'[^"\\\x00-\x1f]*+'
INSIDE = rf'{_PLAIN}(?:\\(?:["\\bfnrt]|u00(?:0[0-7bef]|1[0-9a-f])){_PLAIN})*+'
"""What may stand between the quotation marks of a string in canonical JSON: nothing is escaped that need not be."""


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
    """key-rotated: the new verifier key; key-revoked: the key id; store-restored: the root given up, then the root before it."""
    bound: int = -1
    """key-revoked: the first entry no longer trusted; store-restored: the size given up."""
    how: str = ""
    """saved: in which way."""
    digest: str = ""
    """Leaf hash in hex: of a judgement, that of the version; of a note, what it speaks of."""


_TEXT = f'"({INSIDE})"'
_NAME = f'"(?!")({INSIDE})"'
_INT = r"(0|[1-9][0-9]{0,14})"
_HASH = r'"([0-9a-f]{64})"'
_AT = (
    r'"at":"([0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])T(?:[01][0-9]|2[0-3]):[0-5][0-9]:(?:[0-5][0-9]|60)Z)"'
)
_BY = r'"by":"([0-9a-f]{8})"'
_PREV = rf'(?:"prev":null,"prev_seq":null|"prev":{_HASH},"prev_seq":{_INT})'
_REASON = rf'"reason":(?:null|{_TEXT})'

_SAVED = re.compile(
    rf'\{{{_AT},{_BY},"content":{_HASH},"how":"(saved|forced|imported|restored)","key":{_NAME},"op":{_NAME},"origin":{_NAME},'
    rf'{_PREV},{_REASON},"record":{_HASH},"seq":{_INT},"type":"saved","version":{_INT}\}}'
)
_NOTED = re.compile(
    rf'\{{{_AT},{_BY},"digest":(?:null|{_TEXT}),"key":{_NAME},"op":{_NAME},"origin":{_NAME},{_PREV},{_REASON},"seq":{_INT},'
    r'"type":"(archived|unarchived|erased|stamped|receipt-issued|receipt-used|scar|waived)",'
    rf'"version":{_INT}\}}'
)
_JUDGED = re.compile(
    rf'\{{{_AT},{_BY},"digest":{_HASH},"key":{_NAME},"method":"(?:human|process)","op":{_NAME},"origin":{_NAME},'
    rf'"prev":{_HASH},"prev_seq":{_INT},{_REASON},"seq":{_INT},"subject":(?:null|{_TEXT}),'
    r'"type":"(?:(reviewed)","verdict":"(?:approve|reject|dispute|assign)|(superseded)","verdict":"supersede|(amended)","verdict":"amend)",'
    rf'"version":{_INT}\}}'
)
_GOVERNED = re.compile(
    rf'\{{{_AT},{_BY},"index":{_INT},"op":{_NAME},"origin":{_NAME},{_REASON},"seq":{_INT},"subject":{_TEXT},'
    r'"type":"(key-rotated|key-revoked|store-restored)"\}'
)
_SUBJECTS = {
    "key-rotated": re.compile(r"[^\x00-\x20+]+\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44}"),
    "key-revoked": re.compile(r"[0-9a-f]{8}"),
    "store-restored": re.compile(r"[0-9a-f]{128}"),
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
        entry = _saved(*match.groups())
    elif match := _NOTED.fullmatch(text):
        entry = _noted(*match.groups())
    elif match := _JUDGED.fullmatch(text):
        entry = _judged(*match.groups())
    elif match := _GOVERNED.fullmatch(text):
        entry = _governed(*match.groups())
    else:
        raise Fault("it is not in the form of an entry")
    if "\\" in text:
        entry = entry._replace(origin=unescape(entry.origin), op=unescape(entry.op), key=unescape(entry.key))
    if len(entry.key) + len(entry.op) > _SHORT:
        _check_names(entry)
    return entry


def _check_names(entry: Entry) -> None:
    if max(len(entry.key.encode()), len(entry.op.encode())) > MAX_NAME:
        raise Fault(f"a key or an operation id in it has more than {MAX_NAME} bytes")


def _saved(  # noqa: PLR0913, PLR0917 - the members of the grammar, in its order
    at: str, by: str, content: str, how: str, key: str, op: str, origin: str, prev: str | None, prev_seq: str | None,
    _reason: str | None, record: str, seq: str, version: str,
) -> Entry:  # fmt: skip
    link, link_seq = (bytes.fromhex(prev), int(prev_seq or 0)) if prev else (b"", -1)
    return Entry("saved", at, by, origin, op, int(seq), key, int(version), link, link_seq,
                 bytes.fromhex(content), bytes.fromhex(record), how=how)  # fmt: skip


def _noted(  # noqa: PLR0913, PLR0917 - the members of the grammar, in its order
    at: str, by: str, digest: str | None, key: str, op: str, origin: str, prev: str | None, prev_seq: str | None,
    _reason: str | None, seq: str, kind: str, version: str,
) -> Entry:  # fmt: skip
    link, link_seq = (bytes.fromhex(prev), int(prev_seq or 0)) if prev else (b"", -1)
    return Entry(kind, at, by, origin, op, int(seq), key, int(version), link, link_seq, digest=digest or "")


def _judged(  # noqa: PLR0913, PLR0917 - the members of the grammar, in its order
    at: str, by: str, digest: str, key: str, op: str, origin: str, prev: str, prev_seq: str, _reason: str | None, seq: str,
    _subject: str | None, reviewed: str | None, superseded: str | None, amended: str | None, version: str,
) -> Entry:  # fmt: skip
    kind = reviewed or superseded or amended or ""
    return Entry(
        kind, at, by, origin, op, int(seq), key, int(version), bytes.fromhex(prev), int(prev_seq), digest=digest
    )


def _governed(  # noqa: PLR0917 - the members of the grammar, in its order
    at: str, by: str, index: str, op: str, origin: str, _reason: str | None, seq: str, subject: str, kind: str
) -> Entry:  # fmt: skip
    if not _SUBJECTS[kind].fullmatch(subject):
        raise Fault(f"a {kind} speaks of {subject[:80]!r}")
    return Entry(kind, at, by, origin, op, int(seq), subject=subject, bound=int(index))


def unescape(raw: str) -> str:
    """What the inside of a string token stands for."""
    return str(json.loads(f'"{raw}"'))
