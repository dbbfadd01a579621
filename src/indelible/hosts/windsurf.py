"""Windsurf: gates only; the text of an exit with 2 is all that reaches the model."""

from __future__ import annotations

from indelible.hosts.document import read, table, text
from indelible.hosts.host import BEFORE_TOOL, Event, Hooked, Host, Rendered, Reply
from indelible.hosts.tools import called

HOST = Host(
    name="windsurf",
    title="Windsurf",
    hooked=(
        Hooked("pre_write_code", BEFORE_TOOL),
        Hooked("pre_run_command", BEFORE_TOOL),
        Hooked("pre_mcp_tool_use", BEFORE_TOOL),
    ),
    limit=9_000,
    proven=False,
)

_TOOLS = {"pre_write_code": "write_code", "pre_run_command": "run_command", "pre_mcp_tool_use": "mcp"}


def parse(hooked: Hooked, data: bytes) -> Event:
    """What was sent for this event; raises Unreadable."""
    sent = read(data)
    given = table(sent, "tool_info")
    tool = _TOOLS.get(hooked.name, hooked.name)
    if tool == "mcp":
        name = text(given, "mcp_tool_name", "tool_name")
        tool = f"mcp_{text(given, 'mcp_server_name', 'server')}_{name}" if name else ""
    call = called(tool, given)
    return Event(
        purpose=hooked.purpose, name=hooked.name, session=text(sent, "trajectory_id"), cwd=text(given, "cwd"),
        tool=call.kind, tool_name=tool, command=call.command, folder=call.folder, paths=call.paths, given=call.given,
    )  # fmt: skip


def render(hooked: Hooked, reply: Reply) -> Rendered:
    """Nothing on standard output; a refusal is its text on standard error, and an exit with 2."""
    return Rendered("", reply.deny or reply.warning, 2 if reply.deny else 0)
