"""What became of an anchor, with git's history: for the few that somebody looks at.

Slugs beside those of `check`: `anchor-unchanged`, `anchor-reverted`, `anchor-renamed`, `anchor-deleted`,
`anchor-never-existed`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from indelible.gate.anchors.checking import judge, name_of
from indelible.gate.anchors.history import History
from indelible.gate.anchors.locating import CHANGED, MISSING, UNKNOWN, Doubt, short, shown

if TYPE_CHECKING:
    from indelible.gate.anchors.files import Files
    from indelible.gate.verdict import Reason
    from indelible.record import Anchor

_SAVE = "Look at it, then save the memory again or have it reviewed"
_FILE_TYPES = ("git-blob", "file-digest", "package")


class Explained(NamedTuple):
    """What became of an anchor. Its first three fields are a `Reason`."""

    slug: str
    message: str
    remedy: str = ""
    commit: str | None = None
    """The commit that did it, where one did."""
    path: str | None = None
    """Where it is now, where that is another path."""


def explain(anchor: Anchor, files: Files, since: str | None = None) -> Explained:
    """What became of one anchor.

    Args:
        anchor: The anchor.
        files: What it is held against.
        since: The commit at which it was bound, if that is known: changes after it count.
    """
    reason = judge(anchor, files)
    try:
        if reason is None:
            return _holding(anchor, files, since)
        if reason.slug in (CHANGED, MISSING) and anchor.path and anchor.type in _FILE_TYPES and files.place.repo:
            file, history = _file_of(anchor, files), History(files.git)
            if files.is_there(file):
                return _changed(anchor, reason, file, history)
            return _gone(anchor, reason, file, files, history, since)
    except Doubt as doubt:
        if reason is not None:
            return Explained(*reason)
        return Explained("anchor-unchanged", f"{name_of(anchor)} is as it was bound; its history {doubt.words}")
    return Explained(*reason)


def _holding(anchor: Anchor, files: Files, since: str | None) -> Explained:
    name = name_of(anchor)
    if since and anchor.path and anchor.type in _FILE_TYPES and files.place.repo:
        file, history = _file_of(anchor, files), History(files.git)
        touched = history.last_touch(file, since) if history.knows(since) else None
        if touched is not None:
            words = f"{name} is as it was bound, though commits touched it since, the last one {short(touched)}"
            return Explained("anchor-reverted", words, commit=touched)
    return Explained("anchor-unchanged", f"{name} is as it was bound")


def _file_of(anchor: Anchor, files: Files) -> str:
    """The file that an anchor's path names."""
    path = anchor.path or ""
    return files.split_member(path)[0] if anchor.type == "file-digest" else path


def _changed(anchor: Anchor, reason: Reason, file: str, history: History) -> Explained:
    """A file that is there, with other content."""
    touched = history.last_touch(file)
    if anchor.type == "git-blob" and history.at_head(file) == anchor.value:
        return Explained(reason.slug, f"{reason.message}; that is not committed", reason.remedy)
    if touched is None:
        return Explained(reason.slug, f"{reason.message}; no commit has it", reason.remedy)
    words = f"{reason.message}; the last commit that touched it is {short(touched)}"
    return Explained(reason.slug, words, f"See 'git show {touched[:12]}'. {reason.remedy}", touched)


def _gone(anchor: Anchor, reason: Reason, file: str, files: Files, history: History, since: str | None) -> Explained:
    """A file that is not there."""
    name = f"{name_of(anchor)} (bound to {short(anchor.value)})"
    if anchor.type == "git-blob":
        now = history.elsewhere(anchor.value, file.rpartition("/")[2])
        if now is not None:
            return _renamed(name, now, history.deletion(file), "")
    moved = history.renamed(file, since)
    if moved is not None:
        return _renamed(name, moved.path, moved.commit, ", and has changed" if anchor.type == "git-blob" else "")
    if history.at_head(file) is not None:
        words = f"{name} was deleted here; that is not committed"
        return Explained("anchor-deleted", words, f"Put it back with 'git restore', or: {_SAVE}")
    commit = history.deletion(file)
    if commit is not None:
        return Explained("anchor-deleted", f"{name} was deleted by commit {short(commit)}", _SAVE, commit)
    return _never(name, file, files, history, reason)


def _renamed(name: str, now: str, commit: str | None, more: str) -> Explained:
    by = f" by commit {short(commit)}" if commit else "; that is not committed"
    words = f"{name} was renamed to {shown(now)}{more}{by}"
    return Explained("anchor-renamed", words, f"Save the memory again with --anchor {shown(now)}", commit, now)


def _never(name: str, file: str, files: Files, history: History, reason: Reason) -> Explained:
    other = history.anywhere(file)
    if other is not None:
        words = f"{name} is not on this branch; another one has it, last touched by commit {short(other)}"
        return Explained(MISSING, words, "Switch to that branch, or save the memory again", other)
    if files.git.shallow:
        words = f"{name} is not there, and history is cut short in this shallow clone"
        return Explained(UNKNOWN, words, "Run 'git fetch --unshallow'")
    return Explained("anchor-never-existed", f"{name} is not there, and no commit ever had it", reason.remedy)
