"""What a gate has to know of the workflow, in one small file for each place: so that it decides without opening a store.

    {state folder}/flow/{number of the place}.json

One JSON object, derived from the verified log. It is no source of anything: one that does not parse, or is of another
place, counts as none, and is made again. Between two writers the later one stands, whole.
"""

from __future__ import annotations

import os

from indelible.files import make_folder, replace_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from indelible.light import NamedTuple

FORMAT = 1
RECEIPT = "approved-diff"
"""The target whose receipt a commit needs, where neither a workflow says so, nor an option, nor a file of approvers."""
COMMANDS = (("gh pr merge", RECEIPT), ("glab mr merge", RECEIPT))
"""Commands that need a receipt, where no workflow says otherwise: how they begin, and of which target."""
MOST_FILES = 20
"""Files that may be read in one turn, where heavy work is refused."""
_LEVELS = ("barrier", "warning")
_MOST = 4_000_000
_SHORT = 8_192
_PRIME = 2**61 - 1


class Watch(NamedTuple):
    """What a gate has to know of one scar: see `scars.Scar`."""

    id: str
    title: str
    level: str
    tried: str
    why: str
    within: tuple[str, ...] = ()
    """Globs of its scope; empty for everywhere."""
    paths: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    waived: tuple[str, ...] = ()


class Guard(NamedTuple):
    """What a gate has to know of one place."""

    place: str
    on: bool = True
    receipt: str = RECEIPT
    commands: tuple[tuple[str, str], ...] = COMMANDS
    refuse_heavy: bool = False
    heavy: tuple[str, ...] = ()
    """Patterns of more commands that are heavy, as a shell's: `bazel test *`."""
    most_files: int = MOST_FILES
    scars: tuple[Watch, ...] = ()
    head: str = ""
    """What git's HEAD said then: a scar may be of one branch."""
    seen: str = ""
    """The day that it was made on, and the stamps of what it was derived from; empty where nobody can tell."""


def head_of(place: str) -> str:
    """What git's HEAD says in a checkout; git is not run. Empty where it cannot be read."""
    marker = os.path.join(place, ".git")
    try:
        if not os.path.isdir(marker):
            with open(marker, "rb") as file:
                marker = os.path.join(place, os.fsdecode(file.read(_SHORT)).strip().removeprefix("gitdir: "))
        with open(os.path.join(marker, "HEAD"), "rb") as file:
            return file.read(_SHORT).decode("utf-8", "replace").strip()
    except (OSError, ValueError):
        return ""


def path_of(state_dir: str, place: str) -> str:
    """Where the guard of a place lies. Two places may share a number: the file says whose it is."""
    number = int.from_bytes(os.fsencode(place), "big") % _PRIME
    return os.path.join(state_dir, "flow", f"{number:x}.json")


def read(state_dir: str, place: str) -> Guard | None:
    """The guard of a place; None where there is none that can be used."""
    from json import loads

    try:
        with open(path_of(state_dir, place), "rb") as file:
            found = _guard(loads(file.read(_MOST)))
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None
    return found if found.place == place else None


def write(state_dir: str, place: str, guard: Guard) -> None:
    """Keep it.

    Raises:
        NotSaved, DiskFull, ReadOnly: it could not be written; the old one stands.
    """
    from json import dumps

    path = path_of(state_dir, place)
    said = guard._asdict() | {"v": FORMAT, "place": place, "scars": [scar._asdict() for scar in guard.scars]}
    make_folder(os.path.dirname(path))
    replace_file(path, dumps(said, separators=(",", ":")).encode())


def _guard(said: dict[str, object]) -> Guard:
    if said.pop("v") != FORMAT or set(said) != set(Guard._fields):
        raise ValueError("of another format")
    commands = tuple(map(_pair, _list(said["commands"])))
    return Guard(
        _text(said["place"]), _flag(said["on"]), _text(said["receipt"]), commands, _flag(said["refuse_heavy"]),
        _texts(said["heavy"]), _number(said["most_files"]), tuple(map(_watch, _list(said["scars"]))),
        _text(said["head"]), _text(said["seen"]),
    )  # fmt: skip


def _watch(said: object) -> Watch:
    if not isinstance(said, dict) or set(said) != set(Watch._fields) or said["level"] not in _LEVELS:
        raise ValueError("no scar")
    return Watch(
        _text(said["id"]), _text(said["title"]), _text(said["level"]), _text(said["tried"]), _text(said["why"]), _texts(said["within"]),
        _texts(said["paths"]), _texts(said["commands"]), _texts(said["added"]), _texts(said["waived"]),
    )  # fmt: skip


def _pair(said: object) -> tuple[str, str]:
    name, target = _texts(said)
    return name, target


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise TypeError("no list")
    return value


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(_text, _list(value)))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError("neither true nor false")
    return value


def _number(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise TypeError("no number")
    return value
