"""Plugin folders, made from the same tables; and OpenCode's plugin, run by node against the real hook program."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from tests.cli.hands import refused, said, script
from tests.conftest import environment
from tests.hosts.installing.test_merging import wanted

from indelible import __version__
from indelible.hosts.host import by_name
from indelible.hosts.installing import plugins
from indelible.hosts.registry import HOSTS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.hosts.installing.conftest import Place

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")
PROGRAM = "/opt/our tools/indelible-hook"


@pytest.mark.parametrize(
    ("host", "manifest"),
    [
        ("claude-code", ".claude-plugin/plugin.json"),
        ("gemini", "gemini-extension.json"),
        ("qwen", "qwen-extension.json"),
    ],
)
def test_a_folder_has_its_manifest_and_the_same_hooks_as_the_settings(host: str, manifest: str) -> None:
    files = plugins.plugin_of(by_name(HOSTS)[host], PROGRAM)
    assert set(files) == {manifest, "hooks/hooks.json"}
    told = json.loads(files[manifest])
    assert (told["name"], told["version"]) == ("indelible", __version__)
    assert json.loads(files["hooks/hooks.json"]) == wanted(host)


@pytest.mark.parametrize("host", ["opencode", "openclaw"])
def test_a_script_holds_the_table_as_it_is(host: str) -> None:
    table = by_name(HOSTS)[host]
    script_text = plugins.script_of(table, PROGRAM).decode()
    (events,) = re.findall(r"const EVENTS = (\[.*?\n\])", script_text, re.DOTALL)
    told = json.loads(events.replace(",\n]", "\n]"))
    assert told == [one._asdict() for one in table.hooked]
    assert "@" not in re.sub(r"@\w*[a-z]", "", script_text), "no place is left open"
    assert plugins.is_ours(script_text.encode())
    assert plugins.program_in(script_text.encode()) == PROGRAM
    handled = set(re.findall(r'^ +"([a-z-]+)": \(event', script_text, re.MULTILINE))
    assert {one.purpose for one in table.hooked} <= handled


def test_the_manifest_of_openclaw_has_what_it_demands() -> None:
    files = plugins.plugin_of(by_name(HOSTS)["openclaw"], PROGRAM)
    manifest, package = json.loads(files["openclaw.plugin.json"]), json.loads(files["package.json"])
    assert manifest["id"] == "indelible"
    assert manifest["configSchema"]["type"] == "object"
    assert package["openclaw"]["extensions"] == ["./index.js"]
    assert package["type"] == "module"
    assert b'id: "indelible"' in files["index.js"]


@needs_node
@pytest.mark.parametrize("host", ["opencode", "openclaw"])
def test_node_parses_it(place: Place, host: str) -> None:
    document = said(place.hooks("plugin", host, "out 폴더", "--json"))
    for name in document["files"]:
        if name.endswith(".js"):
            path = place.work / "out 폴더" / name
            subprocess.run(
                [str(NODE), "--check", "--input-type=module"], input=path.read_bytes(), check=True, env=environment()
            )


@pytest.mark.parametrize("host", plugins.KINDS)
def test_the_command_writes_a_folder_and_says_how_it_is_taken_in(place: Place, host: str) -> None:
    ran = place.hooks("plugin", host, "out")
    assert "Next: " in ran.out
    files = plugins.plugin_of(by_name(HOSTS)[host], place.machine.programs.hook)
    for name, content in files.items():
        assert (place.work / "out" / name).read_bytes() == content
    place.hooks("plugin", host, "out")


def test_a_host_without_plugins_is_told_what_it_has_instead(place: Place) -> None:
    refused(place.hooks("plugin", "windsurf", "out", code=64), 64, "hooks install --host windsurf", "claude-code")


# Driven by node.

DRIVER = """
import { pathToFileURL } from "node:url"
const { Indelible } = await import(pathToFileURL(process.argv[2]))
const logged = []
const client = { app: { log: async ({ body }) => { logged.push(body.message) } } }
const hooks = await Indelible({ client, directory: process.argv[3] })
const told = []
for (const [name, input, output] of JSON.parse(process.argv[4])) {
  const result = { name }
  try { await hooks[name](input, output); result.output = output } catch (error) { result.thrown = error.message }
  told.push(result)
}
console.log(JSON.stringify({ names: Object.keys(hooks), told, logged }))
"""
SYSTEM, BEFORE, COMPACTING = (
    "experimental.chat.system.transform",
    "tool.execute.before",
    "experimental.session.compacting",
)
COMPACTED: tuple[str, dict[str, Any], dict[str, Any]] = (
    "event",
    {"event": {"type": "session.compacted", "properties": {"sessionID": "s1"}}},
    {},
)


def drive(place: Place, path: Path, *calls: tuple[str, dict[str, Any], dict[str, Any]]) -> Any:
    """What the plugin does with each call of its functions, in one process of node."""
    driver = place.home / "driver.mjs"
    driver.write_text(DRIVER, encoding="utf-8")
    ran = subprocess.run(
        [str(NODE), driver, path, place.work, json.dumps(calls)],
        capture_output=True,
        check=True,
        env=environment(),
        cwd=place.work,
        timeout=60,
    )
    return json.loads(ran.stdout)


@pytest.fixture
def opencode(begun: Place) -> Path:
    begun.hooks("install", "--host", "opencode")
    path = begun.work / ".opencode" / "plugins" / "indelible.js"
    # OpenCode's own loader takes a plugin for an ES module; node wants to be told.
    (path.parent / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    return path


@needs_node
def test_opencodes_plugin_injects_and_denies_with_the_real_hook_program(begun: Place, opencode: Path) -> None:
    guarded = str(begun.work / ".indelible" / "store.db")
    session: dict[str, Any] = {"sessionID": "s1"}
    answers = drive(
        begun, opencode,
        (SYSTEM, session, {"system": ["theirs"]}),
        (SYSTEM, session, {"system": []}),
        (BEFORE, {**session, "tool": "write", "callID": "1"}, {"args": {"filePath": guarded, "content": "x"}}),
        (BEFORE, {**session, "tool": "bash", "callID": "2"}, {"args": {"command": f"echo x > '{guarded}'"}}),
        (BEFORE, {**session, "tool": "read", "callID": "3"}, {"args": {"filePath": guarded}}),
        (COMPACTING, session, {"context": []}),
        COMPACTED,
        (SYSTEM, session, {"system": []}),
    )  # fmt: skip
    assert set(answers["names"]) == {SYSTEM, BEFORE, COMPACTING, "event"}
    first, again, written, redirected, read, compacting, _, after = answers["told"]
    assert first["output"]["system"][0] == "theirs"
    assert "00_governance.md" in first["output"]["system"][1]
    assert again["output"]["system"] == first["output"]["system"][1:], "asked once for a context"
    assert "store" in written["thrown"] or "Not done" in written["thrown"]
    assert "Not done" in redirected["thrown"]
    assert "thrown" not in read
    assert "thrown" not in compacting
    assert "00_governance.md" in after["output"]["system"][0], "and again after a compaction"


FAULTS = {
    "it_is_gone": None, "it_says_nothing": "exit 0", "it_fails": "exit 1", "it_says_no_json": "echo hello", "it_says_a_list": "echo '[]'",
    "it_says_allow_and_fails": "echo '{}'; exit 3",
}  # fmt: skip


@needs_node
@pytest.mark.parametrize("fault", FAULTS)
def test_whatever_happens_to_the_hook_a_call_is_denied_and_all_else_goes_on(
    begun: Place, tmp_path: Path, fault: str
) -> None:
    program = tmp_path / "indelible-hook"
    text = FAULTS[fault]
    if text is not None:
        script(program, text)
    path = tmp_path / "plugin" / "indelible.mjs"
    path.parent.mkdir()
    path.write_bytes(plugins.script_of(by_name(HOSTS)["opencode"], str(program)))
    answers = drive(
        begun, path,
        (BEFORE, {"sessionID": "s", "tool": "write", "callID": "1"}, {"args": {}}),
        (BEFORE, {"sessionID": "s", "tool": "read", "callID": "1"}, {"args": {}}),
        (SYSTEM, {"sessionID": "s"}, {"system": []}),
        (COMPACTING, {"sessionID": "s"}, {"context": []}),
    )  # fmt: skip
    denied, read, told, compacting = answers["told"]
    assert "indelible-hook" in denied["thrown"]
    assert "thrown" not in read, "a tool that writes nothing is not asked about"
    assert "memory was NOT loaded" in told["output"]["system"][0]
    assert compacting["output"] == {"context": []}
    assert answers["logged"]


@needs_node
def test_a_hook_that_hangs_is_ended_and_the_call_denied(begun: Place, tmp_path: Path) -> None:
    program = script(tmp_path / "indelible-hook", "exec sleep 60")
    path = tmp_path / "indelible.mjs"
    text = plugins.script_of(by_name(HOSTS)["opencode"], str(program)).replace(b'"seconds": 20', b'"seconds": 1')
    path.write_bytes(text)
    (denied,) = drive(begun, path, (BEFORE, {"sessionID": "s", "tool": "bash", "callID": "1"}, {"args": {}}))["told"]
    assert "did not answer within 1 s" in denied["thrown"]


OPENCLAW_DRIVER = """
import { pathToFileURL } from "node:url"
const plugin = (await import(pathToFileURL(process.argv[2]))).default
const hooks = {}
plugin.register({ on: (name, handler, options) => { hooks[name] = [handler, options] } })
const context = { sessionId: "s1", workspaceDir: process.argv[3] }
const write = await hooks["before_tool_call"][0]({ toolName: "write", params: { path: process.argv[4] } }, context)
const read = await hooks["before_tool_call"][0]({ toolName: "read", params: {} }, context)
const start = await hooks["before_prompt_build"][0]({}, context)
const compaction = await hooks["before_compaction"][0]({}, context)
console.log(JSON.stringify({ id: plugin.id, names: Object.keys(hooks), write, read, start, compaction, options: hooks["before_tool_call"][1] }))
"""


@needs_node
def test_openclaws_plugin_answers_in_its_form(begun: Place) -> None:
    begun.hooks("plugin", "openclaw", "out")
    driver = begun.home / "driver.mjs"
    driver.write_text(OPENCLAW_DRIVER, encoding="utf-8")
    words: list[str | Path] = [
        str(NODE),
        driver,
        begun.work / "out" / "index.js",
        begun.work,
        begun.work / ".indelible" / "store.db",
    ]
    told = json.loads(subprocess.run(words, capture_output=True, check=True, env=environment(), timeout=60).stdout)
    assert told["names"] == ["before_prompt_build", "before_tool_call", "before_compaction"]
    assert told["write"]["block"] is True
    assert "Not done" in told["write"]["blockReason"]
    assert "read" not in told
    assert "compaction" not in told
    assert "00_governance.md" in told["start"]["prependContext"]
    assert told["options"] == {"priority": 100, "timeoutMs": 25000}
