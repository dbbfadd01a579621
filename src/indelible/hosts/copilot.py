"""Copilot CLI: camel-case events, context and permission at the top level of the reply; no event after a compaction."""

from __future__ import annotations

from indelible.hosts.document import flag, format_json, read, text
from indelible.hosts.host import (
    AFTER_TOOL,
    BEFORE_COMPACTION,
    BEFORE_TOOL,
    PROMPT,
    START,
    SUBAGENT_START,
    SUBAGENT_STOP,
    Event,
    Hooked,
    Host,
    Rendered,
    Reply,
)
from indelible.hosts.tools import asked

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
    tells_before=True,
)


def parse(hooked: Hooked, data: bytes) -> Event:
    """What was sent for this event; raises Unreadable."""
    sent = read(data)
    tool = text(sent, "toolName", "tool_name")
    purpose = hooked.purpose
    call = asked(purpose, tool, sent.get("toolArgs", sent.get("tool_input")))
    return Event(
        purpose=purpose, name=hooked.name, session=text(sent, "sessionId", "session_id"), cwd=text(sent, "cwd"),
        source=text(sent, "source", "trigger"), tool=call.kind, tool_name=tool, command=call.command, folder=call.folder, paths=call.paths, given=call.given,
        text=text(sent, "lastAssistantMessage", "last_assistant_message", "response", "prompt"),
        agent=text(sent, "agentId", "agent_id"), agent_type=text(sent, "agentName", "agentType", "agent_type"),
        again=flag(sent, "stop_hook_active", "stopHookActive"), transcript=text(sent, "transcriptPath"),
    )  # fmt: skip


def render(hooked: Hooked, reply: Reply) -> Rendered:
    """The answer, all at the top level. It ends with 0: any other code denies without the reason."""
    if reply.deny:
        said = {"permissionDecision": "deny", "permissionDecisionReason": reply.deny}
    elif reply.back:
        said = {"decision": "block", "reason": reply.back}
    else:
        said = {"additionalContext": reply.context} if reply.context else {}
    return Rendered(format_json(said), reply.deny or reply.warning, 0)
