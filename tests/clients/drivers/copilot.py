"""GitHub Copilot CLI: OpenAI's chat protocol with a provider of one's own, `~/.copilot`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, ClassVar

from tests.clients.drivers.driver import Driver, Package, node
from tests.clients.model import Rule, Script
from tests.clients.wires import Call, Turn

if TYPE_CHECKING:
    from pathlib import Path

    from tests.clients.model import Model
    from tests.clients.sandbox import Ended, Sandbox

EVENTS = [
    "sessionStart",
    "sessionEnd",
    "userPromptSubmitted",
    "preToolUse",
    "postToolUse",
    "preCompact",
    "postCompact",
    "agentStop",
    "subagentStart",
    "subagentStop",
    "errorOccurred",
]
_PARTS = ["overview", "history", "work_done", "technical_details", "important_files", "next_steps", "checkpoint_title"]
SUMMARY = Rule(
    "summary",
    "Please create a detailed summary of the conversation so far",
    Turn("".join(f"<{part}>THE SUMMARY</{part}>" for part in _PARTS)),
    times=2,
)
WINDOW = 24_000
"""Tokens of the model, as it is told to Copilot; it compacts when they are nearly used up."""


class Copilot(Driver):
    host: ClassVar = "copilot"
    folder: ClassVar = "copilot"
    package: ClassVar = Package("@github/copilot", "1.0.102", 189)
    at_once: ClassVar = False

    def program(self, clients: Path) -> list[str]:
        return node(clients, self.folder, "node_modules", ".bin", "copilot")

    def ready(self, box: Sandbox, model: Model) -> None:
        (box.home / ".copilot").mkdir()

    def run(self, clients: Path, box: Sandbox, model: Model, *prompts: str, again: bool = False) -> Ended:
        ended = None
        for prompt in prompts:
            ended = box.run(
                [*self.program(clients), "-p", prompt, "--allow-all-tools", "--allow-all-paths", *["--continue"] * again],
                {
                    "COPILOT_HOME": str(box.home / ".copilot"), "COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false",
                    "GITHUB_COPILOT_PROMPT_MODE_REPO_HOOKS": "true", "COPILOT_MODEL": "scripted",
                    "COPILOT_PROVIDER_BASE_URL": f"{model.url}/v1", "COPILOT_PROVIDER_TYPE": "openai",
                    "COPILOT_PROVIDER_API_KEY": "no-key-at-all", "COPILOT_PROVIDER_MAX_OUTPUT_TOKENS": "4000",
                    "COPILOT_PROVIDER_MAX_PROMPT_TOKENS": str(WINDOW),
                },
            )  # fmt: skip
            again = True
        assert ended is not None, "no prompt"
        return ended

    def shell(self, command: str) -> Call:
        return Call("bash", {"command": command, "description": "a command"})

    def read(self, path: str) -> Call:
        return Call("view", {"path": path})

    def write(self, path: str, content: str) -> Call:
        return Call("create", {"path": path, "file_text": content})

    def edit(self, path: str, before: str, after: str) -> Call:
        return Call("edit", {"path": path, "old_str": before, "new_str": after})

    def compacting(self, *after: Call) -> Script:
        return Script(
            [
                Turn(calls=(self.shell("echo before"),), used=50_000),
                Turn(calls=(self.shell("seq 1 60000"),), used=97_000),
                Turn(calls=(self.shell("echo between; sleep 1"),)),
                *(Turn(calls=(call,)) for call in after),
                Turn("DONE"),
            ],
            rules=[SUMMARY],
        )

    def record(self, box: Sandbox, command: str) -> None:
        hooks = {event: [{"type": "command", "bash": f"{command} {event}", "timeoutSec": 20}] for event in EVENTS}
        folder = box.home / ".copilot" / "hooks"
        folder.mkdir()
        (folder / "tap.json").write_text(json.dumps({"version": 1, "hooks": hooks}), encoding="utf-8")
