"""Where coding agents keep what is the user's: their own variables, and the folders below the home that they have otherwise.

CLAUDE_CONFIG_DIR  CODEX_HOME  GEMINI_CLI_HOME  QWEN_HOME  COPILOT_HOME  XDG_CONFIG_HOME  OPENCLAW_STATE_DIR
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from indelible.settings.folders import home

if TYPE_CHECKING:
    from collections.abc import Mapping

_FOLDERS = {
    "claude-code": ("CLAUDE_CONFIG_DIR", "", ".claude"),
    "codex": ("CODEX_HOME", "", ".codex"),
    "gemini": ("GEMINI_CLI_HOME", ".gemini", ".gemini"),
    "qwen": ("QWEN_HOME", "", ".qwen"),
    "copilot": ("COPILOT_HOME", "", ".copilot"),
    "opencode": ("XDG_CONFIG_HOME", "opencode", os.path.join(".config", "opencode")),
    "cursor": ("", "", ".cursor"),
    "antigravity": ("GEMINI_CLI_HOME", ".gemini", ".gemini"),
    "windsurf": ("", "", os.path.join(".codeium", "windsurf")),
    "openclaw": ("OPENCLAW_STATE_DIR", "", ".openclaw"),
}
"""Host to: the variable that names a folder, what is below that folder, and the place below the home without it."""


class HostPlaces(NamedTuple):
    """What the environment says of the hosts."""

    home: str
    folders: Mapping[str, str]
    """Host to the user's own folder of it, whether it is there or not."""
    search_path: str
    """PATH, by which their programs are found: its absolute entries, since others are whatever a clone brings."""


def host_places(environ: Mapping[str, str]) -> HostPlaces:
    """Gather them. A variable that is empty or relative counts as not set."""
    below = home(environ)
    folders = {}
    for host, (variable, inside, plain) in _FOLDERS.items():
        chosen = environ.get(variable, "") if variable else ""
        folders[host] = (
            os.path.join(chosen, inside).rstrip(os.sep) if os.path.isabs(chosen) else os.path.join(below, plain)
        )
    search = environ.get("PATH", os.defpath).split(os.pathsep)
    return HostPlaces(below, folders, os.pathsep.join(filter(os.path.isabs, search)))
