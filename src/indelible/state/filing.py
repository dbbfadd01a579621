"""Files of the state directory: made beside their place, named once they are sealed, and put aside where they were altered.

The order of a write is: `prepare` a finished, synced copy under a name of its own; seal it; `give_name`. A write that is cut
short before the seal left nothing but a temporary file, and one that is cut after it a finished copy that is found again.
Write-once files are 0444, the others 0644; an append-only attribute of the system is honoured.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from indelible.errors import NotSaved, StoreError, UsageError
from indelible.files import make_folder, not_written, publish_new, remove, sync_folder, write_temporary
from indelible.state.directory import TEMPORARY, read_slot
from indelible.state.slot import WRITE_ONCE, parse_name

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from indelible.state.slot import Slot

ASIDE = ".aside-"
"""How the names of files begin that were not what was sealed, and are kept for a person to look at."""


def refuse_link(path: str) -> None:
    """Raise where the state directory is a symbolic link.

    Raises:
        StoreError: it is.
    """
    if os.path.islink(path):
        raise StoreError(
            f"The state directory {path} is a symbolic link to {os.path.realpath(path)}, which is not followed",
            remedy="Take the link away, or name the folder it leads to in INDELIBLE_STATE_DIR", path=path,
        )  # fmt: skip


def make_directory(path: str) -> bool:
    """Make the state directory; whether it was not there.

    Raises:
        StoreError: a link, or something that is no folder, stands in its place.
        NotSaved, ReadOnly, DiskFull: it cannot be made.
    """
    refuse_link(path)
    fresh = not os.path.isdir(path)
    make_folder(path)
    return fresh


def remove_empty(path: str, fresh: bool) -> None:  # noqa: FBT001 - as `make_directory` gave it
    """Take a folder away again that was made for nothing: a write that was refused leaves nothing behind."""
    try:
        if fresh:
            os.rmdir(path)
    except OSError:
        return  # another process writes there by now


def mode_of(slot: Slot) -> int:
    """0444 for what is written once; 0644 for the others."""
    return 0o444 if slot.discipline == WRITE_ONCE else 0o644


def prepare(path: str, slot: Slot, content: bytes) -> str:
    """A finished copy under a temporary name; gives its path.

    Raises:
        NotSaved, ReadOnly, DiskFull: it could not be written.
    """
    place = os.path.join(path, slot.name)
    temporary = write_temporary(place, content, mode=mode_of(slot), prefix=f"{TEMPORARY}{slot.name}-")
    try:
        os.chmod(temporary, mode_of(slot))  # whatever the umask says: others of the same machine may read it
    except OSError as exc:
        remove(temporary)
        raise not_written(place, exc) from exc
    return temporary


def set_mode(path: str, slot: Slot) -> None:
    """Make a file what its discipline wants it to be, such as one that was taken in where it lay. Where that fails, `check` says it."""
    place = os.path.join(path, slot.name)
    try:
        if stat.S_ISREG(os.lstat(place).st_mode):
            os.chmod(place, mode_of(slot))
    except OSError:
        return


def asides(path: str, before: str = "") -> tuple[str, ...]:
    """Names of what was put aside, the oldest first.

    Args:
        before: only those from before that time: `20260610T174356Z`.
    """
    try:
        names = sorted(name for name in os.listdir(path) if name.startswith(ASIDE))
    except OSError:
        return ()
    return tuple(name for name in names if not before or name.removeprefix(ASIDE) < before)


def give_name(temporary: str, path: str, slot: Slot, *, over: bytes | None) -> bool:
    """Put a finished copy in its place; False where something else stands there by now, which is left alone.

    Args:
        over: what may stand there and be replaced; None for nothing.

    Raises:
        NotSaved, ReadOnly: the name could not be given.
    """
    place = os.path.join(path, slot.name)
    try:
        if over is None:
            publish_new(temporary, place)
        elif read_slot(path, slot.name) != over:
            return False
        else:
            _replace(temporary, place, over)
    except FileExistsError:
        return False
    except OSError as exc:
        raise not_written(place, exc) from exc
    remove(temporary)
    sync_folder(path)
    return True


def _replace(temporary: str, place: str, over: bytes) -> None:
    """Rename, or, where the system lets the file only grow, let it grow."""
    try:
        os.replace(temporary, place)
        return
    except PermissionError:
        with open(temporary, "rb") as file:
            content = file.read()
        if not content.startswith(over):
            raise
    handle = os.open(place, os.O_WRONLY | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0))
    try:
        more = memoryview(content)[len(over) :]
        while more:
            more = more[os.write(handle, more) :]
        os.fsync(handle)
    finally:
        os.close(handle)


def take_away(path: str, name: str, expected: bytes) -> bool:
    """Take the file of a slot away that was closed; False where it does not hold what was sealed, and then it stays.

    Raises:
        NotSaved, ReadOnly: it could not be taken away.
    """
    place = os.path.join(path, name)
    try:
        if not stat.S_ISREG(os.lstat(place).st_mode) or read_slot(path, name) != expected:
            return False
        os.unlink(place)
    except FileNotFoundError:
        return True
    except OSError as exc:
        raise _kept(place, exc) from exc
    sync_folder(path)
    return True


def put_aside(path: str, name: str, stamp: str) -> str:
    """Rename whatever stands under a slot's name to one that is no slot's; gives the new name.

    Args:
        stamp: when, as part of the name: `20260610T174356Z`.

    Raises:
        NotSaved, ReadOnly: it could not be renamed.
    """
    aside = f"{ASIDE}{stamp}-{os.urandom(3).hex()}-{name}"
    try:
        os.rename(os.path.join(path, name), os.path.join(path, aside))
    except OSError as exc:
        raise _kept(os.path.join(path, name), exc) from exc
    sync_folder(path)
    return aside


def leftovers(path: str) -> tuple[str, ...]:
    """Names of temporary files, ours by their names."""
    try:
        return tuple(sorted(name for name in os.listdir(path) if name.startswith(TEMPORARY)))
    except OSError:
        return ()


def sweep(path: str, begun: Container[str]) -> None:
    """Take temporary files of processes that are gone away: what was sealed is written afresh where its file is to be finished.

    Args:
        begun: names of those that were noted. Of the others, one that is a second name of something stays, to be told of.
    """
    for name in leftovers(path):
        slot_name, _, rest = name.removeprefix(TEMPORARY).partition(".md-")
        if parse_name(f"{slot_name}.md") is None or is_alive(rest.partition("-")[0]):
            continue
        if name in begun or _has_one_name(os.path.join(path, name)):
            remove(os.path.join(path, name))


def _has_one_name(place: str) -> bool:
    try:
        return os.lstat(place).st_nlink == 1
    except OSError:
        return False


def is_alive(pid: str) -> bool:
    """Whether a process of that number runs; False where that cannot be asked."""
    if not pid.isdecimal() or os.name != "posix":
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def read_folder(folder: str, names: Iterable[str]) -> dict[str, bytes]:
    """The texts of an existing folder that are to be taken in.

    Raises:
        UsageError: one of them is a link, no plain file, or cannot be read.
    """
    texts: dict[str, bytes] = {}
    for name in names:
        place = os.path.join(folder, name)
        try:
            if not stat.S_ISREG(os.lstat(place).st_mode):
                raise UsageError(f"{place} is no plain file", remedy="Put a copy of the text in its place", file=place)
            texts[name] = read_slot(folder, name)
        except OSError as exc:
            raise UsageError(f"{place} cannot be read ({exc.strerror})", file=place) from exc
    return texts


def _kept(place: str, exc: OSError) -> NotSaved:
    error = not_written(place, exc)
    error.remedy = error.remedy or "Check the folder and its rights"
    if exc.errno in (1, 13):  # EPERM, EACCES
        error.remedy = "If it is protected by attributes: 'indelible state protect --off' first, as who set them"
    return error
