"""Qwen Code: Claude Code's events and form, Gemini CLI's tools."""

from __future__ import annotations

from indelible.hosts.claude_form import parse_common, render_common
from indelible.hosts.host import (
    BEFORE_COMPACTION,
    BEFORE_TOOL,
    PROMPT,
    START,
    SUBAGENT_START,
    SUBAGENT_STOP,
    WRITING_MCP,
    Event,
    Hooked,
    Host,
    Rendered,
    Reply,
)

HOST = Host(
    name="qwen",
    title="Qwen Code",
    hooked=(
        Hooked("SessionStart", START),
        Hooked("UserPromptSubmit", PROMPT),
        Hooked("PreToolUse", BEFORE_TOOL, f"^(run_shell_command|monitor|write_file|edit|notebook_edit|{WRITING_MCP})$"),
        Hooked("PreCompact", BEFORE_COMPACTION),
        Hooked("SubagentStart", SUBAGENT_START),
        Hooked("SubagentStop", SUBAGENT_STOP),
    ),
    limit=9_000,
    proven=True,
)


def parse(hooked: Hooked, data: bytes) -> Event:
    """What was sent for this event; raises Unreadable."""
    return parse_common(hooked, data)


def render(hooked: Hooked, reply: Reply) -> Rendered:
    """The answer, in this host's form."""
    return render_common(hooked, reply)
