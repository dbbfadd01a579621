"""Where each host looks for hooks, rules and a status line, and how it is recognised. Sources: docs/hosts.md."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import UsageError
from indelible.hosts.host import by_name
from indelible.hosts.installing import shapes
from indelible.hosts.installing.calling import HOOK
from indelible.hosts.installing.tracking import is_tracked
from indelible.hosts.registry import HOSTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indelible.hosts.host import Host
    from indelible.hosts.installing.calling import Programs
    from indelible.hosts.installing.jsontext import Path
    from indelible.hosts.installing.shapes import Shape
    from indelible.settings.hosting import HostPlaces

_MOST = 2_000_000
SCOPES = ("project", "user")


class Statusline(NamedTuple):
    """A status line that a command fills."""

    path: Path
    """Of the member in the settings."""
    user: str
    """The user's file, below the user's folder of the host."""
    project: str = ""
    """The project's; empty where it is the user's alone."""
    needs_file: bool = False
    """The host keeps that file itself: it is not made."""


class Target(NamedTuple):
    """One host, for the installer."""

    shape: Shape | None
    """What makes the settings; None for a plugin."""
    user: str
    """The settings' file or the plugin's, below the user's folder of the host."""
    project: str
    """The same below the top of the checkout; empty where a project has none."""
    programs: tuple[str, ...]
    """By which it is found on the PATH."""
    marks: tuple[str, ...]
    """Folders in a checkout by which it is found there."""
    rules: tuple[str, ...]
    """Instruction files in a checkout that it reads, the one that it likes best first."""
    user_rule: str = ""
    """The user's instruction file, below the user's folder of the host; empty where there is none that is documented."""
    is_strict: bool = False
    """One comment or comma too much, and it drops the whole file without a word."""
    fires_after_compaction: bool = False
    """It has an event after compaction, or asks at every call."""
    statusline: Statusline | None = None
    off: tuple[tuple[Path, object], ...] = ()
    """Settings with the value that switches all hooks off."""
    personal: str = ""
    """Settings of a project that are one person's, which the host keeps out of git; empty where it knows none."""
    notes: Mapping[str, str] = {}
    """What a person must still do, by scope."""


TARGETS: Mapping[str, Target] = {
    "claude-code": Target(
        shapes.claude_code, "settings.json", ".claude/settings.json", ("claude",), (".claude",),
        ("CLAUDE.md", ".claude/CLAUDE.md", "AGENTS.md"), "CLAUDE.md", fires_after_compaction=True,
        statusline=Statusline(("statusLine",), "settings.json", ".claude/settings.json"), off=((("disableAllHooks",), True),),
        personal=".claude/settings.local.json",
    ),
    "codex": Target(
        shapes.codex, "hooks.json", ".codex/hooks.json", ("codex",), (".codex",), ("AGENTS.md",), "AGENTS.md",
        is_strict=True, fires_after_compaction=True,
        notes={
            "project": "Codex reads a project's hooks only where the project is trusted in the user's config.toml",
            "user": "",
        },
    ),
    "gemini": Target(
        shapes.gemini, "settings.json", ".gemini/settings.json", ("gemini",), (".gemini",), ("GEMINI.md",), "GEMINI.md",
        off=((("hooksConfig", "enabled"), False), (("hooksConfig", "disabled"), shapes.OWN)),
        notes={"project": "Gemini CLI reads a project's settings only in a folder that is trusted ('/permissions')"},
    ),
    "qwen": Target(
        shapes.gemini, "settings.json", ".qwen/settings.json", ("qwen",), (".qwen",), ("QWEN.md", "AGENTS.md"), "QWEN.md",
        fires_after_compaction=True, statusline=Statusline(("ui", "statusLine"), "settings.json"),
        off=((("disableAllHooks",), True),),
        notes={"project": "Qwen Code reads a project's hooks only in a folder that is trusted"},
    ),
    "copilot": Target(
        shapes.copilot, "hooks/indelible.json", ".github/hooks/indelible.json", ("copilot",), (".github/hooks",),
        ("AGENTS.md", "CLAUDE.md", "GEMINI.md", ".github/copilot-instructions.md"), "copilot-instructions.md", is_strict=True,
        notes={
            "project": "'copilot -p' runs a project's hooks only with GITHUB_COPILOT_PROMPT_MODE_REPO_HOOKS=true; "
            "those of --scope user always run"
        },
    ),
    "opencode": Target(
        None, "plugins/indelible.js", ".opencode/plugins/indelible.js", ("opencode",), (".opencode",),
        ("AGENTS.md", "CLAUDE.md"), "AGENTS.md", fires_after_compaction=True,
    ),
    "cursor": Target(
        shapes.cursor, "hooks.json", ".cursor/hooks.json", ("cursor", "cursor-agent"), (".cursor",), ("AGENTS.md",),
        is_strict=True, statusline=Statusline(("statusLine",), "cli-config.json", needs_file=True),
        notes={"project": "Restart Cursor, and look at Hooks in its settings: it runs a project's hooks in a trusted folder only"},
    ),
    "antigravity": Target(
        shapes.antigravity, "config/hooks.json", ".agents/hooks.json", ("agy", "antigravity"), (".agents",),
        ("GEMINI.md", "AGENTS.md"), "GEMINI.md", is_strict=True,
    ),
    "windsurf": Target(
        shapes.windsurf, "hooks.json", ".windsurf/hooks.json", ("windsurf",), (".windsurf",), ("AGENTS.md",), is_strict=True,
    ),
    "openclaw": Target(
        None, "extensions/indelible", ".openclaw/extensions/indelible", ("openclaw",), (".openclaw",), ("AGENTS.md",),
        "workspace/AGENTS.md", fires_after_compaction=True,
        notes=dict.fromkeys(SCOPES, "Allow it and restart: 'openclaw plugins enable indelible'"),
    ),
}  # fmt: skip
_FOUND_BY = {"antigravity": ("config", "antigravity")}
"""Folders below the user's folder of a host, where another host has the same one."""


