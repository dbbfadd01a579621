"""Whether what is installed works: it is there, in today's words, it answers as the host would call it, and the host trusts it.

A hook that does not fire is found by nobody until it is needed. So the gate's own command is run, as it is registered, by the
shell, with an event as the host documents it: a write into the store, which must be denied in the host's own form.
"""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, NamedTuple, cast

from indelible.errors import IndelibleError, UsageError
from indelible.hosts import ledger
from indelible.hosts.host import BEFORE_TOOL
from indelible.hosts.installing import codextrust, jsontext, merging, plugins
from indelible.hosts.installing.bench import Bench
from indelible.hosts.installing.calling import caller, line, powershell, words_of
from indelible.hosts.installing.work import plugin_files

if TYPE_CHECKING:
    from indelible.hosts.host import Host
    from indelible.hosts.installing.targets import Machine

PATIENCE = 20.0
"""Seconds for one answer of a hook."""
NOT_ASKED = "trust not asked (codex is not here, and only it knows): start it where it is, and look at '/hooks'"
_SESSION = "indelible-status"
"""How the sessions of probes begin; each has its own, whose ledgers go with it."""


class Standing(NamedTuple):
    """How the hooks of one host, in one scope, stand."""

    host: str
    title: str
    scope: str
    file: str
    installed: bool
    current: bool
    """All that is to be there is there, in today's words."""
    fires: bool | None
    """The gate denied what it must; None where nothing is installed."""
    trusted: bool | None
    """By the host; None where it asks for no trust, or could not be asked."""
    problems: tuple[str, ...]
    """What is wrong, each with its remedy."""
    warnings: tuple[str, ...] = ()
    """What could not be asked."""

    @property
    def works(self) -> bool:
        return self.installed and self.current and bool(self.fires) and self.trusted is not False and not self.problems


def stand(machine: Machine, host: Host, scope: str, protected: str) -> Standing:
    """Look at one host in one scope. Nothing is changed.

    Args:
        protected: a file that the gate must guard: the store, or a slot.
    """
    try:
        bench = Bench(machine, host, scope)
        found = _look(bench)
    except UsageError as error:
        return Standing(host.name, host.title, scope, "", installed=False, current=False, fires=None, trusted=None, problems=(str(error),))  # fmt: skip
    if not found.commands:
        return Standing(host.name, host.title, scope, bench.file, installed=False, current=False, fires=None, trusted=None, problems=())  # fmt: skip
    problems = list(found.problems)
    if not found.is_current:
        problems.append(
            f"Not as this version writes it. Run 'indelible hooks install --host {host.name} --scope {scope}'"
        )
    said = [_fire(machine, host, scope, gate, protected) for gate in found.commands]
    problems += dict.fromkeys(filter(None, said))
    trusted, why = trust_of(machine, host, bench.file) if host.name == "codex" else (None, "")
    problems += [why] if why and why != NOT_ASKED else []
    warnings = (why,) if why == NOT_ASKED else ()
    return Standing(host.name, host.title, scope, bench.file, True, found.is_current, not any(said) and not found.is_off, trusted, tuple(problems), warnings)  # noqa: FBT003  # fmt: skip


class _Found(NamedTuple):
    commands: tuple[tuple[str, str], ...]
    """Of each gate that is registered: the event, and the command line as it stands there."""
    is_current: bool
    is_off: bool
    problems: tuple[str, ...]


def _look(bench: Bench) -> _Found:
    """What is there; raises UsageError where it cannot be read."""
    host, target = bench.host, bench.target
    gates = [one.name for one in host.hooked if one.purpose == BEFORE_TOOL]
    if target.shape is None:
        return _look_at_plugin(bench, gates)
    document = bench.document(bench.file)
    if document is None:
        return _Found((), is_current=False, is_off=False, problems=())
    wanted = target.shape(host, caller(bench.machine.programs.hook, host.name))
    off = tuple(path for path, value in target.off if _is_off(document, path, value))
    said = tuple(
        f"The setting {'.'.join(map(str, path))} in {bench.file} switches hooks off. Change it" for path in off
    )
    if target.is_strict and not document.is_strict:
        said += (f"{bench.file} has comments or a comma too many, and {host.title} reads no such file. Take them out",)
    commands = _commands(document, gates)
    ours = merging.entries(document)
    if ours and not commands:
        said += (f"No gate is registered in {bench.file}",)
    is_current = merging.merge(document.text, wanted).text == document.text
    return _Found(commands or tuple(("", "") for _ in ours[:1]), is_current, bool(off), said)


def _look_at_plugin(bench: Bench, gates: list[str]) -> _Found:
    files = plugin_files(bench)
    there = {path: bench.desk.read(path) for path in files}
    script = next(content for path, content in there.items() if path.endswith(".js"))
    if script is None or not plugins.is_ours(script):
        return _Found((), is_current=False, is_off=False, problems=())
    program = plugins.program_in(script)
    return _Found(
        tuple((event, line(program, bench.host.name, event)) for event in gates),
        there == files,
        is_off=False,
        problems=(),
    )


def _commands(document: jsontext.Document, gates: list[str]) -> tuple[tuple[str, str], ...]:
    found = []
    for entry in merging.entries(document):
        hook = cast("dict[str, object]", document.value(cast("jsontext.Node", document.find(entry.leaf))))
        text = next(str(hook[name]) for name in ("powershell", "bash", "command") if words_of(hook.get(name)))
        event = words_of(text)[2]
        if event in gates:
            found.append((event, text))
    return tuple(found)


