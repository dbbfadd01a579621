"""Gemini CLI: Google's protocol, settings in `~/.gemini` and `.gemini`; it compresses a session that is continued."""

from __future__ import annotations

import json
import subprocess
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from tests.clients.drivers.driver import Driver, Package, ask, node
from tests.clients.model import Rule, Script
from tests.clients.terminal import Terminal
from tests.clients.wires import Call, Turn

if TYPE_CHECKING:
    from pathlib import Path

    from tests.clients.model import Model
    from tests.clients.sandbox import Ended, Sandbox

EVENTS = [
    "SessionStart",
    "SessionEnd",
    "BeforeAgent",
    "AfterAgent",
    "BeforeModel",
    "AfterModel",
    "BeforeToolSelection",
    "BeforeTool",
    "AfterTool",
    "PreCompress",
    "Notification",
]
SUMMARY = Rule(
    "summary",
    "updated <state_snapshot>|Critically evaluate the <state_snapshot>|generate the <state_snapshot>",
    Turn("<state_snapshot>THE SUMMARY</state_snapshot>"),
)

NEARLY_FULL = 900_000
"""Tokens at which it compresses, of a window of a million."""


def _has_come_to(model: Model, turns: int) -> bool:
    return len(model.conversation) >= turns


class Gemini(Driver):
    host: ClassVar = "gemini"
    folder: ClassVar = "gemini"
    package: ClassVar = Package("@google/gemini-cli", "0.61.0", 100)
    at_once: ClassVar = False

    def program(self, clients: Path) -> list[str]:
        return node(clients, self.folder, "node_modules", "@google", "gemini-cli", "bundle", "gemini.js")

    def ready(self, box: Sandbox, model: Model) -> None:
        (box.home / ".gemini").mkdir()
        self._settings(box).write_text(
            json.dumps({
                "general": {"disableAutoUpdate": True, "disableUpdateNag": True, "enableAutoUpdate": False},
                "privacy": {"usageStatisticsEnabled": False},
                "telemetry": {"enabled": False},
                "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
            }, indent=2),
            encoding="utf-8",
        )  # fmt: skip

    def run(self, clients: Path, box: Sandbox, model: Model, *prompts: str, again: bool = False) -> Ended:
        ended = None
        for prompt in prompts:
            more = ["--resume", "latest"] * again
            ended = box.run(
                [*self.program(clients), "-m", "gemini-2.5-pro", "--yolo", "-o", "json", "-p", prompt, *more],
                self._variables(model),
            )
            again = True
        assert ended is not None, "no prompt"
        return ended

    def talk(self, clients: Path, box: Sandbox, model: Model, *prompts: tuple[str, int]) -> str:
        """Type prompts into a terminal, each with the number of turns of the script that it uses up; returns the screen.

        Only so does Gemini compress what was said before: every other start of it is a session that has just begun.
        """
        used = 0
        with Terminal(
            box, [*self.program(clients), "-m", "gemini-2.5-pro", "--yolo"], self._variables(model)
        ) as terminal:
            assert terminal.wait(lambda: b"Type your message" in terminal.shown), terminal.screen()
            for prompt, turns in prompts:
                used += turns
                terminal.say(prompt, partial(_has_come_to, model, used))
            return terminal.screen()

    def serve_an_editor(self, clients: Path, box: Sandbox, model: Model, *prompts: str) -> None:
        """Have the prompts worked on as an editor does it: by the Agent Client Protocol, JSON-RPC on standard input and output."""
        command = [*self.program(clients), "-m", "gemini-2.5-pro", "--yolo", "--acp"]
        with subprocess.Popen(
            command, cwd=box.project, env=box.environment(self._variables(model)), text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        ) as process:  # fmt: skip
            ask(process, 1, "initialize", {"protocolVersion": 1, "clientCapabilities": {}})
            begun = ask(process, 2, "session/new", {"cwd": str(box.project), "mcpServers": []})
            for number, prompt in enumerate(prompts, 3):
                content = [{"type": "text", "text": prompt}]
                ask(process, number, "session/prompt", {"sessionId": begun["sessionId"], "prompt": content})
            process.terminate()

    def _variables(self, model: Model) -> dict[str, str]:
        return {
            "GEMINI_API_KEY": "no-key-at-all",
            "GOOGLE_GEMINI_BASE_URL": model.url,
            "GEMINI_CLI_NO_RELAUNCH": "true",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GEMINI_TELEMETRY_ENABLED": "false",
        }

    def shell(self, command: str) -> Call:
        return Call("run_shell_command", {"command": command})

    def read(self, path: str) -> Call:
        return Call("read_file", {"file_path": path})

    def write(self, path: str, content: str) -> Call:
        return Call("write_file", {"file_path": path, "content": content})

    def edit(self, path: str, before: str, after: str) -> Call:
        return Call(
            "replace", {"file_path": path, "instruction": "change it", "old_string": before, "new_string": after}
        )

    def compacting(self, *after: Call) -> Script:
        return Script(
            [
                Turn("FIRST ANSWER"),
                Turn("SECOND ANSWER"),
                Turn(calls=(self.shell("echo before"),), used=NEARLY_FULL),
                Turn(calls=(self.shell("echo between"),)),
                *(Turn(calls=(call,)) for call in after),
                Turn("DONE"),
            ],
            rules=[SUMMARY],
        )

    def record(self, box: Sandbox, command: str) -> None:
        hook = [{"hooks": [{"name": "tap", "type": "command", "command": command, "timeout": 20_000}]}]
        self._merge(box, {"hooksConfig": {"enabled": True}, "hooks": dict.fromkeys(EVENTS, hook)})

    def _settings(self, box: Sandbox) -> Path:
        return box.home / ".gemini" / "settings.json"

    def _merge(self, box: Sandbox, more: dict[str, object]) -> None:
        settings = json.loads(self._settings(box).read_text(encoding="utf-8"))
        self._settings(box).write_text(json.dumps({**settings, **more}, indent=2), encoding="utf-8")
