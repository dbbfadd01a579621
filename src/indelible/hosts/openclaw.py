"""OpenClaw: a plugin of ours asks us, as OpenCode's does, in the same form, and hands the answer on in OpenClaw's.

`{"deny"}` becomes `{"block": true, "blockReason"}` of `before_tool_call`; `{"context"}` becomes `{"prependContext"}`.
"""

from __future__ import annotations

from indelible.hosts.host import (
    BEFORE_COMPACTION,
    BEFORE_TOOL,
    START,
    WRITING_MCP,
    Event,
    Hooked,
    Host,
    Rendered,
    Reply,
)
from indelible.hosts.plugin_form import parse_common, render_common

HOST = Host(
    name="openclaw",
    title="OpenClaw",
    hooked=(
        Hooked("before_prompt_build", START),
        Hooked("before_tool_call", BEFORE_TOOL, f"^(exec|bash|process|write|edit|apply_patch|{WRITING_MCP})$"),
        Hooked("before_compaction", BEFORE_COMPACTION),
    ),
    limit=9_000,
    proven=False,
)


def parse(hooked: Hooked, data: bytes) -> Event:
    """What the plugin sent for this event; raises Unreadable."""
    return parse_common(hooked, data)


def render(hooked: Hooked, reply: Reply) -> Rendered:
    """The answer, as the plugin reads it."""
    return render_common(hooked, reply)
