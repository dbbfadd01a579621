"""Finding one version of one file in one repository.

    the tip of the branch -> the file's history there -> its history on every branch -> renames followed

Contents come from `cat-file`, as they were committed: no newline is translated, no filter and no textconv runs.
Where only line endings differ from what was recorded, the recorded ones are made, and that is said.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from indelible.gitsource.command import GitFailed, NoSuchBranch, NoSuchPath, NoSuchVersion
from indelible.seal.digest import Digest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indelible.gitsource.command import Git

MAX_VERSIONS = 2_000
"""How far back the history of one file is walked."""
MAX_BYTES = 64 * 1024 * 1024
"""A larger file is no memory."""

_BATCH = 50
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_ENTRY = re.compile(rb"(\d{6}) blob ([0-9a-f]+)\t")
_RAW = re.compile(rb"\x01([0-9a-f]+)\x00|:\d{6} (\d{6}) [0-9a-f]+ ([0-9a-f]+) [A-Z]\d*\x00")
_LOG = ("log", "--format=%x01%H", "--raw", "-z", "--no-abbrev", "--full-history", "-m", "--no-ext-diff")
_FETCH_BLOBS = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--filter=blob:none", "--stdin", "origin")
_FILES = (b"100644", b"100755")
"""Modes: a link's content is where it points to, not a memory."""

_TOLD = {
    "tip": "",
    "history": "; the branch has moved on since",
    "other-branch": "; it is not on that branch any more, but in the same repository",
    "unrecorded": "; no digest was recorded to compare with",
}


class Wanted(NamedTuple):
    """Which version is looked for."""

    source: str
    path: str
    branch: str
    digest: Digest | None


@dataclass(frozen=True, slots=True)
class Original:
    """A file as it was committed."""

    data: bytes
    commit: str
    """In which it was found."""
    how: str
    """Where the recorded digest was found: `tip`, `history` or `other-branch`; `unrecorded` where there was none."""
    endings: str
    """What line endings were changed to, to be the recorded bytes: `LF`, `CRLF`, or empty for none."""
    source: str
    branch: str

    @property
    def reason(self) -> str:
        """One sentence, for the reason of the version that it becomes."""
        branch = self.branch or "no recorded branch"
        endings = f"; line endings were changed to {self.endings}, as recorded" if self.endings else ""
        return f"from git: {self.source} at {branch}, commit {self.commit[:12]}{_TOLD[self.how]}{endings}"


class _Blob(NamedTuple):
    commit: str
    id: str


def find(git: Git, top: str, wanted: Wanted, *, partial: bool = False) -> Original:
    """The wanted version, in the repository at `top`.

    Args:
        git: How to run git.
        top: A work tree or a bare repository.
        wanted: Without a digest, what is at the tip of the branch.
        partial: Whether it may lack contents, which its `origin` has.

    Raises:
        NoSuchBranch, NoSuchPath, NoSuchVersion: there is no such version.
        GitFailed: the repository is damaged, or lacks contents that could be the wanted ones.
    """
    tips = _tips(git, top, wanted.branch)
    blobs = [blob for tip in tips for blob in _at(git, top, tip, wanted.path)]
    if wanted.digest is None:
        return _unrecorded(git, top, wanted, tips, blobs)
    seen: set[str] = set()
    unread = 0
    for how, candidates in _phases(git, top, wanted.path, tips, blobs):
        fresh = list({blob.id: blob for blob in reversed(candidates) if blob.id not in seen}.values())[::-1]
        seen.update(blob.id for blob in fresh)
        if partial and fresh and how != "tip":
            # In one go; where the server refuses, git fetches them one by one.
            git.run(top, *_FETCH_BLOBS, stdin="\n".join(blob.id for blob in fresh).encode())
        for blob, data in _contents(git, top, fresh):
            fitting = None if data is None else _fit(data, wanted.digest)
            unread += data is None
            if fitting is not None:
                return Original(fitting[0], blob.commit, how, fitting[1], wanted.source, wanted.branch)
    if unread:
        message = f"{unread} of the {len(seen)} versions of {wanted.source} in git cannot be read, and no other is the recorded one"
        raise GitFailed(message, remedy="Try 'git fsck' there", folder=top)
    raise _absent(git, top, wanted, tips, seen)


def _phases(git: Git, top: str, path: str, tips: list[str], blobs: list[_Blob]) -> Iterator[tuple[str, list[_Blob]]]:
    """Where to look, the nearest first. Following renames comes last: it may need the contents of other files."""
    yield "tip", blobs
    if tips:
        yield "history", _versions(git, top, path, *tips)
    yield "other-branch", _versions(git, top, path, "--all")
    if tips:
        yield "history", _versions(git, top, path, "--follow", *tips)


