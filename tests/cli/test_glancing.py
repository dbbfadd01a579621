"""hooks statusline: one line from what the last boot came to, cheap enough for a host that asks at every turn."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from tests.cli.hands import Kept, git, said, within
from tests.conftest import environment

from indelible import settings
from indelible.state import glance

if TYPE_CHECKING:
    from pathlib import Path

LAWS = "# Laws\n\n- 승인 없이 push 하지 않는다\n".encode()


@pytest.fixture
def woken(repo: Kept, monkeypatch: pytest.MonkeyPatch) -> Kept:
    """A repository with a governance, a program counter and MEMORY.md, which was booted."""
    monkeypatch.chdir(repo.work)
    for name, content in (("00_governance.md", LAWS), ("99_next_action.md", NEXT)):
        if not (repo.work / ".indelible" / "state" / name).exists():
            assert within("state", "write", name, str(repo.file("slot", content))) == 0
    (repo.work / "slot").unlink(missing_ok=True)
    assert repo.run("boot").code == 0
    return repo


NEXT = b"- Current Target: 3\n- Last Completed Step: 2\n- Next Permitted Action: run the tests\n\n- [x] plan\n- [ ] tests\n"


def line(kept: Kept, stdin: object = None, cwd: Path | None = None) -> str:
    ran = kept.run("hooks", "statusline", input=json.dumps(stdin) if stdin is not None else b"", cwd=cwd)
    assert (ran.code, ran.err) == (0, ""), ran
    assert ran.out.count("\n") == 1
    return ran.out.rstrip("\n")


def test_it_counts_what_was_verified_held_and_touched_since(woken: Kept) -> None:
    assert line(woken) == "✅ indelible: 3 verified, 0 held, 0 stale"
    (woken.work / "MEMORY.md").write_bytes(b"changed\n")
    slot = woken.work / ".indelible" / "state" / "99_next_action.md"
    slot.unlink()
    assert line(woken) == "⚠️ indelible: 3 verified, 0 held, 2 stale"
    document = said(woken.run("hooks", "statusline", "--json"))
    assert (document["slug"], document["state"], document["verified"], document["stale"]) == (
        "statusline",
        "booted",
        3,
        2,
    )


def test_an_alarm_is_shown_until_a_boot_is_clean_again(woken: Kept) -> None:
    slot = woken.work / ".indelible" / "state" / "00_governance.md"
    slot.chmod(0o644)
    slot.write_bytes(b"# Laws\n\n- push at will\n")
    assert "1 stale" in line(woken)
    assert woken.run("boot").code == 2
    assert line(woken).startswith("❌ indelible: tampered: slot-edited 00_governance.md")


def test_a_scar_that_the_gate_holds_is_counted(woken: Kept) -> None:
    woken.save("scar", b"The retry hid the error.\n", "--kind", "failure", "--origin", "tool")
    assert woken.run("boot").code == 0
    assert ", 1 held, " in line(woken)


def test_where_there_was_no_boot_it_says_so(repo: Kept) -> None:
    assert line(repo) == "⚠️ indelible: not booted here ('indelible boot')"
    assert line(repo, cwd=repo.home) == line(repo)


def test_the_folder_is_the_one_that_the_host_tells(woken: Kept) -> None:
    elsewhere = woken.home
    here = str(woken.work)
    named: list[object] = [
        {"workspace": {"current_dir": here}},
        {"cwd": here},
        {"cwd": "/", "workspace": {"current_dir": here}},
    ]
    for told in named:
        assert "3 verified" in line(woken, told, cwd=elsewhere)
    unnamed: list[object] = [{}, [], {"cwd": 7}, {"workspace": []}, {"cwd": "/gone/away"}]
    for told in unnamed:
        assert "not booted" in line(woken, told, cwd=elsewhere)
    ran = woken.run("hooks", "statusline", input=b"\xff{no json", cwd=woken.work)
    assert "3 verified" in ran.out


def test_settings_that_are_broken_are_said_in_one_line(woken: Kept) -> None:
    (woken.work / ".indelible" / "config.toml").write_text("agent = ", encoding="utf-8")
    assert line(woken).startswith("⚠️ indelible: ")


def test_a_worktree_has_a_line_of_its_own(woken: Kept) -> None:
    git(woken.work, "worktree", "add", "-q", str(woken.home / "tree"))
    assert "not booted" in line(woken, cwd=woken.home / "tree")


def test_the_cache_is_written_only_where_it_says_something_new(woken: Kept) -> None:
    found = settings.load(woken.work)
    folder = os.path.join(found.state_dir, "glances")
    (path,) = [os.path.join(folder, name) for name in os.listdir(folder)]
    before = os.stat(path)
    assert woken.run("boot").code == 0
    assert os.stat(path).st_mtime_ns == before.st_mtime_ns
    for content in (
        b"",
        b"[]",
        b"{",
        b'{"slug": 1}',
        b'{"slug":"booted","verified":"x","held":0,"said":"","stamps":[]}',
    ):
        with open(path, "wb") as file:
            file.write(content)
        assert glance.last(found.state_dir, str(found.boot.directory)) is None
        assert "not booted" in line(woken)
    assert woken.run("boot").code == 0
    assert "3 verified" in line(woken)


def test_it_costs_little_more_than_the_start_of_python(woken: Kept) -> None:
    def seconds(*words: str) -> float:
        begun = time.perf_counter()
        subprocess.run(
            [sys.executable, *words],
            check=True,
            capture_output=True,
            cwd=woken.work,
            env=environment(),
            stdin=subprocess.DEVNULL,
        )
        return time.perf_counter() - begun

    pairs = [(seconds("-c", "pass"), seconds("-m", "indelible", "hooks", "statusline")) for _ in range(15)]
    bare, line_ = (sorted(times)[len(times) // 2] for times in zip(*pairs, strict=True))
    assert line_ < 6 * bare, "measured at 3.7; a shared machine is slower"
