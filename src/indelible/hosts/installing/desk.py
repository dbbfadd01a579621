"""A desk for one host's changes: files are read and written on it first, and laid down together, or not at all.

A link is followed to the file that it leads to, which is replaced whole and keeps its mode: dotfiles are often links. In a
project a link may not lead out of it, since a clone brings it. Before a file that somebody else wrote is changed, its bytes
are kept in the user's state folder: it may hold secrets, and beside it a host might read the copy.
"""

from __future__ import annotations

import os
import stat
from hashlib import sha256
from typing import NamedTuple

from indelible.errors import ConflictError, IndelibleError, NotSaved, UsageError
from indelible.files import create_file, make_folder, move, not_written, remove, sync_folder, write_temporary

MAX_FILE = 2_000_000
"""Bytes of a settings or instruction file that is taken for one."""


class Edit(NamedTuple):
    """One file that is to change."""

    path: str
    """As the host names it."""
    real: str
    """What is replaced: where the links lead."""
    before: bytes | None
    """None where there is no file."""
    after: bytes | None
    """None to take it away."""
    mode: int

    @property
    def is_changed(self) -> bool:
        return self.before != self.after


class Laid(NamedTuple):
    """One file that was changed."""

    edit: Edit
    backup: str | None
    """Where its bytes of before are kept."""


class Desk:
    """The changes of one run.

    Args:
        state_dir: the user's state folder.
        inside: a folder that nothing may lead out of; None where the files are the user's own.
    """

    def __init__(self, state_dir: str, inside: str | None) -> None:
        self._backups, self._inside = os.path.join(state_dir, "hooks", "backups"), inside
        self._edits: dict[str, Edit] = {}

    def read(self, path: str) -> bytes | None:
        """The bytes as they are on the desk; None where there is no file.

        Raises:
            UsageError: it is a folder, a device, a link that leads nowhere or out of the project, or too long.
        """
        return self._edit(path).after

    def before(self, path: str) -> bytes | None:
        """The bytes as they are on the disk.

        Raises:
            UsageError: as `read`.
        """
        return self._edit(path).before

    def real(self, path: str) -> str:
        """Where a path leads.

        Raises:
            UsageError: as `read`.
        """
        return self._edit(path).real

    def write(self, path: str, content: bytes | None) -> None:
        """Put other bytes there, or take the file away."""
        edit = self._edit(path)
        self._edits[path] = edit._replace(after=content)

    def edits(self) -> tuple[Edit, ...]:
        """What would change, in the order in which it was written."""
        return tuple(edit for edit in self._edits.values() if edit.is_changed)

    def lay_down(self) -> tuple[Laid, ...]:
        """Write all changes.

        Raises:
            ConflictError: somebody else changed a file meanwhile; it was left alone, and the others are as they were.
            NotSaved, DiskFull, ReadOnly: one could not be written, and all are as they were.
        """
        edits = self.edits()
        laid: list[Laid] = []
        if edits:
            make_folder(self._backups)  # where nothing can be noted, nothing is begun
        for edit in edits:
            try:
                backup = self._keep(edit) if edit.before is not None else None
                _replace(edit)
            except IndelibleError:
                _undo(laid)
                raise
            laid.append(Laid(edit, backup))
        return tuple(laid)

    def _edit(self, path: str) -> Edit:
        if path not in self._edits:
            real = resolve(path, self._inside)
            content, mode = _read(real)
            self._edits[path] = Edit(path, real, content, content, mode)
        return self._edits[path]

    def _keep(self, edit: Edit) -> str:
        content = edit.before or b""
        name = f"{os.path.basename(edit.real)}.{digest(os.fsencode(edit.real))[:8]}.{digest(content)[:12]}"
        path = os.path.join(self._backups, name)
        create_file(path, content, mode=0o600)
        return path


def digest(content: bytes) -> str:
    """SHA-256, hexadecimal."""
    return sha256(content).hexdigest()


def resolve(path: str, inside: str | None) -> str:
    """Where a path leads, links followed.

    Raises:
        UsageError: round in a circle, to nothing, or out of the folder `inside`.
    """
    try:
        real = os.path.realpath(path, strict=os.path.islink(path))
    except OSError as exc:
        raise UsageError(
            f"{path} is a link to {os.readlink(path)}, which cannot be followed ({exc.strerror})",
            remedy="Make it lead to a file, or take it away", file=path,
        ) from exc  # fmt: skip
    top = os.path.join(os.path.realpath(inside), "") if inside is not None else ""
    if not real.startswith(top):
        raise UsageError(
            f"{path} leads out of the repository, to {real}, and a clone may bring such a link",
            remedy="Take the link away, or install with --scope user", file=path,
        )  # fmt: skip
    return real


def _read(real: str) -> tuple[bytes | None, int]:
    """Content and mode; of a file that is not there, None and that of a new one."""
    try:
        at = os.stat(real)
        if not stat.S_ISREG(at.st_mode):
            what = "a folder" if stat.S_ISDIR(at.st_mode) else "no plain file"
            raise UsageError(f"{real} is {what}, where a host has its settings", remedy="Move it away", file=real)
        if at.st_size > MAX_FILE:
            raise UsageError(
                f"{real} has {at.st_size} bytes, and no such file has more than {MAX_FILE}",
                remedy="Move it away, or write the hooks in by hand: 'indelible hooks install --dry-run' elsewhere shows them",
                file=real,
            )
        with open(real, "rb") as file:
            return file.read(), stat.S_IMODE(at.st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return None, 0o644
    except OSError as exc:
        raise UsageError(f"{real} cannot be read ({exc.strerror})", remedy="Check its rights", file=real) from exc


def _replace(edit: Edit) -> None:
    if _read(edit.real)[0] != edit.before:
        raise ConflictError(
            f"{edit.path} was changed by somebody else meanwhile, and was left alone",
            remedy="Run it again", file=edit.path,
        )  # fmt: skip
    folder = os.path.dirname(edit.real)
    if edit.after is None:
        _remove(edit.real)
        return
    make_parents(folder)
    temporary = write_temporary(edit.real, edit.after, mode=0o600, prefix=".indelible-")
    try:
        os.chmod(temporary, edit.mode)
        move(temporary, edit.real)
    except OSError as exc:
        raise not_written(edit.path, exc) from exc
    finally:
        remove(temporary)


def _undo(laid: list[Laid]) -> None:
    """Put back what was written before another file could not be."""
    for one in reversed(laid):
        try:
            _replace(one.edit._replace(before=one.edit.after, after=one.edit.before))
        except IndelibleError:
            continue  # changed again, or not writable any more: its copy of before is kept


def make_parents(folder: str) -> None:
    """Make a folder of the host's, and what is missing above it, as open as the user's other ones."""
    try:
        os.makedirs(folder, exist_ok=True)
    except FileExistsError as exc:
        raise UsageError(f"{folder} is not a folder", remedy="Move it away", file=folder) from exc
    except OSError as exc:
        raise not_written(folder, exc, "The folder") from exc


def _remove(real: str) -> None:
    try:
        os.unlink(real)
        sync_folder(os.path.dirname(real))
    except FileNotFoundError:
        return
    except OSError as exc:
        raise NotSaved(
            f"{real} could not be taken away ({exc.strerror})", remedy="Check its rights", file=real
        ) from exc
