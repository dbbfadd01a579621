"""What may enter a memory, decided before anything is hashed or signed: no secret, and no origin above the one before.

A version whose content was masked says so in its record: `"dev.indelible/masked":{"kinds":["aws-access-key"]}`.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import IntegrityError, OriginRaised
from indelible.record.parts import lower_class, measure, rank_of
from indelible.screening import screen
from indelible.seal import canonical
from indelible.seal.digest import commit
from indelible.sealed import RECORD_DOMAIN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from indelible.memory.results import Version
    from indelible.memory.writing import Wish
    from indelible.record import Record
    from indelible.sealed import Sealed
    from indelible.store.store import Writing

MASKED = "dev.indelible/masked"
"""The extension of a record whose content is not quite what its author gave."""


class Bound(NamedTuple):
    """The best class of origin that a version may state."""

    best: str | None
    damaged: bool = False


def check_texts(mode: str, texts: Mapping[str, str | None]) -> None:
    """Refuse a secret in a short text that is stored beside content: a key, a reason.

    Raises:
        SecretRefused: there is what looks like one.
    """
    screen(b"", mode=mode, names={name: text for name, text in texts.items() if text})


def admitted(record: Record, wish: Wish, mode: str, before: Bound | None) -> Record:
    """The record of a save as it may be sealed: without a secret, about what is really stored, of no better origin than before.

    Raises:
        SecretRefused: there is what looks like a secret in it. OriginRaised: it states a better origin.
    """
    if wish.record is not None:
        check_texts(mode, texts_of(record))
    if wish.masked or record.extensions:
        record = mark(record, wish.content, wish.masked)
    return record if before is None else bind_origin(record, before)


def mark(record: Record, content: bytes, masked: tuple[str, ...]) -> Record:
    """The record of the content that is really stored, saying whether it was masked; nothing of what an earlier version was."""
    extensions = tuple(pair for pair in record.extensions if pair[0] != MASKED)
    if masked:
        kinds = sorted({text.partition(" ")[0] for text in masked})
        extensions = tuple(sorted((*extensions, (MASKED, canonical.dumps({"kinds": kinds})))))
        encoding = _encoding(content)
        record = replace(record, encoding=encoding, size=measure(content, encoding), digest=None)
    return record if extensions == record.extensions else replace(record, extensions=extensions)


def _encoding(content: bytes) -> str:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return "base64"
    return "utf-8"


def is_masked(record: Record) -> bool:
    """Whether the content of this version was masked before it was sealed."""
    return any(name == MASKED for name, _ in record.extensions)


def texts_of(record: Record) -> dict[str, str]:
    """Every text of a record that somebody wrote, by what a person calls it."""
    validity, said = record.validity, {"tag": record.tags, "title": record.title, "summary": record.summary}
    parts = {
        **said, "source": record.origin, "scope": record.scope, "anchor": validity.anchors, "link": record.links, "kind": record.kind,
        "author": (record.created.by, record.updated), "license": record.license, "media type": record.media_type,
        "language": record.language, "id": record.id, "extension": (record.crit, record.extensions),
        "member": (record.unknown, record.content_unknown, validity.unknown, record.trust.unknown),
    }  # fmt: skip
    return {name: "\n".join(texts) for name, part in parts.items() if (texts := tuple(_texts(part)))}


def _texts(part: object) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, bytes):
        yield part.decode()
    elif isinstance(part, tuple):
        for item in part:
            yield from _texts(item)
    elif is_dataclass(part):
        for field in fields(part):
            yield from _texts(getattr(part, field.name))


def bind_origin(record: Record, before: Bound) -> Record:
    """The record with a class of origin that is not above the one before.

    Raises:
        OriginRaised: it states a better one. (Over damage, where its maker had no version to look at, `agent` is only the default.)
    """
    stated, allowed = record.origin.class_, before.best
    if rank_of(stated) <= rank_of(allowed):
        return record
    if before.damaged and stated == "agent":
        return replace(record, origin=replace(record.origin, class_=allowed))
    raise OriginRaised(
        f"{record.key!r} came from {allowed or 'unknown'!r} before, and would now be said to come from {stated!r}",
        key=record.key, stated=stated, before=allowed or "unknown",
    )  # fmt: skip


def best_origin(versions: Iterable[Version], writing: Writing) -> Bound:
    """What the next version of a key may state, where what is there may be damaged.

    The newest record that can still be read decides. Where a newer one cannot be, nothing above `agent` is believed.
    """
    from indelible.record import Record

    best: str | None = "user"
    for version in versions:
        if version.type == "erased":
            break
        if version.record is not None:
            body = _readable(writing, version)
            if body is not None:
                return Bound(lower_class(Record.from_body(body).origin.class_, best), damaged=True)
            best = "agent"
    return Bound(best, damaged=True)


def _readable(writing: Writing, version: Version) -> bytes | None:
    try:
        sealed: Sealed | None = writing.sealed(version.seq)
    except IntegrityError:
        return None
    if sealed is None or commit(RECORD_DOMAIN, sealed.salt, sealed.body) != version.record:
        return None
    return sealed.body
