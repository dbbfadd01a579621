"""The workflow file: in force only as the owner sealed it; anything else is exit 2, or a stranger's word."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.stepping.flows import HUMAN, step

from indelible.errors import DisciplineError
from indelible.memory.bound import WORKFLOW
from indelible.workflow.default import DEFAULT

if TYPE_CHECKING:
    from tests.stepping.flows import Place

MINE = step("build") + HUMAN


def test_init_writes_the_default_and_the_owner_seals_it(place: Place) -> None:
    assert place.flow("init").code != 0  # no passphrase, no terminal
    ran = place.flow("init", **place.secret())
    assert ran.code == 0, ran.err
    assert place.workflow_file.read_bytes() == DEFAULT.encode()
    assert place.flow("status", "--json").json["sealed"] is True
    assert place.flow("show").stdout == DEFAULT.encode()
    assert "already" in place.flow("init", **place.secret()).out


def test_an_edit_is_exit_2_until_the_owner_seals_it(place: Place) -> None:
    secret = place.secret()
    place.flow("init", **secret)
    place.workflow_file.write_text(MINE)
    for words in (("status",), ("next",), ("why", "5"), ("run", "build"), ("done", "3"), ("makefile",), ("show",)):
        ran = place.flow(*words)
        assert ran.code == 2, words
        assert "flow restore" in ran.err
    assert place.flow("status", "--json").json["slug"] == "workflow-altered"
    assert place.approve("5").code == 2
    assert place.flow("seal", **secret).code == 64
    assert place.flow("seal", "--reason", "our own steps", **secret).code == 0
    assert "build" in place.states()


def test_a_file_that_is_gone_is_exit_2_and_restore_brings_it_back(place: Place) -> None:
    place.flow("init", **place.secret())
    place.workflow_file.unlink()
    assert place.flow("status").code == 2
    assert place.flow("restore").code == 0
    assert place.workflow_file.read_bytes() == DEFAULT.encode()
    assert place.flow("status").code == 0


def test_restore_keeps_what_stood_there_aside(place: Place) -> None:
    place.flow("init", **place.secret())
    place.workflow_file.write_bytes(b"\xff not a workflow")
    assert place.flow("status").code == 2
    ran = place.flow("restore", "--json")
    assert Path(ran.json["aside"]).read_bytes() == b"\xff not a workflow"
    assert place.flow("status").code == 0


def test_a_file_that_was_never_sealed_is_a_strangers_word(place: Place) -> None:
    place.workflow_file.write_text(MINE)
    ran = place.flow("status")
    assert ran.code == 0
    assert "stranger" in ran.err
    assert "build" not in place.states()
    assert place.tell("boot").code == 0


def test_a_file_that_cannot_be_understood_is_not_sealed(place: Place) -> None:
    place.workflow_file.write_text("[guard\n")
    ran = place.flow("seal", "--reason", "x", **place.secret())
    assert ran.code == 64
    assert "line 1" in ran.err
    place.workflow_file.unlink()
    assert place.flow("seal", "--reason", "x", **place.secret()).code == 3


def test_boot_notices_a_workflow_that_was_altered(place: Place) -> None:
    place.flow("init", **place.secret())
    assert place.tell("boot").code == 0
    place.workflow_file.write_text(MINE)
    ran = place.tell("boot")
    assert ran.code == 2
    assert "workflow-altered" in ran.out
    place.workflow_file.unlink()
    assert place.tell("boot").code == 2
    place.workflow_file.mkdir()
    assert place.tell("boot").code == 2


def test_a_circle_is_exit_7_and_not_sealed(place: Place) -> None:
    place.workflow_file.write_text(step("a", "needs = ['b']") + step("b", "needs = ['a']") + HUMAN)
    ran = place.flow("seal", "--reason", "x", "--json", **place.secret())
    assert (ran.code, ran.json["slug"]) == (7, "graph-wrong")
    assert "a -> b -> a" in ran.json["message"]


def test_a_workflow_of_commands_alone_says_that_no_commit_needs_a_receipt(place: Place) -> None:
    secret = place.secret()
    place.workflow_file.write_text(MINE.removesuffix(HUMAN))
    ran = place.flow("seal", "--reason", "stamps alone", **secret)
    assert ran.code == 7
    assert 'receipt = ""' in ran.err
    place.workflow_file.write_text("[guard]\nreceipt = ''\n" + MINE.removesuffix(HUMAN))
    assert place.flow("seal", "--reason", "stamps alone", **secret).code == 0
    assert place.flow("run", "build").code == 0
    assert place.states() == {"build": "done"}
    ran = place.approve()
    assert ran.code == 64
    assert "no commit needs a receipt" in ran.err


@pytest.mark.skipif(os.name == "nt", reason="links")
@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_a_link_or_a_pipe_in_its_place_is_not_what_was_sealed(place: Place, kind: str) -> None:
    place.flow("init", **place.secret())
    elsewhere = place.home / "elsewhere.toml"
    place.workflow_file.rename(elsewhere)
    if kind == "link":
        place.workflow_file.symlink_to(elsewhere)
    else:
        os.mkfifo(place.workflow_file)
    for words in (("status",), ("next",), ("show",), ("run", "0")):
        ran = place.flow(*words, "--json")
        assert (ran.code, ran.json["slug"]) == (2, "workflow-altered"), words
        assert "flow restore" in ran.json["remedy"]
    assert place.approve("5").code == 2
    assert place.tell("boot").code == 2
    ran = place.flow("restore", "--json")
    assert ran.code == 0, ran.json
    assert place.workflow_file.read_bytes() == DEFAULT.encode()
    assert not place.workflow_file.is_symlink()
    assert os.path.lexists(ran.json["aside"])
    assert place.flow("status").code == 0


@pytest.mark.skipif(os.name == "nt", reason="links")
def test_a_link_that_nobody_sealed_is_refused_with_what_to_do(place: Place) -> None:
    place.workflow_file.symlink_to(place.home / "elsewhere.toml")
    ran = place.flow("status")
    assert ran.code != 0
    assert "--store" not in ran.err
    assert "Remove the link" in ran.err


def test_an_agent_cannot_seal_it_with_its_own_key(place: Place) -> None:
    place.flow("init", **place.secret())
    assert place.run("save", WORKFLOW, "-", input=MINE, cwd=place.work).code == 6
    with place.memory() as memory, pytest.raises(DisciplineError):
        memory.save(WORKFLOW, MINE.encode())
    with place.memory() as memory, pytest.raises(DisciplineError):
        memory.archive(WORKFLOW)


def test_a_version_that_was_written_past_this_program_is_not_in_force(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody with the agent's key and a program that keeps no discipline."""
    from indelible.memory import disciplining, writing

    place.flow("init", **place.secret())
    for module in (disciplining, writing):
        for name in ("refuse_save", "check_record"):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, lambda *_args, **_facts: None)
    with place.memory() as memory:
        memory.save(WORKFLOW, MINE.encode())
    place.workflow_file.write_text(MINE)
    ran = place.flow("status", "--json")
    assert (ran.code, ran.json["slug"]) == (2, "workflow-altered")


def test_it_is_part_of_the_change_that_a_human_looks_at(place: Place) -> None:
    """Git sees the file: an edit of it does not go unseen beside the code."""
    place.flow("init", **place.secret())
    ran = subprocess.run(
        ["git", "status", "--porcelain", "-uall"], cwd=place.work, capture_output=True, text=True, check=True
    )
    assert ".indelible/workflow.toml" in ran.stdout
