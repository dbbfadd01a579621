"""A repository with a state directory, and the hook program as a host runs it: a process of its own, bytes in, bytes out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.cli.hands import within

from indelible.hosts.registry import HOSTS

if TYPE_CHECKING:
    from collections.abc import Mapping

STATE_OK = Path(__file__).parents[1] / "vectors" / "cases" / "state_ok"
CONTRACTS = {host.name: host for host in HOSTS}


@dataclass(frozen=True)
class Answer:
    """What the hook program answered."""

    code: int
    out: str
    err: str

    @property
    def value(self) -> dict[str, Any]:
        """Exactly one JSON object."""
        found: dict[str, Any] = json.loads(self.out)
        assert isinstance(found, dict)
        return found

    @property
    def model(self) -> str:
        """What the model gets of it, in whichever host."""
        if not self.out:
            return self.err if self.code == 2 else ""
        value, inner = self.value, self.value.get("hookSpecificOutput", {})
        steps = value.get("injectSteps", [{}])
        return str(
            inner.get("additionalContext") or inner.get("permissionDecisionReason") or value.get("additionalContext")
            or value.get("additional_context") or value.get("context") or steps[0].get("ephemeralMessage")
            or value.get("reason") or value.get("permissionDecisionReason") or value.get("agent_message")
            or value.get("deny") or value.get("followup_message") or ""
        )  # fmt: skip

    @property
    def denied(self) -> bool:
        """Whether the call does not happen."""
        if self.code == 2 or not self.out:
            return self.code == 2
        value = self.value
        decisions = (value.get("permissionDecision"), value.get("permission"), value.get("decision"))
        return "deny" in decisions or "deny" in value


class Project:
    """A repository in a home of its own."""

    def __init__(self, home: Path) -> None:
        self.home, self.top = home, home / "work"
        self.state = self.top / ".indelible" / "state"

    def fire(self, host: str, event: str, document: Mapping[str, object] | bytes, **variables: str) -> Answer:
        """One event of a host."""
        sent = document if isinstance(document, bytes) else json.dumps(document).encode()
        ended = subprocess.run(
            [sys.executable, "-m", "indelible.hosts.hook", host, event], input=sent, cwd=self.top, capture_output=True,
            check=False, env=_environment() | variables, timeout=60,
        )  # fmt: skip
        return Answer(ended.returncode, ended.stdout.decode(), ended.stderr.decode())

    def start(self, host: str = "claude-code", source: str = "startup", session: str = "s1") -> Answer:
        """A context begins, in the words of Claude Code and those like it."""
        event = CONTRACTS[host].hooked[0].name
        return self.fire(host, event, {"session_id": session, "cwd": str(self.top), "source": source})

    def tool(self, name: str, given: Mapping[str, object], session: str = "s1", **variables: str) -> Answer:
        """A tool call in Claude Code."""
        sent = {"session_id": session, "cwd": str(self.top), "tool_name": name, "tool_input": given}
        return self.fire("claude-code", "PreToolUse", sent, **variables)

    def shell(self, command: str, session: str = "s1", **variables: str) -> Answer:
        """A shell command in Claude Code."""
        return self.tool("Bash", {"command": command}, session, **variables)

    def event(self, name: str, session: str = "s1", **more: object) -> Answer:
        """Another event of Claude Code."""
        return self.fire("claude-code", name, {"session_id": session, "cwd": str(self.top), **more})

    def indelible(self, *words: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        """The command line."""
        return subprocess.run(
            [sys.executable, "-m", "indelible", *words],
            cwd=self.top,
            input=stdin,
            capture_output=True,
            check=False,
            env=_environment(),
        )

    def log(self) -> str:
        """The failures that were noted."""
        path = self.home / "state" / "indelible" / "hooks.log"
        return path.read_text(encoding="utf-8") if path.exists() else ""


@pytest.fixture
def bare(home: Path) -> Project:
    """A repository without anything of ours."""
    subprocess.run(["git", "init", "-q"], cwd=home / "work", check=True)
    return Project(home)


@pytest.fixture
def project(bare: Project) -> Project:
    """A repository with a full state directory and MEMORY.md."""
    (bare.top / "MEMORY.md").write_text("The 목록 is sorted by date.\n", encoding="utf-8")
    assert within("init", "--governance", str(STATE_OK / "00_governance.md")) == 0
    for path in sorted(STATE_OK.iterdir()):
        if path.name[:2] != "00":
            assert within("state", "write", path.name, str(path)) == 0
    assert within("save", "MEMORY.md", "MEMORY.md") == 0
    return bare


def _environment() -> dict[str, str]:
    """As a host has it: with bytecode, as pip leaves it, and `indelible` on the PATH."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PATH": os.pathsep.join((os.path.dirname(sys.executable), kept.get("PATH", os.defpath)))}
