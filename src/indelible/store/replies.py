"""What a server's reply means: a document of the kind that was asked for, or an error in our own words.

A reply is believed in nothing but its own refusal: what it says about memory is for the follower to judge. A reply
that cannot be read is `Unreachable` for a read, and for a write `OutcomeUnknown`, unless it certainly did nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from indelible import errors
from indelible.errors import (
    AccessDenied,
    ConflictError,
    IndelibleError,
    IntegrityError,
    NotFoundError,
    NotSaved,
    OutcomeUnknown,
    Unreachable,
    UsageError,
)
from indelible.seal import canonical
from indelible.seal.note import from_base64

if TYPE_CHECKING:
    from indelible.store.wire import NoAnswer, Reply

_START = "Start the server or check its address; until then nothing is known about the memory"
_REPEAT = "Repeat it with the same --op-id: that makes one version either way"
_TOLD = 400


def unreachable(gone: NoAnswer) -> Unreachable:
    """A read that got no answer."""
    return Unreachable(f"Not checked: {gone.words}", remedy=_START)


def read_document(reply: Reply, host: str, *, about_memory: bool = False) -> dict[str, object]:
    """The JSON object of a read.

    Args:
        about_memory: what the server refuses to show of a memory is not known, whatever reason it gives.

    Raises:
        Unreachable: it is no answer of such a server. AccessDenied: it refuses the key.
        ConflictError, UsageError, …: what else the server says, where it is not about memory.
    """
    if reply.status == 200:
        found = _object(reply)
        if found is None:
            raise Unreachable(
                f"Not checked: {host} did not answer with a JSON object",
                remedy="Check that this is the address of an Indelible server",
            )
        return found
    said = _said(reply, host)
    if said is not None and (isinstance(said, AccessDenied | Unreachable) or not about_memory):
        raise said
    raise Unreachable(f"Not checked: {host} {_odd(reply) if said is None else said.message}", remedy=_START) from said


def check_commit(reply: Reply, host: str, size: int, op: str) -> None:
    """Return if the server says that the transaction is in the log; what it gives back afterwards is checked by the caller.

    Raises:
        OutcomeUnknown: it may be in the log. NotSaved, ConflictError, AccessDenied, UsageError, …: it is not.
    """
    if reply.status == 200:
        found = _object(reply) or {}
        end = found.get("size")
        if found.get("status") == "committed" and isinstance(end, int) and end >= size > 0 and end is not True:
            return
        raise OutcomeUnknown(f"Not known to be saved: {host} answered, but not that it saved", remedy=_REPEAT, op=op)
    _refuse(reply, host, op)


def check_done(reply: Reply, host: str, op: str) -> None:
    """Return if the server says that the operation was carried out; whether it was is checked by the caller.

    Raises:
        As `check_commit`.
    """
    if reply.status != 200:
        _refuse(reply, host, op)
    if (_object(reply) or {}).get("op") != op:
        raise OutcomeUnknown(f"Not known to be saved: {host} answered, but not that it saved", remedy=_REPEAT, op=op)


def _refuse(reply: Reply, host: str, op: str) -> NoReturn:
    said = _said(reply, host)
    if said is not None and (reply.status < 500 or isinstance(said, NotSaved)):
        raise said
    if 300 <= reply.status < 500:
        raise NotSaved(f"Not saved: {host} {_odd(reply)}")
    raise OutcomeUnknown(f"Not known to be saved: {host} {_odd(reply)}", remedy=_REPEAT, op=op)


def slug_of(reply: Reply) -> str:
    """The slug of a problem document; empty where the reply is none."""
    slug = (_object(reply) or {}).get("slug") if reply.status >= 400 else ""
    return slug if isinstance(slug, str) else ""


def is_ours(reply: Reply) -> bool:
    """Whether an answer to `/healthz` is that of an Indelible server."""
    return reply.status == 200 and (_object(reply) or {}).get("service") == "indelible"


def bytes_of(document: dict[str, object], name: str, host: str) -> bytes:
    """A member that is bytes in base64."""
    value = document.get(name)
    if not isinstance(value, str):
        raise _not_ours(host, name)
    try:
        return from_base64(value)
    except IntegrityError as exc:
        raise _not_ours(host, name) from exc


def number_of(document: dict[str, object], name: str, host: str) -> int:
    """A member that is a number of entries."""
    value = document.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise _not_ours(host, name)
    return value


def list_of(document: dict[str, object], name: str, host: str) -> list[object]:
    """A member that is a list."""
    value = document.get(name)
    if not isinstance(value, list):
        raise _not_ours(host, name)
    return value


def _not_ours(host: str, name: str) -> Unreachable:
    return Unreachable(
        f"Not checked: the reply of {host} has no '{name}' as it has to be",
        remedy="Check that client and server are of one version",
    )


def _object(reply: Reply) -> dict[str, object] | None:
    try:
        value = canonical.loads(reply.body)
    except UsageError:
        return None
    return dict(value) if isinstance(value, dict) else None


def _odd(reply: Reply) -> str:
    if 300 <= reply.status < 400:
        return f"points to {reply.location[:80]!r}, where the API key is not sent"
    return f"answered with status {reply.status}"


def _said(reply: Reply, host: str) -> IndelibleError | None:
    """The error that a problem document tells, as one of ours; None where the reply is no problem of ours."""
    slug = slug_of(reply)
    if not slug:
        if reply.status in (401, 403):
            return AccessDenied(f"{host} refuses the API key ({reply.status})", remedy="Check the key and its agent")
        return None
    document = _object(reply) or {}
    detail, remedy = (str(document.get(name, ""))[:_TOLD] for name in ("detail", "remedy"))
    error = _kind(slug, reply.status)(f"{host}: {detail}", remedy=remedy)
    error.slug = slug
    return error


def _kind(slug: str, status: int) -> type[IndelibleError]:
    found = _BY_SLUG.get(slug)
    if found is not None:
        return found
    if status in (401, 403):
        return AccessDenied
    if status == 404:
        return NotFoundError
    if status == 409:
        return ConflictError
    return UsageError if status < 500 else Unreachable


_BY_SLUG: dict[str, type[IndelibleError]] = {
    kind.slug: (IntegrityError if kind is errors.DigestMismatch else kind)
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, IndelibleError)
}
"""An error of the server's is one of ours again. `DigestMismatch` words itself, and cannot be made from words."""
