"""The interchange form of a record: one JSON object that any tool may read (schema/record.schema.json).

It carries more than the author signed: where the memory stands (`state`, `review`), how it hangs in its sender's log
(`prev`, `integrity`, the salted commitment) and local counters (`stats`). These are the sender's `Statements`, handed
out beside the record and believed by nobody for being there.

What was imported is exported JCS-equal: unknown members at every level, members that say no more than their absence,
the sender's own digest. The schema closes some objects (`content`, links, anchors) for whoever writes; a reader keeps
what a newer version may have put there all the same.

    content.digest    = SHA-256 of the content bytes
    integrity.digest  = SHA-256 of the RFC 8785 form of the record without `integrity` and `stats`
"""

from binascii import a2b_base64, b2a_base64
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple, TypeVar, cast

from indelible.errors import DigestMismatch
from indelible.record.model import Record
from indelible.record.parts import Content, Review, State, measure
from indelible.record.rules import DIGEST, Fault, Members, members, nullable, one_of, shown
from indelible.record.shape import Nested, shape_of
from indelible.seal import canonical
from indelible.seal.digest import CONTENT_DOMAIN, SIZE, Digest, commit

CANON = "RFC8785"

T = TypeVar("T")

_UNHASHED = frozenset({"integrity", "stats"})
_ASIDE = Record.RESERVED - {"content", "integrity"}
_REMEDY = "The file was changed after it was exported; ask its sender for another copy"


@dataclass(frozen=True, slots=True)
class Statements:
    """What the sender of a record says and its author did not sign."""

    state: Annotated[State, Nested(State)]
    review: Annotated[Review, Nested(Review)]
    prev: Annotated[str | None, nullable(DIGEST)] = None
    """The record digest of the revision before."""
    stats: Annotated[Members, members()] = ()
    unknown: Members = ()
    salt: bytes | None = None
    commitment: str | None = None
    """The salted commitment to the content, as `sha256:…`."""
    integrity: Members = ()
    """Members of `integrity` but for the canonical form and the digest: signatures."""


class Imported(NamedTuple):
    """One record from outside."""

    record: Record
    content: bytes | None
    """None where the sender withheld it; the record then has the `digest` that the sender states."""
    statements: Statements


@dataclass(frozen=True, slots=True)
class _Integrity:
    canon: Annotated[str, one_of(CANON)]
    digest: Annotated[str, DIGEST]
    unknown: Members = ()


def record_digest(value: Mapping[str, object]) -> Digest:
    """Return the digest of a record in its interchange form."""
    return Digest.of(canonical.dumps({name: member for name, member in value.items() if name not in _UNHASHED}))


def to_interchange(record: Record, content: bytes | None, statements: Statements) -> dict[str, object]:
    """Return the interchange form of a record.

    Args:
        record: What the author signed.
        content: The exact bytes; None withholds them, and `record.digest` has to say what they were.
        statements: What the log says of it, with the salt if the reader shall be able to recompute the commitment.

    Raises:
        UsageError: A member holds what it may not, or the content is not as the record says.
    """
    try:
        value = {
            **shape_of(Record, "wire").write(record),
            **shape_of(Statements, "wire").write(statements),
            "content": shape_of(Content, "wire").write(_carry(record, content, statements)),
        }
        _parse(value)
    except Fault as fault:
        raise fault.as_usage() from None
    integrity = _Integrity(CANON, str(record_digest(value)), statements.integrity)
    return {**value, "integrity": shape_of(_Integrity, "wire").write(integrity)}


def from_interchange(value: object) -> Imported:
    """Return the record, its content and its sender's statements.

    Args:
        value: What `canonical.loads` made of the JSON.

    Raises:
        UsageError: A member is missing or holds what it may not; the error names it.
        DigestMismatch: A digest in the record is not that of what it stands for.
    """
    if not isinstance(value, dict):
        raise Fault(shown(value), "is not an object").as_usage()
    try:
        carried, imported = _parse(value)
        integrity = _part(_Integrity, value, "integrity")
    except Fault as fault:
        raise fault.as_usage() from None
    _require("The record", integrity.digest, record_digest(value))
    _require_content(carried, imported)
    return imported._replace(statements=replace(imported.statements, integrity=integrity.unknown))


