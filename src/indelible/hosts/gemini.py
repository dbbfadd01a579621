"""Gemini CLI: `decision` and `reason` beside `hookSpecificOutput`; no event after a compression, PreCompress before every model call."""

from __future__ import annotations

from indelible.hosts.claude_form import parse_common
from indelible.hosts.document import format_json
from indelible.hosts.host import (
    AFTER_TOOL,
    BEFORE_COMPACTION,
    BEFORE_TOOL,
    PROMPT,
    START,
    WRITING_MCP,
    Event,
    Hooked,
    Host,
    Rendered,
    Reply,
)

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
    renewed_by='"$set":{"messages":',
)


def parse(hooked: Hooked, data: bytes) -> Event:
    """What was sent for this event; raises Unreadable."""
    return parse_common(hooked, data)


def render(hooked: Hooked, reply: Reply) -> Rendered:
    """The answer: a refusal as `decision` and `reason`, whose text reaches the model, and by ending with 2 all the same."""
    said: dict[str, object] = {"systemMessage": reply.warning} if reply.warning else {}
    if reply.deny:
        return Rendered(format_json(said | {"decision": "deny", "reason": reply.deny}), reply.deny, 2)
    if reply.context:
        said["hookSpecificOutput"] = {"hookEventName": hooked.name, "additionalContext": reply.context}
    return Rendered(format_json(said), reply.warning, 0)
