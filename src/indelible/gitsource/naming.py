"""What a file is called in git, for anybody who has the repository: `owner/repo/path` and a branch.

The owner and the repository are the last two parts of the remote's address, as in the seeds
(`moosjiny/mujoco/agents/rudex/MEMORY.md`); a repository without a remote has those of its folder.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import UsageError
from indelible.gitsource.command import Git, GitFailed, NoRepository

if TYPE_CHECKING:
    from collections.abc import Mapping

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://(?:[^/@]*@)?([^/]*)/?(.*)", re.DOTALL)
_SCP = re.compile(r"(?:[^/@:]*@)?([^/:]{2,}):(.*)", re.DOTALL)
_REMEDY = "Write a source as owner/repo/path, with forward slashes"


class Source(NamedTuple):
    """Where a file stands in git."""

    source: str
    """`owner/repo/path`."""
    branch: str
    """The branch, or the commit where none is checked out."""


class Place(NamedTuple):
    """A source in its two halves."""

    repository: str
    """`owner/repo`."""
    path: str


def source_of(file: str, *, environ: Mapping[str, str], timeout: float = 20.0) -> Source:
    """The source and branch of a file in a work tree. Links are followed first: the file itself is what is named.

    Args:
        file: Its path; it need not be committed yet.
        environ: The environment, for git.
        timeout: Seconds for all of it.

    Raises:
        NoRepository: it lies in no work tree.
        GitMissing: git is not installed. GitFailed: git does not answer.
    """
    git, real = Git(environ, timeout), os.path.realpath(file)
    folder = os.path.dirname(real)
    ended = git.run(folder, "rev-parse", "--show-toplevel")
    top = os.path.realpath(os.fsdecode(ended.out.removesuffix(b"\n"))) if ended.out else ""
    if ended.code or not top:
        raise NoRepository(
            f"{file} lies in no git work tree ({ended.fault})", remedy="Save it from its repository, or without --embed"
        )
    path = os.path.relpath(real, top).replace(os.sep, "/")
    branch = git.line(top, "symbolic-ref", "--quiet", "--short", "HEAD") or git.line(
        top, "rev-parse", "--verify", "--quiet", "HEAD"
    )
    remote = _remote_of(git, top, branch)
    name = repository_name(_address(git, top, remote) if remote else _folder(git, top))
    return Source(f"{name}/{parse_path(path)}", branch)


def parse_source(source: str) -> Place:
    """The halves of `owner/repo/path`.

    Raises:
        UsageError: it has fewer parts, or a path that leaves the repository or reads as an option.
    """
    owner, slash, rest = source.partition("/")
    repository, slash_too, path = rest.partition("/")
    if not (owner and slash and repository and slash_too and path):
        raise UsageError(f"The recorded source {source!r} is not owner/repo/path", remedy=_REMEDY, source=source)
    return Place(f"{owner}/{repository}", parse_path(path))


def parse_path(path: str) -> str:
    """A path inside a repository, which stays inside it.

    Raises:
        UsageError: it does not, or git could take it for something else.
    """
    parts = path.split("/")
    if path.startswith("-") or "\0" in path or any(part in ("", ".", "..") or part.lower() == ".git" for part in parts):
        raise UsageError(f"{path!r} is not a path inside a repository", remedy=_REMEDY, path=path)
    return path


def names_of(git: Git, top: str) -> frozenset[str]:
    """Every `owner/repo` that a repository answers to, by its remotes or, without any, by its folder; none if there is no repository."""
    folder = _folder(git, top)
    if not folder:
        return frozenset()
    addresses = [_address(git, top, name) for name in git.line(top, "remote").split("\n") if name]
    return frozenset(name for address in addresses or [folder] if (name := _named(address)))


def repository_name(address: str) -> str:
    """`owner/repo` of a remote's address: https, ssh, `host:path` as scp writes it, file, or a plain path.

    An address with one part only takes its host as the owner.
    """
    name = _named(address)
    if not name:
        raise UsageError("The address of the remote names no repository", remedy="Look at it with 'git remote -v'")
    return name


def _named(address: str) -> str:
    host, path = "local", address.replace("\\", "/")
    match = _URL.fullmatch(address) or _SCP.fullmatch(address)
    if match:
        host, path = match[1].partition(":")[0] or host, match[2].partition("?")[0]
    parts = [part for part in path.split("/") if part]
    if parts[-1:] == [".git"]:
        parts.pop()
    last = parts.pop().removesuffix(".git") if parts else ""
    return f"{parts[-1] if parts else host}/{last}" if last else ""


def _address(git: Git, top: str, remote: str) -> str:
    """The address of a remote; one that is a path is made absolute."""
    address = git.line(top, "remote", "get-url", remote)
    if not address or _URL.fullmatch(address) or _SCP.fullmatch(address):
        return address
    return os.path.abspath(os.path.join(top, address))


def _folder(git: Git, top: str) -> str:
    """The folder of the repository, which its work trees share; empty where there is none."""
    ended = git.run(top, "rev-parse", "--git-common-dir")
    if "dubious ownership" in ended.fault:
        remedy = f"If you trust it: git config --global --add safe.directory {top}"
        raise GitFailed(f"Git does not read {top}, which belongs to another account", remedy=remedy, folder=top)
    return "" if ended.code else os.path.realpath(os.path.join(top, os.fsdecode(ended.out.removesuffix(b"\n"))))


def _remote_of(git: Git, top: str, branch: str) -> str:
    """The branch's own remote, else `origin`, else the only one; empty where there is none to choose."""
    names = [name for name in git.line(top, "remote").split("\n") if name]
    own = git.line(top, "config", "--get", f"branch.{branch}.remote")
    for name in (own, "origin"):
        if name in names:
            return name
    return names[0] if len(names) == 1 else ""
