"""Gemini CLI: `decision` and `reason` beside `hookSpecificOutput`; no event after a compression, PreCompress before every model call."""

from __future__ import annotations

from indelible.hosts.host import AFTER_TOOL, BEFORE_COMPACTION, BEFORE_TOOL, PROMPT, START, WRITING_MCP, Hooked, Host

HOST = Host(
    name="gemini",
    title="Gemini CLI",
    hooked=(
        Hooked("SessionStart", START),
        Hooked("BeforeAgent", PROMPT),
        Hooked("BeforeTool", BEFORE_TOOL, f"^(run_shell_command|write_file|replace|{WRITING_MCP})$"),
        Hooked("AfterTool", AFTER_TOOL, "^(run_shell_command|write_file|replace|read_file|read_many_files)$"),
        Hooked("PreCompress", BEFORE_COMPACTION),
    ),
    limit=30_000,
    proven=True,
)
