"""A text in the user's editor, kept in a file of its own until it is safely saved."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from typing import NamedTuple

from indelible.errors import IndelibleError, UsageError


class Kept(NamedTuple):
    """The file that the editor worked on."""

    path: str

    def drop(self) -> None:
        """Remove it: its text is saved, or was not changed."""
        os.unlink(self.path)


def edit_text(text: bytes, key: str, editor: str | None, *, apart: bool = False) -> tuple[bytes, Kept]:
    """The text after editing, and the file that holds it.

    Args:
        apart: keep what the editor prints out of standard output.

    Raises:
        UsageError: there is no editor that can be started here.
        IndelibleError: the editor failed; where it had changed the text, the file is named.
    """
    command = _command(editor)
    kept = _keep(text, key)
    try:
        code = subprocess.run([*command, kept.path], check=False, stdout=sys.stderr if apart else None).returncode
    except (OSError, ValueError) as exc:
        kept.drop()
        raise UsageError(
            f"The editor {command[0]!r} cannot be started ({exc})", remedy="Name one with --editor or EDITOR"
        ) from exc
    with open(kept.path, "rb") as file:
        edited = file.read()
    if not code:
        return edited, kept
    if edited == text:
        kept.drop()
    raise IndelibleError(
        f"The editor left with exit code {code}, so nothing was saved",
        remedy=f"Your text is in {kept.path}" if edited != text else "The text was not changed",
    )


def _command(editor: str | None) -> list[str]:
    named = editor or os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not named and (sys.stdin is None or not sys.stdin.isatty()):
        raise UsageError(
            "There is no terminal to edit on",
            remedy="Name an editor that needs none with --editor, or use 'indelible save'",
        )
    try:
        words = shlex.split(named or "vi")
    except ValueError as exc:
        raise UsageError(
            f"The editor {named!r} is no command ({exc})", remedy="Name one with --editor or EDITOR"
        ) from exc
    if not words:
        raise UsageError("The editor's name is blank", remedy="Name one with --editor or EDITOR")
    return words


def _keep(text: bytes, key: str) -> Kept:
    handle, path = tempfile.mkstemp(prefix="indelible-", suffix=".md" if key.lower().endswith(".md") else ".txt")
    with os.fdopen(handle, "wb") as file:
        file.write(text)
    return Kept(path)
