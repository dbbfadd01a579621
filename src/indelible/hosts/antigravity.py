"""Antigravity: camel-case events, `decision`, steps injected before a model call; no event at a compaction."""

from __future__ import annotations

from indelible.hosts.host import BEFORE_TOOL, START, Hooked, Host

HOST = Host(
    name="antigravity",
    title="Antigravity",
    hooked=(
        Hooked("PreInvocation", START),
        Hooked(
            "PreToolUse",
            BEFORE_TOOL,
            "^(run_command|send_command_input|write_to_file|replace_file_content|multi_replace_file_content)$",
        ),
    ),
    limit=9_000,
    proven=False,
)
