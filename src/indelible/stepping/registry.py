"""`SCAR_REGISTRY.md`: all scars on one page, for people. A rendering: the sealed records are what counts, and nothing reads it back.

    <!-- Scars of eros, written by 'indelible scar'; the sealed records are what counts. sha256 of what follows: 5f0c… -->

It lies beside the store, in `.indelible/` at the top of the repository, which git does not see. It is written anew at each change.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from indelible.errors import IndelibleError
from indelible.files import replace_file
from indelible.gate.shown import NAME, one_line, visible
from indelible.light import sha256
from indelible.settings import FOLDER
from indelible.workflow.scartext import to_markdown

if TYPE_CHECKING:
    from indelible.settings import Settings
    from indelible.stepping.scars import Looked

NAME_OF_FILE = "SCAR_REGISTRY.md"
ABSENT, CURRENT, OLD, EDITED = "absent", "current", "old", "edited"


def registry_path(settings: Settings) -> str:
    """Where it lies; empty outside of a repository, and where the store is elsewhere."""
    top = settings.repository_top
    return os.path.join(top, FOLDER, NAME_OF_FILE) if top and not settings.remote else ""


def render(found: Looked, agent: str) -> bytes:
    """The page."""
    sections = [
        _section(to_markdown(scar).decode(), f"Recorded {scar.at} by {one_line(scar.by, NAME)}", scar.expires)
        for scar in found.scars
    ]
    held = [
        _section(
            to_markdown(one.scar).decode(), f"Not in force here: {', '.join(reason.slug for reason in one.reasons)}"
        )
        for one in found.held
    ]
    retired = [_section(to_markdown(scar).decode(), "Not in force") for scar in found.retired]
    body = "\n".join([*sections, *held, *retired]).encode()
    head = f"<!-- Scars of {one_line(agent, NAME).replace('--', '- -')}, written by 'indelible scar'; the sealed records are what counts. sha256 of what follows: "
    return f"{head}{sha256(body).hexdigest()} -->\n".encode() + body


def _section(text: str, beside: str, expires: str = "") -> str:
    until = f", until {expires}" if expires else ""
    return f"{visible(text)}{beside}{until}\n"


def state_of(path: str, content: bytes) -> str:
    """What the file is against the page as it should be: `absent`, `current`, `old`, or `edited` past this program."""
    try:
        with open(path, "rb") as file:
            there = file.read()
    except OSError:
        return ABSENT
    if there == content:
        return CURRENT
    head, _, body = there.partition(b"\n")
    digest = head.removesuffix(b" -->").rpartition(b" ")[2]
    return OLD if digest == sha256(body).hexdigest().encode() else EDITED


def write_registry(settings: Settings, content: bytes) -> str:
    """Write the page; gives what kept it from being written, or "". What is sealed stands either way."""
    from indelible.settings.repository import require_inside

    path, top = registry_path(settings), settings.repository_top
    if not path or top is None or not os.path.isdir(os.path.dirname(path)):
        return ""
    try:
        require_inside(top, path)
        replace_file(path, content)
    except IndelibleError as error:
        return f"{NAME_OF_FILE} was not written: {error}"
    return ""
