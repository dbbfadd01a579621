"""From a path that somebody names to the anchor of a file as it is now: of a member of it, or of a submodule."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from indelible.errors import UsageError
from indelible.gate.anchors.locating import CHANGED, MISSING, OUTSIDE, Doubt, first_link, inside, shown
from indelible.record import Anchor

if TYPE_CHECKING:
    from indelible.gate.anchors.files import Files


def capture_path(path: str, files: Files, here: str) -> Anchor:
    """The anchor of a file, a member of one, or a submodule.

    Raises:
        UsageError, Doubt: there is no such file, or it cannot be an anchor.
    """
    file, member = _split(path, here)
    inner = _relative(file, files, here)
    parts = inside(inner)
    link = first_link(files.top, parts)
    if link is not None:
        real = os.path.realpath(os.path.join(files.top, *parts))
        raise Doubt(OUTSIDE, f"goes through the link {shown(link)}", f"Name the file itself: {shown(real)}")
    full = os.path.join(files.top, *parts)
    if not os.path.lexists(full):
        raise _absent(inner, files)
    if os.path.isdir(full):
        return _submodule(inner, full, files)
    outer = _repository_between(files.top, parts)
    if outer is not None and files.place.repo is not None:
        raise Doubt(
            OUTSIDE, f"lies in another repository, {shown(outer)}", f"Anchor {shown(outer)} itself, or save from there"
        )
    if member is not None:
        return _member(inner, member, files)
    return _file(inner, files)


def capture_files(paths: tuple[str, ...], files: Files) -> tuple[Anchor, ...]:
    """The anchors of files that are known to be there; git is asked once for all.

    Raises:
        UsageError: one cannot be read, or git cannot say.
    """
    with suppress(Doubt):  # it is said of the file, below
        if files.place.repo is not None:
            files.git.ask_blobs([(path, files.digest(path, "blob-sha1")) for path in paths])
    return tuple(_named(path, files) for path in paths)


def _named(path: str, files: Files) -> Anchor:
    try:
        return _file(path, files)
    except Doubt as doubt:
        raise UsageError(f"{shown(path)}, which the text names, {doubt.words}", remedy=doubt.remedy) from doubt


def _file(path: str, files: Files) -> Anchor:
    if files.place.repo is None:
        return Anchor("file-digest", f"sha256:{files.digest(path, 'sha256')}", files.repo, path)
    return Anchor("git-blob", files.git.blob(path, files.digest(path, "blob-sha1")), files.repo, path)


def _split(path: str, here: str) -> tuple[str, str | None]:
    if "#" not in path or os.path.lexists(os.path.join(here, path)):
        return path, None
    file, _, member = path.partition("#")
    cuts = [at for at, letter in enumerate(path) if letter == "#" and at]
    at = next((at for at in cuts if os.path.isfile(os.path.join(here, path[:at]))), None)
    return (file, member) if at is None else (path[:at], path[at + 1 :])


def _relative(file: str, files: Files, here: str) -> str:
    """A path relative to the top, with forward slashes; `..` is taken by its letters, as shells show it."""
    top = files.top
    if not file or "\0" in file:
        raise Doubt(MISSING, "names nothing", "Name a file, or say commit:, ref:, package:, env: or api:")
    full = os.path.normpath(os.path.join(here, file))
    for candidate in (full, os.path.join(os.path.realpath(os.path.dirname(full)), os.path.basename(full))):
        for base in (top, os.path.realpath(top)):
            if candidate == base:
                raise Doubt(CHANGED, "is the whole folder", "Name its files, or say commit:HEAD")
            if candidate.startswith(base.rstrip(os.sep) + os.sep):
                return os.path.relpath(candidate, base).replace(os.sep, "/")
    raise Doubt(OUTSIDE, f"lies outside {shown(top)}", "Anchor a file inside it")


def _absent(path: str, files: Files) -> Doubt:
    if files.place.repo is None:
        return Doubt(MISSING, "does not exist", "Look at its spelling; it is relative to the current folder")
    from indelible.gate.anchors.history import History

    history = History(files.git)
    commit = history.deletion(path)
    if commit is not None:
        return Doubt(MISSING, f"is not there: it was deleted by commit {commit[:12]}", "Anchor what took its place")
    if history.at_head(path) is not None:
        return Doubt(
            MISSING, "is not there: it was deleted, and that is not committed", "Put it back with 'git restore'"
        )
    return Doubt(MISSING, "never existed: no such file is here, and no commit has it", "Look at its spelling")


def _submodule(path: str, full: str, files: Files) -> Anchor:
    if files.place.repo is not None:
        head = files.git.head_of(path)
        if head is not None:
            return Anchor("git-commit", head, files.repo, path)
        if os.path.lexists(os.path.join(full, ".git")):
            raise Doubt(MISSING, "is a repository without commits", "Commit there first")
    raise Doubt(CHANGED, "is a folder", "Name its files, one --anchor for each")


def _repository_between(top: str, parts: tuple[str, ...]) -> str | None:
    """The repository inside this one that a file lies in."""
    for number in range(1, len(parts)):
        if os.path.lexists(os.path.join(top, *parts[:number], ".git")):
            return "/".join(parts[:number])
    return None


def _member(file: str, member: str, files: Files) -> Anchor:
    from indelible.gate.anchors.members import member_digest, read_document

    try:
        digest = member_digest(files.parsed(file, read_document), member)
    except Doubt as doubt:
        words = "has no such member" if doubt.slug == MISSING else doubt.words
        raise Doubt(doubt.slug, words, doubt.remedy or "Look at the file; parts are separated by dots") from None
    return Anchor("file-digest", digest, files.repo, f"{file}#{member}")
