"""Every host's contract, from what it sends to what it is answered: recorded documents, and the real program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.hosts.conftest import CONTRACTS, Answer, Project

from indelible.hosts.host import (
    AFTER_TOOL,
    BEFORE_COMPACTION,
    BEFORE_TOOL,
    NAMES,
    PROMPT,
    PURPOSES,
    START,
    SUBAGENT_START,
    SUBAGENT_STOP,
    Reply,
)
from indelible.hosts.registry import HOSTS

if TYPE_CHECKING:
    from indelible.hosts.host import Contract, Event, Hooked

EVENTS = Path(__file__).parent / "events"
RECORDED = sorted(EVENTS.glob("*/*.json"))
CONTEXT_HOSTS = tuple(name for name in NAMES if name != "windsurf")
MARK = "briefing: 5 slots"


def contract(name: str) -> Contract:
    module: Contract = __import__(f"indelible.hosts.{name.replace('-', '_')}", fromlist=("HOST",))
    return module


def hooked_of(path: Path) -> Hooked:
    host = CONTRACTS[path.parent.name]
    return next(one for one in host.hooked if path.name.startswith((f"{one.name}.", f"{one.name}.json")))


def document(path: Path, project: Project) -> bytes:
    return path.read_text(encoding="utf-8").replace("/home/dev/project", str(project.top)).encode()


def parse(path: Path) -> Event:
    return contract(path.parent.name).parse(hooked_of(path), path.read_bytes())


def name_of(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def test_every_host_is_there_under_its_name() -> None:
    assert tuple(host.name for host in HOSTS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_event_has_a_purpose_and_no_start_has_a_source(name: str) -> None:
    """O-HOOK-04: a matcher on the source would miss the next one that a host thinks of."""
    for one in CONTRACTS[name].hooked:
        assert one.purpose in PURPOSES
        assert one.purpose in (BEFORE_TOOL, AFTER_TOOL) or one.matcher is None


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("copilot", "windsurf")])
def test_no_hook_is_called_for_every_tool(name: str) -> None:
    """O-HOOK-02: where a host has matchers, each tool event has one."""
    import re

    for one in CONTRACTS[name].hooked:
        if one.purpose in (BEFORE_TOOL, AFTER_TOOL) and (name, one.name) != ("antigravity", "PreInvocation"):
            assert one.matcher is not None
            assert one.purpose == AFTER_TOOL or not re.search(one.matcher, "Read")
            assert not re.search(one.matcher, "TodoWrite")


@pytest.mark.parametrize("path", RECORDED, ids=name_of)
def test_what_a_host_sends_is_read(path: Path) -> None:
    event = parse(path)
    assert event.session
    assert event.cwd == "/home/dev/project" or path.parent.name == "windsurf"
    assert event.purpose in PURPOSES
    if event.purpose == BEFORE_TOOL:
        assert event.tool_name
        assert event.command or event.paths or event.tool == "other"
    if event.purpose == SUBAGENT_STOP and "compaction" not in path.name:
        assert event.text
        assert event.agent_type


@pytest.mark.parametrize("path", RECORDED, ids=name_of)
def test_an_answer_is_in_the_form_of_its_host(path: Path) -> None:
    """Whatever there is to say at that event, as the host documents it and as no other host's is."""
    hooked = hooked_of(path)
    host = contract(path.parent.name)
    for reply in (Reply(), Reply(deny="no"), Reply(context="text"), Reply(back="again"), Reply(warning="hm")):
        made = host.render(hooked, reply)
        if path.parent.name == "windsurf":
            assert made.stdout == ""
            assert made.code == (2 if reply.deny else 0)
            continue
        if path.parent.name == "claude-code" and hooked.name == "PreCompact" and not made.stdout:
            assert reply == Reply(), "silence is for nothing to say"
            continue
        value = json.loads(made.stdout)
        assert made.stdout == json.dumps(value, separators=(",", ":")) + "\n"
        assert made.stdout.isascii()
        assert made.code in (0, 2)
        assert set(value) <= KEYS[path.parent.name]
        assert set(value.get("hookSpecificOutput", {})) <= INNER
        assert value.get("hookSpecificOutput", {"hookEventName": hooked.name})["hookEventName"] == hooked.name


CLAUDE = {"systemMessage", "hookSpecificOutput", "decision", "reason"}
INNER = {"hookEventName", "permissionDecision", "permissionDecisionReason", "additionalContext"}
PLUGIN = {"deny", "context", "warning"}
KEYS = {
    "claude-code": CLAUDE, "codex": CLAUDE, "qwen": CLAUDE, "gemini": CLAUDE,
    "copilot": {"additionalContext", "permissionDecision", "permissionDecisionReason", "decision", "reason"},
    "cursor": {"permission", "user_message", "agent_message", "additional_context", "followup_message", "continue"},
    "antigravity": {"decision", "reason", "injectSteps"}, "opencode": PLUGIN, "openclaw": PLUGIN,
}  # fmt: skip


