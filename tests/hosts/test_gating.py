"""What a gate holds back and what it lets pass, with the real program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.hosts.conftest import Project

if TYPE_CHECKING:
    from pathlib import Path

FIRST = "read the briefing first"


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("00_governance.md", "indelible state amend 00_governance.md FILE"),
        ("20_plan_approved.md", "To note a round or an objection: 'indelible state append 30 -'"),
        ("21_new.md", "'indelible state write 21_new.md -'"),
        ("30_critic_summary.md", "'indelible state append 30_critic_summary.md -'"),
        ("99_next_action.md", "'indelible state write 99_next_action.md -'"),
        ("notes.txt", "'indelible state list'"),
        ("../store.db", "'indelible save KEY FILE'"),
        ("../config.toml", "settings are your human's"),
    ],
)
def test_a_refusal_says_what_to_do_instead(path: str, said: str, project: Project) -> None:
    project.start()
    for name in ("Write", "Edit", "MultiEdit", "NotebookEdit"):
        answer = project.tool(
            name, {"file_path": str(project.state / path), "notebook_path": str(project.state / path)}
        )
        assert answer.denied
        assert said in answer.model


@pytest.mark.parametrize("kind", ["config", "state", "data"])
def test_keys_pins_and_ledgers_are_protected(kind: str, project: Project) -> None:
    project.start()
    folder = project.home / kind / "indelible"
    assert project.tool("Write", {"file_path": str(folder / "hooks" / "claude-code-s1.json")}).denied
    assert project.shell(f"rm -rf {folder}").denied
    assert not project.shell(f"ls {folder}").denied


@pytest.mark.parametrize("name", ["mcp__files__write_file", "mcp__files__move", "mcp__shell__run"])
def test_a_tool_of_a_server_is_held_by_what_it_names(name: str, project: Project) -> None:
    project.start()
    assert project.tool(name, {"args": [{"to": ".indelible/state/00_governance.md"}]}).denied
    assert project.tool(name, {"command": "rm -rf .indelible"}).denied
    assert not project.tool(name, {"path": "a.md"}).denied


def test_a_server_that_takes_our_name_is_held_like_any_other(project: Project) -> None:
    project.start()
    assert project.tool("mcp__indelible__write_file", {"path": ".indelible/state/99_next_action.md"}).denied


@pytest.mark.parametrize("member", ["workdir", "cwd", "working_directory", "dir_path", "directory", "Cwd"])
def test_a_command_is_read_in_the_folder_that_the_call_names(member: str, project: Project) -> None:
    project.start()
    for folder in (".indelible/state", str(project.state)):
        assert project.tool("Bash", {"command": "rm 99_next_action.md", member: folder}).denied
    assert not project.tool("Bash", {"command": "rm 99_next_action.md", member: "sub"}).denied


def test_a_boot_of_another_place_is_not_this_ones(project: Project) -> None:
    for command in ("cd / && indelible boot", "INDELIBLE_STATE_DIR=/tmp/x indelible boot", "indelible boot --budget 1"):
        project.shell(command)
        assert FIRST in project.shell("make").model
    assert project.tool("Bash", {"command": "indelible boot", "workdir": "/"}).denied is False
    assert FIRST in project.shell("make").model
    (project.top / "sub").mkdir()
    assert not project.shell("bash -lc 'cd sub && indelible boot 2>&1 || exit 1'").denied
    assert not project.shell("make").denied


def test_after_an_alarm_our_own_verbs_only_look(project: Project) -> None:
    project.start()
    (project.state / "20_plan_approved.md").chmod(0o644)
    (project.state / "20_plan_approved.md").write_text("free\n")
    for command in ("indelible state append 30 -", "indelible state write 99 -", "bash -c 'indelible archive k'"):
        assert "not what was sealed" in project.shell(command).model
    for command in ("indelible boot", "indelible state check", "indelible doctor", "indelible state show 20"):
        assert not project.shell(command).denied


@pytest.mark.parametrize(
    ("spelling"),
    [".indelible/state/00_governance.md", "file://PWD/.indelible/state/00_governance.md", "file:%2eindelible/store.db",
     " .indelible/state/00_governance.md", "'.indelible/store.db'", "@.indelible/store.db", "./.indelible/../.indelible/state/00_governance.md", "link/state/00_governance.md",
     "~/work/.indelible/state/00_governance.md", "other.md", "sub/up/.indelible/state/00_governance.md"],
)  # fmt: skip
def test_a_slot_is_known_by_every_spelling(spelling: str, project: Project) -> None:
    (project.top / "link").symlink_to(".indelible")
    (project.top / "sub").mkdir()
    (project.top / "sub" / "up").symlink_to("..")
    os.link(project.state / "30_critic_summary.md", project.top / "other.md")
    project.start()
    assert project.tool("Write", {"file_path": spelling.replace("PWD", str(project.top))}).denied


def test_a_folder_that_is_entered_through_a_link_is_the_same_one(project: Project) -> None:
    alias = project.home / "alias"
    alias.symlink_to(project.top)
    project.start()
    sent = {
        "session_id": "s1",
        "cwd": str(alias),
        "tool_name": "Write",
        "tool_input": {"file_path": ".indelible/store.db"},
    }
    assert project.fire("claude-code", "PreToolUse", sent).denied


def test_a_folder_with_spaces_and_korean_is_protected_too(home: Path, project: Project) -> None:
    project.top.rename(home / "작업 폴더")
    project.top = home / "작업 폴더"
    project.start()
    path = project.top / ".indelible" / "state" / "00_governance.md"
    assert project.tool("Write", {"file_path": str(path)}).denied
    assert project.shell(f"echo x > '{path}'").denied
    assert project.shell("cd ..; rm -rf 작업\\ 폴더/.indelible").denied


def test_nothing_is_written_before_the_briefing_was_read(project: Project) -> None:
    for call in ("echo x > a.md", "git commit -m x", "make"):
        assert FIRST in project.shell(call).model
    assert FIRST in project.tool("Write", {"file_path": "a.md"}).model
    assert not project.shell("git status; cat a.md").denied
    assert project.shell("indelible boot > /dev/null; make").denied
    assert FIRST in project.shell("make").model, "nobody has seen that boot"
    assert not project.shell("indelible boot").denied
    assert not project.shell("make").denied


def test_the_briefing_of_a_start_counts_until_a_compaction(project: Project) -> None:
    project.start()
    assert not project.shell("make").denied
    project.event("PreCompact", trigger="auto")
    assert FIRST in project.shell("make").model
    project.start(source="compact")
    assert not project.shell("make").denied


def test_the_level_all_holds_reading_too_and_off_holds_nothing(project: Project) -> None:
    assert FIRST in project.shell("ls", "a", INDELIBLE_BRIEFING_FIRST="all").model
    assert not project.shell("indelible boot", "a", INDELIBLE_BRIEFING_FIRST="all").denied
    assert not project.shell("ls", "a", INDELIBLE_BRIEFING_FIRST="all").denied
    assert not project.shell("make", "b", INDELIBLE_BRIEFING_FIRST="off").denied
    assert project.tool("Write", {"file_path": ".indelible/store.db"}, "b", INDELIBLE_BRIEFING_FIRST="off").denied


def test_a_lawful_write_to_a_slot_is_no_alarm(project: Project) -> None:
    project.start()
    assert project.indelible("state", "append", "30", "-", stdin=b"## Round 3\nagreed\n").returncode == 0
    assert not project.shell("make").denied


def test_a_home_that_cannot_be_written_does_not_lock_the_agent_out(project: Project) -> None:
    nowhere = {"TMPDIR": str(project.home / "tmp")}
    (project.home / "tmp").mkdir()
    (project.home / "state" / "indelible" / "hooks").write_text("in the way")
    sent = {"session_id": "s1", "cwd": str(project.top)}
    assert "briefing: 5 slots" in project.fire("claude-code", "SessionStart", sent, **nowhere).model
    assert not project.shell("make", **nowhere).denied
    assert project.shell("rm -rf .indelible", **nowhere).denied
    spare = next((project.home / "tmp").iterdir())
    assert spare.stat().st_mode & 0o077 == 0
    spare.chmod(0o777)
    assert FIRST not in project.shell("ls", **nowhere).model
    assert "cannot be noted" in project.shell("make", **nowhere).model, "what others may have put there is not believed"


def test_where_nothing_can_be_noted_the_person_is_told_what_to_do(project: Project) -> None:
    nowhere = {"TMPDIR": "/dev/null/tmp"}
    (project.home / "state" / "indelible" / "hooks").write_text("in the way")
    assert "INDELIBLE_BRIEFING_FIRST=off" in project.shell("make", **nowhere).model
    assert not project.shell("make", **nowhere, INDELIBLE_BRIEFING_FIRST="off").denied
    assert project.shell("rm -rf .indelible", **nowhere, INDELIBLE_BRIEFING_FIRST="off").denied


def test_a_ledger_that_was_cut_short_counts_as_none(project: Project) -> None:
    project.start()
    path = next((project.home / "state" / "indelible" / "hooks").glob("claude-code-*.json"))
    path.write_bytes(path.read_bytes()[:100])
    assert FIRST in project.shell("make").model
    assert project.tool("Write", {"file_path": ".indelible/state/00_governance.md"}).denied


def test_broken_settings_hold_writes_and_let_reading_pass(project: Project) -> None:
    (project.top / ".indelible" / "config.toml").write_text("agent = ")
    assert "config.toml" in project.shell("make").model
    assert not project.shell("cat .indelible/config.toml").denied
    assert not project.shell("indelible doctor").denied


def test_a_server_is_asked_by_a_gate_only_where_the_agent_boots_and_one_that_is_down_gives_no_briefing(
    project: Project,
) -> None:
    far = {"INDELIBLE_STORE": "http://127.0.0.1:9/", "INDELIBLE_STATE_DIR": str(project.home / "far")}
    assert FIRST in project.shell("make", **far).model
    assert not project.shell("indelible boot", **far).denied
    assert "NOT CHECKED" in project.shell("make", **far).model
    assert not project.shell("cat README.md", **far).denied
    assert project.shell("rm -rf .indelible", **far).denied


def test_two_processes_that_change_a_ledger_lose_nothing(project: Project) -> None:
    project.start()
    long = "line\n" * 20
    sent = [
        json.dumps({"session_id": "s1", "cwd": str(project.top), "agent_id": f"a{number}", "agent_type": "x",
                    "last_assistant_message": long}).encode()
        for number in range(8)
    ]  # fmt: skip
    command = [sys.executable, "-m", "indelible.hosts.hook", "claude-code", "SubagentStop"]
    running = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in sent]
    for one, document in zip(running, sent, strict=True):
        assert b"block" in one.communicate(document)[0]
    path = next((project.home / "state" / "indelible" / "hooks").glob("claude-code-*.json"))
    assert set(json.loads(path.read_text())["returned"]) == {f"a{number}" for number in range(8)}


@pytest.fixture
def other(project: Project) -> Path:
    """Another repository with Indelible, whose state directory has a name of its own."""
    top = project.home / "q4"
    top.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=top, check=True)
    at = Project(project.home)
    at.top = top
    assert at.indelible("init").returncode == 0
    return top


@pytest.mark.parametrize(
    "command",
    ["echo x > {q4}/.indelible/state/00_governance.md", "cd {q4} && rm -rf .indelible", "rm -rf {q4}", "rm -rf {q4}/.ind*",
     "cd ../q4; python3 -c \"open('.indelible/state/00_governance.md','w')\"", "cd {q4} && git clean -fdx", "mv ../q4 ../q5",
     "cd $WHERE && rm -rf .indelible", "tee {q4}/.indelible/store.db"],
)  # fmt: skip
def test_another_repository_is_guarded_by_its_own_names(command: str, other: Path, project: Project) -> None:
    project.start()
    assert "Not done" in project.shell(command.format(q4=other)).model
    assert not project.shell(f"cat {other}/.indelible/state/00_governance.md").denied
    assert not project.shell(f"touch {other}/a.md").denied


def test_a_state_directory_elsewhere_in_another_repository_is_guarded_too(other: Path, project: Project) -> None:
    (other / ".indelible" / "config.toml").write_text('[state]\ndirectory = "docs/state"\n')
    project.start()
    for command in (
        f"echo x > {other}/docs/state/00_governance.md",
        "cd ../q4/docs && rm -rf state",
        "rm -rf ../q4/docs",
    ):
        assert "Not done" in project.shell(command).model
    assert project.tool("Write", {"file_path": str(other / "docs" / "state" / "00_governance.md")}).denied


def test_a_session_that_moves_to_another_repository_is_guarded_there_and_reads_its_briefing(
    other: Path, project: Project
) -> None:
    project.start()
    here, project.top = project.top, other
    assert "is written once" in project.shell("echo x > .indelible/state/00_governance.md").model
    assert FIRST in project.shell("make").model, "what was read is another repository's"
    assert not project.shell("indelible boot").denied
    assert not project.shell("make").denied
    project.top = here
    assert not project.shell("make").denied


def test_a_session_that_begins_outside_of_any_repository_is_guarded_where_it_goes(
    other: Path, project: Project
) -> None:
    outside, inside = project.home / "nowhere", project.top
    outside.mkdir()
    project.top = outside
    project.start()
    assert project.shell(f"rm -rf {other}/.indelible").denied
    assert project.shell(f"cd {inside}; rm -rf .indelible").denied
    assert not project.shell("make").denied
    project.top = other
    assert project.shell("rm -rf .indelible").denied
    assert FIRST in project.shell("make").model


def test_a_compaction_takes_the_briefing_of_every_place(other: Path, project: Project) -> None:
    project.start()
    here, project.top = project.top, other
    project.start()
    project.event("PreCompact", trigger="auto")
    project.start(source="compact")
    assert not project.shell("make").denied
    project.top = here
    assert FIRST in project.shell("make").model


def test_a_worktree_is_a_place_of_its_own(project: Project) -> None:
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x"],
                   cwd=project.top, check=True)  # fmt: skip
    subprocess.run(["git", "worktree", "add", "-q", "../tree"], cwd=project.top, check=True, capture_output=True)
    project.start()
    project.top = project.home / "tree"
    assert project.indelible("state", "write", "10_specification.md", "-", stdin=b"x\n").returncode == 0
    assert project.tool("Write", {"file_path": ".indelible/state/10_specification.md"}).denied


def test_a_briefing_that_fits_no_budget_is_a_persons_to_mend_and_no_circle(project: Project) -> None:
    config = project.top / ".indelible" / "config.toml"
    config.write_text("[boot]\nbudget = 20\n")
    project.start()
    said = project.shell("make").model
    assert "over-budget" in said
    assert "00_governance.md does not fit" in said
    assert "A human must mend it" in said
    assert "'indelible boot'" not in said
    assert not project.shell("indelible boot").denied
    assert "A human must mend it" in project.shell("make").model, "a boot that failed is no briefing"
    config.write_text("[boot]\nbudget = 4000\n")
    assert FIRST in project.shell("make").model
    assert not project.shell("indelible boot").denied
    assert not project.shell("make").denied


def test_half_a_state_is_named_and_a_persons_to_mend(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INDELIBLE_STATE_DIR", str(project.home / "half"))
    assert project.indelible("state", "write", "10_specification.md", "-", stdin=b"x\n").returncode == 0
    project.start()
    said = project.shell("make").model
    assert "half-state" in said
    assert "A human must mend it" in said
    assert not project.shell("cat MEMORY.md").denied


def test_a_briefing_that_is_too_long_for_the_host_alone_says_so_and_boot_shows_it(project: Project) -> None:
    (project.top / ".indelible" / "config.toml").write_text("[boot]\nbudget = 20000\n")
    long = "\n".join(f"- rule {number}: nothing is pushed without a word" for number in range(300))
    assert project.indelible("state", "write", "11_long.md", "-", "--over-budget", stdin=long.encode()).returncode == 0
    told = project.start().model
    assert "TOO LONG FOR Claude Code" in told
    assert "9000 characters" in told
    assert "9000 characters" in project.shell("make").model
    assert not project.shell("indelible boot").denied
    assert not project.shell("make").denied


@pytest.mark.parametrize(
    "command", ["git clean -fdx", "rm -rf .", "rm -rf ../work", "git stash --all", "find . -delete", "mv ../work ../x"]
)
def test_a_folder_above_is_refused_for_what_would_be_lost(command: str, project: Project) -> None:
    project.start()
    said = project.shell(command).model
    assert f"would remove or change {project.top / '.indelible'}, " in said
    assert "governance.md" not in said


SEAL = "seal it: indelible save MEMORY.md MEMORY.md"


@pytest.mark.parametrize(
    "command", ["echo x >> MEMORY.md", "cd sub; sed -i s/a/b/ ../MEMORY.md", 'cat a > "$PWD/MEMORY.md"', "rm MEMORY.md"]
)
def test_whoever_edits_a_sealed_memory_by_a_command_is_told_to_seal_it(command: str, project: Project) -> None:
    project.start()
    answer = project.shell(command)
    assert not answer.denied
    assert SEAL in answer.model


def test_whoever_edits_a_sealed_memory_is_told_to_seal_it_where_the_host_can_say_so(project: Project) -> None:
    project.start()
    for path in ("MEMORY.md", str(project.top / "MEMORY.md")):
        answer = project.tool("Edit", {"file_path": path})
        assert not answer.denied
        assert SEAL in answer.model
    for given in ({"file_path": "a.md"}, {"file_path": "docs/MEMORY.md"}):
        assert project.tool("Edit", given).model == ""
    assert project.shell("cat MEMORY.md; git add MEMORY.md").model == ""
    sent = {
        "session_id": "g",
        "cwd": str(project.top),
        "tool_name": "replace",
        "tool_input": {"file_path": "MEMORY.md"},
    }
    project.fire("gemini", "SessionStart", {"session_id": "g", "cwd": str(project.top)})
    assert project.fire("gemini", "BeforeTool", sent).model == ""
    assert SEAL in project.fire("gemini", "AfterTool", sent).model
    assert SEAL not in project.fire("gemini", "AfterTool", {**sent, "tool_name": "read_file"}).model
    cursor = {
        "conversation_id": "c",
        "cwd": str(project.top),
        "tool_name": "Write",
        "tool_input": {"path": "MEMORY.md"},
    }
    project.fire("cursor", "sessionStart", cursor)
    assert SEAL in project.fire("cursor", "postToolUse", cursor).model


def test_an_edited_memory_is_found_with_the_remedy_beside_it(project: Project) -> None:
    project.start()
    (project.top / "MEMORY.md").write_text("edited\n")
    project.indelible("state", "append", "30", "-", stdin=b"## Round 4\nx\n")
    assert "if it was meant, 'indelible save MEMORY.md MEMORY.md' seals it" in project.shell("make").model


@pytest.mark.parametrize(
    ("words", "opens"), [("--budget 4000", True), ("--budget=4000", True), ("--budget 6", False), ("--budget x", False)]
)
def test_a_budget_that_the_command_names_is_the_one_that_counts(project: Project, words: str, opens: bool) -> None:
    (project.top / ".indelible" / "config.toml").write_text("[boot]\nbudget = 5\n")
    project.start()
    assert not project.shell(f"indelible boot {words}").denied
    assert project.shell("make").denied is not opens


def test_git_without_its_hooks_is_denied_and_the_reason_says_why(project: Project) -> None:
    project.start()
    for command in ("git -c core.hooksPath=/dev/null commit -m x", "GIT_CONFIG_KEY_0=core.hooksPath git commit"):
        answer = project.shell(command)
        assert answer.denied
        assert "leaves out the git hooks" in answer.model
    assert not project.shell("git config --get core.hooksPath").denied
    assert not project.shell("git add -A").denied


def test_where_there_is_no_state_git_is_left_alone(bare: Project) -> None:
    bare.start()
    assert not bare.shell("git config core.hooksPath .husky").denied