def _unrecorded(git: Git, top: str, wanted: Wanted, tips: list[str], blobs: list[_Blob]) -> Original:
    for blob, data in _contents(git, top, blobs[:1]):
        if data is not None:
            return Original(data, blob.commit, "unrecorded", "", wanted.source, wanted.branch)
        raise GitFailed(
            f"The content of {wanted.source} is missing from git, or larger than {MAX_BYTES} bytes", folder=top
        )
    raise _absent(git, top, wanted, tips, set())


def _tips(git: Git, top: str, branch: str) -> list[str]:
    """The commits that the branch stands for: here, at each remote, or itself if it names a commit."""
    if not branch:
        return []
    remotes = [name for name in git.line(top, "remote").split("\n") if name]
    refs = [f"refs/heads/{branch}", *(f"refs/remotes/{name}/{branch}" for name in remotes)]
    # `--verify` takes exact names only: a branch called `main~3` is none.
    found = [git.line(top, "show-ref", "--verify", "--hash", "--", ref) for ref in refs]
    if not any(found) and _COMMIT.fullmatch(branch) and not git.run(top, "cat-file", "-e", f"{branch}^{{commit}}").code:
        found.append(branch)
    return list(dict.fromkeys(filter(None, found)))


def _at(git: Git, top: str, commit: str, path: str) -> list[_Blob]:
    """The file at a commit, if it is one there."""
    match = _ENTRY.match(git.must(top, "ls-tree", "-z", "--full-tree", commit, "--", path))
    return [_Blob(commit, match[2].decode())] if match and match[1] in _FILES else []


def _versions(git: Git, top: str, path: str, *revisions: str) -> list[_Blob]:
    """What the file was, newest first, over every line of history: a merge may have left a version behind."""
    listing = git.must(top, *_LOG, f"--max-count={MAX_VERSIONS}", *revisions, "--", path)
    commit, found = "", []
    for match in _RAW.finditer(listing):
        if match[1]:
            commit = match[1].decode()
        elif match[2] in _FILES:
            found.append(_Blob(commit, match[3].decode()))
    return found


def _contents(git: Git, top: str, blobs: list[_Blob]) -> Iterator[tuple[_Blob, bytes | None]]:
    """Each content, or None where git lacks it or it is too large to be a memory."""
    sizes = _read_sizes(git, top, blobs)
    usable = [blob for blob in blobs if sizes.get(blob.id, MAX_BYTES + 1) <= MAX_BYTES]
    for start in range(0, len(usable), _BATCH):
        batch = usable[start : start + _BATCH]
        out = git.must(top, "cat-file", "--batch", stdin=_lines(batch))
        at = 0
        for blob in batch:
            begins = out.index(b"\n", at) + 1
            at = begins + sizes[blob.id]
            yield blob, out[begins:at]
            at += 1
    for blob in blobs:
        if blob not in usable:
            yield blob, None


def _read_sizes(git: Git, top: str, blobs: list[_Blob]) -> dict[str, int]:
    out = git.must(top, "cat-file", "--batch-check=%(objectname) %(objectsize)", stdin=_lines(blobs)) if blobs else b""
    pairs = [line.split(" ") for line in out.decode().split("\n") if line]
    return {name: int(size) for name, size in pairs if size.isdigit()}


def _lines(blobs: list[_Blob]) -> bytes:
    return "".join(f"{blob.id}\n" for blob in blobs).encode()


def _fit(data: bytes, want: Digest) -> tuple[bytes, str] | None:
    """The bytes that have the digest: these, or these with other line endings."""
    newlines = data.replace(b"\r\n", b"\n")
    for variant, endings in ((data, ""), (newlines, "LF"), (newlines.replace(b"\n", b"\r\n"), "CRLF")):
        if Digest.of(variant) == want:
            return variant, endings
    return None


def _absent(
    git: Git, top: str, wanted: Wanted, tips: list[str], seen: set[str]
) -> NoSuchBranch | NoSuchPath | NoSuchVersion:
    facts: dict[str, str] = {"source": wanted.source, "branch": wanted.branch}
    if seen:
        shallow = git.line(top, "rev-parse", "--is-shallow-repository") == "true"
        remedy = (
            "This clone is shallow: run 'git fetch --unshallow'"
            if shallow
            else "Look for it with 'git log --all', or at another remote"
        )
        message = f"None of the {len(seen)} versions of {wanted.source} in git has the recorded digest {wanted.digest}"
        return NoSuchVersion(message, remedy=remedy, **facts)
    if tips:
        return NoSuchPath(
            f"The branch {wanted.branch!r} has no file {wanted.path!r}",
            remedy="Look where it went with 'git log --follow'",
            **facts,
        )
    branch = f"The branch {wanted.branch!r} is gone" if wanted.branch else "No branch was recorded"
    message = f"{branch}, and {wanted.path!r} is on no other" if wanted.digest else branch
    return NoSuchBranch(message, remedy="Fetch the remote, or name a branch that has the file", **facts)
