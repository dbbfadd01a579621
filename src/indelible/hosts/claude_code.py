"""Claude Code: hooks in `settings.json`, one JSON value on standard output, `hookSpecificOutput`."""

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
    name="claude-code",
    title="Claude Code",
    hooked=(
        Hooked("SessionStart", START),
        Hooked("UserPromptSubmit", PROMPT),
        Hooked(
            "PreToolUse", BEFORE_TOOL, f"^(Bash|PowerShell|Monitor|Write|Edit|MultiEdit|NotebookEdit|{WRITING_MCP})$"
        ),
        Hooked("PreCompact", BEFORE_COMPACTION),
        Hooked("SubagentStart", SUBAGENT_START),
        Hooked("SubagentStop", SUBAGENT_STOP),
    ),
    limit=9_000,
    proven=True,
    tells_before=True,
)


def parse(hooked: Hooked, data: bytes) -> Event:
    """What was sent for this event; raises Unreadable."""
    return parse_common(hooked, data)


def render(hooked: Hooked, reply: Reply) -> Rendered:
    """The answer, in this host's form; nothing at all before a compaction, where a bare `{}` is shown to person and model."""
    made = render_common(hooked, reply)
    return made._replace(stdout="") if hooked.purpose == BEFORE_COMPACTION and made.stdout == "{}\n" else made
