"""Two writers of one counter: the next action is the parent's, and a child's attempt to write it is refused."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest
from tests.conftest import environment, indelible_command

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Run
    from tests.forking.conftest import Place

NEXT = "Current Target: 3\\nLast Completed Step: 2\\nNext Permitted Action: none\\n- [ ] x\\n"
WRITE = f"printf '{NEXT}' | {' '.join(indelible_command())} state write 99"
OURS = " ".join(indelible_command())


def test_a_child_does_not_write_the_next_action_and_is_told_who_does(place: Place) -> None:
    ran = place.shell("child", WRITE, "--json")
    assert ran.json["exit"] == 6
    assert "whoever forked you" in " ".join(ran.json["summary"])
    assert place.run("state", "write", "99", input=NEXT.replace("\\n", "\n"), cwd=place.root).code == 0


@pytest.mark.parametrize("words", ["state close", "state amend 99 --reason x"])
def test_nor_does_it_end_the_ticket_or_amend_that_slot(place: Place, words: str) -> None:
    (place.root / "pass").write_text("a long enough passphrase, isn't it\n")
    os.chmod(place.root / "pass", 0o600)
    ran = place.shell(
        "child", f"printf '{NEXT}' | INDELIBLE_PASSPHRASE_FILE={place.root}/pass {OURS} {words}", "--json"
    )
    assert ran.json["exit"] == 6, ran
    assert place.run("state", "list", "--json", cwd=place.root).json["slots"][0]["slot"] == "00_governance.md"


def test_a_child_adds_to_what_only_grows(place: Place) -> None:
    ran = place.shell("critic", f"echo 'Round 1: rejected' | {OURS} state append 30", "--json")
    assert ran.json["exit"] == 0, ran


def test_a_child_that_works_on_another_repository_is_nobodys_child_there(place: Place, run: Run, home: Path) -> None:
    other = home / "work" / "other"
    other.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=other, env=environment(), check=True)
    assert run("init", cwd=other).code == 0
    assert place.shell("child", f"cd {other} && {WRITE}", "--json").json["exit"] == 0


def test_a_fork_within_a_fork_is_a_child_too(place: Place) -> None:
    ran = place.shell("outer", f'{OURS} fork inner -- sh -c "{WRITE.replace(chr(34), "")}"', "--json")
    assert place.record("inner")["exit"] == 6, ran


def test_a_childs_step_in_the_workflow_leaves_the_counter_to_its_parent(place: Place) -> None:
    before = place.run("state", "list", "--json", cwd=place.root).json["slots"]
    ran = place.shell("child", f"{OURS} flow next", "--json")
    assert ran.json["exit"] == 0, ran
    assert place.run("state", "list", "--json", cwd=place.root).json["slots"] == before
    assert place.run("flow", "next", cwd=place.root).code == 0
    assert len(place.run("state", "list", "--json", cwd=place.root).json["slots"]) == len(before) + 1
