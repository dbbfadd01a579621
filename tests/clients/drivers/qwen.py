"""Qwen Code: OpenAI's chat protocol, settings in `~/.qwen` and `.qwen`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, ClassVar

from tests.clients.drivers.claude import EVENTS
from tests.clients.drivers.driver import Driver, Package, node
from tests.clients.model import Rule, Script
from tests.clients.wires import Call, Turn

if TYPE_CHECKING:
    from pathlib import Path

    from tests.clients.model import Model
    from tests.clients.sandbox import Ended, Sandbox

SUMMARY = Rule(
    "summary",
    "component that summarizes a conversation",
    Turn("<state_snapshot>THE SUMMARY</state_snapshot>", used=899_000),
    times=2,
)


class Qwen(Driver):
    host: ClassVar = "qwen"
    folder: ClassVar = "qwen"
    package: ClassVar = Package("@qwen-code/qwen-code", "0.24.4", 144)
    at_once: ClassVar = True

    def program(self, clients: Path) -> list[str]:
        return node(clients, self.folder, "node_modules", ".bin", "qwen")

    def ready(self, box: Sandbox, model: Model) -> None:
        (box.home / ".qwen").mkdir()
        self._settings(box).write_text(
            json.dumps({
                "general": {"enableAutoUpdate": False, "disableAutoUpdate": True},
                "privacy": {"usageStatisticsEnabled": False},
                "telemetry": {"enabled": False},
                "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": False}},
            }, indent=2),
            encoding="utf-8",
        )  # fmt: skip

    def run(self, clients: Path, box: Sandbox, model: Model, *prompts: str, again: bool = False) -> Ended:
        ended = None
        for prompt in prompts:
            ended = box.run(
                [*self.program(clients), "--yolo", "-o", "json", "-p", prompt, *["--continue"] * again],
                {
                    "OPENAI_API_KEY": "no-key-at-all", "OPENAI_BASE_URL": f"{model.url}/v1", "OPENAI_MODEL": "scripted",
                    "QWEN_TELEMETRY_ENABLED": "false",
                },
            )  # fmt: skip
            again = True
        assert ended is not None, "no prompt"
        return ended

    def shell(self, command: str) -> Call:
        return Call("run_shell_command", {"command": command, "is_background": False})

    def read(self, path: str) -> Call:
        return Call("read_file", {"file_path": path})

    def write(self, path: str, content: str) -> Call:
        return Call("write_file", {"file_path": path, "content": content})

    def edit(self, path: str, before: str, after: str) -> Call:
        return Call("edit", {"file_path": path, "old_string": before, "new_string": after})

    def compacting(self, *after: Call) -> Script:
        return Script(
            [
                Turn(calls=(self.shell("echo before"),), used=20_000),
                Turn(calls=(self.shell("seq 1 3000"),), used=900_000),
                Turn(calls=(self.shell("echo between"),)),
                *(Turn(calls=(call,)) for call in after),
                Turn("DONE"),
            ],
            rules=[SUMMARY],
        )

    def record(self, box: Sandbox, command: str) -> None:
        hook = [{"hooks": [{"type": "command", "command": command, "timeout": 20_000}]}]
        settings = json.loads(self._settings(box).read_text(encoding="utf-8"))
        settings["hooks"] = dict.fromkeys(EVENTS, hook)
        self._settings(box).write_text(json.dumps(settings, indent=2), encoding="utf-8")

    def _settings(self, box: Sandbox) -> Path:
        return box.home / ".qwen" / "settings.json"
