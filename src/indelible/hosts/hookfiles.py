"""The files of hosts in which our hooks are, found by their words, so that a gate can leave them to a person."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PROJECT = (
    ".claude/settings.json", ".claude/settings.local.json", ".codex/hooks.json", ".gemini/settings.json", ".qwen/settings.json",
    ".github/hooks/indelible.json", ".opencode/plugins/indelible.js", ".cursor/hooks.json", ".agents/hooks.json",
    ".windsurf/hooks.json", ".openclaw/extensions/indelible/index.js",
)  # fmt: skip
"""Below the top of a checkout; the installer's own table, which a gate does not load, is held to it by a test."""
USER = (
    ("claude-code", "settings.json"), ("codex", "hooks.json"), ("codex", "config.toml"), ("gemini", "settings.json"),
    ("qwen", "settings.json"), ("copilot", "hooks/indelible.json"), ("opencode", "plugins/indelible.js"),
    ("cursor", "hooks.json"), ("antigravity", "config/hooks.json"), ("windsurf", "hooks.json"),
    ("openclaw", "extensions/indelible/index.js"),
)  # fmt: skip
"""Below the user's folder of each host; Codex's trust is in a file of its own."""
MANAGED = (
    ".pre-commit-config.yaml", "lefthook.yml", "lefthook.yaml", ".lefthook.yml", "lefthook-local.yml", ".husky/pre-commit",
    ".husky/commit-msg", ".husky/pre-push", ".husky/reference-transaction",
)  # fmt: skip
"""Files by which another program runs git's hooks; ours to guard only where we stand in them."""
_SHORT = 8_192
_WORDS = (b"indelible-hook", b"# indelible")
_MOST = 2_000_000
_BESIDE = {".claude/settings.json": ".claude/settings.local.json"}
"""A file that overrules another, and could switch its hooks off."""


def hooked_files(top: str, environ: Mapping[str, str]) -> Iterator[str]:
    """Those that our hooks stand in, of a checkout and of the user.

    Args:
        top: of the checkout; empty outside of any.
    """
    for name in PROJECT if top else ():
        if _is_hooked(path := os.path.join(top, *name.split("/"))):
            yield path
            if beside := _BESIDE.get(name):
                yield os.path.join(top, *beside.split("/"))
    from indelible.settings.hosting import host_places

    folders = host_places(environ).folders
    for host, name in USER:
        if _is_hooked(path := os.path.join(folders[host], *name.split("/"))):
            yield path


def git_places(place: str) -> Iterator[str]:
    """Where git's hooks of a checkout are, what says where they are, and what another program runs for them; git is not run.

    Args:
        place: top of the checkout; empty outside of any.
    """
    common = _common(place) if place else ""
    if not common:
        return
    config = os.path.join(common, "config")
    yield from (os.path.join(common, "hooks"), config, os.path.join(common, "indelible"))
    told = _hooks_path(config)
    if told:
        yield os.path.join(place, os.path.expanduser(told))
    for name in MANAGED:
        if _is_hooked(path := os.path.join(place, *name.split("/"))):
            yield path


def _common(place: str) -> str:
    """The git folder that all worktrees share; empty where there is none."""
    marker = os.path.join(place, ".git")
    if os.path.isdir(marker):
        return marker
    try:
        with open(marker, "rb") as file:
            told = os.fsdecode(file.read(_SHORT)).strip()
    except (OSError, ValueError):
        return ""
    folder = os.path.normpath(os.path.join(place, told.removeprefix("gitdir: ")))
    return folder.partition(f"{os.sep}worktrees{os.sep}")[0]


def _hooks_path(config: str) -> str:
    """`core.hooksPath` as it stands in a settings file of git's; empty where it does not."""
    try:
        with open(config, encoding="utf-8", errors="surrogateescape") as file:
            lines = file.read(_MOST).splitlines()
    except (OSError, ValueError):
        return ""
    pairs = (line.partition("=") for line in lines)
    return next((value.strip().strip('"') for name, _, value in pairs if name.strip().lower() == "hookspath"), "")


def _is_hooked(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            content = file.read(_MOST)
    except (OSError, ValueError):
        return False
    return any(word in content for word in _WORDS)
