"""The words in which every host's contract is written down: what its events mean, and what we answer.

A host calls `indelible-hook HOST EVENT` with one JSON document on standard input, EVENT being the host's own name of it.
Measured contracts with their versions: docs/hosts.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

START = "start"
"""A context begins: startup, resume, clear, compaction, or whatever a newer host calls it. Injects the briefing."""
PROMPT = "prompt"
"""A user's turn begins. Injects the briefing where this context lacks it."""
BEFORE_TOOL = "before-tool"
"""A gate: may deny the call."""
AFTER_TOOL = "after-tool"
"""Injects the briefing where this context lacks it."""
BEFORE_MODEL = "before-model"
"""The whole request is seen: says whether the briefing is still in it."""
BEFORE_COMPACTION = "before-compaction"
"""A snapshot; never blocks."""
SUBAGENT_START = "subagent-start"
"""Injects the laws into a child's context."""
SUBAGENT_STOP = "subagent-stop"
"""May send a summary that is too long back, once."""
PURPOSES = (START, PROMPT, BEFORE_TOOL, AFTER_TOOL, BEFORE_MODEL, BEFORE_COMPACTION, SUBAGENT_START, SUBAGENT_STOP)
WRITING_MCP = (
    "mcp_.*(write|edit|create|move|rename|copy|delete|remove|append|replace|patch|put|shell|exec|command|run).*"
)
"""The part of a matcher that means tools of MCP servers which may write files."""
GATES = frozenset({BEFORE_TOOL})
"""Purposes that answer "deny" on any fault of our own; every other one lets pass, with a warning."""


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
    """`shell`, `write`, `read`, `other`: what kind of tool would run."""
    tool_name: str = ""
    command: str = ""
    """Of a shell tool."""
    paths: tuple[str, ...] = ()
    """Files that a writing tool names; relative ones are relative to `cwd`."""
    text: str = ""
    """Of a subagent's stop: its last message."""
    agent: str = ""
    """Id of the subagent that acts; empty for the main one."""
    agent_type: str = ""
    again: bool = False
    """Of a subagent's stop: the host says that it was sent back before."""
    transcript: str = ""
    """Path of the transcript, where the host names one."""
    raw: bytes = b""
    """The document as it came, for what looks for a mark in it."""


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

    def purpose_of(self, event: str) -> str | None:
        """What an event of this host means to us; None for one that we do not answer."""
        return next((one.purpose for one in self.hooked if one.name == event), None)


def by_name(hosts: tuple[Host, ...]) -> Mapping[str, Host]:
    """The hosts, by their names on the command line."""
    return {host.name: host for host in hosts}
