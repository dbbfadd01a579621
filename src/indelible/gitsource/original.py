"""The original of a memory, from the repository that was recorded with it.

That is the local repository if one of its remotes has the recorded name, then a configured remote. Of a remote a bare
copy is kept in a cache folder, without contents where the server can leave them out. A remote that does not answer is
not the end: a copy from before may have the recorded digest, which proves it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from indelible.errors import NotFoundError, Unreachable, UsageError
from indelible.gitsource.command import Git, GitFailed, NoRepository
from indelible.gitsource.naming import names_of, parse_source
from indelible.gitsource.search import Wanted, find
from indelible.seal.digest import Digest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indelible.gitsource.search import Original

_FETCH = ("fetch", "--quiet", "--prune", "--no-tags", "--no-write-fetch-head", "--filter=blob:none", "origin")
_BRANCHES = "+refs/heads/*:refs/heads/*"


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
        remotes: `owner/repo` to a URL or an absolute path.
        cache: A folder for copies of remotes, made 0700.
        environ: The environment, for git.
        repository_top: The local repository, used if it is that one.
        sha256: The recorded digest, with or without `sha256:`. None accepts what is at the tip.
        timeout: Seconds for all of it.

    Raises:
        NoSuchBranch, NoSuchPath, NoSuchVersion: git has no such original.
        NoRepository: neither the local repository nor a configured remote is the recorded one.
        Unreachable: the remote does not answer. GitMissing, GitFailed: git does not work here.
        UsageError: the source, the branch, the digest or the remote's address is not one.
    """
    place = parse_source(source)
    if "\0" in branch:
        raise UsageError("The name of a branch holds a NUL character")
    wanted = Wanted(source, place.path, branch, _digest(sha256))
    git, remote = Git(environ, timeout), remotes.get(place.repository)
    local = repository_top if repository_top and place.repository in names_of(git, repository_top) else None
    if local is not None:
        try:
            return find(git, local, wanted)
        except (NotFoundError, GitFailed):
            if remote is None:
                raise
    if remote is None and local is None and repository_top and wanted.digest is not None:
        try:  # a repository that had no remote then, or another one: the digest says whether it is the file
            return find(git, repository_top, wanted)
        except (NotFoundError, GitFailed) as exc:
            raise _unknown(place.repository) from exc
    if remote is None:
        raise _unknown(place.repository)
    return _find_remote(git, cache, remote, wanted)


def _find_remote(git: Git, cache: str, address: str, wanted: Wanted) -> Original:
    copy = _copy(git, cache, address)
    fetched = git.run(copy, *_FETCH, _BRANCHES)
    if not fetched.code:
        return find(git, copy, wanted, partial=True)
    unreachable = Unreachable(
        f"Not fetched: the remote of {wanted.source} cannot be reached ({fetched.fault})",
        remedy="Check the network and your access to it with 'git ls-remote'",
        source=wanted.source,
    )
    if wanted.digest is None:
        raise unreachable
    try:
        return find(git, copy, wanted, partial=True)
    except (NotFoundError, GitFailed) as exc:
        raise unreachable from exc


def _copy(git: Git, cache: str, address: str) -> str:
    """The bare copy of a remote, made if there is none; git's own locks keep two users of it apart."""
    if address.startswith("-") or "::" in address or not address.isprintable():
        raise UsageError(
            "The address of a remote is neither a URL nor a path", remedy="Correct it in the [remotes] of the settings"
        )
    copy = os.path.join(cache, Digest.of(address.encode()).hex[:32] + ".git")
    try:
        os.makedirs(cache, mode=0o700, exist_ok=True)
    except OSError as exc:
        raise GitFailed(
            f"Not fetched: no folder can be made at {cache} ({exc.strerror})", remedy="Check its rights"
        ) from exc
    git.must(cache, "init", "--quiet", "--bare", "--template=", copy)
    git.must(copy, "config", "remote.origin.url", address)
    return copy


def _digest(sha256: str | None) -> Digest | None:
    if sha256 is None:
        return None
    return Digest.parse(sha256) if ":" in sha256 else Digest.from_hex(sha256)


def _unknown(repository: str) -> NoRepository:
    return NoRepository(
        f"The memory comes from the repository {repository}, which is not this one, and no remote is configured for it",
        remedy=f'Add "{repository}" = "URL" to [remotes] in .indelible/config.toml',
        repository=repository,
    )
