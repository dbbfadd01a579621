"""What is about to be sealed and placed: noted before the seal, taken back when all is done. Alone it tells a crash from an attack.

    4711 6bf1…64 hex digits… 1207 .tmp-30_critic_summary.md-4711-a1b2c3d4e5f60718 state/30_critic_summary.md

A note is the writer's process, SHA-256 of the whole text, how many bytes of it stood there before (`-` where nothing is
added to), the name of the finished copy, and the key. Each is a file of its own beside the follower's: what the owner of the
state directory can make in it, a copy under a temporary name or a link, is no evidence that a write was cut short. Where a
note cannot be kept, what a crash left is told as altered.
"""

from __future__ import annotations

import os

from indelible.errors import IndelibleError
from indelible.files import create_file, remove
from indelible.light import TYPE_CHECKING, NamedTuple, sha256
from indelible.memory.placing import folder_of
from indelible.state.filing import is_alive

if TYPE_CHECKING:
    from collections.abc import Iterable

END = ".placing"
_NOTHING = "-"


class Begun(NamedTuple):
    """One write that began, and of which nobody said that it ended."""

    note: str
    """Path of the note; empty where it could not be kept."""
    pid: str
    digest: str
    before: int | None
    """Bytes of the text that stood there before, of what is added to."""
    temporary: str
    key: str

    @property
    def is_cut_short(self) -> bool:
        """Whether nobody is at it any more."""
        return not is_alive(self.pid)

    def seals(self, content: bytes) -> bool:
        """Whether that is the text which was to be sealed."""
        return sha256(content).hexdigest() == self.digest

    def added(self, content: bytes, addition: bytes) -> bool:
        """Whether it was that addition, and nothing more, by which the text became `content`."""
        if self.before is None or not self.seals(content):
            return False
        joint = b"" if self.before == 0 or content[self.before - 1 : self.before] == b"\n" else b"\n"
        return content[self.before :] == joint + addition


def begin(follower: str, directory: str, key: str, content: bytes, temporary: str, before: int | None = None) -> str:
    """Note that `content` is about to be sealed under `key`; gives the note's path, or "" where it cannot be kept.

    Args:
        follower: the follower's path.
        directory: the state directory.
        temporary: the finished copy's name; empty where there is none.
    """
    pid, size = os.getpid(), _NOTHING if before is None else str(before)
    text = f"{pid} {sha256(content).hexdigest()} {size} {temporary or _NOTHING} {key}\n"
    note = f"{folder_of(follower, directory)}.{pid}-{os.urandom(8).hex()}{END}"
    try:
        create_file(note, text.encode())
    except IndelibleError:
        return ""
    return note


def begun_in(follower: str, directory: str) -> tuple[Begun, ...]:
    """What began in that folder, and did not end."""
    folder, stem = os.path.split(folder_of(follower, directory))
    try:
        names = sorted(name for name in os.listdir(folder) if name.startswith(f"{stem}.") and name.endswith(END))
    except OSError:
        return ()
    return tuple(filter(None, (_read(os.path.join(folder, name)) for name in names)))


def end(notes: Iterable[str]) -> None:
    """Take notes back."""
    for note in notes:
        if note:
            remove(note)


def _read(path: str) -> Begun | None:
    try:
        with open(path, encoding="utf-8") as file:
            pid, digest, before, temporary, key = file.read().rstrip("\n").split(" ", 4)
        return Begun(path, pid, digest, None if before == _NOTHING else int(before), temporary, key)
    except (OSError, ValueError):
        return None