@pytest.mark.parametrize(
    "path",
    [path for path in RECORDED if hooked_of(path).purpose == BEFORE_TOOL and ".indelible/state/" in path.read_text()],
    ids=name_of,
)
def test_a_recorded_write_to_a_slot_is_denied(path: Path, project: Project) -> None:
    answer = project.fire(path.parent.name, hooked_of(path).name, document(path, project))
    assert answer.denied
    assert "indelible state" in answer.model
    assert "Reading it is allowed" in answer.err


@pytest.mark.parametrize("name", CONTEXT_HOSTS)
def test_a_start_injects_the_briefing(name: str, project: Project) -> None:
    """O-HOOK-05: one JSON value, in the form of the host, and nothing else on standard output."""
    host = CONTRACTS[name]
    hooked = next(one for one in host.hooked if one.purpose == START)
    path = next(path for path in RECORDED if path.parent.name == name and path.name.startswith(hooked.name))
    answer = project.fire(name, hooked.name, document(path, project))
    assert answer.code == 0
    assert MARK in answer.model
    assert "목록" in answer.model
    assert answer.err == ""
    assert len(answer.model) <= host.limit


@pytest.mark.parametrize("path", [path for path in RECORDED if hooked_of(path).purpose == SUBAGENT_START], ids=name_of)
def test_a_subagent_is_told_the_laws_and_not_what_to_do_next(path: Path, project: Project) -> None:
    answer = project.fire(path.parent.name, hooked_of(path).name, document(path, project))
    assert "Never commit or push" in answer.model
    assert "99_next_action" not in answer.model


def test_a_prompt_in_cursor_is_let_go_on(project: Project) -> None:
    answer = project.fire("cursor", "beforeSubmitPrompt", b"broken")
    assert answer.value["continue"] is True


def test_antigravity_is_told_again_only_at_the_first_call_of_a_turn(project: Project) -> None:
    first, later = (
        document(EVENTS / "antigravity" / f"PreInvocation.{one}.json", project) for one in ("first", "later")
    )
    assert MARK in project.fire("antigravity", "PreInvocation", first).model
    assert project.fire("antigravity", "PreInvocation", later).value == {}


def test_antigravity_is_told_again_after_a_checkpoint(project: Project) -> None:
    transcript = project.home / "transcript.jsonl"
    first, later = (
        document(EVENTS / "antigravity" / f"PreInvocation.{one}.json", project).replace(
            b"/home/dev/transcript.jsonl", str(transcript).encode()
        )
        for one in ("first", "later")
    )
    assert MARK in project.fire("antigravity", "PreInvocation", first).model
    transcript.write_text('{"type":"CHECKPOINT"}\n')
    assert MARK in project.fire("antigravity", "PreInvocation", later).model
    assert project.fire("antigravity", "PreInvocation", later).value == {}


def test_gemini_is_told_again_when_its_transcript_was_compressed(project: Project) -> None:
    transcript = project.home / "chat.jsonl"
    common = {"session_id": "g", "cwd": str(project.top), "transcript_path": str(transcript)}
    transcript.write_text('{"$set":{"messages":[]}}\n')
    told = project.fire("gemini", "SessionStart", {**common, "source": "startup"}).model
    mark = told.split()[1]
    tool = {**common, "tool_name": "run_shell_command", "tool_input": {"command": "ls"}, "tool_response": {}}
    with transcript.open("a") as file:
        file.write(json.dumps({"type": "user", "content": told}) + "\n")
    assert project.fire("gemini", "PreCompress", {**common, "trigger": "auto"}).value == {}
    assert project.fire("gemini", "AfterTool", tool).value == {}
    with transcript.open("a") as file:
        file.write('{"$set":{"messages":[{"content":"<state_snapshot>"}]}}\n')
    write = {**common, "tool_name": "write_file", "tool_input": {"file_path": "a.md"}}
    assert "read the briefing first" in project.fire("gemini", "BeforeTool", write).model
    again = project.fire("gemini", "AfterTool", tool).model
    assert mark in again
    assert project.fire("gemini", "AfterTool", tool).value == {}, "once is enough, even if it is not recorded"
    assert not project.fire("gemini", "BeforeTool", write).denied


def test_gemini_is_not_told_twice_when_its_prompt_holds_the_briefing(project: Project) -> None:
    transcript = project.home / "chat.jsonl"
    common = {"session_id": "g", "cwd": str(project.top), "transcript_path": str(transcript)}
    told = project.fire("gemini", "SessionStart", {**common, "source": "resume"}).model
    transcript.write_text('{"$set":{"messages":[]}}\n')
    prompt = {**common, "prompt": f"<hook_context>{told}</hook_context>\n\nhello"}
    assert project.fire("gemini", "BeforeAgent", prompt).value == {}
    assert MARK in project.fire("gemini", "BeforeAgent", {**common, "prompt": "hello"}).model


