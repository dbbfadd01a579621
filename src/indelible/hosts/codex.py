"""Codex CLI: Claude Code's events and form, in `hooks.json`; a key that its schema does not know is refused."""

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
    name="codex",
    title="Codex CLI",
    hooked=(
        Hooked("SessionStart", START),
        Hooked("UserPromptSubmit", PROMPT),
        Hooked("PreToolUse", BEFORE_TOOL, f"^(Bash|apply_patch|Write|Edit|{WRITING_MCP})$"),
        Hooked("PreCompact", BEFORE_COMPACTION),
        Hooked("SubagentStart", SUBAGENT_START),
        Hooked("SubagentStop", SUBAGENT_STOP),
    ),
    limit=9_000,
    proven=True,
    tells_before=True,
    most_bytes=9_500,
)


def parse(hooked: Hooked, data: bytes) -> Event:
    """What was sent for this event; raises Unreadable."""
    return parse_common(hooked, data)


def render(hooked: Hooked, reply: Reply) -> Rendered:
    """The answer, in this host's form."""
    return render_common(hooked, reply)
