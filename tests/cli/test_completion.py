"""completion: the scripts, and what they ask the command for."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from tests.cli.hands import Kept, refused, said
from tests.conftest import environment, indelible_command

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Run


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_a_script_that_the_shell_can_read(home: Path, run: Run, shell: str) -> None:
    ran = run("completion", shell)
    assert ran.code == 0
    assert "_INDELIBLE_COMPLETE" in ran.out
    assert said(run("completion", shell, "--json"))["script"].strip() == ran.out.strip()
    if shutil.which(shell):
        (home / "script").write_text(ran.out, encoding="utf-8")
        assert subprocess.run([shell, "-n", home / "script"], check=False).returncode == 0


def test_another_shell_is_a_matter_of_usage(run: Run) -> None:
    refused(run("completion", "tcsh"), 64, "bash", "zsh", "fish")
    refused(run("completion"), 64)


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("indelible ", {"init", "save", "verify", "restore-store", "completion"}),
        ("indelible re", {"restore", "restore-store"}),
        ("indelible key ", {"create", "show", "trust", "rotate", "revoke", "backup", "recover"}),
        ("indelible pin s", {"show", "set"}),
        ("indelible save --ki", {"--kind"}),
        ("indelible save --kind de", {"decision"}),
        ("indelible completion ", {"bash", "zsh", "fish"}),
        ("indelible hooks ", {"install", "uninstall", "status", "plugin", "statusline"}),
        ("indelible hooks install --host c", {"claude-code", "codex", "copilot", "cursor"}),
        ("indelible hooks install --scope ", {"project", "user"}),
        ("indelible hooks plugin open", {"opencode", "openclaw"}),
        ("indelible init --host q", {"qwen"}),
    ],
)
def test_words_are_completed(home: Path, run: Run, words: str, offered: set[str]) -> None:
    parts = words.split(" ")
    env = {"_INDELIBLE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(len(parts) - 1)}
    ran = run(env=env)
    given = {line.partition(",")[2] for line in ran.out.splitlines()}
    assert offered <= given, ran
    assert all(word.startswith(parts[-1]) for word in given)


def offered(run: Run, words: str) -> set[str]:
    env = {"_INDELIBLE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split(" ")) - 1)}
    return {line.partition(",")[2] for line in run(env=env).out.splitlines()}


def test_policies_reviewers_and_keys_are_completed(kept: Kept) -> None:
    assert kept.run("key", "create", "mina", "--role", "reviewer", "--unprotected").code == 0
    assert kept.run("key", "create", "bob").code == 0
    assert offered(kept.run, "indelible held --policy ") >= {"strict", "anchored", "owner", "lifecycle"}
    assert offered(kept.run, "indelible load --policy in-scope,not-") == {
        "in-scope,not-rejected", "in-scope,not-expired", "in-scope,not-ordering",
    }  # fmt: skip
    assert offered(kept.run, "indelible review approve --as ") == {"mina"}
    assert offered(kept.run, "indelible review assign --to m") == {"mina"}
    assert offered(kept.run, "indelible review assign --to x") == {""}
    assert offered(kept.run, "indelible review dispute --with ") == {"MEMORY.md"}
    for option in ("--depends-on", "--supersedes", "--contradicts"):
        assert offered(kept.run, f"indelible save {option} ME") == {"MEMORY.md"}


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
def test_bash_completes_with_its_script(home: Path) -> None:
    command = indelible_command()
    if len(command) > 1:
        pytest.skip("the console script is not installed")
    lines = f"""
        PATH="$(dirname {command[0]}):$PATH"
        eval "$(indelible completion bash)" || exit 9
        COMP_WORDS=(indelible verif) COMP_CWORD=1
        _indelible_completion indelible
        echo "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(
        ["bash", "-c", lines], capture_output=True, check=False, env=environment(), cwd=home / "work", text=True
    )
    assert done.stdout.strip() == "verify", done


def test_no_host_is_offered_for_a_plugin_that_would_be_refused(home: Path, run: Run) -> None:
    assert offered(run, "indelible hooks plugin ") == {"claude-code", "gemini", "qwen", "opencode", "openclaw"}
