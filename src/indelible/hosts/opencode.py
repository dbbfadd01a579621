"""OpenCode: a plugin of ours asks us, so both the question and the answer are of our own making.

The plugin writes `{"sessionID", "cwd", "source"}` of a context, with `"tool"` and `"args"` of a tool call, and reads one
JSON value: `{"deny": …}`, `{"context": …}`, or `{}`, with `"warning"` for the person. Of `tool.execute.before` it throws
what is denied, and throws too when it gets no such value. The system prompt is rebuilt at every model call: the plugin
asks once for each context (a session, and again after `session.compacted`) and keeps the answer.
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
    name="opencode",
    title="OpenCode",
    hooked=(
        Hooked("experimental.chat.system.transform", START),
        Hooked("tool.execute.before", BEFORE_TOOL, f"^(bash|write|edit|multiedit|patch|apply_patch|{WRITING_MCP})$"),
        Hooked("experimental.session.compacting", BEFORE_COMPACTION),
    ),
    limit=30_000,
    proven=True,
)


def parse(hooked: Hooked, data: bytes) -> Event:
    """What the plugin sent for this event; raises Unreadable."""
    return parse_common(hooked, data)


def render(hooked: Hooked, reply: Reply) -> Rendered:
    """The answer, as the plugin reads it."""
    return render_common(hooked, reply)
