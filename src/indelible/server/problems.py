"""Errors as clients see them: problem+json (RFC 9457), one sentence and the remedy; no trace, no content, no folder names."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import msgspec
from starlette.responses import Response

from indelible.errors import IndelibleError, NotFoundError, UsageError
from indelible.server.apikeys import NoCredential
from indelible.server.bases import Finding

if TYPE_CHECKING:
    from collections.abc import Mapping

MEDIA = "application/problem+json"
_TYPE = "urn:indelible:problem:"
_PLACES = ("path", "place", "file", "folder", "store")
_NOT_FOUND = "/v1/memories lists what there is"
_REASONS = "reasons"
"""Why a memory is held: a list of slug, message and remedy."""


class TooLarge(UsageError):
    """More bytes than the server takes."""

    slug = "too-large"
    http_status = 413


class TooSlow(UsageError):
    """The body did not come in time."""

    slug = "too-slow"
    http_status = 408


class UnknownPath(UsageError):
    """Nothing is at this path."""

    slug = "no-such-path"
    http_status = 404
    remedy = "/openapi.json lists what there is"


class UnknownMethod(UsageError):
    """The path does not have this method."""

    slug = "no-such-method"
    http_status = 405
    remedy = "The header Allow has the methods of this path; /openapi.json lists what there is"


class Crashed(IndelibleError):
    """A fault of the server's own. What it was is in its log."""

    slug = "server-fault"
    remedy = "Try again; if it stays, look at the server's log"


def members(error: IndelibleError, status: int | None = None) -> dict[str, object]:
    """The members of the problem document."""
    facts = {
        name: value
        for name, value in error.facts.items()
        if name not in _PLACES and (name == _REASONS or _is_plain(value))
    }
    return {
        "type": _TYPE + error.slug,
        "title": error.slug.replace("-", " ").capitalize(),
        "status": status or error.http_status,
        "detail": _said(error),
        "slug": error.slug,
        "remedy": error.remedy or (_NOT_FOUND if error.slug == NotFoundError.slug else ""),
        **{
            name: value
            for name, value in facts.items()
            if name not in ("type", "title", "status", "detail", "slug", "remedy")
        },
    }


def problem(error: IndelibleError, status: int | None = None, headers: Mapping[str, str] | None = None) -> Response:
    """The answer to a request that failed with `error`."""
    sent = {"cache-control": "no-store", **(headers or {})}
    if isinstance(error, NoCredential):
        sent["www-authenticate"] = 'ApiKey realm="indelible", header="x-api-key"'
    body = msgspec.json.encode(members(error, status))
    return Response(body, status_code=status or error.http_status, headers=sent, media_type=MEDIA)


def finding(error: IndelibleError) -> Finding:
    """A finding beside what is right."""
    key, seq = error.facts.get("key"), error.facts.get("seq")
    return Finding(
        error.slug,
        _said(error),
        error.remedy,
        key if isinstance(key, str) else None,
        seq if isinstance(seq, int) else None,
    )


def _said(error: IndelibleError) -> str:
    """The sentence, with the server's folders taken out of it."""
    text = error.message
    for name in _PLACES:
        place = error.facts.get(name)
        if isinstance(place, str) and place:
            text = text.replace(place, os.path.basename(place))
    return text


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, str | int | bool)
