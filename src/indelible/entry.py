"""What an agent's log holds: digests and reasons, never content.

One leaf is `body || signature`: `body` is the canonical JSON (RFC 8785) of a flat
object, `signature` the 64 bytes of Ed25519 over DSSE PAE(PAYLOAD_TYPE, body). The
leaf hash of RFC 6962 covers both, so no stored byte of an entry is outside the tree.

The set of types is closed and extended only by an ADR. They come in four shapes:

    Saved      a version of a memory, by its two commitments
    Noted      something about a memory: archived, erased, …
    Judged     what somebody decided about one version of a memory: reviewed, superseded, amended
    Governed   something about the log itself: a key, a restore

Entries about one key are chained: `prev` is the leaf hash of the one before.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from indelible.errors import Malformed, UsageError

PAYLOAD_TYPE = "application/vnd.indelible.entry.v1+json"
SIGNATURE_SIZE = 64
KEY_ID_SIZE = 8
DIGEST_SIZE = 64
"""Hex digits of a leaf hash."""
RESTORED_SIZE = 128
"""Hex digits of the two roots that a `store-restored` names."""
_HEX = frozenset("0123456789abcdef")
KEY_LIMIT = 512
"""Bytes of UTF-8 in a key."""

SAVED = "saved"
NOTED = frozenset({
    "archived", "unarchived", "erased", "stamped", "receipt-issued", "receipt-used", "scar", "waived",
})  # fmt: skip
VERDICTS: dict[str, frozenset[str]] = {
    "reviewed": frozenset({"approve", "reject", "dispute", "assign"}),
    "superseded": frozenset({"supersede"}),
    "amended": frozenset({"amend"}),
}
"""What can be decided, by the type of the entry that says it."""
WORDS = frozenset({"reviewed", "amended"})
"""Types that are somebody's word: by a key that nobody here knows for it they stand in the log, and count for nothing."""
METHODS = frozenset({"human", "process"})
"""`human`: the key that signed is kept under a passphrase; `process`: anything that runs as the user can sign with it."""
JUDGED = frozenset(VERDICTS)
GOVERNED = frozenset({"key-rotated", "key-revoked", "store-restored"})
TYPES = NOTED | JUDGED | GOVERNED | {SAVED}
HOW = frozenset({"saved", "forced", "imported", "restored"})


class Saved(NamedTuple):
    """A version of a memory. Fields stand in the order of the canonical form."""

    at: str
    by: str
    """Key id of the signer, eight hex digits: which key to look up, never the key."""
    content: str
    """Salted commitment to the content, 64 hex digits."""
    how: str
    key: str
    op: str
    """The operation id: a repeat of it makes no second version."""
    origin: str
    prev: str | None
    prev_seq: int | None
    reason: str | None
    record: str
    """Salted commitment to the record's body, 64 hex digits."""
    seq: int
    type: str
    version: int


class Noted(NamedTuple):
    """Something said about a memory. `digest` is what it speaks of, where there is one."""

    at: str
    by: str
    digest: str | None
    key: str
    op: str
    origin: str
    prev: str | None
    prev_seq: int | None
    reason: str | None
    seq: int
    type: str
    version: int


class Judged(NamedTuple):
    """What somebody decided about one version of a memory: by a reviewer's key, or by the agent's own, which only counts as its word."""

    at: str
    by: str
    digest: str
    """Leaf hash (64 hex digits) of the entry that saved the version: what was decided holds for no other text or record.
    superseded: that of the version which takes its place. amended: that of the version that the owner stands behind."""
    key: str
    method: str
    op: str
    origin: str
    prev: str
    prev_seq: int
    reason: str | None
    seq: int
    subject: str | None
    """dispute: the key of the memory that it contradicts, if one is named; assign: who is to review; superseded: the key
    of the memory that takes its place."""
    type: str
    verdict: str
    version: int


class Governed(NamedTuple):
    """Something said about the log itself, signed by the old key or by the owner."""

    at: str
    by: str
    index: int  # type: ignore[assignment] # the member's name in the format; tuple.index is not used
    """key-revoked: the first entry no longer trusted; store-restored: the size given up."""
    op: str
    origin: str
    reason: str | None
    seq: int
    subject: str
    """key-rotated: the new vkey; key-revoked: the key id; store-restored: the root given up, and then the root
    of the entries that it stands behind, 64 hex digits each: it can be put behind no others."""
    type: str


Entry = Saved | Noted | Judged | Governed
SHAPES = (Saved, Noted, Judged, Governed)

_NONE = type(None)
_SHAPES: dict[tuple[str, ...], tuple[type[Saved | Noted | Judged | Governed], frozenset[str], frozenset[tuple[type, ...]]]] = {
    Saved._fields: (Saved, frozenset({SAVED}), frozenset(
        (str, str, str, str, str, str, str, *chain, reason, str, int, str, int)
        for chain in ((_NONE, _NONE), (str, int)) for reason in (_NONE, str)
    )),
    Noted._fields: (Noted, NOTED, frozenset(
        (str, str, digest, str, str, str, *chain, reason, int, str, int)
        for chain in ((_NONE, _NONE), (str, int)) for reason in (_NONE, str) for digest in (_NONE, str)
    )),
    Judged._fields: (Judged, JUDGED, frozenset(
        (str, str, str, str, str, str, str, str, int, reason, int, subject, str, str, int)
        for reason in (_NONE, str) for subject in (_NONE, str)
    )),
    Governed._fields: (Governed, GOVERNED, frozenset(
        (str, str, int, str, str, reason, int, str, str) for reason in (_NONE, str)
    )),
}  # fmt: skip


