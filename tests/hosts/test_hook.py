"""The hook program itself: whatever it is given, it answers in its host's form, in time, and ends with 0 or 2."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.hands import script
from tests.hosts.conftest import CONTRACTS, Answer

from indelible.hosts import hook
from indelible.hosts.host import BEFORE_TOOL, NAMES, START

if TYPE_CHECKING:
    from pathlib import Path

    from tests.hosts.conftest import Project

    from indelible.hosts.host import Contract, Hooked

EVERY = [(name, one) for name in NAMES for one in CONTRACTS[name].hooked]
BAD = {
    "nothing": b"", "spaces": b" \n", "half a document": b'{"cwd": ', "an array": b"[{}]", "a number": b"1", "null": b"null",
    "not UTF-8": b'{"cwd": "\xff"}', "UTF-16": '{"cwd": "x"}'.encode("utf-16"), "a byte-order mark alone": b"\xef\xbb\xbf",
    "deep": b"[" * 200_000, "deep object": b'{"a":' * 100_000, "a long number": b'{"a":' + b"9" * 5_000 + b"}",
    "too large": b'{"a": "' + b"x" * 5_000_000 + b'"}', "far too large": b"x" * 20_000_000,
}  # fmt: skip


class Left(BaseException):
    """What the program would have ended with."""

    def __init__(self, out: str, said: str, code: int) -> None:
        super().__init__(code)
        self.answer = Answer(code, out, said)


def contract(name: str) -> Contract:
    module: Contract = __import__(f"indelible.hosts.{name.replace('-', '_')}", fromlist=("HOST",))
    return module


def answered(name: str, hooked: Hooked, sent: bytes, patch: pytest.MonkeyPatch) -> Answer:
    """As `fire`, in this process."""

    def leave(out: str, said: str, code: int) -> NoReturn:
        raise Left(out, said, code)

    patch.setattr(hook, "_leave", leave)
    patch.setattr(hook, "_input", lambda: sent)
    host = contract(name)
    answering = hook._Answering(host, hooked)
    with pytest.raises(Left) as left:
        answering.answer(lambda: hook._reply(host, hooked, answering, inner=False))
    return left.value.answer


def require_form(name: str, answer: Answer) -> None:
    assert answer.code in (0, 2)
    if name == "windsurf":
        assert answer.out == ""
    else:
        assert isinstance(answer.value, dict)


@pytest.mark.parametrize("what", BAD)
def test_bad_input_holds_a_gate_and_nothing_else(what: str, project: Project) -> None:
    gate = project.fire("claude-code", "PreToolUse", BAD[what])
    assert gate.denied
    assert gate.code == 2
    assert "could not judge" in gate.value["hookSpecificOutput"]["permissionDecisionReason"]
    for event in ("SessionStart", "UserPromptSubmit", "SubagentStart"):
        told = project.fire("claude-code", event, BAD[what])
        assert told.code == 0
        assert "memory was NOT loaded" in told.model
    for event in ("PreCompact", "SubagentStop"):
        assert project.fire("claude-code", event, BAD[what]).code == 0


def test_five_megabytes_are_read(project: Project) -> None:
    project.start()
    content = "x" * 4_900_000
    assert not project.tool("Write", {"file_path": "a.md", "content": content}).denied
    assert project.tool("Write", {"file_path": ".indelible/store.db", "content": content}).denied
    assert project.shell("cat > .indelible/store.db <<'EOF'\n" + content + "\nEOF").denied


def test_a_byte_order_mark_is_passed_over(project: Project) -> None:
    sent = json.dumps({"session_id": "s1", "cwd": str(project.top)}).encode()
    assert "briefing: 5 slots" in project.fire("cursor", "sessionStart", b"\xef\xbb\xbf" + sent).model


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=20,
)
MEMBERS = st.sampled_from(
    ["session_id", "sessionId", "sessionID", "cwd", "tool_name", "toolName", "tool", "tool_input", "toolArgs", "args",
     "toolCall", "tool_info", "workspacePaths", "workspace_roots", "source", "transcript_path", "last_assistant_message",
     "agent_type", "agent_id", "stop_hook_active", "invocationNum", "loop_count", "prompt"]
)  # fmt: skip
TEXTS = st.sampled_from(
    ["Bash", "Write", "rm -rf .", "\0", "\ud800", "/nowhere", "~", "a/b", "$(", "'", "mcp__x__write"]
)
DOCUMENTS = st.dictionaries(
    MEMBERS, JSON | TEXTS | st.fixed_dictionaries({"command": TEXTS, "file_path": TEXTS}), max_size=12
)


@given(sent=st.binary(max_size=300) | DOCUMENTS.map(lambda found: json.dumps(found).encode()), data=st.data())
def test_any_input_is_answered_in_the_form_of_the_host(
    sent: bytes, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    name, hooked = data.draw(st.sampled_from(EVERY))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.getbasetemp())
        answer = answered(name, hooked, sent, patch)
    if answer.out or hooked.name != "PreCompact":
        require_form(name, answer)
    if hooked.purpose != BEFORE_TOOL:
        assert not answer.denied


@pytest.mark.slow
def test_a_host_that_sends_no_end_is_answered_in_time(project: Project) -> None:
    begun = time.perf_counter()
    program = subprocess.Popen(
        [sys.executable, "-m", "indelible.hosts.hook", "claude-code", "PreToolUse"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert program.wait(timeout=20) == 2
    assert time.perf_counter() - begun < CONTRACTS["claude-code"].hooked[2].seconds
    assert program.stdout is not None
    value = json.loads(program.stdout.read())
    assert "deadline" in value["hookSpecificOutput"]["permissionDecisionReason"]
    for pipe in (program.stdin, program.stdout, program.stderr):
        assert pipe is not None
        pipe.close()
    assert "deadline" in project.log()


def test_the_deadline_of_every_event_lies_inside_its_hosts(home: Path) -> None:
    assert all(one.seconds / 2 <= 10 for _, one in EVERY), "the shortest one that a host has of its own is 30 s"


def test_a_fault_of_ours_names_its_kind_and_place_and_no_content(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    host, hooked = contract("claude-code"), next(one for name, one in EVERY if one.purpose == BEFORE_TOOL)

    def broken() -> NoReturn:
        raise RuntimeError("sk-secret")

    def leave(out: str, said: str, code: int) -> NoReturn:
        raise Left(out, said, code)

    monkeypatch.setattr(hook, "_leave", leave)
    with pytest.raises(Left) as left:
        hook._Answering(host, hooked).answer(broken)
    answer = left.value.answer
    assert answer.code == 2
    assert "internal-error: RuntimeError at test_hook.py" in answer.model
    assert "sk-secret" not in answer.out + answer.err


@pytest.mark.parametrize(
    "words", [[], ["claude-code"], ["nobody", "PreToolUse"], ["claude-code", "NoEvent"], ["a", "b", "c"]]
)
def test_words_that_no_installer_writes_are_a_usage_error(words: list[str], home: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "indelible.hosts.hook", *words], input=b"{}", capture_output=True, check=False
    )
    assert ended.returncode == 64
    assert ended.stdout == b""
    assert len(ended.stderr.splitlines()) == 1


def test_an_answer_that_nobody_reads_still_ends_with_its_code(project: Project) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    ended = subprocess.run(
        [sys.executable, "-m", "indelible.hosts.hook", "claude-code", "PreToolUse"], input=b"", stdout=writing,
        stderr=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    os.close(writing)
    assert ended.returncode == 2


@pytest.mark.parametrize(
    "name", [name for name in NAMES if any(one.purpose == START for one in CONTRACTS[name].hooked)]
)
def test_a_repository_that_knows_nothing_of_us_is_left_alone(name: str, bare: Project) -> None:
    hooked = {one.purpose: one.name for one in CONTRACTS[name].hooked}
    common: dict[str, object] = {
        "session_id": "s",
        "sessionId": "s",
        "cwd": str(bare.top),
        "workspacePaths": [str(bare.top)],
    }
    told = bare.fire(name, hooked[START], common)
    assert (told.model, told.err, told.code) == ("", "", 0)
    call = {
        **common,
        "tool_name": "Bash",
        "tool_input": {"command": "git push"},
        "toolName": "bash",
        "toolArgs": {"command": "git push"},
        "tool": "bash",
        "args": {"command": "git push"},
        "toolCall": {"name": "run_command", "args": {"CommandLine": "git push"}},
    }
    assert not bare.fire(name, hooked[BEFORE_TOOL], call).denied


def test_nothing_is_said_before_a_compaction_where_all_is_well(project: Project) -> None:
    """Claude Code shows what a hook prints there to the person and the model, a bare `{}` too."""
    project.start()
    answer = project.event("PreCompact", trigger="auto")
    assert (answer.code, answer.out, answer.err) == (0, "", "")
    assert project.fire("codex", "PreCompact", {"session_id": "s", "cwd": str(project.top)}).value == {}


def test_a_failure_is_noted_with_its_place_and_the_doctor_shows_this_places_alone(project: Project) -> None:
    config = project.top / ".indelible" / "config.toml"
    before = config.read_bytes() if config.exists() else b""
    config.write_text("agent = ")
    project.start()
    assert f"claude-code SessionStart ({project.top}) " in project.log()
    config.write_bytes(before)
    said = project.indelible("doctor").stdout.decode()
    assert "the last hook that failed here: " in said
    assert ".. " not in said
    here, project.top = project.top, project.home / "elsewhere"
    project.top.mkdir()
    assert "hook that failed" not in project.indelible("doctor").stdout.decode()
    project.top = here


def test_where_indelible_is_not_on_the_path_the_agent_is_told_its_path(project: Project, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, module in (("indelible-hook", "indelible.hosts.hook"), ("indelible", "indelible")):
        script(
            tools / name,
            f'exec "{sys.executable}" -c \'import sys; sys.argv[0] = "{tools / name}"; from {module} import main; main()\' "$@"',
        )
    sent = {"session_id": "s9", "cwd": str(project.top), "tool_name": "Bash", "tool_input": {"command": "make"}}

    def asked(event: str, path: str) -> str:
        ended = subprocess.run(
            [str(tools / "indelible-hook"), "claude-code", event], input=json.dumps(sent).encode(), cwd=project.top,
            capture_output=True, check=False, env={**os.environ, "PATH": path},
        )  # fmt: skip
        return Answer(ended.returncode, ended.stdout.decode(), ended.stderr.decode()).model

    assert f"Run '{tools}/indelible boot'" in asked("PreToolUse", "/usr/bin:/bin")
    assert "Run 'indelible boot'" in asked("PreToolUse", f"{tools}:/usr/bin:/bin")
    told = asked("SessionStart", "/usr/bin:/bin")
    assert told.rstrip().endswith(f"'indelible' is not on the PATH here: it is {tools}/indelible")
    assert "not on the PATH" not in asked("SessionStart", f"{tools}:/usr/bin:/bin")


@pytest.mark.parametrize("folder", ["a\0b", "\ud800", "x" * 100_000])
def test_a_folder_that_no_file_system_can_have_lets_nothing_pass(folder: str, project: Project) -> None:
    project.start()
    sent = {"session_id": "s1", "cwd": folder, "tool_name": "Bash", "tool_input": {"command": "rm -rf .indelible"}}
    answer = project.fire("claude-code", "PreToolUse", sent)
    assert "Traceback" not in answer.err
    assert answer.code in (0, 2)
    assert answer.denied or len(folder) > 100, "a folder that is not there has nothing of ours"


def test_a_folder_that_was_removed_lets_nothing_pass(project: Project) -> None:
    gone = project.home / "gone"
    gone.mkdir()
    ended = subprocess.run(
        ["sh", "-c", f'rmdir "{gone}"; exec "{sys.executable}" -m indelible.hosts.hook claude-code PreToolUse'], cwd=gone,
        input=b'{"session_id": "s", "tool_name": "Bash", "tool_input": {"command": "make"}}', capture_output=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 2
    assert b"Traceback" not in ended.stderr
