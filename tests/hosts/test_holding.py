"""What the workflow and the scars hold back, with the real program: a commit without a receipt, what failed before, heavy work."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest
from tests.hosts.conftest import Project
from tests.stepping.sites import LATER, site_at

from indelible.workflow import guard as guards
from indelible.workflow.guard import Guard, Watch

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Run
    from tests.stepping.sites import Site

NEEDS = "needs the approval of"
NEXT = "indelible flow next"


@pytest.fixture
def site(run: Run, home: Path) -> Site:
    return site_at(run, home)


@pytest.fixture
def worked(site: Site, home: Path) -> Project:
    """A session in a checkout with laws, whose briefing was read."""
    project = Project(home)
    project.top = site.top
    project.start()
    return project


def guard_of(project: Project) -> Guard:
    found = guards.read(str(project.home / "state" / "indelible"), str(project.top))
    assert found is not None
    return found


def with_scar(site: Site, *words: str) -> None:
    ran = site.tell(
        "scar", "add", "--area", "SORT", "--title", "Sorting in place", "--tried", "sort() on the caller's list",
        "--why", "the caller lost its order", *words,
    )  # fmt: skip
    assert ran.code == 0, ran


@pytest.mark.parametrize(
    "command",
    ["git commit -am x", "git push", "git -C . commit -m x", "bash -c 'git commit -am x'", "gh pr merge 5", "make && git commit -am x",
     "python3 -c \"import subprocess; subprocess.run(['git','commit','-am','x'])\"", "indelible fork c -- git commit -am x"],
)  # fmt: skip
def test_without_a_receipt_nothing_is_committed_or_published(command: str, site: Site, worked: Project) -> None:
    site.commit_at(LATER, "nobody approved it")
    (worked.top / "a.txt").write_text("two\n")
    answer = worked.shell(command)
    assert answer.denied
    assert NEEDS in answer.model
    assert NEXT in answer.model
    assert "indelible approve" in answer.model


def test_with_a_receipt_for_this_very_change_the_commit_passes_and_after_an_edit_it_does_not(
    site: Site, worked: Project
) -> None:
    site.ready()
    assert NEEDS in worked.shell("git add -A && git commit -m x").model
    site.approved()
    assert not worked.shell("git add -A && git commit -m x").denied
    site.write("a.txt", "three\n")
    assert NEEDS in worked.shell("git add -A && git commit -m x").model


def test_a_push_is_held_by_where_its_words_say_that_it_goes(site: Site, worked: Project) -> None:
    assert site.approver("flow", "init").code == 0
    file = site.top / ".indelible" / "workflow.toml"
    file.write_text(file.read_text().replace('branches = ["*"]', 'branches = ["main"]'))
    assert site.approver("flow", "seal", "--reason", "main alone").code == 0
    site.git("switch", "-qc", "feature")
    site.write("a.txt", "two\n")
    site.git("add", "-A")
    site.commit_at(LATER, "later")
    for command in ("git push origin feature", "git push", "git push -u origin HEAD", "make && git push x feature:topic",
                    'git push "$REMOTE" feature', "python3 -c \"import os; os.system('git push')\""):  # fmt: skip
        assert not worked.shell(command).denied, command
    for command in (
        "git push origin feature:main",
        "git push origin +HEAD:refs/heads/main",
        "sh -c 'git push . HEAD:master'",
    ):
        said = worked.shell(command)
        assert NEEDS in said.model, command
        assert "git reset --soft" in said.model


def test_everything_else_of_git_passes(worked: Project) -> None:
    for command in (
        "git status",
        "git add -A",
        "git stash",
        "git commit --dry-run",
        "git log --grep commit",
        "git push -n",
        "git switch -c x",
    ):
        assert not worked.shell(command).denied, command


def test_a_tool_of_a_server_that_commits_is_held_too(site: Site, worked: Project) -> None:
    site.commit_at(LATER, "nobody approved it")
    (worked.top / "a.txt").write_text("two\n")
    for name in ("mcp__git__git_commit", "mcp__github__merge_pull_request", "mcp__github__push_files"):
        assert NEEDS in worked.tool(name, {"repo_path": str(worked.top), "message": "x"}).model
    assert not worked.tool("mcp__git__git_status", {"repo_path": str(worked.top)}).denied


def test_an_alias_in_gits_settings_is_followed(worked: Project) -> None:
    (worked.top / "a.txt").write_text("two\n")
    for name, value in (("ci", "commit"), ("up", "!git push"), ("lg", "log --oneline")):
        subprocess.run(["git", "config", f"alias.{name}", value], cwd=worked.top, check=True)
    assert NEEDS in worked.shell("git ci -am x").model
    assert NEEDS in worked.shell("git up").model or not worked.shell("git up").denied, "nothing is outgoing yet"
    assert not worked.shell("git lg").denied


def test_where_nothing_of_ours_was_begun_git_is_left_alone(bare: Project) -> None:
    bare.start()
    for command in ("git commit -am x", "git push", "pytest"):
        assert bare.shell(command).value == {}
    assert not list((bare.home / "state").rglob("flow/*"))


def test_a_commit_in_another_repository_is_held_by_that_ones_laws(worked: Project, home: Path) -> None:
    plain = home / "plain"
    subprocess.run(["git", "init", "-q", str(plain)], check=True)
    (worked.top / "a.txt").write_text("two\n")
    assert not worked.shell(f"git -C {plain} commit --allow-empty -m x").denied
    assert not worked.shell(f"cd {plain} && git commit --allow-empty -m x").denied
    assert NEEDS in worked.shell('cd "$WHERE" && git commit -am x').model, "nobody can tell where"
    here, worked.top = worked.top, plain
    worked.start(session="s2")
    assert NEEDS in worked.shell(f"git -C {here} commit -am x", "s2").model


def test_a_linked_worktree_is_guarded_by_its_repositorys_laws(worked: Project, home: Path) -> None:
    subprocess.run(
        ["git", "worktree", "add", "-q", str(home / "tree")], cwd=worked.top, check=True, capture_output=True
    )
    (home / "tree" / "a.txt").write_text("two\n")
    assert NEEDS in worked.shell(f"git -C {home / 'tree'} commit -am x").model


def test_what_cannot_be_told_is_denied(worked: Project) -> None:
    (worked.top / ".indelible" / "store.db").unlink()
    answer = worked.shell("git commit -am x")
    assert answer.denied
    assert "Not done" in answer.model


def test_a_guard_that_was_cut_short_is_made_again(worked: Project) -> None:
    path = next((worked.home / "state" / "indelible" / "flow").glob("*.json"))
    path.write_bytes(path.read_bytes()[:20])
    (worked.top / "a.txt").write_text("two\n")
    assert NEEDS in worked.shell("git commit -am x").model
    assert guard_of(worked).receipt == "approved-diff"


@pytest.mark.parametrize(
    "change", [{"v": 2}, {"on": 1}, {"heavy": [1]}, {"scars": [{}]}, {"more": 1}, {"commands": [["a"]]}, {"most_files": True}, {"place": "/"}]
)  # fmt: skip
def test_a_guard_is_read_strictly(change: dict[str, object], tmp_path: Path) -> None:
    guard = Guard("/w", scars=(Watch("SCAR-A-01", "t", "barrier", "a", "b", ("x",), ("y",), ("z",), (), ("d",)),))
    guards.write(str(tmp_path), "/w", guard)
    assert guards.read(str(tmp_path), "/w") == guard
    assert guards.read(str(tmp_path), "/v") is None
    path = tmp_path / "flow" / next(iter((tmp_path / "flow").iterdir())).name
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    assert guards.read(str(tmp_path), "/w") is None


def test_an_attempt_at_a_barrier_is_denied_with_the_scar_and_how_to_waive_it(site: Site, home: Path) -> None:
    with_scar(site, "--level", "barrier", "--path", "src/**", "--added", r"\.sort\(")
    project = Project(home)
    project.start()
    call = {"file_path": str(site.top / "src" / "a.py"), "content": "items.sort()\n"}
    answer = project.tool("Write", call)
    assert answer.denied
    for said in (
        "SCAR-SORT-01",
        "Sorting in place",
        "the caller lost its order",
        "indelible scar waive SCAR-SORT-01 --digest",
    ):
        assert said in answer.model
    assert not project.tool("Write", {"file_path": str(site.top / "src" / "a.py"), "content": "sorted(items)\n"}).denied
    assert not project.tool("Write", call | {"file_path": str(site.top / "docs" / "a.py")}).denied
    assert project.tool("Edit", {"file_path": "src/a.py", "old_string": "x", "new_string": "y.sort()"}).denied
    assert not project.tool(
        "Edit", {"file_path": "src/a.py", "old_string": "y.sort()", "new_string": "y.sort()\nz"}
    ).denied
    assert project.shell("cat > src/b.py <<'EOF'\ny.sort()\nEOF").denied
    assert project.shell("echo 'y.sort()' >> src/b.py").denied
    patch = "*** Begin Patch\n*** Add File: src/c.py\n+y.sort()\n*** Add File: b.py\n+y\n*** End Patch"
    assert project.tool("apply_patch", {"command": patch}).denied
    assert not project.tool("apply_patch", {"command": patch.replace("src/c", "c")}).denied


def test_a_false_alarm_that_was_waived_passes_as_it_is(site: Site, home: Path) -> None:
    with_scar(site, "--level", "barrier", "--command", r"git clean")
    project = Project(home)
    project.start()
    answer = project.shell("git clean -n")
    digest = answer.model.partition("--digest ")[2].split()[0]
    assert answer.denied
    assert site.tell("scar", "waive", "SCAR-SORT-01", "--digest", digest, "--reason", "it only looks").code == 0
    assert not project.shell("git clean -n").denied
    assert project.shell("git clean -f").denied


def test_a_warning_lets_the_call_pass_and_tells_the_model(site: Site, home: Path) -> None:
    project = Project(home)
    project.start()
    with_scar(site, "--command", "--no-sort-keys")
    answer = project.shell("tool --no-sort-keys")
    assert not answer.denied
    assert "SCAR-SORT-01 (warning)" in answer.model
    assert project.shell("tool").model == ""
    gemini = {
        "session_id": "g",
        "cwd": str(project.top),
        "tool_name": "run_shell_command",
        "tool_input": {"command": "tool --no-sort-keys"},
    }
    project.fire("gemini", "SessionStart", {"session_id": "g", "cwd": str(project.top), "source": "startup"})
    assert (
        "SCAR-SORT-01"
        in project.fire("gemini", "BeforeTool", gemini).err + project.fire("gemini", "BeforeTool", gemini).out
    )


def test_a_scar_of_one_branch_or_one_folder_holds_there(site: Site, home: Path) -> None:
    site.git("switch", "-q", "-c", "other")
    with_scar(site, "--level", "barrier", "--command", "^deploy", "--scope", "branch:other")
    with_scar(site, "--level", "barrier", "--added", "eval", "--scope", "path:src/**")
    project = Project(home)
    project.start()
    assert project.shell("deploy now").denied
    site.git("switch", "-q", "-c", "third")
    assert not project.shell("deploy now").denied
    site.git("switch", "-q", "other")
    assert project.shell("deploy now").denied
    assert project.tool("Write", {"file_path": "src/a.py", "content": "eval(x)\n"}).denied
    assert not project.tool("Write", {"file_path": "docs/a.py", "content": "eval(x)\n"}).denied


def test_heavy_work_is_left_to_a_fork_where_that_is_switched_on(worked: Project) -> None:
    assert not worked.shell("pytest").denied
    switched = {"INDELIBLE_HEAVY": "refuse"}
    answer = worked.shell("pytest", **switched)
    assert answer.denied
    assert "indelible fork NAME -- COMMAND" in answer.model
    assert worked.shell("grep -rn x .", **switched).denied
    for command in ("pytest tests/test_a.py", "indelible fork tests -- pytest", "git status", "cat a.txt"):
        assert not worked.shell(command, **switched).denied, command
    assert not worked.shell("pytest", **switched, INDELIBLE_FORK="f1").denied, "a child does the heavy work"
    assert not worked.shell("pytest", INDELIBLE_HEAVY="allow").denied


def test_more_files_than_a_turn_may_read_are_left_to_a_fork(worked: Project) -> None:
    found = guard_of(worked)._replace(refuse_heavy=True, most_files=3, place=str(worked.top))
    for number in range(6):
        (worked.top / f"{number}.md").write_text("x\n")
    guards.write(str(worked.home / "state" / "indelible"), str(worked.top), found)
    assert not worked.shell("cat 0.md 1.md").denied
    assert not worked.shell("head -5 1.md 2.md").denied
    answer = worked.shell("cat 3.md")
    assert answer.denied
    assert "Fork the reading" in answer.model
    read = {"sessionId": "s1", "cwd": str(worked.top), "toolName": "view", "toolArgs": {"path": "4.md"}}
    answers = [
        worked.fire("copilot", "preToolUse", read | {"toolArgs": {"path": f"{number}.md"}}) for number in range(4)
    ]
    assert [answer.denied for answer in answers] == [False, False, False, True]
    worked.event("UserPromptSubmit", prompt="go on")
    assert not worked.shell("cat 4.md").denied


def test_an_agent_does_not_approve_or_set_what_says_who_may(worked: Project) -> None:
    for command in ("indelible approve 5 --yes", "indelible reject --reason x", "indelible flow seal --reason x", "indelible flow resolve 7 --happened",
                    "indelible scar waive SCAR-A-01 --digest x --reason y", "indelible scar retire SCAR-A-01 --reason y", "INDELIBLE_APPROVERS=/tmp/x git push",
                    "export INDELIBLE_FORK=1; pytest", "INDELIBLE_HEAVY=allow pytest", "INDELIBLE_INSIDE=1 git status -z > x"):  # fmt: skip
        assert "that is your human's to do" in worked.shell(command).model, command
    for command in (
        "indelible flow next",
        "indelible scar list",
        "indelible critic list",
        "indelible flow status",
        "INDELIBLE_HEAVY=refuse pytest a.py",
    ):
        assert not worked.shell(command).denied, command


def test_gits_own_hooks_are_left_to_a_person(worked: Project) -> None:
    for command in ("rm .git/hooks/pre-commit", "echo x > .git/hooks/pre-commit", "rm -rf .git/hooks", "chmod -x .git/hooks/*", "mv .git/hooks /tmp/h",
                    "sed -i s/x/y/ .git/config", "rm -rf .git", "python3 -c \"open('.git/hooks/pre-commit','w')\""):  # fmt: skip
        assert "Not done" in worked.shell(command).model, command
    assert worked.tool("Write", {"file_path": ".git/hooks/pre-push", "content": "x"}).denied
    for command in (
        "ls .git/hooks",
        "cat .git/config",
        "git config user.name x",
        "git gc",
        "cp -r .git /tmp/copy",
        "git remote add a b",
        "npm ci",
    ):
        assert not worked.shell(command).denied, command
