"""OpenCode: OpenAI's chat protocol, plugins in JavaScript, `~/.config/opencode` and `.opencode`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, ClassVar

from tests.clients.drivers.driver import Driver, Package, native
from tests.clients.model import Script
from tests.clients.wires import Call, Turn

if TYPE_CHECKING:
    from pathlib import Path

    from tests.clients.model import Model
    from tests.clients.sandbox import Ended, Sandbox

WINDOW = 100_000


class OpenCode(Driver):
    host: ClassVar = "opencode"
    folder: ClassVar = "opencode"
    package: ClassVar = Package("opencode-ai", "1.18.33", 354)
    at_once: ClassVar = True

    def program(self, clients: Path) -> list[str]:
        # The one without AVX2 runs on every machine.
        return native(clients, self.folder, "opencode-*-baseline*/bin/opencode") or native(
            clients, self.folder, "opencode-*/bin/opencode"
        )

    def ready(self, box: Sandbox, model: Model) -> None:
        folder = box.home / ".config" / "opencode"
        folder.mkdir(parents=True)
        limit = {"context": WINDOW, "output": 4_000}
        provider = {
            "npm": "@ai-sdk/openai-compatible", "name": "scripted",
            "options": {"baseURL": f"{model.url}/v1", "apiKey": "no-key-at-all"},
            "models": {"scripted": {"name": "scripted", "tool_call": True, "limit": limit}},
        }  # fmt: skip
        settings = {
            "autoupdate": False, "share": "disabled", "model": "scripted/scripted", "small_model": "scripted/scripted",
            "provider": {"scripted": provider}, "permission": {"*": "allow"},
        }  # fmt: skip
        (folder / "opencode.json").write_text(json.dumps(settings, indent=2), encoding="utf-8")

    def run(self, clients: Path, box: Sandbox, model: Model, *prompts: str, again: bool = False) -> Ended:
        ended = None
        off = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS")
        # It waits for npm when it starts, which in turn asks a registry that is not there; once is enough.
        variables = {**{f"OPENCODE_DISABLE_{name}": "1" for name in off}, "npm_config_fetch_retries": "0"}
        for prompt in prompts:
            ended = box.run([*self.program(clients), "run", *["--continue"] * again, prompt], variables)
            again = True
        assert ended is not None, "no prompt"
        return ended

    def shell(self, command: str) -> Call:
        return Call("bash", {"command": command, "description": "a command"})

    def read(self, path: str) -> Call:
        return Call("read", {"filePath": path})

    def write(self, path: str, content: str) -> Call:
        return Call("write", {"filePath": path, "content": content})

    def edit(self, path: str, before: str, after: str) -> Call:
        return Call("edit", {"filePath": path, "oldString": before, "newString": after})

    def compacting(self, *after: Call) -> Script:
        return Script(
            [Turn(calls=(self.shell("echo before"),), used=WINDOW - 1_000), Turn(calls=(self.shell("echo between"),))]
            + [Turn(calls=(call,)) for call in after] + [Turn("DONE")],
            side=Turn("THE SUMMARY"),
        )  # fmt: skip

    def record(self, box: Sandbox, command: str) -> None:
        folder = box.project / ".opencode" / "plugins"
        folder.mkdir(parents=True)
        (folder / "tap.js").write_text(TAP.replace("COMMAND", json.dumps(command)), encoding="utf-8")


TAP = """\
import { spawnSync } from "node:child_process"
const tap = (name, input, output) => {
  const document = JSON.stringify({ hook_event_name: name, input, output })
  const said = spawnSync("sh", ["-c", COMMAND + " " + name], { input: document, encoding: "utf-8" }).stdout
  return said ? JSON.parse(said) : {}
}
export const Tap = async (given) => ({
  event: async ({ event }) => { if (event.type.startsWith("session.")) tap("event", event, {}) },
  "chat.message": async (input, output) => { tap("chat.message", input, output) },
  "experimental.chat.system.transform": async (input, output) => {
    const reply = tap("experimental.chat.system.transform", input, output)
    if (reply.context) output.system.push(reply.context)
  },
  "experimental.session.compacting": async (input, output) => { tap("experimental.session.compacting", input, output) },
  "experimental.compaction.autocontinue": async (input, output) => {
    tap("experimental.compaction.autocontinue", input, output)
  },
  "tool.execute.before": async (input, output) => {
    const reply = tap("tool.execute.before", input, output)
    if (reply.deny) throw new Error(reply.deny)
  },
  "tool.execute.after": async (input, output) => { tap("tool.execute.after", input, output) },
})
"""
