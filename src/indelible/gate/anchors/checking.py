"""Anchors: what a memory depends on outside of itself, held against what is there now.

    git-blob     a file, as git would commit it         path, value: the blob's id
    file-digest  a file's bytes, or a member of a JSON  path, or path#member; value: sha256:…
                 or TOML file
    git-commit   HEAD is it or comes after it; with a   value: the commit
                 path, the submodule there stands at it
    git-ref      a branch or tag points at it           path: the full name, value: the commit
    package      a lock file holds these versions       path: the lock file, value: npm:react@19.0.1
    env          a fact of the environment, or the      path: env:NAME or api:NAME
                 stated version of an API
    url          is never fetched, and so is unknown

No history is asked for here; `explaining` does that for the few that are looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indelible.gate.anchors.judges import BLOB_KINDS, JUDGES
from indelible.gate.anchors.locating import CHANGED, MISSING, OUTSIDE, UNKNOWN, Doubt, short, shown
from indelible.gate.verdict import Reason

if TYPE_CHECKING:
    from collections.abc import Iterable

    from indelible.gate.anchors.files import Files
    from indelible.record import Anchor

_REMEDIES = {
    CHANGED: "Look at what changed, then save the memory again or have it reviewed",
    MISSING: "Look where it went, then save the memory again or have it reviewed",
    OUTSIDE: "Save the memory again with anchors inside the repository",
    UNKNOWN: "Read it where it was saved, or save it again",
}


def check(anchors: tuple[Anchor, ...], files: Files) -> tuple[Reason, ...]:
    """One reason for each anchor that does not hold; no history is looked at."""
    doubtful = [anchor for anchor in anchors if not _plainly_holds(anchor, files)]
    if not doubtful:
        return ()
    _ask(doubtful, files)
    return tuple(reason for anchor in doubtful if (reason := judge(anchor, files)) is not None)


def prepare(anchors: Iterable[Anchor], files: Files) -> None:
    """Ask git once for all that judging these anchors will need of it; worth it before many records are checked."""
    _ask([anchor for anchor in anchors if not _plainly_holds(anchor, files)], files)


def judge(anchor: Anchor, files: Files) -> Reason | None:
    """Why one anchor does not hold, or None."""
    try:
        files.require(anchor.repo)
        JUDGES[anchor.type](anchor, files)
    except Doubt as doubt:
        bound = f" (bound to {short(anchor.value)})" if anchor.type != "url" else ""
        return Reason(
            doubt.slug, f"{name_of(anchor)}{bound} {doubt.words}", doubt.remedy or _REMEDIES.get(doubt.slug, "")
        )
    return None


def name_of(anchor: Anchor) -> str:
    """An anchor in a message: its type and where it points."""
    return f"{anchor.type} {shown(anchor.path)}" if anchor.path else anchor.type


def _plainly_holds(anchor: Anchor, files: Files) -> bool:
    """Whether a file's own bytes have the digest: the common case, without git."""
    path, value, kind = anchor.path, anchor.value, anchor.type
    try:
        if kind == "git-blob" and path is not None and files.place.repo is not None:
            files.require(anchor.repo)
            return files.digest(path, BLOB_KINDS.get(len(value), "blob-sha1")) == value
        if kind == "file-digest" and path is not None and "#" not in path:
            files.require(anchor.repo)
            return "sha256:" + files.digest(path, "sha256") == value
    except Doubt:
        return False
    return False


def _ask(anchors: list[Anchor], files: Files) -> None:
    """Ask git in as few processes as there are kinds of questions. What goes wrong is said when each is judged."""
    try:
        here = [anchor for anchor in anchors if _is_here(anchor, files)]
        blobs = [
            (anchor.path, raw)
            for anchor in here
            if anchor.type == "git-blob" and anchor.path is not None and (raw := _raw(anchor, files))
        ]
        names = [anchor.value for anchor in here if anchor.type == "git-commit" and anchor.path is None]
        refs = [anchor.path for anchor in here if anchor.type == "git-ref" and anchor.path is not None]
        if blobs:
            files.git.ask_blobs(blobs)
        if names or refs:
            files.git.ask_commits((*names, *refs, "HEAD"))
            files.git.ask_ancestors(filter(None, map(files.git.commit, names)))
    except Doubt:
        return


def _is_here(anchor: Anchor, files: Files) -> bool:
    try:
        files.require(anchor.repo)
    except Doubt:
        return False
    return True


def _raw(anchor: Anchor, files: Files) -> str:
    """The raw id of a file whose id in git is not known yet; empty where there is no such file."""
    try:
        return files.digest(anchor.path or "", BLOB_KINDS.get(len(anchor.value), "blob-sha1"))
    except Doubt:
        return ""
