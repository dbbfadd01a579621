"""Antigravity: camel-case events, `decision`, steps injected before a model call; no event at a compaction."""

from __future__ import annotations

from indelible.hosts.document import format_json, read, table, text
from indelible.hosts.host import AFTER_TOOL, BEFORE_TOOL, START, Event, Hooked, Host, Rendered, Reply
from indelible.hosts.tools import asked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

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
    renewed_by="CHECKPOINT",
)


def parse(hooked: Hooked, data: bytes) -> Event:
    """What was sent for this event; raises Unreadable.

    A model call after the first one of a turn is no start: there only what was lost is told again.
    """
    sent = read(data)
    purpose = hooked.purpose
    if purpose == START and sent.get("invocationNum", 0) != 0:
        purpose = AFTER_TOOL
    given = table(sent, "toolCall")
    tool = text(given, "name")
    call = asked(purpose, tool, given.get("args"))
    return Event(
        purpose=purpose, name=hooked.name, session=text(sent, "conversationId"), cwd=_folder(sent, given), tool=call.kind,
        tool_name=tool, command=call.command, folder=call.folder, paths=call.paths, given=call.given, transcript=text(sent, "transcriptPath"), artifacts=_artifacts(sent),
    )  # fmt: skip


def render(hooked: Hooked, reply: Reply) -> Rendered:
    """The answer. A gate always says which: without a decision the host asks the person; its own questions stay with "allow"."""
    said: dict[str, object] = {}
    if hooked.purpose == BEFORE_TOOL:
        said = {"decision": "deny", "reason": reply.deny} if reply.deny else {"decision": "allow"}
    elif reply.context:
        said = {"injectSteps": [{"ephemeralMessage": reply.context}]}
    return Rendered(format_json(said), reply.deny or reply.warning, 0)


def _folder(sent: Mapping[str, object], given: Mapping[str, object]) -> str:
    """The folder of the session, or else the first of the workspace; where neither is sent, that of the command."""
    roots = sent.get("workspacePaths")
    first = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else ""
    return text(sent, "cwd") or first or text(table(given, "args"), "Cwd")


def _artifacts(sent: Mapping[str, object]) -> str:
    """The session's private folder: named, or the one of its id that the transcript lies in (`…/brain/ID/…`)."""
    session, transcript = text(sent, "conversationId"), text(sent, "transcriptPath")
    before, found, _ = transcript.partition(f"/brain/{session}/") if session else ("", "", "")
    return text(sent, "artifactDirectoryPath") or (f"{before}/brain/{session}" if found else "")
