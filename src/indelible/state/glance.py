"""What the last boot of a state directory came to, for whoever only glances at it: a cache, and no evidence of anything.

    booted 6 1
    (what is wrong, in a few words: this line is empty where all is well)
    3907735,59,1796047666418452234,1796047666418452234,33060,1 00_governance.md

One small file for each state directory, in the user's state folder, written when it would say something else than before.
*Verified* counts the slots and the named memories that were verified at that boot, *held* the memories that the gate held
back, *stale* the files of either that were changed, added or taken away since.
"""

from __future__ import annotations

import os

from indelible.errors import IndelibleError
from indelible.files import make_folder, replace_file
from indelible.light import TYPE_CHECKING, NamedTuple, sha256
from indelible.state.stamps import stamps_of

if TYPE_CHECKING:
    from collections.abc import Iterable

Stamps = tuple[tuple[object, ...], ...]


class Glance(NamedTuple):
    """The outcome of one boot, in short."""

    slug: str
    verified: int
    held: int
    said: str
    """What is wrong, in a few words; empty where all is well."""
    stamps: Stamps
    """Of the slots' files and of the named memories' local ones."""

    def stale(self, now: Stamps) -> int:
        """How many of the files are not as they were then."""
        then, today = ({stamp[0]: stamp for stamp in stamps} for stamps in (self.stamps, now))
        return sum(then.get(name) != today.get(name) for name in {*then, *today})


def stamps(directory: str | None, checkout: str | None, memories: Iterable[str]) -> Stamps:
    """The stamps of everything that a boot verifies and that lies here as a file."""
    slots = stamps_of(directory) if directory is not None else ()
    named = []
    for key in memories if checkout is not None else ():
        try:
            at = os.lstat(os.path.join(checkout or "", key))
        except (OSError, ValueError):
            continue
        named.append((key, at.st_ino, at.st_size, at.st_mtime_ns, at.st_ctime_ns))
    return (*slots, *named)


def note(state_dir: str, place: str, glance: Glance) -> None:
    """Keep it; where that cannot be done, the line says that it is stale, which is so.

    Args:
        place: the state directory, or the store where there is none.
    """
    content = _formatted(glance).encode("utf-8", "surrogateescape")
    path = _path(state_dir, place)
    try:
        if _read(path) != content:
            make_folder(os.path.dirname(path))
            replace_file(path, content)
    except IndelibleError:
        return


def last(state_dir: str, place: str) -> Glance | None:
    """What the last boot of that place came to; None where none is known."""
    try:
        head, said, *lines = _read(_path(state_dir, place)).decode("utf-8", "surrogateescape").split("\n")
        slug, verified, held = head.split(" ")
        return Glance(slug, int(verified), int(held), said, tuple(_stamp(line) for line in lines if line))
    except ValueError:
        return None


def _formatted(glance: Glance) -> str:
    """Without `json`, which every boot would have to wait for."""
    lines = (f"{','.join(map(str, numbers))} {_line(str(name))}\n" for name, *numbers in glance.stamps)
    return f"{glance.slug} {glance.verified} {glance.held}\n{_line(glance.said)}\n{''.join(lines)}"


def _stamp(line: str) -> tuple[object, ...]:
    numbers, _, name = line.partition(" ")
    return (name, *map(int, numbers.split(",")))


def _line(text: str) -> str:
    return text.replace("\n", " ")


def _path(state_dir: str, place: str) -> str:
    return os.path.join(state_dir, "glances", sha256(os.fsencode(place)).hexdigest()[:24])


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(5_000_000)
    except OSError:
        return b""