def _no_number(token: str) -> object:
    raise ValueError(f"the number {token[:20]} has no place in an entry")


_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode
_decode = json.JSONDecoder(parse_float=_no_number, parse_constant=_no_number).decode


def format_entry(entry: Entry) -> bytes:
    """The canonical body. Member names are ASCII and values hold no floats, so the C encoder's form is RFC 8785."""
    return _encode(entry._asdict()).encode("utf-8")


_TEXT = r'"([^"\\\x00-\x1f]*+)"'
_INT = r"(0|[1-9][0-9]{0,15})"
_PLAIN_SAVED = re.compile(
    rf'\{{"at":{_TEXT},"by":"([0-9a-f]{{8}})","content":{_TEXT},"how":{_TEXT},"key":{_TEXT},"op":{_TEXT},"origin":{_TEXT},'
    rf'"prev":(?:null,"prev_seq":null|{_TEXT},"prev_seq":{_INT}),"reason":(?:null|{_TEXT}),"record":{_TEXT},'
    rf'"seq":{_INT},"type":"saved","version":{_INT}\}}'
).fullmatch
"""A `saved` entry in which nothing is escaped: what this matches is canonical as it stands, and so is not written again."""


def parse_entry(body: bytes) -> Entry:
    """The exact inverse of `format_entry`: strict, re-serialised and compared.

    Raises:
        Malformed: not JSON, not canonical, an unknown type or member, a member of another type.
    """
    try:
        text = body.decode("utf-8")
        if (plain := _PLAIN_SAVED(text)) is not None:
            at, by, content, how, key, op, origin, prev, prev_seq, reason, record, seq, version = plain.groups()
            return Saved(
                at,
                by,
                content,
                how,
                key,
                op,
                origin,
                prev,
                None if prev_seq is None else int(prev_seq),
                reason,
                record,
                int(seq),
                SAVED,
                int(version),
            )
        members = _decode(text)
        canonical = _encode(members).encode("utf-8") == body
        names = tuple(members)
        shape, types, signatures = _SHAPES[names]
        values = tuple(members.values())
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError) as exc:
        raise Malformed("An entry of the log does not parse strictly", fault=type(exc).__name__) from exc
    if (
        not canonical
        or members["type"] not in types
        or tuple(map(type, values)) not in signatures
        or not _is_key_id(members["by"])
    ):
        raise Malformed("An entry of the log is not in its canonical form")
    if shape is Governed:
        _check_subject(members["type"], members["subject"])
    if shape is Judged:
        _check_judgement(members["type"], members["verdict"], members["method"], members["digest"])
    return shape(*values)


def _is_key_id(text: str) -> bool:
    return len(text) == KEY_ID_SIZE and _HEX.issuperset(text)


def _check_subject(kind: str, subject: str) -> None:
    fits = (
        _is_key_id(subject)
        if kind == "key-revoked"
        else _HEX.issuperset(subject) and len(subject) == RESTORED_SIZE
        if kind == "store-restored"
        else "+" in subject
    )
    if not fits:
        raise Malformed(f"An entry of the log ({kind}) names something that is none")


def _check_judgement(kind: str, verdict: str, method: str, digest: str) -> None:
    known = verdict in VERDICTS[kind] and method in METHODS
    if not known or len(digest) != DIGEST_SIZE or not _HEX.issuperset(digest):
        raise Malformed(f"An entry of the log ({kind}) decides something that cannot be decided")


def split_leaf(leaf: bytes) -> tuple[bytes, bytes]:
    """`(body, signature)` of one leaf."""
    if len(leaf) <= SIGNATURE_SIZE:
        raise Malformed("An entry of the log is too short to be signed")
    return leaf[:-SIGNATURE_SIZE], leaf[-SIGNATURE_SIZE:]


_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._@-")


def quote(name: str) -> str:
    """Percent-encode what a key name of C2SP signed-note, or a file name, must not hold."""
    return "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in check_text(name, "name"))


def unquote(name: str) -> str:
    """The inverse of `quote`; what it cannot have written stays as it is."""
    try:
        return re.sub(rb"%([0-9A-F]{2})", lambda match: bytes.fromhex(match[1].decode()), name.encode()).decode()
    except UnicodeDecodeError:
        return name


def origin_of(team: str, agent: str) -> str:
    """The origin line, and the name of the key, of an agent's log."""
    return f"indelible/{quote(team)}/{quote(agent)}"


def check_text(text: str, what: str) -> bytes:
    """`text` as UTF-8, if it has a form in it and is 1 to 512 bytes long."""
    if not isinstance(text, str):
        raise UsageError(
            f"The {what} is {type(text).__name__}, not text", remedy=f"It has to have 1 to {KEY_LIMIT} bytes"
        )
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as exc:
        raise UsageError(
            f"The {what} holds half of a surrogate pair at character {exc.start + 1}, which no UTF-8 can carry",
            remedy="Write the character whole",
        ) from exc
    if not data:
        raise UsageError(f"The {what} is empty", remedy=f"It has to have 1 to {KEY_LIMIT} bytes")
    if len(data) > KEY_LIMIT:
        raise UsageError(f"The {what} has {len(data)} bytes in UTF-8; the limit is {KEY_LIMIT}", remedy="Shorten it")
    return data
