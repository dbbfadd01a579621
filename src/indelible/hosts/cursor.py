"""Cursor: `permission` and `agent_message`, `additional_context`; a byte-order mark may stand before what it sends."""

from __future__ import annotations

from indelible.hosts.document import format_json, read, text
from indelible.hosts.host import (
    AFTER_TOOL,
    BEFORE_COMPACTION,
    BEFORE_TOOL,
    PROMPT,
    START,
    SUBAGENT_STOP,
    WRITING_MCP,
    Event,
    Hooked,
    Host,
    Rendered,
    Reply,
)
from indelible.hosts.tools import asked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

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


def parse(hooked: Hooked, data: bytes) -> Event:
    """What was sent for this event; raises Unreadable."""
    sent = read(data)
    purpose = hooked.purpose
    tool = text(sent, "tool_name")
    call = asked(purpose, tool, sent.get("tool_input"))
    return Event(
        purpose=purpose, name=hooked.name, session=text(sent, "conversation_id", "session_id"), cwd=_folder(sent),
        source=text(sent, "source", "trigger"), tool=call.kind, tool_name=tool, command=call.command, folder=call.folder, paths=call.paths, given=call.given,
        text=text(sent, "summary", "last_assistant_message", "prompt"), agent=text(sent, "subagent_id", "agent_id"),
        agent_type=text(sent, "subagent_type", "agent_type"), again=bool(sent.get("loop_count")),
        transcript=text(sent, "transcript_path"),
    )  # fmt: skip


def render(hooked: Hooked, reply: Reply) -> Rendered:
    """The answer. A refusal ends with 0, since its reason is in the value; a prompt is let go on, whatever happened."""
    said: dict[str, object] = {}
    if reply.deny:
        said = {"permission": "deny", "user_message": reply.deny, "agent_message": reply.deny}
    elif reply.back:
        said = {"followup_message": reply.back}
    elif reply.context:
        said = {"additional_context": reply.context}
    if hooked.purpose == PROMPT:
        said["continue"] = True
    return Rendered(format_json(said), reply.deny or reply.warning, 0)


def _folder(sent: Mapping[str, object]) -> str:
    """The folder of a command, or else the first of the workspace."""
    roots = sent.get("workspace_roots")
    first = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else ""
    return text(sent, "cwd") or first
