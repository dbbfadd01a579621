"""What a gate holds back and what it lets pass, with the real program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.hosts.conftest import Project

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


def test_our_own_server_is_not_held(project: Project) -> None:
    assert not project.tool("mcp__indelible__state_write", {"name": "99_next_action.md"}).denied


@pytest.mark.parametrize(
    ("spelling"),
    [".indelible/state/00_governance.md", "./.indelible/../.indelible/state/00_governance.md", "link/state/00_governance.md",
     "~/work/.indelible/state/00_governance.md", "other.md", "sub/up/.indelible/state/00_governance.md"],
)  # fmt: skip
def test_a_slot_is_known_by_every_spelling(spelling: str, project: Project) -> None:
    (project.top / "link").symlink_to(".indelible")
    (project.top / "sub").mkdir()
    (project.top / "sub" / "up").symlink_to("..")
    os.link(project.state / "30_critic_summary.md", project.top / "other.md")
    project.start()
    assert project.tool("Write", {"file_path": spelling}).denied


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
    far = {"INDELIBLE_STORE": "http://127.0.0.1:9/"}
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


def no_budget(project: Project) -> None:
    with (project.top / ".indelible" / "config.toml").open("a", encoding="utf-8") as file:
        file.write("\n[boot]\nbudget = 5\n")


def rewritten(project: Project) -> None:
    (project.state / "00_governance.md").chmod(0o644)
    (project.state / "00_governance.md").write_text("# Laws\n\n- none\n", encoding="utf-8")


def store_gone(project: Project) -> None:
    for path in (project.top / ".indelible").glob("store.db*"):
        path.unlink()


def broken_settings(project: Project) -> None:
    with (project.top / ".indelible" / "config.toml").open("a", encoding="utf-8") as file:
        file.write("[boot\n")


def half_a_state(project: Project) -> None:
    """Another state directory, in which nobody ever sealed a governance."""
    with (project.top / ".indelible" / "config.toml").open("a", encoding="utf-8") as file:
        file.write('\n[state]\ndirectory = "half"\nname = "half"\n')
    assert project.indelible("state", "write", "99_next_action.md", "-", stdin=NEXT.encode()).returncode == 0


NEXT = """# Next
- Current Target: a
- Last Completed Step: b
- Next Permitted Action: c
- [ ] d
"""
FAULTS = {
    "over-budget": (no_budget, 4), "tampered": (rewritten, 2), "missing": (store_gone, 2), "unchecked": (broken_settings, 64),
    "half-state": (half_a_state, 1),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("begun", [True, False])
def test_a_boot_that_failed_is_no_briefing(project: Project, fault: str, begun: bool) -> None:
    change, code = FAULTS[fault]
    change(project)
    if begun:
        project.start()
    assert project.shell("make").denied
    assert project.indelible("boot").returncode == code
    assert not project.shell("indelible boot").denied, "that is how the fault is seen"
    answer = project.shell("make")
    assert answer.denied
    assert FIRST not in answer.model, "it was read, and said nothing that helps"


def test_a_boot_that_comes_out_well_once_the_fault_is_mended_opens_the_gate(project: Project) -> None:
    no_budget(project)
    project.start()
    project.shell("indelible boot")
    assert "over-budget" in project.log()
    assert "does not fit the briefing" in project.shell("make").model
    config = project.top / ".indelible" / "config.toml"
    config.write_text(config.read_text(encoding="utf-8").replace("budget = 5", "budget = 4000"), encoding="utf-8")
    assert project.shell("make").denied
    assert not project.shell("indelible boot").denied
    assert not project.shell("make").denied


@pytest.mark.parametrize(
    ("words", "opens"), [("--budget 4000", True), ("--budget=4000", True), ("--budget 6", False), ("--budget x", False)]
)
def test_a_budget_that_the_command_names_is_the_one_that_counts(project: Project, words: str, opens: bool) -> None:
    no_budget(project)
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
    assert not project.shell("git commit -m x").denied


def test_where_there_is_no_state_git_is_left_alone(bare: Project) -> None:
    bare.start()
    assert not bare.shell("git config core.hooksPath .husky").denied
