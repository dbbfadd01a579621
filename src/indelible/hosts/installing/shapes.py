"""What stands in each host's settings: made from the table of the events that we answer, in the form that the host documents.

Forms and units: docs/hosts.md. Each function gives what is to be there; `merging` puts it in.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from indelible.hosts.host import GATES
from indelible.hosts.installing.calling import powershell

if TYPE_CHECKING:
    from collections.abc import Callable

    from indelible.hosts.host import Hooked, Host

    Call = Callable[[str], str]
    Shape = Callable[[Host, Call], dict[str, object]]

OWN = "indelible"
"""Our name, where a host wants one for a hook, a plugin or an extension."""


def claude_code(host: Host, call: Call) -> dict[str, object]:
    """Groups of a matcher and its hooks, seconds; a gate that fails denies (2.1.295 and newer; older ones pass it over)."""
    return {"hooks": _grouped(host, call, lambda one: {"onFailure": "block"} if one.purpose in GATES else {})}


def codex(host: Host, call: Call) -> dict[str, object]:
    """As Claude Code's, and no member that its schema does not know."""
    return {"hooks": _grouped(host, call)}


def gemini(host: Host, call: Call) -> dict[str, object]:
    """As Claude Code's, with a name for each hook, and milliseconds. Qwen Code reads the same."""
    return {"hooks": _grouped(host, call, lambda _: {"name": OWN}, unit=1000)}


def copilot(host: Host, call: Call) -> dict[str, object]:
    """Flat, a command for each shell, seconds."""

    def entry(one: Hooked) -> dict[str, object]:
        text = call(one.name)
        command = {"powershell": powershell(text)} if os.name == "nt" else {"bash": text}
        return {"type": "command", **command, **_matcher(one), "timeoutSec": one.seconds}

    return {"version": 1, "hooks": {one.name: [entry(one)] for one in host.hooked}}


def cursor(host: Host, call: Call) -> dict[str, object]:
    """Flat, seconds; a gate that fails denies."""

    def entry(one: Hooked) -> dict[str, object]:
        closed = {"failClosed": True} if one.purpose in GATES else {}
        return {"command": call(one.name), "timeout": one.seconds, **_matcher(one), **closed}

    return {"version": 1, "hooks": {one.name: [entry(one)] for one in host.hooked}}


def antigravity(host: Host, call: Call) -> dict[str, object]:
    """Under a name of our own at the top; groups for tools, flat for the rest, whole seconds."""

    def entry(one: Hooked) -> dict[str, object]:
        hook = {"type": "command", "command": call(one.name), "timeout": one.seconds}
        return {**_matcher(one), "hooks": [hook]} if one.matcher else hook

    return {OWN: {one.name: [entry(one)] for one in host.hooked}}


def windsurf(host: Host, call: Call) -> dict[str, object]:
    """Flat; neither matcher nor time limit."""
    return {"hooks": {one.name: [{"command": call(one.name), "show_output": True}] for one in host.hooked}}


def _grouped(
    host: Host, call: Call, more: Callable[[Hooked], dict[str, object]] = lambda _: {}, *, unit: int = 1
) -> dict[str, object]:
    def entry(one: Hooked) -> dict[str, object]:
        hook = {**more(one), "type": "command", "command": call(one.name), "timeout": one.seconds * unit}
        return {**_matcher(one), "hooks": [hook]}

    return {one.name: [entry(one)] for one in host.hooked}


def _matcher(one: Hooked) -> dict[str, str]:
    return {"matcher": one.matcher} if one.matcher is not None else {}