@pytest.mark.parametrize(
    ("before", "after"),
    [(("copilot", "preCompact"), ("copilot", "postToolUse")), (("copilot", "preCompact"), ("copilot", "userPromptSubmitted")),
     (("cursor", "preCompact"), ("cursor", "postToolUse")), (("claude-code", "PreCompact"), ("claude-code", "UserPromptSubmit"))],
)  # fmt: skip
def test_a_host_without_an_event_after_compaction_is_told_at_the_next_one(
    before: tuple[str, str], after: tuple[str, str], project: Project
) -> None:
    name = before[0]
    common: dict[str, object] = {"session_id": "c", "sessionId": "c", "conversation_id": "c", "cwd": str(project.top)}
    start = next(one for one in CONTRACTS[name].hooked if one.purpose == START)
    assert MARK in project.fire(name, start.name, common).model
    assert project.fire(*after, common).model == ""
    assert project.fire(*before, {**common, "trigger": "auto"}).model == ""
    assert MARK in project.fire(*after, common).model
    assert project.fire(*after, common).model == ""


@pytest.mark.parametrize(
    "name", [host.name for host in HOSTS if any(one.purpose == SUBAGENT_STOP for one in host.hooked)]
)
def test_a_long_summary_is_sent_back_once(name: str, project: Project) -> None:
    host = CONTRACTS[name]
    start, stop = (next(one.name for one in host.hooked if one.purpose == what) for what in (START, SUBAGENT_STOP))
    common: dict[str, object] = {"session_id": "c", "sessionId": "c", "conversation_id": "c", "cwd": str(project.top)}
    long = "\n".join(f"line {number}" for number in range(16))
    agent = {
        "agent_id": "a",
        "agentId": "a",
        "agent_type": "x",
        "agentType": "x",
        "subagent_type": "x",
        "subagent_id": "a",
    }
    sent = {
        **common,
        **agent,
        "last_assistant_message": long,
        "response": long,
        "summary": long,
        "stop_hook_active": False,
    }
    project.fire(name, start, common)
    answer = project.fire(name, stop, sent)
    assert "16 lines" in answer.model
    assert answer.code == 0
    assert project.fire(name, stop, sent).model == "", "once"
    short = {**sent, "agent_id": "b", "agentId": "b", "subagent_id": "b"} | dict.fromkeys(
        ("last_assistant_message", "response", "summary"), "done\n" * 15
    )
    assert project.fire(name, stop, short).model == ""


def test_what_compacts_claude_is_no_subagent(project: Project) -> None:
    path = EVENTS / "claude-code" / "SubagentStop.compaction.json"
    sent = json.loads(document(path, project)) | {"last_assistant_message": "line\n" * 400}
    project.start(session=sent["session_id"])
    assert project.fire("claude-code", "SubagentStop", sent).value == {}


def test_a_host_that_says_so_is_not_sent_back_again(project: Project) -> None:
    project.start()
    sent: dict[str, Any] = {
        "agent_id": "a",
        "agent_type": "x",
        "stop_hook_active": True,
        "last_assistant_message": "line\n" * 400,
    }
    assert project.event("SubagentStop", **sent).value == {}


def test_purposes_are_all_answered_by_some_host() -> None:
    assert {one.purpose for host in HOSTS for one in host.hooked} == set(PURPOSES)
    assert {PROMPT, BEFORE_COMPACTION} <= set(PURPOSES)


def test_an_answer_reads_as_one_value() -> None:
    assert Answer(0, "{}\n", "").value == {}


def test_antigravity_has_a_state_directory_of_the_session(project: Project) -> None:
    brain = project.home / "brain" / "c-1"
    (brain / "state").mkdir(parents=True)
    there = {"INDELIBLE_STATE_DIR": str(brain / "state")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("INDELIBLE_STATE_DIR", there["INDELIBLE_STATE_DIR"])
        assert project.indelible("state", "init").returncode == 0
    first = document(EVENTS / "antigravity" / "PreInvocation.first.json", project)
    sent = first.replace(b"/home/dev/transcript.jsonl", str(brain / "logs" / "transcript.jsonl").encode())
    assert "briefing: 1 slot" in project.fire("antigravity", "PreInvocation", sent).model
    write = {
        **json.loads(sent),
        "toolCall": {"name": "write_to_file", "args": {"TargetFile": str(brain / "state" / "00_governance.md")}},
    }
    assert project.fire("antigravity", "PreToolUse", write).denied
    other = {
        **write,
        "conversationId": "c-2",
        "artifactDirectoryPath": str(brain),
        "toolCall": {"name": "run_command", "args": {"CommandLine": "make"}},
    }
    assert (
        f"INDELIBLE_STATE_DIR='{brain}/state' indelible boot" in project.fire("antigravity", "PreToolUse", other).model
    )
