"""A text in the user's editor, kept in a file of its own until it is safely saved."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from typing import NamedTuple

from indelible.errors import UsageError


class Kept(NamedTuple):
    """The file that the editor worked on."""

    path: str

    def drop(self) -> None:
        """Remove it: its text is saved, or was not changed."""
        os.unlink(self.path)


def edit_text(text: bytes, key: str, editor: str | None) -> tuple[bytes, Kept]:
    """The text after editing, and the file that holds it.

    Raises:
        UsageError: there is no editor, or it failed; the file is named.
    """
    suffix = ".md" if key.lower().endswith(".md") else ".txt"
    handle, path = tempfile.mkstemp(prefix="indelible-", suffix=suffix)
    with os.fdopen(handle, "wb") as file:
        file.write(text)
    command = editor or os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        code = subprocess.run([*shlex.split(command), path], check=False).returncode  # noqa: S603 - the user's own editor
    except (OSError, ValueError) as exc:
        raise UsageError(f"The editor {command!r} cannot be started ({exc})", remedy="Name one with --editor or EDITOR") from exc
    if code:
        raise UsageError(f"The editor left with exit code {code}, so nothing was saved", remedy=f"Your text is in {path}")
    with open(path, "rb") as file:
        return file.read(), Kept(path)
