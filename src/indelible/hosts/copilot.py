"""Copilot CLI: camel-case events, context and permission at the top level of the reply; no event after a compaction."""

from __future__ import annotations

from indelible.hosts.host import (
    AFTER_TOOL,
    BEFORE_COMPACTION,
    BEFORE_TOOL,
    PROMPT,
    START,
    SUBAGENT_START,
    SUBAGENT_STOP,
    Hooked,
    Host,
)

HOST = Host(
    name="copilot",
    title="Copilot CLI",
    hooked=(
        Hooked("sessionStart", START),
        Hooked("userPromptSubmitted", PROMPT),
        Hooked("preToolUse", BEFORE_TOOL),
        Hooked("postToolUse", AFTER_TOOL),
        Hooked("preCompact", BEFORE_COMPACTION),
        Hooked("subagentStart", SUBAGENT_START),
        Hooked("subagentStop", SUBAGENT_STOP),
    ),
    limit=9_000,
    proven=True,
)
