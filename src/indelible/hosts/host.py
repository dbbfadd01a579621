"""The words in which every host's contract is written down: what its events mean, and what we answer.

A host calls `indelible-hook HOST EVENT` with one JSON document on standard input, EVENT being the host's own name of it.
Measured contracts with their versions: docs/hosts.md.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NamedTuple, Protocol
else:
    from indelible.light import NamedTuple

NAMES = (
    "claude-code", "codex", "gemini", "qwen", "copilot", "opencode", "cursor", "antigravity", "windsurf", "openclaw",
)  # fmt: skip
"""Every host, as on the command line; the module of each has the same name, with underlines."""

START = "start"
"""A context begins: startup, resume, clear, compaction, or whatever a newer host calls it. Injects the briefing."""
PROMPT = "prompt"
"""A user's turn begins. Injects the briefing where this context lacks it."""
BEFORE_TOOL = "before-tool"
"""A gate: may deny the call."""
AFTER_TOOL = "after-tool"
"""Injects the briefing where this context lacks it."""
BEFORE_COMPACTION = "before-compaction"
"""A snapshot; never blocks."""
SUBAGENT_START = "subagent-start"
"""Injects the laws into a child's context."""
SUBAGENT_STOP = "subagent-stop"
"""May send a summary that is too long back, once."""
PURPOSES = (START, PROMPT, BEFORE_TOOL, AFTER_TOOL, BEFORE_COMPACTION, SUBAGENT_START, SUBAGENT_STOP)
WRITING_MCP = "mcp_.*(write|edit|create|move|rename|copy|delete|remove|append|replace|patch|put|shell|exec|command|run|commit|push|merge|rebase|cherry|revert).*"
"""The part of a matcher that means tools of MCP servers which may write files, commit, push or merge."""
GATES = frozenset({BEFORE_TOOL})
"""Purposes that answer "deny" on any fault of our own; every other one lets pass, with a warning."""


SHELL, WRITE, READ, OTHER = "shell", "write", "read", "other"
"""Kinds of tools."""


class Hooked(NamedTuple):
    """One event of a host that we answer."""

    name: str
    """The host's own name of it, as it stands in its settings and in what it sends."""
    purpose: str
    matcher: str | None = None
    """Which tools (or sources) the host is to call us for; None where the event has no matcher, or all are meant."""
    seconds: int = 20
    """After how long the host may give up; our own deadline lies well inside."""


class Event(NamedTuple):
    """What a host sent, in one form for all of them."""

    purpose: str
    name: str
    """The host's own name of the event."""
    session: str
    """The session's id; empty where the host has none."""
    cwd: str
    source: str = ""
    """Of a start: startup, resume, clear, compact, or what else the host says."""
    tool: str = ""
    """What kind of tool would run: one of the words below."""
    tool_name: str = ""
    command: str = ""
    """Of a shell tool."""
    folder: str = ""
    """In which the command runs, where the call says so; relative to `cwd`."""
    paths: tuple[str, ...] = ()
    """Files that the tool names, or of a tool that we do not know, every text that could be one; relative to `cwd`."""
    given: Mapping[str, object] | None = None
    """What the tool is given, as the host sent it."""
    text: str = ""
    """Of a subagent's stop: its last message; of a prompt: what the model is sent."""
    agent: str = ""
    """Id of the subagent that acts; empty for the main one."""
    agent_type: str = ""
    again: bool = False
    """Of a subagent's stop: the host says that it was sent back before."""
    transcript: str = ""
    """Path of the transcript, where the host names one."""
    artifacts: str = ""
    """A folder that the host keeps for this session alone, where it has one; its `state` may be the state directory."""


class Reply(NamedTuple):
    """What we answer, in one form for all hosts."""

    deny: str = ""
    """Why the call is refused; empty to let it pass."""
    context: str = ""
    """Text for the model."""
    warning: str = ""
    """Text for the person; never for the model."""
    back: str = ""
    """Of a subagent's stop: why it is sent back."""
    failure: str = ""
    """What went wrong, for the log: a slug and a sentence."""


class Rendered(NamedTuple):
    """A reply in a host's own form."""

    stdout: str
    stderr: str
    code: int


class Host(NamedTuple):
    """One host's contract, by which its hook, its installer and its tests are made."""

    name: str
    """As on the command line: `claude-code`."""
    title: str
    """As people call it: `Claude Code`."""
    hooked: tuple[Hooked, ...]
    limit: int
    """Characters of injected text that reach the model whole."""
    proven: bool
    """Driven by tests with the real client; else by its documented contract alone."""
    most_bytes: int = 0
    """Bytes of UTF-8 that reach the model whole, where the host counts those too; 0 for any number."""
    tells_before: bool = False
    """A gate that lets a call pass may tell the model something."""
    renewed_by: str = ""
    """What stands in its transcript where a context was made anew; empty where an event says so."""

    def hook(self, event: str) -> Hooked | None:
        """Our answer to an event of this host; None for one that we do not answer."""
        return next((one for one in self.hooked if one.name == event), None)


def by_name(hosts: tuple[Host, ...]) -> Mapping[str, Host]:
    """The hosts, by their names on the command line."""
    return {host.name: host for host in hosts}


if TYPE_CHECKING:

    class Contract(Protocol):
        """What the module of every host has."""

        HOST: Host

        def parse(self, hooked: Hooked, data: bytes) -> Event:
            """What was sent for this event; raises Unreadable."""

        def render(self, hooked: Hooked, reply: Reply) -> Rendered:
            """The answer, in this host's form."""