class Machine(NamedTuple):
    """Where the installer works."""

    places: HostPlaces
    top: str | None
    """Of the checkout; None outside of any."""
    state_dir: str
    programs: Programs
    environ: Mapping[str, str]
    """For what is started."""


def host_of(name: str) -> Host:
    """The host of that name.

    Raises:
        UsageError: there is none.
    """
    found = by_name(HOSTS).get(name)
    if found is None:
        raise UsageError(f"There is no host {name!r}", remedy=f"The hosts are {', '.join(TARGETS)}")
    return found


def folder_of(machine: Machine, scope: str, host: str) -> str:
    """The folder that a host's files of that scope lie below.

    Raises:
        UsageError: there is no project here.
    """
    if scope == "user":
        return machine.places.folders[host]
    if machine.top is None:
        raise UsageError("There is no repository here", remedy="Change to one, or install with --scope user")
    return machine.top


def file_of(machine: Machine, scope: str, host: str) -> str:
    """The settings file, or the plugin's file or folder: of a project whose own settings are in git the personal ones, if there are such.

    Raises:
        UsageError: there is no project here.
    """
    target = TARGETS[host]
    below = target.user if scope == "user" else target.project
    path = os.path.join(folder_of(machine, scope, host), *below.split("/"))
    if scope == "user" or not target.personal:
        return path
    personal = os.path.join(folder_of(machine, scope, host), *target.personal.split("/"))
    return personal if _is_ours(personal) or (is_tracked(machine.top, path) and not _is_ours(path)) else path


def _is_ours(path: str) -> bool:
    """Whether hooks of ours stand in a file."""
    try:
        with open(path, "rb") as file:
            return HOOK.encode() in file.read(_MOST)
    except (OSError, ValueError):
        return False


def is_here(machine: Machine, host: str) -> bool:
    """Whether a host is found: its program on the PATH, the user's folder of it, or a folder in the checkout."""
    from shutil import which

    target = TARGETS[host]
    own = machine.places.folders[host]
    folders = [os.path.join(own, name) for name in _FOUND_BY.get(host, ("",))]
    folders += [os.path.join(machine.top, *mark.split("/")) for mark in target.marks] if machine.top else []
    return any(which(name, path=machine.places.search_path) for name in target.programs) or any(
        map(os.path.isdir, folders)
    )
