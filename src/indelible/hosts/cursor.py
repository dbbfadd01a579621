"""Cursor: `permission` and `agent_message`, `additional_context`; a byte-order mark may stand before what it sends."""

from __future__ import annotations

from indelible.hosts.host import (
    AFTER_TOOL,
    BEFORE_COMPACTION,
    BEFORE_TOOL,
    PROMPT,
    START,
    SUBAGENT_STOP,
    WRITING_MCP,
    Hooked,
    Host,
)

HOST = Host(
    name="cursor",
    title="Cursor",
    hooked=(
        Hooked("sessionStart", START),
        Hooked("beforeSubmitPrompt", PROMPT),
        Hooked("preToolUse", BEFORE_TOOL, f"^(Shell|Write|Edit|Delete|{WRITING_MCP}|MCP:.*)$"),
        Hooked("postToolUse", AFTER_TOOL, "^(Shell|Write|Edit|Delete|Read)$"),
        Hooked("preCompact", BEFORE_COMPACTION),
        Hooked("subagentStop", SUBAGENT_STOP),
    ),
    limit=9_000,
    proven=False,
)
