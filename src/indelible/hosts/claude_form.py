"""Claude Code's form, which Codex CLI and Qwen Code have too: what is sent, and one JSON value as the answer.

A gate that denies says so twice, in the value and by ending with 2 and the reason on standard error: a host that cannot
read the one still takes the other.
"""

from __future__ import annotations

from indelible.hosts.document import flag, format_json, read, text
from indelible.hosts.host import Event, Rendered
from indelible.hosts.tools import asked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from indelible.hosts.host import Hooked, Reply


def parse_common(hooked: Hooked, data: bytes) -> Event:
    """What was sent for this event; raises Unreadable."""
    sent = read(data)
    purpose = hooked.purpose
    tool = text(sent, "tool_name")
    call = asked(purpose, tool, sent.get("tool_input"))
    return Event(
        purpose=purpose, name=hooked.name, session=text(sent, "session_id"), cwd=text(sent, "cwd"),
        source=text(sent, "source", "trigger"), tool=call.kind, tool_name=tool, command=call.command, folder=call.folder, paths=call.paths, given=call.given,
        text=text(sent, "last_assistant_message", "prompt"), agent=text(sent, "agent_id"),
        agent_type=text(sent, "agent_type"), again=flag(sent, "stop_hook_active"), transcript=text(sent, "transcript_path"),
    )  # fmt: skip


def render_common(hooked: Hooked, reply: Reply) -> Rendered:
    """The answer; of keys only those that every one of these hosts knows."""
    said: dict[str, object] = {}
    if reply.warning:
        said["systemMessage"] = reply.warning
    if reply.deny:
        said["hookSpecificOutput"] = {
            "hookEventName": hooked.name, "permissionDecision": "deny", "permissionDecisionReason": reply.deny,
        }  # fmt: skip
        return Rendered(format_json(said), reply.deny, 2)
    if reply.back:
        said |= {"decision": "block", "reason": reply.back}
    elif reply.context:
        said["hookSpecificOutput"] = {"hookEventName": hooked.name, "additionalContext": reply.context}
    return Rendered(format_json(said), reply.warning, 0)
