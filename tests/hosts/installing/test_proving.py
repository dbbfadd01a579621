"""status and doctor: what is installed is run as its host would run it, with the real hook program."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.cli.hands import git, refused, said, script
from tests.hosts.installing.test_installing import HOSTS, put, settings_of

from indelible.hosts.installing.proving import is_denied

if TYPE_CHECKING:
    from tests.hosts.installing.conftest import Place


@pytest.mark.parametrize("host", HOSTS)
def test_every_hosts_gate_denies_what_it_must_in_the_hosts_own_form(begun: Place, host: str) -> None:
    begun.hooks("install", "--host", host)
    document = said(begun.hooks("status", "--host", host, "--scope", "project", "--json"))
    (one,) = document["hosts"]
    assert (one["installed"], one["current"], one["fires"], one["works"]) == (True, True, True, True), one
    assert document["slug"] == "hooks"


@pytest.mark.parametrize("host", HOSTS)
def test_a_hook_that_answers_nothing_is_found_out(begun: Place, host: str) -> None:
    (begun.home / "silent").mkdir()
    program = script(begun.home / "silent" / "indelible-hook", "cat > /dev/null; echo '{}'")
    begun.hooks("install", "--host", host, "--scope", "user")
    begun.move(settings_of(begun, host, "user"), str(program))
    document = said(begun.hooks("status", "--host", host, "--scope", "user", "--json", code=1))
    assert document["slug"] == "hooks-broken"
    assert document["hosts"][0]["fires"] is False
    assert "let a write" in " ".join(document["hosts"][0]["problems"])


@pytest.mark.parametrize("host", ["claude-code", "codex", "opencode"])
def test_a_program_that_is_gone_is_found_out(begun: Place, host: str) -> None:
    begun.hooks("install", "--host", host, "--scope", "user")
    begun.move(settings_of(begun, host, "user"), "/gone/indelible-hook")
    document = said(begun.hooks("status", "--host", host, "--scope", "user", "--json", code=1))
    (one,) = document["hosts"]
    assert (one["current"], one["fires"]) == (False, False)
    assert "cannot be run" in " ".join(one["problems"])
    assert f"indelible hooks install --host {host}" in " ".join(one["problems"])


@pytest.mark.parametrize("host", HOSTS)
def test_a_program_that_a_clone_brings_is_never_run(begun: Place, host: str) -> None:
    """Its name is ours and its place is the repository's: neither status nor doctor may start it."""
    marked = begun.home / "ran"
    (begun.work / "tools").mkdir()
    program = script(begun.work / "tools" / "indelible-hook", f"touch '{marked}'; exit 2")
    begun.hooks("install", "--host", host)
    begun.move(settings_of(begun, host), str(program))
    ran = begun.hooks("status", "--host", host, "--scope", "project", code=1)
    assert "was not run" in ran.out
    begun.run("doctor", cwd=begun.work)
    assert not marked.exists()


@pytest.mark.parametrize(
    "text",
    [
        "$(touch ran)/indelible-hook claude-code PreToolUse",
        "indelible-hook `touch ran` PreToolUse",
        "./indelible-hook claude-code PreToolUse",
    ],
)
def test_nor_is_anything_else_that_such_a_line_would_start(begun: Place, text: str) -> None:
    hook = {"type": "command", "command": text}
    put(settings_of(begun, "claude-code"), json.dumps({"hooks": {"PreToolUse": [{"hooks": [hook]}]}}).encode())
    begun.hooks("status", "--host", "claude-code", "--scope", "project", code=1)
    assert not (begun.work / "ran").exists()


def test_settings_of_an_older_version_are_not_current(begun: Place) -> None:
    begun.hooks("install", "--host", "claude-code")
    path = settings_of(begun, "claude-code")
    value = json.loads(path.read_bytes())
    del value["hooks"]["SubagentStop"]
    path.write_text(json.dumps(value), encoding="utf-8")
    ran = begun.hooks("status", "--host", "claude-code", code=1)
    assert "not current, fires" in ran.out
    assert "Not as this version writes it" in ran.out


@pytest.mark.parametrize(
    ("host", "off"),
    [
        ("claude-code", {"disableAllHooks": True}), ("qwen", {"disableAllHooks": True}), ("gemini", {"hooksConfig": {"enabled": False}}),
        ("gemini", {"hooksConfig": {"disabled": ["indelible"]}}),
    ],
)  # fmt: skip
def test_a_setting_that_switches_hooks_off_is_named(begun: Place, host: str, off: dict[str, object]) -> None:
    put(settings_of(begun, host), json.dumps(off).encode())
    begun.hooks("install", "--host", host)
    ran = begun.hooks("status", "--host", host, "--scope", "project", code=1)
    assert "switches hooks off" in ran.out
    assert "does not fire" in ran.out


def test_where_nothing_is_installed_there_is_nothing_to_show(begun: Place) -> None:
    refused(begun.hooks("status", code=3), 3, "No hooks are installed", "hooks install")
    assert "not installed" in begun.hooks("status", "--host", "qwen", code=1).out


def test_the_doctor_shows_each_host_that_is_here(begun: Place) -> None:
    (begun.home / ".claude").mkdir()
    (begun.home / ".qwen").mkdir()
    begun.hooks("install", "--host", "claude-code")
    ran = begun.run("doctor", cwd=begun.work)
    assert "Claude Code (project): hooks installed, current, fire" in ran.out
    assert "Qwen Code is here, and has no hooks of ours. Run 'indelible hooks install --host qwen'" in ran.out
    put(settings_of(begun, "claude-code"), b"{")
    ran = begun.run("doctor", "--json", cwd=begun.work)
    assert ran.code == 1
    bad = [finding for finding in said(ran)["findings"] if finding["slug"] == "hooks" and finding["state"] == "bad"]
    assert "JSON is broken at line 1" in bad[0]["text"]


def test_nothing_is_changed_by_looking(begun: Place) -> None:
    begun.hooks("install", "--host", "claude-code")
    before = settings_of(begun, "claude-code").read_bytes()
    begun.hooks("status")
    assert settings_of(begun, "claude-code").read_bytes() == before


@pytest.mark.parametrize(
    ("code", "out", "denied"),
    [
        (2, "", True), (0, "", False), (1, "", False), (0, "{", False), (0, "[]", False), (0, '{"deny": "x"}', True), (0, '{"decision": "deny"}', True),
        (0, '{"permission": "deny"}', True), (0, '{"hookSpecificOutput": {"permissionDecision": "deny"}}', True), (0, '{"permissionDecision": "allow"}', False),
    ],
)  # fmt: skip
def test_a_denial_is_known_in_every_hosts_form(code: int, out: str, denied: bool) -> None:
    assert is_denied(code, out.encode()) is denied


def test_a_probe_leaves_no_ledger_and_a_later_repository_is_judged_anew(begun: Place) -> None:
    """A session that every probe shared was known from the first repository, and guarded no other one."""
    begun.hooks("install", "--host", "claude-code", "--scope", "user")
    begun.hooks("status", "--host", "claude-code", "--scope", "user")
    assert list((begun.home / "state" / "indelible" / "hooks").glob("claude-code-*.json")) == []
    other = begun.home / "other"
    other.mkdir()
    git(other, "init", "-q")
    assert begun.run("init", cwd=other).code == 0
    ran = begun.run("hooks", "status", "--host", "claude-code", "--scope", "user", cwd=other)
    assert ran.code == 0, ran
