"""Codex CLI: OpenAI's Responses protocol, `~/.codex`, and hooks that run only when a person has trusted them."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any, ClassVar

from tests.clients.drivers.driver import Driver, Package, ask, native
from tests.clients.model import Rule, Script
from tests.clients.wires import Call, Turn

if TYPE_CHECKING:
    from pathlib import Path

    from tests.clients.model import Model, Request
    from tests.clients.sandbox import Ended, Sandbox

EVENTS = [
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PreCompact",
    "PostCompact",
    "SubagentStart",
    "SubagentStop",
    "Stop",
]
SUMMARY = Rule("summary", "CONTEXT CHECKPOINT COMPACTION", Turn("THE SUMMARY"), times=1)
LIMIT = 40_000
"""Tokens at which it compacts, by its settings."""
AGENTS = "multi_agent_v1"
SETTINGS = """\
model = "gpt-5.5"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
model_auto_compact_token_limit = {limit}
[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 0
stream_max_retries = 0
[analytics]
enabled = false
[feedback]
enabled = false
[features]
hooks = true
[projects.{project}]
trust_level = "trusted"
"""


class Codex(Driver):
    host: ClassVar = "codex"
    folder: ClassVar = "codex"
    package: ClassVar = Package("@openai/codex", "0.171.0", 424)
    at_once: ClassVar = True

    def program(self, clients: Path) -> list[str]:
        return native(clients, self.folder, "@openai/codex-*/vendor/*/bin/codex")

    def folder_of_program(self, clients: Path) -> str:
        """What stands in a person's PATH."""
        return os.path.dirname(self.program(clients)[0])

    def ready(self, box: Sandbox, model: Model) -> None:
        folder = box.home / ".codex"
        folder.mkdir()
        text = SETTINGS.format(limit=LIMIT, url=model.url, project=json.dumps(str(box.project)))
        (folder / "config.toml").write_text(text, encoding="utf-8")

    def run(self, clients: Path, box: Sandbox, model: Model, *prompts: str, again: bool = False) -> Ended:
        ended = None
        for prompt in prompts:
            begin = ["exec", "resume", "--last"] if again else ["exec"]
            ended = box.run([*self.program(clients), *begin, "--json", prompt], {"SCRIPTED_KEY": "no-key-at-all"})
            again = True
        assert ended is not None, "no prompt"
        return ended

    def trust(self, clients: Path, box: Sandbox) -> list[str]:
        """What a person does with `/hooks`: each hook is trusted by its present hash. Returns what was trusted."""
        keys = []
        with (box.home / ".codex" / "config.toml").open("a", encoding="utf-8") as file:
            for hook in self.hooks(clients, box):
                file.write(
                    f"[hooks.state.{json.dumps(hook['key'])}]\ntrusted_hash = {json.dumps(hook['currentHash'])}\n"
                )
                keys.append(hook["key"])
        return keys

    def hooks(self, clients: Path, box: Sandbox) -> list[dict[str, Any]]:
        """The hooks that Codex finds, with what it thinks of each."""
        hello = {
            "clientInfo": {"name": "tests", "title": "tests", "version": "0"},
            "capabilities": {"experimentalApi": True},
        }
        with subprocess.Popen(
            [*self.program(clients), "app-server"], cwd=box.project, env=box.environment(), text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        ) as process:  # fmt: skip
            ask(process, 1, "initialize", hello)
            found = ask(process, 2, "hooks/list", {"cwds": [str(box.project)]})
            process.terminate()
        return [hook for entry in found["data"] for hook in entry["hooks"]]

    def with_agents(self, box: Sandbox) -> None:
        """From here on the model is one that is offered subagents instead of `apply_patch`."""
        path = box.home / ".codex" / "config.toml"
        path.write_text(path.read_text(encoding="utf-8").replace("gpt-5.5", "scripted"), encoding="utf-8")

    def agent(self, prompt: str) -> Call:
        """A call of a subagent."""
        return Call("spawn_agent", {"message": prompt, "agent_type": "default"}, AGENTS)

    def wait(self, request: Request) -> Turn:
        """The turn that waits for the subagent that was started before."""
        agent = request.finds(r'"agent_id":"([0-9a-f-]+)"')
        return Turn(calls=(Call("wait_agent", {"targets": [agent], "timeout_ms": 20_000}, AGENTS),))

    def shell(self, command: str) -> Call:
        return Call("exec_command", {"cmd": command})

    def read(self, path: str) -> Call:
        return self.shell(f"cat '{path}'")

    def write(self, path: str, content: str) -> Call:
        lines = "".join(f"+{line}\n" for line in content.splitlines())
        return Call("apply_patch", f"*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\n")

    def edit(self, path: str, before: str, after: str) -> Call:
        patch = f"*** Begin Patch\n*** Update File: {path}\n@@\n-{before}\n+{after}\n*** End Patch\n"
        return Call("apply_patch", patch)

    def compacting(self, *after: Call) -> Script:
        return Script(
            [Turn(calls=(self.shell("echo before"),), used=LIMIT + 10_000), Turn(calls=(self.shell("echo between"),))]
            + [Turn(calls=(call,)) for call in after] + [Turn("DONE")],
            rules=[SUMMARY],
        )  # fmt: skip

    def record(self, box: Sandbox, command: str) -> None:
        hook = [{"hooks": [{"type": "command", "command": command, "timeout": 20}]}]
        text = json.dumps({"hooks": dict.fromkeys(EVENTS, hook)})
        (box.home / ".codex" / "hooks.json").write_text(text, encoding="utf-8")
