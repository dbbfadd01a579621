"""Existing memory files: which there are, and under which keys they are taken in."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from indelible.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = ("MEMORY.md", "CLAUDE.md", "AGENTS.md", "GEMINI.md")
FOLDERS = ("memory", "memories", ".claude/memory")
MAX_FILE = 8 * 1024 * 1024
MAX_FILES = 10_000


def found_here(here: str) -> tuple[str, ...]:
    """The memory files and folders that coding agents keep for the project `here`."""
    candidates = [*(os.path.join(here, name) for name in (*NAMES, *FOLDERS)), claude_memory(here)]
    return tuple(
        path for path in candidates if (os.path.isfile(path) and not os.path.islink(path)) or _has_memory(path)
    )


def links_here(here: str) -> tuple[str, ...]:
    """What stands there under such a name as a link, and is passed over."""
    return tuple(path for path in (os.path.join(here, name) for name in (*NAMES, *FOLDERS)) if os.path.islink(path))


def claude_memory(here: str) -> str:
    """The auto-memory folder of Claude Code for a project: its path with every odd character as a dash."""
    slug = re.sub(r"[^A-Za-z0-9]", "-", os.path.abspath(here))
    return os.path.join(os.path.expanduser("~"), ".claude", "projects", slug, "memory")


def _has_memory(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path) and os.path.isfile(os.path.join(path, "MEMORY.md"))


def texts_of(path: str, here: str) -> Iterator[tuple[str, bytes]]:
    """`(key, bytes)` of a file, or of every Markdown file of a folder, in the order of their names.

    Raises:
        UsageError: not there, a link, not a plain file, or too large.
    """
    if os.path.islink(path):
        raise UsageError(
            f"{path} is a link to {os.readlink(path)}, which is not followed", remedy="Name the file itself"
        )
    if not os.path.isdir(path):
        yield _key(path, here), _read(path)
        return
    base = os.path.basename(os.path.abspath(path))
    files = sorted(_markdown(path))
    if len(files) > MAX_FILES:
        raise UsageError(f"{path} holds more than {MAX_FILES} Markdown files", remedy="Name a smaller folder")
    for file in files:
        inside = os.path.relpath(file, path).replace(os.sep, "/")
        yield (inside if inside == "MEMORY.md" else f"{base}/{inside}"), _read(file)


def _markdown(folder: str) -> Iterator[str]:
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in files:
            path = os.path.join(parent, name)
            if name.endswith(".md") and not os.path.islink(path):
                yield path


def _key(path: str, here: str) -> str:
    inside = os.path.relpath(os.path.abspath(path), here).replace(os.sep, "/")
    return os.path.basename(path) if inside.startswith("../") else inside


def _read(path: str) -> bytes:
    try:
        if not os.path.isfile(path):
            raise UsageError(
                f"{path} is not there, or is not a plain file", remedy="Name a file, or a folder of Markdown files"
            )
        with open(path, "rb") as file:
            data = file.read(MAX_FILE + 1)
    except OSError as exc:
        raise UsageError(f"{path} cannot be read ({exc.strerror})", remedy="Check its rights") from exc
    if len(data) > MAX_FILE:
        raise UsageError(
            f"{path} has more than {MAX_FILE >> 20} MiB", remedy="Memory is short: save what matters of it"
        )
    return data