def _parse(value: dict[str, object]) -> tuple[Content, Imported]:
    """Read everything but `integrity`, and check no digest yet."""
    carried = _part(Content, value, "content")
    content = _bytes_of(carried)
    own = {name: member for name, member in value.items() if name not in Record.RESERVED}
    record = shape_of(Record, "wire").read(own, _content_members(carried, content))
    said = shape_of(Statements, "wire").read({name: value[name] for name in _ASIDE if name in value})
    said = replace(cast("Statements", said), salt=_salt_of(carried), commitment=carried.commitment)
    return carried, Imported(cast("Record", record), content, said)


def _part(kind: type[T], value: dict[str, object], name: str) -> T:
    if name not in value:
        raise Fault("", "is missing", name)
    try:
        return cast("T", shape_of(kind, "wire").read(value[name]))
    except Fault as fault:
        raise fault.under(name) from None


def _content_members(carried: Content, content: bytes | None) -> dict[str, object]:
    """Return what the record says of its content."""
    return {
        "media_type": carried.media_type,
        "language": carried.language,
        "encoding": carried.encoding,
        "size": None if content is None else measure(content, carried.encoding),
        "digest": carried.digest if content is None else None,
        "content_unknown": carried.unknown,
    }


def _carry(record: Record, content: bytes | None, statements: Statements) -> Content:
    digest = record.digest if content is None else str(Digest.of(content))
    if digest is None:
        raise Fault(
            "", "is gone and nobody knows its digest: there is nothing to export but its log entries", "content"
        )
    return Content(
        media_type=record.media_type,
        text=None if content is None else _text_of(content, record.encoding),
        digest=digest,
        language=record.language,
        encoding=record.encoding,
        salt=None if statements.salt is None else _to_base64(statements.salt),
        commitment=statements.commitment,
        unknown=record.content_unknown,
    )


def _text_of(content: bytes, encoding: str) -> str:
    if encoding == "base64":
        return _to_base64(content)
    try:
        return content.decode()
    except UnicodeDecodeError as exc:
        raise Fault(f"byte {exc.start}", "is not UTF-8, which the record says the content is", "content") from None


def _bytes_of(carried: Content) -> bytes | None:
    if carried.text is None or carried.encoding == "utf-8":
        return None if carried.text is None else carried.text.encode()
    return _from_base64(carried.text, "content.text")


def _salt_of(carried: Content) -> bytes | None:
    if carried.salt is None:
        return None
    salt = _from_base64(carried.salt, "content.salt")
    if len(salt) != SIZE:
        raise Fault(f"{len(salt)} bytes", f"are no salt: it has {SIZE}", "content.salt")
    return salt


def _to_base64(data: bytes) -> str:
    return b2a_base64(data, newline=False).decode()


def _from_base64(text: str, path: str) -> bytes:
    """Return the bytes that `text` stands for, if it is the one way to write them."""
    try:
        data = a2b_base64(text, strict_mode=True)
    except ValueError:
        raise Fault("", "is not base64 (RFC 4648, padded, nothing between)", path) from None
    if _to_base64(data) != text:
        raise Fault("", "is not base64 as everybody writes it: its last bits are not zero", path)
    return data


def _require_content(carried: Content, imported: Imported) -> None:
    content, salt = imported.content, imported.statements.salt
    if content is None:
        return
    _require("content.text", carried.digest, Digest.of(content))
    if salt is not None and carried.commitment is not None:
        _require("content.commitment", carried.commitment, Digest(commit(CONTENT_DOMAIN, salt, content)))


def _require(subject: str, stated: str, actual: Digest) -> None:
    if Digest.parse(stated) != actual:
        raise DigestMismatch(subject=subject, expected=stated, actual=str(actual), remedy=_REMEDY)
