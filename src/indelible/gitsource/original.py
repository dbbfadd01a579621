"""The original of a memory, from git: the bytes as they were committed.

    recorded digest at the tip of the branch -> in the file's history there -> in its history on any branch

The repository is the local one where one of its remotes has the recorded name, then a configured remote, of which a
bare copy (without contents where the server can leave them out) is kept in a cache folder. Contents come from
`cat-file`: no newline is translated, no filter and no textconv runs. Where only line endings differ from what was
recorded, the recorded ones are made, and that is said.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from hashlib import sha256 as _sha256
from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import NotFoundError, Unreachable, UsageError
from indelible.gitsource.command import Git, GitFailed, NoRepository, NoSuchBranch, NoSuchPath, NoSuchVersion
from indelible.gitsource.naming import Place, names_of, parse_source
from indelible.seal.digest import Digest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MAX_VERSIONS = 2_000
"""How far back the history of one file is walked."""
MAX_BYTES = 64 * 1024 * 1024
"""A larger file is no memory."""

_BATCH = 50
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_RAW = re.compile(rb"\x01([0-9a-f]+)\x00|:\d{6} (\d{6}) [0-9a-f]+ ([0-9a-f]+) [A-Z]\d*\x00")
_LOG = ("log", "--format=%x01%H", "--raw", "-z", "--no-abbrev", "--full-history", "-m", "--no-ext-diff", f"--max-count={MAX_VERSIONS}")
_FILES = ("100644", "100755")


@dataclass(frozen=True, slots=True)
class Original:
    """A file as it was committed."""

    data: bytes
    commit: str
    """In which it is found."""
    how: str
    """`tip`, `history` or `other-branch`: where the recorded digest was found; `unrecorded` where there was none to compare with."""
    endings: str
    """Empty, or `LF` or `CRLF`: what line endings were changed to, to be the recorded bytes."""
    source: str
    branch: str

    @property
    def reason(self) -> str:
        """One sentence, for the new version's reason."""
        told = {
            "tip": "",
            "history": "; the branch has moved on since",
            "other-branch": "; not on that branch any more, but in the same repository",
            "unrecorded": "; no digest was recorded to compare with",
        }
        endings = f"; line endings changed to {self.endings}, as recorded" if self.endings else ""
        return f"from git: {self.source} at {self.branch or 'no recorded branch'}, commit {self.commit[:12]}{told[self.how]}{endings}"


class _Blob(NamedTuple):
    commit: str
    id: str


def fetch_original(
    source: str,
    branch: str,
    *,
    remotes: Mapping[str, str],
    cache: str,
    environ: Mapping[str, str],
    repository_top: str | None = None,
    sha256: str | None = None,
    timeout: float = 120.0,
) -> Original:
    """The original at a recorded source and branch, or in the history of either.

    Args:
        source: `owner/repo/path`.
        branch: A branch, or a commit; empty where none was recorded.
        remotes: `owner/repo` to a URL or a path.
        cache: A folder for copies of remotes, made 0700.
        environ: The environment, for git.
        repository_top: The local repository, used if it is that one.
        sha256: The recorded digest, with or without `sha256:`. None accepts what is at the tip.
        timeout: Seconds for all of it.

    Raises:
        NoSuchBranch, NoSuchPath, NoSuchVersion: git has no such original.
        NoRepository: neither the local repository nor a configured remote is the recorded one.
        Unreachable: the remote does not answer. GitMissing, GitFailed: git does not work here.
        UsageError: the source, the branch or the digest is not one.
    """
    place, want = parse_source(source), _digest(sha256)
    git = Git(environ, timeout)
    remote = remotes.get(place.repository)
    wanted = _Wanted(source, place.path, branch, want)
    local = repository_top if repository_top and place.repository in names_of(git, repository_top) else None
    if local is None and remote is None:
        raise _unknown_repository(place)
    if local is not None:
        try:
            return _find(git, local, wanted)
        except NotFoundError:
            if remote is None:
                raise
    assert remote is not None
    return _find_remote(git, _Cache(cache, place.repository, remote), wanted)
