"""Claude Code: Anthropic's protocol, settings in `~/.claude` and `.claude`, several prompts in one process by stream-json."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, ClassVar

from tests.clients.drivers.driver import Driver, Package, native
from tests.clients.model import Rule, Script
from tests.clients.wires import Call, Turn

if TYPE_CHECKING:
    from pathlib import Path

    from tests.clients.model import Model
    from tests.clients.sandbox import Ended, Sandbox

EVENTS = [
    "SessionStart",
    "SessionEnd",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PreCompact",
    "PostCompact",
    "Stop",
    "SubagentStart",
    "SubagentStop",
]
SUMMARY = Rule("summary", "Your task is to create a detailed summary", Turn("<summary>THE SUMMARY</summary>"))
NEARLY_FULL = 985_000
"""Tokens at which the model's window counts as full."""


class Claude(Driver):
    host: ClassVar = "claude-code"
    folder: ClassVar = "claude"
    package: ClassVar = Package("@anthropic-ai/claude-code", "2.1.332", 400)
    at_once: ClassVar = True

    def program(self, clients: Path) -> list[str]:
        return native(clients, self.folder, "@anthropic-ai/claude-code-*/claude")

    def ready(self, box: Sandbox, model: Model) -> None:
        (box.home / ".claude").mkdir()

    def run(self, clients: Path, box: Sandbox, model: Model, *prompts: str, again: bool = False) -> Ended:
        tools = "Bash Read Write Edit NotebookEdit Task Agent"
        command = [
            *self.program(clients), "-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
            "--permission-mode", "acceptEdits", "--allowedTools", tools,
        ]  # fmt: skip
        lines = [{"type": "user", "message": {"role": "user", "content": prompt}} for prompt in prompts]
        return box.run(
            command + ["--continue"] * again,
            self._variables(box, model),
            given="".join(json.dumps(one) + "\n" for one in lines),
        )

    def _variables(self, box: Sandbox, model: Model) -> dict[str, str]:
        off = ("NONESSENTIAL_TRAFFIC",)
        return {
            "ANTHROPIC_BASE_URL": model.url,
            "ANTHROPIC_API_KEY": "no-key-at-all",
            **{f"CLAUDE_CODE_DISABLE_{name}": "1" for name in off},
            **{f"DISABLE_{name}": "1" for name in ("TELEMETRY", "AUTOUPDATER", "ERROR_REPORTING", "BUG_COMMAND")},
        }

    def shell(self, command: str) -> Call:
        return Call("Bash", {"command": command, "description": "a command"})

    def read(self, path: str) -> Call:
        return Call("Read", {"file_path": path})

    def write(self, path: str, content: str) -> Call:
        return Call("Write", {"file_path": path, "content": content})

    def edit(self, path: str, before: str, after: str) -> Call:
        return Call("Edit", {"file_path": path, "old_string": before, "new_string": after})

    def agent(self, prompt: str) -> Call:
        """A call of a subagent."""
        return Call("Agent", {"description": "a task", "prompt": prompt, "subagent_type": "general-purpose"})

    def compacting(self, *after: Call) -> Script:
        return Script(
            [Turn(calls=(self.shell("echo before"),), used=NEARLY_FULL), Turn(calls=(self.shell("echo between"),))]
            + [Turn(calls=(call,)) for call in after] + [Turn("DONE")],
            rules=[SUMMARY],
        )  # fmt: skip

    def record(self, box: Sandbox, command: str) -> None:
        hook = [{"hooks": [{"type": "command", "command": command, "timeout": 20}]}]
        settings = {"hooks": dict.fromkeys(EVENTS, hook)}
        (box.home / ".claude" / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
