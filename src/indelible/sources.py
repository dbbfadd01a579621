"""Where in git a memory came from, kept in its record: what `restore --from-git` looks for."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

from indelible.errors import IndelibleError, NotFoundError
from indelible.seal import canonical
from indelible.seal.digest import commit
from indelible.sealed import CONTENT_DOMAIN, RECORD_DOMAIN
from indelible.sourcebook import NOWHERE, Booked, Recorded, book_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indelible.memory import Memory, Saved
    from indelible.record import Record
    from indelible.settings import Settings
    from indelible.sourcebook import Book

EXTENSION = "dev.indelible/source"
"""The extension of a record that holds the digest of the file as it was saved; its place is `origin.uri` and `origin.branch`."""


def source_of_file(file: str, environ: Mapping[str, str]) -> tuple[str, str]:
    """`(owner/repo/path, branch)`, or two empty texts for a file that lies in no repository."""
    from indelible.gitsource import GitFailed, GitMissing, NoRepository, source_of

    if file == "-":
        return "", ""
    try:
        found = source_of(file, environ=environ)
    except (NoRepository, GitMissing, GitFailed):
        return "", ""
    return found.source, found.branch


def write_source(record: Record, text: bytes, source: str, branch: str, *, embedded: bool) -> Record:
    """The record, saying where `text` came from; and nothing of where an earlier version did.

    The branch is the file's own; where it lies in no repository, that of the place where it was saved stays.
    """
    extensions = tuple(pair for pair in record.extensions if pair[0] != EXTENSION)
    if source:
        said = canonical.dumps({"embedded": embedded, "sha256": sha256(text).hexdigest()})
        extensions = tuple(sorted((*extensions, (EXTENSION, said))))
    origin = replace(record.origin, uri=source or None, branch=branch or record.origin.branch)
    return replace(record, extensions=extensions, origin=origin)


def read_source(record: Record) -> Recorded | None:
    """What `write_source` wrote, or None."""
    said = dict(record.extensions).get(EXTENSION)
    value = canonical.loads(said) if said is not None else None
    if not isinstance(value, dict) or not record.origin.uri:
        return None
    digest = value.get("sha256")
    return Recorded(
        record.origin.uri,
        record.origin.branch or "",
        digest if isinstance(digest, str) else None,
        embedded=value.get("embedded") is True,
    )


def source_book(settings: Settings) -> Book:
    """The book of the store and agent that the settings name."""
    from indelible.store.follower import name_of

    return book_of(settings.state_dir, name_of(settings.store, settings.agent))


def note_source(settings: Settings, saved: Saved, text: bytes, source: str, branch: str, *, embedded: bool) -> None:
    """Remember outside the store where a saved text came from."""
    recorded = Recorded(source, branch, sha256(text).hexdigest(), embedded=embedded)
    source_book(settings).add(Booked(saved.key, saved.version, recorded))


def recorded_source(memory: Memory, key: str, booked: Booked | None) -> tuple[Recorded, int]:
    """Where a memory came from: by the newest version's record if that still verifies, else by what was noted here.

    Gives 0 beside it, or the number of the older version that it is of.
    """
    from indelible.record import Record

    remains = memory.remains(key)
    if remains is not None:
        sealed, expected = remains
        if commit(RECORD_DOMAIN, sealed.salt, sealed.body) == expected.record:
            recorded = read_source(Record.from_body(sealed.body))
            if recorded is not None:
                return recorded, 0
    versions = _saved_versions(memory, key)
    older, version = _from_older(memory, key, versions)
    if booked is None or booked.version < version or (older.source and not booked.recorded.source):
        return older, version
    return booked.recorded, 0 if booked.version >= max(versions, default=0) else booked.version


def fits(memory: Memory, key: str, content: bytes) -> bool:
    """Whether `content` is what was sealed as the newest version, as far as its salt is still there to tell."""
    remains = memory.remains(key)
    return remains is not None and commit(CONTENT_DOMAIN, remains[0].salt, content) == remains[1].content


def _saved_versions(memory: Memory, key: str) -> tuple[int, ...]:
    """Newest first."""
    try:
        return tuple(version.version for version in memory.history(key) if version.type == "saved")
    except NotFoundError:
        return ()


def _from_older(memory: Memory, key: str, versions: tuple[int, ...]) -> tuple[Recorded, int]:
    for version in versions:
        try:
            recorded = read_source(memory.fetch(key, version).record)
        except IndelibleError:
            continue
        if recorded is not None:
            return recorded, version
    return NOWHERE, 0
