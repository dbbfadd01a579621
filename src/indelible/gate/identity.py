"""Which repository this is: one name for all of its clones and worktrees, however their remote is written.

    https://user:secret@GitHub.com:443/Owner/repo.git/     github.com/Owner/repo
    ssh://git@github.com:22/Owner/repo                     github.com/Owner/repo
    git@github.com:Owner/repo.git                          github.com/Owner/repo
    /srv/git/app.git   file:///srv/git/app.git             file:/srv/git/app.git
    no remote                                              root:<first commit>
    no commit either, or a shallow clone                   folder:<SHA-256 of the path of its git folder>

The host is lower-cased; user, password, port, query and a final `.git` fall away; the path stays as it is written. Of
several remotes `origin` counts, else `upstream`, else the first by name. An address that can be read in two ways names
nothing, so that no part of a password becomes part of a name. It is the address as the repository has it: a mirror that
the user's `insteadOf` puts in its place changes nothing. Only a short form (`gh:owner/repo`, no dot in the host) is what `insteadOf` makes of it.
"""

from __future__ import annotations

import os
import re
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = "root:"
_FOLDER, _FILE = "folder:", "file:"
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/?#]*)([^?#]*).*", re.DOTALL)
_AUTHORITY = re.compile(r"(?:.*@)?(\[[^\]@]+\]|[^:@\[\]]+)(?::[0-9]*)?", re.DOTALL)
_SCP = re.compile(r"(?:[^/]*@)?(\[[^\]/@]+\]|[^/:@\[\]]{2,}):(.*)", re.DOTALL)
_HELPER = re.compile(r"[A-Za-z0-9]+::")
_ESCAPE = re.compile(rb"%([0-9A-Fa-f]{2})")
_LISTED = re.compile(r"remote\.(.+)\.url\n(.*)", re.DOTALL)


def remotes_in(listing: str) -> dict[str, str]:
    """Name and first address of the remotes in what `git config -z --get-regexp` prints of `remote.NAME.url`."""
    found = [match for entry in listing.split("\0") if (match := _LISTED.fullmatch(entry))]
    return {match[1]: match[2] for match in reversed(found)}


def is_short(address: str) -> bool:
    """Whether an address may be a short form of the user's own (`gh:owner/repo`), which only git's `insteadOf` resolves."""
    found = _SCP.fullmatch(address)
    return found is not None and "@" not in address and not set(".[") & set(found[1])


def by_remote(remotes: Mapping[str, str], base: str) -> tuple[str, str]:
    """The identity, and the name of the remote that it is taken from; two empty texts where no remote names a repository.

    Args:
        remotes: name to address.
        base: the absolute folder from which an address that is a relative path starts.
    """
    for name in sorted(remotes, key=lambda name: (name != "origin", name != "upstream", name)):
        if found := identity_of(remotes[name], base):
            return found, name
    return "", ""


def by_root(commit: str) -> str:
    """The identity of a repository without a remote."""
    return f"{ROOT}{commit}"


def by_folder(common: str) -> str:
    """The identity of a repository without remote and commit, by its git folder, an absolute path without links."""
    return f"{_FOLDER}{sha256(os.fsencode(common)).hexdigest()}"


def is_provisional(identity: str) -> bool:
    """Whether the identity is that of a folder, which a first commit or a remote will replace."""
    return identity.startswith(_FOLDER)


def identity_of(address: str, base: str) -> str:
    """The identity that a remote's address stands for; empty where it stands for none.

    Looks at the letters only: what is at the address is not asked.
    """
    helper = _HELPER.match(address)
    address = address[helper.end() :] if helper else address
    if url := _URL.fullmatch(address):
        if url[1].lower() == "file":
            return _file(os.sep, _unescaped(url[2] + url[3]))
        authority = _AUTHORITY.fullmatch(url[2])
        return _hosted(authority[1], url[3]) if authority else ""
    if scp := _SCP.fullmatch(address):
        return _hosted(scp[1], scp[2])
    return "" if helper or not address else _file(base, address)


def parse_identity(text: str) -> str:
    """The identity that a person named: an address, `host/owner/repo`, or a name of their own, which stays as it is.

    Empty where it is an address that names no repository.
    """
    if text.startswith((ROOT, _FOLDER)) or (text.startswith(_FILE) and not text.startswith(f"{_FILE}//")):
        return text
    if text.startswith("/") or _URL.fullmatch(text) or _SCP.fullmatch(text):
        return identity_of(text, os.sep)
    if "@" in text.partition("/")[0]:
        return identity_of(f"ssh://{text}", os.sep)
    return fold_host(text.rstrip("/").removesuffix(".git"))


def fold_host(identity: str) -> str:
    """`identity` with its host in lower case, if it has one: a first part with a dot, or before two others."""
    first, slash, rest = identity.partition("/")
    return f"{first.lower()}{slash}{rest}" if ":" not in first and ("." in first or "/" in rest) else identity


def owner_in(identity: str) -> str | None:
    """What stands between host and repository: the owner, or the groups; None where nothing does."""
    host, *between = identity.split("/")[:-1] or [""]
    return "/".join(between) if between and ":" not in host else None


def _hosted(host: str, path: str) -> str:
    parts = [part for part in path.split("/") if part]
    if parts[-1:] == [".git"]:
        parts.pop()
    host = host.lower().rstrip(".")
    return "/".join((host, *parts)).removesuffix(".git") if host and parts and "@" not in path else ""


def _file(base: str, path: str) -> str:
    whole = os.path.abspath(os.path.join(base, path)).removesuffix(f"{os.sep}.git").replace(os.sep, "/")
    return "" if "\0" in path else f"{_FILE}{whole}"


def _unescaped(path: str) -> str:
    return os.fsdecode(_ESCAPE.sub(lambda found: bytes.fromhex(found[1].decode()), os.fsencode(path)))