def _is_off(document: jsontext.Document, path: jsontext.Path, value: object) -> bool:
    node = document.find(path)
    if node is None:
        return False
    found = document.value(node)
    return value in found if isinstance(found, list) else found == value


def _fire(machine: Machine, host: Host, scope: str, gate: tuple[str, str], protected: str) -> str:
    """What is wrong with a gate; empty where it denied what it must.

    A project's settings may come with a clone: there only the very line that we would write is run.
    """
    event, command = gate
    if not command:
        return ""
    again = f"Run 'indelible hooks install --host {host.name}'"
    if scope == "project" and command not in _own_lines(machine, host, event):
        program = words_of(command)[0]
        return f"The hook for {event} calls {program} and not {machine.programs.hook}, and was not run: it may have come with a clone. {again}"
    session = f"{_SESSION}-{os.urandom(8).hex()}"
    document = sample(host.name, event, protected, machine.top or machine.places.home, session)
    try:
        ran = subprocess.run(  # noqa: S602 - as the host does
            command, shell=True, input=json.dumps(document).encode(), capture_output=True, check=False,
            timeout=PATIENCE, cwd=machine.top or machine.places.home, env=dict(machine.environ),
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"The hook for {event} did not answer within {PATIENCE:.0f} s. Run it by hand: {command}"
    except OSError as exc:
        return f"The hook for {event} cannot be run ({exc.strerror}). {again}"
    finally:
        ledger.forget(machine.state_dir, ledger.spare_folder(machine.environ), host.name, session)
    if is_denied(ran.returncode, ran.stdout):
        return ""
    said = ran.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or ["and said nothing"]
    if ran.returncode in (126, 127):
        return f"The hook for {event} cannot be run: {said[0]}. {again}"
    return f"The hook for {event} let a write to {protected} pass (exit {ran.returncode}: {said[0]}). {again}, and look at 'indelible doctor'"


def _own_lines(machine: Machine, host: Host, event: str) -> tuple[str, str]:
    text = line(machine.programs.hook, host.name, event)
    return text, powershell(text)


def is_denied(code: int, stdout: bytes) -> bool:
    """Whether an answer denies a call, in the form of any of the hosts."""
    if code == 2:
        return True
    try:
        answer = json.loads(stdout)
    except ValueError:
        return False
    inner = answer.get("hookSpecificOutput") if isinstance(answer, dict) else None
    parts = [part for part in (answer, inner) if isinstance(part, dict)]
    words = [part.get(name) for part in parts for name in ("permissionDecision", "decision", "permission")]
    return bool({"deny", "block"} & {word for word in words if isinstance(word, str)}) or any(
        part.get("deny") for part in parts
    )


def sample(host: str, event: str, path: str, folder: str, session: str) -> dict[str, object]:
    """What a host would send before a tool that writes to `path`. Sources: docs/hosts.md."""
    if host in ("opencode", "openclaw"):
        return {
            "sessionID": session,
            "cwd": folder,
            "tool": "write",
            "args": {"filePath": path, "path": path, "content": "x"},
        }
    if host == "copilot":
        return {
            "sessionId": session,
            "timestamp": 0,
            "cwd": folder,
            "toolName": "create",
            "toolArgs": json.dumps({"path": path}),
        }
    if host == "windsurf":
        told: dict[str, object] = {"file_path": path, "edits": [], "command_line": f"rm '{path}'", "cwd": folder}
        told |= {"mcp_tool_name": "write_file", "mcp_tool_arguments": {"path": path}}
        return {"agent_action_name": event, "trajectory_id": session, "tool_info": told}
    if host == "antigravity":
        call = {"name": "write_to_file", "args": {"TargetFile": path, "CodeContent": "x"}}
        return {"toolCall": call, "workspacePaths": [folder], "conversationId": session, "stepIdx": 0}
    patch = f"*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch"
    tool, given = {
        "codex": ("apply_patch", {"command": patch}),
        "gemini": ("write_file", {"file_path": path, "content": "x"}),
        "qwen": ("write_file", {"file_path": path, "content": "x"}),
    }.get(host, ("Write", {"file_path": path, "content": "x"}))
    told = {"hook_event_name": event, "cwd": folder, "tool_name": tool, "tool_input": given, "tool_use_id": "1"}
    if host == "cursor":
        return {**told, "conversation_id": session, "workspace_roots": [folder]}
    return {**told, "session_id": session, "transcript_path": ""}


def trust_of(machine: Machine, host: Host, file: str) -> tuple[bool | None, str]:
    """Whether Codex trusts every hook of ours in `file`; None, and why, where it could not be asked."""
    from shutil import which

    program = which("codex", path=machine.places.search_path)
    if program is None:
        return None, NOT_ASKED
    folder = machine.top or machine.places.home
    try:
        listed = codextrust.ask(program, folder, machine.environ)
    except IndelibleError as error:
        return None, str(error)
    here = [hook for hook in listed if os.path.realpath(hook.source) == os.path.realpath(file)]
    if len(here) < len(host.hooked):
        why = "Codex does not load them all: it reads a project's hooks only where its config.toml trusts the project"
        return False, f"{why}. Start Codex there and trust the folder, or install with --scope user"
    skipped = [hook.event for hook in here if not hook.runs]
    if skipped:
        return False, f"Codex skips these hooks, since it does not trust them: {', '.join(skipped)}. Start Codex and say '/hooks', or run 'indelible hooks install --host codex --trust'"  # fmt: skip
    return True, ""
