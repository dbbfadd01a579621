"""Where our program does not run, its line answers for it: a gate denies, and the model is told that memory was NOT loaded."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests.cli.hands import said, script
from tests.hosts.conftest import Answer
from tests.hosts.installing.test_installing import settings_of

from indelible.hosts.host import BEFORE_COMPACTION, BEFORE_TOOL, SUBAGENT_STOP, by_name
from indelible.hosts.installing import calling, merging
from indelible.hosts.installing.falling import DENIED, NOT_LOADED
from indelible.hosts.installing.targets import TARGETS
from indelible.hosts.registry import HOSTS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.hosts.installing.conftest import Place

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the line is words of a POSIX shell")

SETTINGS = [name for name, target in TARGETS.items() if target.shape is not None]
LINES = [(host, one.name, one.purpose) for host in SETTINGS for one in by_name(HOSTS)[host].hooked]
SHELLS = [["/bin/sh", "-c"], *([["bash", "-lc"]] if shutil.which("bash") else []), *([["fish", "-lc"]] if shutil.which("fish") else []),
          *([["zsh", "-lc"]] if shutil.which("zsh") else [])]  # fmt: skip
FOLDERS = ["plain", "with spaces", "한글 폴더", "it's", 'a"b', "$HOME", "`x`", "a;b"]
LARGE = b'{"tool_input": "' + b"x" * 1_000_000 + b'"}'
"""More than a pipe takes: a host that cannot write it all may let the call pass."""


def ways(folder: Path) -> dict[str, str]:
    """The hook program in each state in which nothing of ours is run."""
    folder.mkdir(parents=True)
    made = {
        "its interpreter is gone": f"#!{folder}/gone/python\n",
        "the package is broken": f"#!/bin/sh\nexec '{sys.executable}' -I -c 'import indelible_that_is_gone'\n",
        "it is killed": "#!/bin/sh\nkill -9 $$\n",
        "it ends with something else": "#!/bin/sh\nexit 3\n",
        "it may not be executed": "",
    }
    found = {"it is missing": str(folder / "nowhere" / "indelible-hook")}
    for way, content in made.items():
        program = folder / way / "indelible-hook"
        program.parent.mkdir()
        program.write_text(content, encoding="utf-8")
        program.chmod(0o755 if content else 0o644)
        found[way] = str(program)
    return found


WAYS = ["it is missing", "its interpreter is gone", "the package is broken", "it is killed", "it ends with something else", "it may not be executed"]  # fmt: skip


def answered(
    text: str,
    given: bytes = b"{}",
    shell: tuple[str, ...] = ("/bin/sh", "-c"),
    *,
    more: Mapping[str, str] | None = None,
    **others: str,
) -> Answer:
    """What a host gets of a line that it hands to a shell."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    ended = subprocess.run(
        [*shell, text],
        input=given,
        capture_output=True,
        check=False,
        env={**variables, **others, **(more or {})},
        timeout=30,
    )
    return Answer(ended.returncode, ended.stdout.decode(), ended.stderr.decode())


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("host", "event", "purpose"), LINES)
def test_a_hook_that_does_not_run_denies_at_a_gate_and_tells_everywhere_else(
    tmp_path: Path, host: str, event: str, purpose: str, way: str
) -> None:
    program = ways(tmp_path / "it's 한글")[way]
    answer = answered(calling.caller(program, host)(event), LARGE)
    if purpose == BEFORE_TOOL:
        assert answer.denied
        assert (answer.code == 2) is (host != "antigravity")
        assert (answer.model if answer.out else answer.err.splitlines()[-1]) == DENIED
        return
    assert answer.code == 0
    assert answer.value.get("decision") is None  # one JSON value, and nothing else
    assert answer.model == ("" if purpose in (BEFORE_COMPACTION, SUBAGENT_STOP) else NOT_LOADED)


@pytest.mark.parametrize("shell", SHELLS, ids=lambda shell: shell[0])
@pytest.mark.parametrize("folder", FOLDERS)
def test_it_does_so_in_every_shell_and_under_every_path(tmp_path: Path, folder: str, shell: list[str]) -> None:
    """Codex hands the line to `$SHELL -lc`."""
    text = calling.caller(str(tmp_path / folder / "indelible-hook"), "codex")("PreToolUse")
    answer = answered(text, LARGE, tuple(shell), HOME=str(tmp_path))
    assert (answer.code, answer.err.splitlines()[-1]) == (2, DENIED)
    (tmp_path / folder).mkdir()
    script(tmp_path / folder / "indelible-hook", 'cat; echo "$0|$1|$2"')
    answer = answered(text, b"given ", tuple(shell), HOME=str(tmp_path))
    assert answer.out == f"given {tmp_path / folder / 'indelible-hook'}|codex|PreToolUse\n"
    assert (answer.code, answer.err) == (0, "")


@pytest.mark.parametrize("code", [0, 2])
def test_what_the_program_itself_answers_is_handed_on_as_it_is(tmp_path: Path, code: int) -> None:
    program = script(tmp_path / "indelible-hook", f"cat; echo said >&2; exit {code}")
    text = calling.caller(str(program), "claude-code")("PreToolUse")
    assert answered(text, b"one \\n two") == Answer(code, "one \\n two", "said\n")


