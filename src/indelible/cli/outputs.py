"""The one writer of what `-o FILE` and `DIR` name: never into a state directory, onto a store, or into our own folders.

Those are written by the verbs that seal what they write. A file that a verb laid there would be altered state, and a store
that was written over would be gone.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from indelible.errors import DisciplineError
from indelible.files import copy_file, replace_file
from indelible.settings.repository import within

if TYPE_CHECKING:
    from indelible.settings import Settings

_SIDE_FILES = ("", "-wal", "-shm", "-journal")


def write_output(settings: Settings, path: str, content: bytes, *, mode: int = 0o600) -> str:
    """Write `content` to `path`, whole or not at all; gives the absolute path.

    Raises:
        DisciplineError: something of ours is kept there. UsageError, NotSaved, ReadOnly: it could not be written.
    """
    whole = os.path.abspath(path)
    refuse_ours(settings, whole)
    replace_file(whole, content, mode=mode)
    return whole


def copy_output(settings: Settings, path: str, source: str, *, mode: int = 0o600) -> str:
    """As `write_output`, with the bytes of a file of whatever size."""
    whole = os.path.abspath(path)
    refuse_ours(settings, whole)
    copy_file(source, whole, mode=mode)
    return whole


def refuse_ours(settings: Settings, path: str) -> None:
    """Raise where `path`, wherever its links lead, is something that only its own verbs write.

    Raises:
        DisciplineError: it is.
    """
    for place in {
        os.path.realpath(path),
        os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path)),
    }:
        what = _whose(settings, place)
        if what:
            raise DisciplineError(
                f"{path} is in {what}, where nothing is written but by the verbs that seal it",
                remedy="Name another file; a slot is written with 'indelible state write'", path=path,
            )  # fmt: skip


def _whose(settings: Settings, place: str) -> str:
    """What is kept there, in words; empty where it is none of ours."""
    from indelible.state.belonging import is_state_directory

    if not settings.remote and place in {os.path.realpath(settings.store) + end for end in _SIDE_FILES}:
        return "the place of the store"
    for folder in (settings.state_dir, settings.config_dir):
        if within(os.path.realpath(folder), place):
            return f"the folder of keys and pins {folder}"
    directory = settings.boot.directory
    at = place
    while os.path.dirname(at) != at:
        if (directory is not None and at == os.path.realpath(directory)) or is_state_directory(settings, at):
            return f"the state directory {at}"
        at = os.path.dirname(at)
    return ""
