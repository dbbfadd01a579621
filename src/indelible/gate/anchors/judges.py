"""How each type of anchor is held against what is there: a judge returns where it holds, and raises `Doubt` where it does not."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from indelible.gate.anchors.facts import fact
from indelible.gate.anchors.locating import CHANGED, MISSING, UNKNOWN, Doubt, short, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from indelible.gate.anchors.files import Files
    from indelible.record import Anchor

BLOB_KINDS = {40: "blob-sha1", 64: "blob-sha256"}
"""By the length of an id which hash it is of."""

_HEX = re.compile(r"[0-9a-f]+")


def _judge_blob(anchor: Anchor, files: Files) -> None:
    path = _path(anchor)
    git = files.git  # before the file: where there is no repository, nothing can be said of it
    kind = BLOB_KINDS.get(len(anchor.value))
    if kind is None or not _HEX.fullmatch(anchor.value):
        raise Doubt(UNKNOWN, "is bound to no id of a blob")
    raw = files.digest(path, kind)
    if raw == anchor.value or files.link_id(path, kind) == anchor.value:
        return
    now = git.blob(path, raw)
    if len(now) != len(anchor.value):
        raise Doubt(UNKNOWN, "was bound under another hash than this repository has")
    if now != anchor.value:
        raise Doubt(CHANGED, f"has changed: it is {short(now)} now")


def _judge_digest(anchor: Anchor, files: Files) -> None:
    path, value = _path(anchor), anchor.value.lower()
    if not value.startswith("sha256:"):
        raise Doubt(UNKNOWN, "is bound by a digest that is not computed here")
    file, member = files.split_member(path)
    if member is None:
        now = f"sha256:{files.digest(file, 'sha256')}"
    else:
        from indelible.gate.anchors.members import member_digest, read_document

        now = member_digest(files.parsed(file, read_document), member)
    if now != value:
        raise Doubt(CHANGED, f"has changed: it is {short(now)} now")


def _judge_commit(anchor: Anchor, files: Files) -> None:
    git, value = files.git, anchor.value
    if anchor.path is not None:
        files.reach(anchor.path)
        now = git.head_of(anchor.path)
        if now is None:
            raise Doubt(MISSING, "is no submodule any more")
        if now != value:
            raise Doubt(CHANGED, f"stands at {short(now)} now")
        return
    if not _HEX.fullmatch(value):
        raise Doubt(UNKNOWN, "names no commit by its id")
    commit = git.commit(value)
    short_history = (" in this shallow clone", "Run 'git fetch --unshallow'") if git.shallow else ("", "")
    if commit is None:
        raise Doubt(
            UNKNOWN if git.shallow else MISSING, f"is no commit that is there{short_history[0]}", short_history[1]
        )
    if not git.is_ancestor(commit):
        raise Doubt(
            UNKNOWN if git.shallow else CHANGED, f"is not in the history of HEAD{short_history[0]}", short_history[1]
        )


def _judge_ref(anchor: Anchor, files: Files) -> None:
    now = files.git.commit(_path(anchor))
    if now is None:
        raise Doubt(MISSING, "is not there any more")
    if now != anchor.value:
        raise Doubt(CHANGED, f"points at {short(now)} now")


def _judge_package(anchor: Anchor, files: Files) -> None:
    from indelible.gate.anchors.packages import parse_value, pinned

    ecosystem, name, versions = parse_value(anchor.value)
    now = pinned(files, _path(anchor), ecosystem, name)
    if not now:
        raise Doubt(MISSING, "is not in that lock file any more")
    if now != versions:
        raise Doubt(CHANGED, f"is {shown(now)} now")


def _judge_env(anchor: Anchor, files: Files) -> None:
    kind, _, name = _path(anchor).partition(":")
    if kind == "api":
        if name not in files.apis:
            raise Doubt(MISSING, "has no version in the settings any more", "State it under [apis] in the settings")
        if files.apis[name] != anchor.value:
            raise Doubt(CHANGED, f"is {shown(files.apis[name])} now")
    elif kind != "env":
        raise Doubt(UNKNOWN, "is no fact that is known here")
    elif fact(name, files.environ) != anchor.value:
        raise Doubt(CHANGED, "is something else now")


def _judge_url(_anchor: Anchor, _files: Files) -> None:
    raise Doubt(UNKNOWN, "is not fetched, and so not checked", "Save it again with anchors that can be checked here")


def _path(anchor: Anchor) -> str:
    if not anchor.path:
        raise Doubt(UNKNOWN, "names nothing")
    return anchor.path


JUDGES: Mapping[str, Callable[[Anchor, Files], None]] = {
    "git-blob": _judge_blob,
    "file-digest": _judge_digest,
    "git-commit": _judge_commit,
    "git-ref": _judge_ref,
    "package": _judge_package,
    "env": _judge_env,
    "url": _judge_url,
}
