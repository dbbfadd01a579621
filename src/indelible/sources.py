"""Where in git a memory came from, kept in its record: what `restore --from-git` looks for."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import IndelibleError, NotFoundError
from indelible.seal import canonical
from indelible.seal.digest import commit
from indelible.sealed import RECORD_DOMAIN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indelible.memory import Memory
    from indelible.record import Record

EXTENSION = "dev.indelible/source"
"""The extension of a record that holds the digest of the file as it was saved; its place is `origin.uri` and `origin.branch`."""


class Recorded(NamedTuple):
    """A place in git, and what must be found there."""

    source: str
    """`owner/repo/path`; empty where none is recorded."""
    branch: str
    sha256: str | None
    embedded: bool
    """Whether the memory holds the file inside the seed's JSON form."""


NOWHERE = Recorded("", "", None, embedded=False)


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
    """The record, saying where `text` came from; and nothing of where an earlier version did."""
    extensions = tuple(pair for pair in record.extensions if pair[0] != EXTENSION)
    if source:
        said = canonical.dumps({"embedded": embedded, "sha256": sha256(text).hexdigest()})
        extensions = tuple(sorted((*extensions, (EXTENSION, said))))
    origin = replace(record.origin, uri=source or None, branch=branch or None)
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


def recorded_source(memory: Memory, key: str) -> tuple[Recorded, int]:
    """Where a memory came from: by the newest version if its record still verifies (then 0), else by an older one that verifies whole."""
    from indelible.record import Record

    remains = memory.remains(key)
    if remains is not None:
        sealed, expected = remains
        if commit(RECORD_DOMAIN, sealed.salt, sealed.body) == expected.record:
            recorded = read_source(Record.from_body(sealed.body))
            if recorded is not None:
                return recorded, 0
    return _from_older(memory, key)


def _from_older(memory: Memory, key: str) -> tuple[Recorded, int]:
    try:
        versions = memory.history(key)
    except NotFoundError:
        return NOWHERE, 0
    for version in versions:
        try:
            recorded = (
                read_source(memory.load(key, version.version, held=True).record) if version.type == "saved" else None
            )
        except IndelibleError:
            continue
        if recorded is not None:
            return recorded, version.version
    return NOWHERE, 0
