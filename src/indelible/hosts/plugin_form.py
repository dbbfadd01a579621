"""The form between the hook program and a plugin of ours inside of a host: question and answer are of our own making."""

from __future__ import annotations

from indelible.hosts.document import format_json, read, text
from indelible.hosts.host import Event, Rendered
from indelible.hosts.tools import asked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from indelible.hosts.host import Hooked, Reply


def parse_common(hooked: Hooked, data: bytes) -> Event:
    """What the plugin sent for this event; raises Unreadable."""
    sent = read(data)
    purpose = hooked.purpose
    tool = text(sent, "tool")
    call = asked(purpose, tool, sent.get("args"))
    return Event(
        purpose=purpose, name=hooked.name, session=text(sent, "sessionID", "session"), cwd=text(sent, "cwd"),
        source=text(sent, "source"), tool=call.kind, tool_name=tool, command=call.command, folder=call.folder, paths=call.paths, given=call.given,
    )  # fmt: skip


def render_common(hooked: Hooked, reply: Reply) -> Rendered:
    """One JSON value; the plugin hands it on. A value always comes with 0, so that anything else is a fault to it."""
    said = {
        key: value
        for key, value in (("deny", reply.deny), ("context", reply.context), ("warning", reply.warning))
        if value
    }
    return Rendered(format_json(said), reply.deny or reply.warning, 0)
