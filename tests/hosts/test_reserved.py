"""What is left to a person: verbs, variables and the files that our hooks stand in; and what an agent may do all the same."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from tests.hosts.test_gating import FIRST

from indelible.hosts import hookfiles
from indelible.hosts.commands import Line
from indelible.hosts.installing.targets import TARGETS

if TYPE_CHECKING:
    from tests.hosts.conftest import Project

ASK = "that is your human's to do: ask for it"


@pytest.mark.parametrize(
    "command",
    ["indelible state amend 00_governance.md x", "indelible key create owner --owner", "indelible --agent a key --json trust V", "indelible key rotate",
     "indelible key revoke --from 3", "indelible key recover f", "python3 -m indelible pin set --accept", "/opt/bin/indelible restore-store f",
     "indelible hooks install", "cd x && indelible hooks --json uninstall", "sudo -u me indelible state protect --off", "indelible init --anew",
     "sh -c 'indelible review approve k'", "true; indelible --store s review reject k", "find . -exec indelible key create x \\;",
     "echo k | xargs indelible review approve", "INDELIBLE_BRIEFING_FIRST=off make", "INDELIBLE_HOOK_DEPTH=1 claude -p x", "export INDELIBLE_BRIEFING_FIRST=off",
     "env INDELIBLE_HOOK_DEPTH=1 make", "INDELIBLE_SECRETS=allow indelible save k f", "INDELIBLE_PASSPHRASE_FILE=f make", "(indelible key create x)",
     "X=$(indelible key create x)"],
)  # fmt: skip
def test_a_command_that_is_a_persons_is_known_by_its_text(command: str) -> None:
    assert Line(command, "/w", {}).reserved(altered=False)


@pytest.mark.parametrize(
    "command",
    ["indelible save MEMORY.md MEMORY.md", "indelible state write 99 -", "indelible state append 30 -", "indelible boot", "indelible verify k",
     "indelible key show", "indelible key list", "indelible pin show", "indelible review dispute k", "indelible hooks status", "indelible init",
     "indelible state protect", "indelible state repair", "indelible state list", "grep -rn 'indelible key create' docs", "echo indelible key create",
     "git commit -m 'document indelible key create'", "INDELIBLE_STATE_DIR=x indelible boot", "INDELIBLE_SECRETS=mask indelible save k f",
     "grep INDELIBLE_BRIEFING_FIRST=off docs", "man indelible key create"],
)  # fmt: skip
def test_what_an_agent_may_do_passes(command: str) -> None:
    assert Line(command, "/w", {}).reserved(altered=False) == ""


def test_the_gate_leaves_a_persons_verbs_to_the_person(project: Project) -> None:
    project.start()
    for command in ("indelible state amend 00_governance.md x", "INDELIBLE_BRIEFING_FIRST=off make"):
        assert ASK in project.shell(command).model
    assert not project.shell("indelible state append 30 -").denied
    assert not project.shell("indelible state repair").denied
    (project.state / "00_governance.md").chmod(0o644)
    (project.state / "00_governance.md").write_text("free\n")
    project.shell("make")
    assert ASK in project.shell("indelible state repair").model, "what was altered is a person's to judge"


def test_saving_a_memory_that_was_edited_is_let_pass_while_writes_are_not(project: Project) -> None:
    (project.top / "MEMORY.md").write_text("edited\n")
    project.start()
    assert "Not done" in project.shell("make").model
    assert not project.shell("indelible save MEMORY.md MEMORY.md").denied
    assert project.indelible("save", "MEMORY.md", "MEMORY.md").returncode == 0
    assert FIRST in project.shell("make").model


def test_an_agent_does_not_take_its_hooks_out_of_the_hosts_settings(project: Project) -> None:
    settings = project.top / ".claude" / "settings.json"
    other = project.top / ".gemini" / "settings.json"
    for path, text in ((settings, '{"hooks": "/x/indelible-hook claude-code PreToolUse"}'), (other, "{}")):
        path.parent.mkdir()
        path.write_text(text)
    project.start()
    assert ASK in project.tool("Edit", {"file_path": str(settings)}).model
    for command in (
        "rm .claude/settings.json",
        "rm -rf .claude",
        "echo {} > .claude/settings.local.json",
        "sed -i s/a/b/ .claude/settings.json",
    ):
        assert ASK in project.shell(command).model
    for command in (
        "cat .claude/settings.json",
        "echo {} > .gemini/settings.json",
        "sed -i s/a/b/ .vscode/settings.json",
        "python3 -c 'open(\"settings.json\")'",
    ):
        assert not project.shell(command).denied


def test_the_files_with_hooks_are_those_that_the_installer_writes() -> None:
    def script(name: str, target: str) -> str:
        return f"{target}/index.js" if name == "openclaw" else target

    assert {script(name, one.project) for name, one in TARGETS.items()} <= set(hookfiles.PROJECT)
    assert {(name, script(name, one.user)) for name, one in TARGETS.items()} <= set(hookfiles.USER)
    assert all(os.sep == "/" or "\\" not in name for name in hookfiles.PROJECT)
