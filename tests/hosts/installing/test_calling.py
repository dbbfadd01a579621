"""The words with which a host calls us: absolute, quoted, the same in every version, and known again wherever the program lay."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.cli.hands import script

from indelible.errors import NotFoundError
from indelible.hosts.installing import calling

if TYPE_CHECKING:
    from pathlib import Path

posix = pytest.mark.skipif(os.name != "posix", reason="quoted for a POSIX shell")


@posix
@pytest.mark.parametrize(
    "folder", ["plain", "with spaces", "한글 폴더", "it's", 'a"b', "$HOME", "`x`", "a;b", "new\nline"]
)
def test_a_shell_runs_the_very_program_whatever_its_path_holds(tmp_path: Path, folder: str) -> None:
    (tmp_path / folder).mkdir()
    program = script(tmp_path / folder / "indelible-hook", 'echo "$0|$1|$2"')
    text = calling.line(str(program), "claude-code", "SessionStart")
    done = subprocess.run(text, shell=True, capture_output=True, text=True, check=True)  # noqa: S602 - as a host does
    assert done.stdout == f"{program}|claude-code|SessionStart\n"
    assert calling.is_hook(text, "claude-code")
    assert not calling.is_hook(text, "codex")


@pytest.mark.parametrize(
    "text",
    [
        "/usr/bin/indelible-hook codex PreToolUse", "'/a b/indelible-hook' codex PreToolUse", "indelible-hook codex PreToolUse",
        '"C:\\Program Files\\py\\indelible-hook.exe" codex PreToolUse', '& "C:\\x y\\indelible-hook.exe" codex PreToolUse',
    ],
)  # fmt: skip
def test_a_line_of_ours_is_known_on_every_system(text: str) -> None:
    assert calling.is_hook(text)
    assert calling.is_hook(text, "codex")


@pytest.mark.parametrize(
    "text",
    [
        "", "indelible-hook", "indelible-hook codex", "env A=1 indelible-hook codex PreToolUse", "/opt/indelible-hook.sh codex PreToolUse",
        "my-indelible-hook codex x", "indelible-hook codex PreToolUse; rm x", "'unclosed", None, 7, ["indelible-hook", "codex", "x"],
    ],
)  # fmt: skip
def test_another_line_is_not(text: object) -> None:
    assert not calling.is_hook(text)


def test_the_line_names_no_version_and_nothing_that_changes_with_one() -> None:
    """Codex trusts a hook by the digest of its words."""
    text = calling.line("/opt/bin/indelible-hook", "codex", "PreToolUse")
    assert text in ("/opt/bin/indelible-hook codex PreToolUse", '"/opt/bin/indelible-hook" codex PreToolUse')


@posix
def test_a_link_on_the_path_is_used_where_it_leads_to_this_installation(tmp_path: Path) -> None:
    """What pipx puts into ~/.local/bin stays when the folder of a version goes."""
    beside, linked = tmp_path / "venv", tmp_path / "bin"
    beside.mkdir()
    linked.mkdir()
    for name in ("indelible", "indelible-hook"):
        script(beside / name, "exit 0")
        (linked / name).symlink_to(beside / name)
    python = beside / "python"
    shutil.copy(sys.executable, python)
    assert calling.locate(str(python), str(linked)) == (str(linked / "indelible-hook"), str(linked / "indelible"))
    other = tmp_path / "other"
    other.mkdir()
    script(other / "indelible-hook", "exit 0")
    assert calling.locate(str(python), str(other)).hook == str(beside / "indelible-hook")


def test_without_our_program_there_is_nothing_to_install_and_the_remedy_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="pip install"):
        calling.locate(str(tmp_path / "python"), str(tmp_path))


def test_power_shell_is_told_that_a_quoted_word_is_a_program() -> None:
    assert calling.powershell('"C:\\x\\indelible-hook.exe" copilot preToolUse').startswith('& "C:')
    assert calling.powershell("indelible-hook copilot x") == "indelible-hook copilot x"


def test_the_status_lines_command_is_known_again() -> None:
    assert calling.is_statusline(calling.line("/a b/indelible", "hooks", "statusline"))
    assert not calling.is_statusline(shlex.join(["/a/indelible", "hooks", "status"]))
