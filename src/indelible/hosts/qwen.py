"""Qwen Code: Claude Code's events and form, Gemini CLI's tools."""

from __future__ import annotations

from indelible.hosts.host import (
    BEFORE_COMPACTION,
    BEFORE_TOOL,
    PROMPT,
    START,
    SUBAGENT_START,
    SUBAGENT_STOP,
    WRITING_MCP,
    Hooked,
    Host,
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
