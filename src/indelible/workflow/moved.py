"""Whether HEAD moved since it was last seen, and git's hooks still stand as they were put: read from a few small files, without git.

    {state folder}/githooks/NUMBER          one for each repository: `indelible/githooks/v1` and lines of a name and a value
    {state folder}/githooks/NUMBER.head     one for each checkout: the id of HEAD, and what was said of it

They lie in the user's state folder, beside the pins, and not in the repository: to delete them is like deleting a pin.
"""

from __future__ import annotations

import os

from indelible.errors import IndelibleError
from indelible.files import make_folder, replace_file
from indelible.light import TYPE_CHECKING, NamedTuple, sha256

if TYPE_CHECKING:
    from collections.abc import Iterable

FOLDER = "githooks"
HEADER = "indelible/githooks/v1"
_SMALL = 4_096
_MOST = 4_000_000
_HEX = frozenset("0123456789abcdef")


class Installed(NamedTuple):
    """What is remembered of an installation."""

    common: str
    hooks: str
    """The folder that our hooks were put into."""
    configured: str
    """`core.hooksPath` after that."""
    watched: dict[str, list[int]]
    """Path to stamp of what decides whether they run: git's settings and the hooks themselves; none for what was not there."""
    baseline: tuple[str, ...]
    """Commits that were there before: nobody approved those, and nobody has to."""


class Seen(NamedTuple):
    """What is remembered of a checkout."""

    head: str
    """The last HEAD that was all right; empty where there was none."""
    looked: str
    """The HEAD that was looked at last."""
    said: str
    """What was said of that."""


def record_path(state_dir: str, common: str) -> str:
    """Where an installation is remembered."""
    return os.path.join(state_dir, FOLDER, _number(common))


def head_path(state_dir: str, checkout: str) -> str:
    """Where the HEAD of a checkout is remembered."""
    return os.path.join(state_dir, FOLDER, f"{_number(os.path.realpath(checkout))}.head")


def read_installed(state_dir: str, common: str) -> Installed | None:
    """What is remembered; None where nothing is, or it cannot be read."""
    try:
        with open(record_path(state_dir, common), "rb") as file:
            lines = os.fsdecode(file.read(_MOST)).split("\n")
    except OSError:
        return None
    said: dict[str, str] = {}
    watched: dict[str, list[int]] = {}
    base = []
    for line in lines[1:]:
        name, _, value = line.partition(" ")
        if name == "base":
            base.append(value)
        elif name == "watched":
            stamp, _, path = value.partition(" ")
            watched[path] = [int(part) for part in stamp.split(",") if part.isdigit()]
        else:
            said[name] = value
    found = Installed(said.get("common", ""), said.get("hooks", ""), said.get("configured", ""), watched, tuple(base))
    return found if lines[0] == HEADER and found.common == common else None


def baseline_of(state_dir: str, common: str) -> tuple[str, ...]:
    """Commits that were there before our hooks were; none where those are not installed."""
    installed = read_installed(state_dir, common)
    return installed.baseline if installed is not None else ()


def keep_installed(state_dir: str, installed: Installed) -> None:
    """Remember an installation.

    Raises:
        NotSaved, DiskFull, ReadOnly: it could not be written.
    """
    path = record_path(state_dir, installed.common)
    lines = [HEADER, *(f"{name} {getattr(installed, name)}" for name in ("common", "hooks", "configured"))]
    lines += [f"watched {','.join(map(str, stamp))} {name}" for name, stamp in installed.watched.items()]
    lines += [f"base {one}" for one in installed.baseline]
    make_folder(os.path.dirname(path))
    replace_file(path, os.fsencode("".join(f"{line}\n" for line in lines)))


def read_seen(state_dir: str, checkout: str) -> Seen | None:
    """What is remembered of a checkout; None where nothing is."""
    lines = _text(head_path(state_dir, checkout)).split("\n", 2)
    return Seen(lines[0], lines[1], lines[2].rstrip("\n")) if len(lines) == 3 else None


def keep_seen(state_dir: str, checkout: str, seen: Seen) -> str:
    """Remember it; answers with what to say where that failed."""
    path = head_path(state_dir, checkout)
    try:
        make_folder(os.path.dirname(path))
        replace_file(path, "\n".join((*seen, "")).encode("utf-8", "surrogateescape"))
    except IndelibleError as error:
        return error.message
    return ""


def common_of(checkout: str) -> tuple[str, str]:
    """`(git folder of this checkout, git folder that all share)`; two empty texts where there is none."""
    own = os.path.join(checkout, ".git")
    if os.path.isfile(own):
        named = _text(own).strip()
        if not named.startswith("gitdir: "):
            return "", ""
        own = os.path.join(checkout, named[8:])
    if not os.path.isdir(own):
        return "", ""
    shared = _text(os.path.join(own, "commondir")).strip()
    return own, os.path.realpath(os.path.join(own, shared) if shared else own)


def branch_of(own: str) -> str:
    """The full name of the branch that HEAD is on, as git's file has it; empty where that names none."""
    kind, _, name = _text(os.path.join(own, "HEAD")).strip().partition(" ")
    return name.strip() if kind == "ref:" else ""


def head_of(own: str, common: str) -> str | None:
    """The id of HEAD as git's files have it; empty for an unborn one, None where they do not say (reftable)."""
    text = _text(os.path.join(own, "HEAD")).strip()
    for _ in range(5):
        if not text.startswith("ref: "):
            return text if _is_id(text) else None
        name = text[5:].strip()
        if name == "refs/heads/.invalid":  # reftable keeps its references elsewhere
            return None
        text = _text(os.path.join(common, *name.split("/"))).strip() or _packed(common, name)
        if not text:
            return ""
    return None


def stamps_of(paths: Iterable[str]) -> dict[str, list[int]]:
    """Size, time and number of each file; none for one that is not there."""
    return {path: _stamp(path) for path in paths}


def _stamp(path: str) -> list[int]:
    try:
        found = os.stat(path)
    except OSError:
        return []
    return [found.st_size, found.st_mtime_ns, found.st_ino]


def _packed(common: str, name: str) -> str:
    try:
        with open(os.path.join(common, "packed-refs"), "rb") as file:
            for line in file:
                if line.endswith(b" " + os.fsencode(name) + b"\n"):
                    return line.split(b" ", 1)[0].decode("ascii", "replace")
    except OSError:
        return ""
    return ""


def _is_id(text: str) -> bool:
    return len(text) in (40, 64) and _HEX.issuperset(text)


def _text(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return os.fsdecode(file.read(_SMALL))
    except OSError:
        return ""


def _number(path: str) -> str:
    return sha256(os.fsencode(path)).hexdigest()[:24]
