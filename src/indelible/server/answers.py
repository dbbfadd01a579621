"""JSON answers, and the shapes of what memory hands out."""

from __future__ import annotations

import binascii
from typing import TYPE_CHECKING

import msgspec
from starlette.responses import Response

from indelible.errors import IntegrityError, UsageError
from indelible.server import bases, judgements, shapes
from indelible.server.problems import MEDIA, finding, members

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from indelible.gate.verdict import Verdict
    from indelible.memory import Listed, Loaded, Saved

NO_STORE = {"cache-control": "no-store"}


def answer(value: msgspec.Struct, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """`value` as JSON, never to be cached."""
    return Response(
        msgspec.json.encode(value),
        status_code=status,
        headers={**NO_STORE, **(headers or {})},
        media_type="application/json",
    )


def beside(value: msgspec.Struct, findings: Iterable[IntegrityError]) -> Response:
    """`value` with what is wrong beside it: status 409, so that nobody takes it for whole, and both in one document."""
    found = tuple(findings)
    if not found:
        return answer(value)
    body = {**problem_of(found), **msgspec.to_builtins(value), "findings": [finding(error) for error in found]}
    return Response(msgspec.json.encode(body), status_code=409, headers=NO_STORE, media_type=MEDIA)


def problem_of(found: tuple[IntegrityError, ...]) -> dict[str, object]:
    """The problem of a listing in which something is wrong."""
    error = IntegrityError(
        f"{len(found)} of the findings on this log: what is named in 'findings' is not what was sealed and is left out"
    )
    return members(error)


class _At(msgspec.Struct):
    at: str


class _Validity(msgspec.Struct):
    expires_at: str | None = None


class _Times(msgspec.Struct):
    """The two members of a record that a row shows: the body is verified, so the rest need not be parsed."""

    created: _At
    validity: _Validity = msgspec.field(default_factory=_Validity)


_times_of = msgspec.json.Decoder(_Times).decode


def row(loaded: Loaded) -> shapes.Row:
    """A memory in the seeds' form."""
    text, times = text_of(loaded.content), _times_of(loaded.body)
    return shapes.Row(
        key_name=loaded.key,
        content=text,
        content_base64=loaded.content if text is None else msgspec.UNSET,
        version=loaded.version,
        created_at=times.created.at,
        updated_at=loaded.latest.at,
        expires_at=times.validity.expires_at or msgspec.UNSET,
        attested=loaded.attested,
    )


def listed(item: Listed) -> shapes.Listed:
    """A line of a listing."""
    return shapes.Listed(
        key=item.key,
        version=item.version,
        state=item.state,
        saved_at=item.at,
        size=item.size,
        sha256=item.sha256,
        attested=item.attested,
    )


def verdict_of(verdict: Verdict | None) -> judgements.Verdict:
    """A verdict of the gate.

    Raises:
        TypeError: there is none, so that nothing goes out that was not judged.
    """
    if verdict is None:
        raise TypeError("a memory that was not judged")
    return msgspec.convert(verdict.as_dict(), judgements.Verdict)


def done(saved: Saved) -> Response:
    """The answer to a write."""
    value = shapes.Done(
        key=saved.key,
        version=saved.version,
        seq=saved.seq,
        op=saved.op,
        repeated=saved.repeated,
        sha256=saved.sha256 or None,
        warnings=saved.warnings,
        masked=saved.masked,
    )
    return answer(value, headers={"etag": etag(saved.sha256)} if saved.sha256 else None)


def etag(sha256: str) -> str:
    """The entity tag of a content: what If-Match names."""
    return f'"sha256:{sha256}"'


def encoded(content: bytes) -> tuple[bases.Encoding, str]:
    """Content as a record's interchange form holds it."""
    text = text_of(content)
    return (
        ("utf-8", text) if text is not None else ("base64", binascii.b2a_base64(content, newline=False).decode("ascii"))
    )


def decoded(content: str, encoding: bases.Encoding) -> bytes:
    """The exact inverse of `encoded`.

    Raises:
        UsageError: it is not base64.
    """
    if encoding == "utf-8":
        return content.encode("utf-8")
    try:
        return binascii.a2b_base64(content, strict_mode=True)
    except (binascii.Error, ValueError) as exc:
        raise UsageError("The content is not base64 (RFC 4648, section 4)", member="content") from exc


def text_of(content: bytes) -> str | None:
    """The text that content is, or None."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None