def test_that_it_did_not_run_is_noted_with_the_other_failures(tmp_path: Path) -> None:
    text = calling.caller(str(tmp_path / "gone" / "indelible-hook"), "codex")("SessionStart")
    quiet = answered(text, HOME=str(tmp_path))  # no folder yet: nothing is noted, and nothing said of it
    assert quiet.code == 0
    assert "hooks.log" not in quiet.err
    homes: list[tuple[Path, dict[str, str]]] = [
        (tmp_path / ".local" / "state", {}),
        (tmp_path / "else", {"XDG_STATE_HOME": str(tmp_path / "else")}),
    ]
    for home, more in homes:
        (home / "indelible").mkdir(parents=True)
        answered(text, more=more, HOME=str(tmp_path))
        (line,) = (home / "indelible" / "hooks.log").read_text(encoding="utf-8").splitlines()
        assert (
            line.split(" ", 1)[1]
            == f"codex SessionStart ({os.getcwd()}) did-not-run: exit 127 of {tmp_path}/gone/indelible-hook"
        )
        assert line[10] == "T"


def test_the_lines_of_codex_are_these_very_ones() -> None:
    """It trusts a hook by the digest of its line: a change of any of these makes every installed one untrusted."""
    assert calling.caller("/opt/indelible-hook", "codex")("PreToolUse") == (
        """/bin/sh -c '"$0" "$1" "$2" || { hook_exit=$?; [ $hook_exit = 2 ] || { cat >/dev/null; echo "$3" >&2; """
        """echo "$(date -u +%Y-%m-%dT%H:%M:%SZ) $1 $2 ($PWD) did-not-run: exit $hook_exit of $0" 2>/dev/null """
        """>>"${XDG_STATE_HOME:-$HOME/.local/state}/indelible/hooks.log"; }; exit 2; }' """
        """/opt/indelible-hook codex PreToolUse """
        """'Not done: Indelible could not judge this call, since its program did not run. """
        """Ask your human to install Indelible again, and then its hooks: indelible hooks install'"""
    ) or sys.platform == "darwin"  # fmt: skip
    assert calling.caller("/opt/indelible-hook", "codex")("SessionStart").endswith(
        """echo "$3"; echo "$(date -u +%Y-%m-%dT%H:%M:%SZ) $1 $2 ($PWD) did-not-run: exit $hook_exit of $0" 2>/dev/null """
        """>>"${XDG_STATE_HOME:-$HOME/.local/state}/indelible/hooks.log"; exit 0; }' /opt/indelible-hook codex SessionStart """
        """'{"systemMessage":"indelible-hook did not run. Install Indelible again, and then its hooks: indelible hooks install","""
        """"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"Indelible: memory was NOT loaded, """
        """since its program did not run. Do not act as if you knew the state of this work. """
        """Ask your human to install Indelible again, and then its hooks: indelible hooks install"}}'"""
    ) or sys.platform == "darwin"  # fmt: skip


@pytest.mark.parametrize(("host", "event", "purpose"), LINES)
def test_nothing_in_a_line_means_anything_to_another_shell(host: str, event: str, purpose: str) -> None:
    """No quote, backslash, line end or `!` stands within the single quotes: fish, csh and `echo` read those in their own way."""
    text = calling.caller("/opt/indelible-hook", host)(event)
    assert not set("\\\n!") & set(text), purpose
    assert text.count("'") == 4


@pytest.mark.parametrize("host", SETTINGS)
def test_the_line_of_an_older_version_is_ours_and_is_replaced(host: str) -> None:
    table = by_name(HOSTS)[host]
    shape = TARGETS[host].shape
    assert shape is not None
    old = shape(table, lambda event: calling.line("/old place/indelible-hook", host, event))
    new = shape(table, calling.caller("/opt/indelible-hook", host))
    before = merging.merge("{}", old)
    assert merging.merge(before.text, new).text == merging.merge("{}", new).text
    assert json.loads(merging.take_out(before.text, before.made)) == {}
    assert json.loads(merging.take_out(merging.merge(before.text, new).text, before.made)) == {}


@pytest.mark.parametrize(
    "text",
    [
        "/bin/sh -c 'rm x' /opt/indelible-hook codex PreToolUse x",
        '/bin/sh -c \'"$0" "$1" "$2" || exit 2\' /opt/mine codex PreToolUse x',
        '/bin/sh -c \'"$0" "$1" "$2" || exit 2\' /opt/indelible-hook codex',
        'bash -c \'"$0" "$1" "$2" || exit 2\' /opt/indelible-hook codex PreToolUse x',
    ],
)
def test_another_line_in_a_shell_is_not_ours(text: str) -> None:
    assert not calling.is_hook(text)


def test_status_tells_a_gate_that_only_denies_from_one_that_judges(begun: Place) -> None:
    """A refusal alone proves nothing, now that the line refuses by itself."""
    begun.hooks("install", "--host", "codex", "--scope", "user")
    broken = begun.home / "broken"
    broken.mkdir()
    begun.move(
        settings_of(begun, "codex", "user"),
        str(script(broken / "indelible-hook", "echo ModuleNotFoundError: indelible >&2; exit 1")),
    )
    document: dict[str, Any] = said(begun.hooks("status", "--host", "codex", "--scope", "user", "--json", code=1))
    (one,) = document["hosts"]
    assert one["fires"] is False
    assert "cannot be run, and denies every call: ModuleNotFoundError: indelible" in " ".join(one["problems"])


def test_a_line_without_the_fallback_is_not_current(begun: Place) -> None:
    begun.hooks("install", "--host", "claude-code")
    path = settings_of(begun, "claude-code")
    value = json.loads(path.read_bytes())
    hook = value["hooks"]["PreToolUse"][0]["hooks"][0]
    hook["command"] = calling.line(begun.machine.programs.hook, "claude-code", "PreToolUse")
    path.write_text(json.dumps(value), encoding="utf-8")
    assert "Not as this version writes it" in begun.hooks("status", "--host", "claude-code", code=1).out
    begun.hooks("install", "--host", "claude-code")
    assert "current, fires" in begun.hooks("status", "--host", "claude-code", "--scope", "project").out
