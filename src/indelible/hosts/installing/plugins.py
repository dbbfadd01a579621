"""Plugins and extensions of hosts that take such, as folders: made from the same tables as the settings.

claude-code   .claude-plugin/plugin.json, hooks/hooks.json        claude --plugin-dir DIR
gemini        gemini-extension.json, hooks/hooks.json             gemini extensions install DIR
qwen          qwen-extension.json, hooks/hooks.json               qwen extensions install DIR
opencode      indelible.js                                        .opencode/plugins/
openclaw      openclaw.plugin.json, package.json, index.js        openclaw plugins install DIR
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

from indelible.errors import UsageError
from indelible.hosts.installing import shapes
from indelible.hosts.installing.calling import caller

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indelible.hosts.host import Host

KINDS = ("claude-code", "gemini", "qwen", "opencode", "openclaw")
"""Hosts for which a folder can be made."""
_ABOUT = "Memory that is verified before it is believed: the briefing after each start and compaction, and the guard before writes."
OPENCODE_FILE = "indelible.js"
NEXT = {
    "claude-code": "claude --plugin-dir {folder}",
    "gemini": "gemini extensions install {folder}",
    "qwen": "qwen extensions install {folder}",
    "opencode": "copy {folder}/indelible.js to .opencode/plugins/ of a project, or to ~/.config/opencode/plugins/",
    "openclaw": "openclaw plugins install {folder}",
}
"""How each is taken in."""


def plugin_of(host: Host, program: str) -> Mapping[str, bytes]:
    """The files of a host's plugin, by their paths in its folder.

    Args:
        program: the absolute path of the hook program.

    Raises:
        UsageError: the host takes none.
    """
    from indelible import __version__

    call = caller(program, host.name)
    if host.name == "claude-code":
        manifest = {"name": shapes.OWN, "version": __version__, "description": _ABOUT}
        return {
            ".claude-plugin/plugin.json": _json(manifest),
            "hooks/hooks.json": _json(shapes.claude_code(host, call)),
        }
    if host.name in ("gemini", "qwen"):
        manifest = {"name": shapes.OWN, "version": __version__, "description": _ABOUT}
        return {f"{host.name}-extension.json": _json(manifest), "hooks/hooks.json": _json(shapes.gemini(host, call))}
    if host.name == "opencode":
        return {OPENCODE_FILE: script_of(host, program)}
    if host.name == "openclaw":
        return {
            "openclaw.plugin.json": _json(
                {"id": shapes.OWN, "name": "Indelible", "description": _ABOUT,
                 "configSchema": {"type": "object", "additionalProperties": False, "properties": {}}}
            ),
            "package.json": _json(
                {"name": shapes.OWN, "version": __version__, "private": True, "type": "module",
                 "openclaw": {"extensions": ["./index.js"]}}
            ),
            "index.js": script_of(host, program),
        }  # fmt: skip
    raise UsageError(
        f"{host.title} takes no plugin folder of ours", remedy=f"'indelible hooks install --host {host.name}'; folders are for {', '.join(KINDS)}"
    )  # fmt: skip


def script_of(host: Host, program: str) -> bytes:
    """The JavaScript that asks the hook program, for hosts whose hooks are functions."""
    events = [one._asdict() for one in host.hooked]
    head = (
        _template("asking.js")
        .replace("@HOST@", host.name)
        .replace("@PROGRAM@", json.dumps(program, ensure_ascii=False))
    )
    table = ",\n".join(f"  {json.dumps(event, ensure_ascii=False)}" for event in events)
    return f"{head}\nconst EVENTS = [\n{table},\n]\n{_template(f'{host.name}_hooks.js')}".encode()


def is_ours(script: bytes) -> bool:
    """Whether a script is one that we wrote."""
    return script.startswith(_template("asking.js").partition(";")[0].encode())


def program_in(script: bytes) -> str:
    """The hook program that a script of ours asks; empty where none is named."""
    found = re.search(rb"^const PROGRAM = (\".*\")$", script, re.MULTILINE)
    return str(json.loads(found[1])) if found else ""


def _template(name: str) -> str:
    with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as file:
        return file.read()


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()
