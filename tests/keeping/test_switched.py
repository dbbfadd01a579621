"""The reader moved to where nothing is sealed: other laws were adopted there, and the next boot called them verified."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest
from tests.cli.hands import within
from tests.keeping.desks import LAW, STATE_OK, Desk

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Run

MINE = b"# Governance\nEverything is allowed.\n"


def config(text: str) -> Callable[[Desk], object]:
    return lambda desk: (desk.work / ".indelible" / "config.toml").write_text(text)


def another_directory(desk: Desk) -> None:
    config('[state]\nname = "x"\ndirectory = "notes"\n')(desk)
    (desk.work / "notes").mkdir()
    (desk.work / "notes" / LAW).write_bytes(MINE)


MOVES: dict[str, Callable[[Desk], object]] = {
    "another agent and namespace": config('agent = "eros"\n[state]\nname = "x"\n'),
    "another agent": config('agent = "psyche"\n'),
    "another team": config('team = "psyche"\n'),
    "another namespace": config('[state]\nname = "x"\n'),
    "another store": config('store = ".indelible/other.db"\n'),
    "another directory and namespace": another_directory,
}


@pytest.mark.parametrize("move", MOVES)
def test_other_laws_were_adopted_where_the_reader_was_moved_to(desk: Desk, move: str) -> None:
    assert within("boot") == 0
    kept = (desk.work / ".indelible" / "config.toml").read_text()
    MOVES[move](desk)
    desk.overwrite(LAW, MINE)
    for words in (
        ("boot",),
        ("state", "check"),
        ("state", "init"),
        ("state", "adopt"),
        ("state", "write", "40_x.md"),
        ("init",),
        ("boot",),
    ):
        assert desk.tell(*words, content=b"x\n").code == 2, words
    assert desk.tell("init", "--anew").code in (2, 64)
    told = desk.run("boot", "--json")
    assert [one["slug"] for one in told.json["findings"]] == ["state-switched"]
    assert "--switch" in told.json["remedy"]
    assert "allowed" not in told.out
    assert not (desk.work / ".indelible" / "other.db").exists()
    (desk.work / ".indelible" / "config.toml").write_text(kept)
    assert desk.check() == ["slot-edited"]


def test_the_settings_file_that_named_the_agent_was_deleted(home: object, run: Run, bare: Desk) -> None:
    del home
    other = bare.home / "second"
    other.mkdir()
    (other / ".git").mkdir()
    os.chdir(other)
    assert run("init", "--agent", "eros", cwd=other).code == 0
    assert run("boot", cwd=other).code == 0
    (other / ".indelible" / "config.toml").unlink()
    told = run("boot", "--json", cwd=other)
    assert (told.code, told.json["findings"][0]["slug"]) == (2, "state-switched")
    assert "'eros'" in told.json["findings"][0]["text"]
    assert run("state", "adopt", cwd=other).code == 2
    assert run("boot", "--agent", "eros", cwd=other).code == 0


def test_whose_a_directory_is_changes_at_a_terminal_only(desk: Desk) -> None:
    assert within("boot") == 0
    config('[state]\nname = "x"\n')(desk)
    for verb in ("init", "adopt"):
        refused = desk.tell("state", verb, "--switch", content=b"y\n")
        assert refused.code == 1, refused
        assert "terminal" in refused.err
    assert within("boot") == 2


@pytest.mark.skipif(os.name == "nt", reason="a terminal of our own")
def test_a_person_switches_and_the_laws_are_adopted_under_the_new_name(desk: Desk) -> None:
    import pty

    assert within("boot") == 0
    config('[state]\nname = "x"\n')(desk)
    main, end = pty.openpty()
    os.write(main, b"y\n")
    ran = desk.run_with(end, "state", "adopt", "--switch")
    os.close(main)
    os.close(end)
    assert ran == 0
    assert within("boot") == 0
    assert desk.exit_of_check() == 0
    (desk.work / ".indelible" / "config.toml").write_text("")
    assert within("boot") == 2


def test_the_whole_folder_was_removed_and_nothing_was_ever_sealed(home: object, run: Run, bare: Desk) -> None:
    del home
    other = bare.home / "second"
    other.mkdir()
    (other / ".git").mkdir()
    assert run("init", "--agent", "eros", cwd=other).code == 0
    assert run("boot", cwd=other).code == 0
    shutil.rmtree(other / ".indelible")
    told = run("boot", "--json", cwd=other)
    assert (told.code, told.json["findings"][0]["slug"]) == (2, "missing")
    for agent in ("eros", "eros3", "default"):
        begun = run("init", "--agent", agent, cwd=other)
        assert begun.code == 2, agent
        assert "--anew" in begun.err
        assert not (other / ".indelible" / "store.db").exists()
    assert run("init", "--agent", "eros", "--anew", cwd=other).code == 0
    assert run("boot", cwd=other).code == 0


def test_the_folder_of_an_agent_without_slots_was_removed_and_another_one_began(run: Run, bare: Desk) -> None:
    plain = bare.home / "plain"
    plain.mkdir()
    store = str(plain / "store.db")
    assert run("save", "note", "--store", store, "--agent", "eros", input=b"x\n", cwd=plain).code in (0, 3)
    assert run("init", "--store", store, "--agent", "eros", cwd=plain).code == 0
    assert run("save", "note", "--store", store, "--agent", "eros", input=b"x\n", cwd=plain).code == 0
    os.unlink(store)
    assert run("init", "--store", store, "--agent", "eros3", cwd=plain).code == 2


def test_the_repository_that_the_laws_were_sealed_for_became_none(desk: Desk) -> None:
    assert within("boot") == 0
    shutil.rmtree(desk.work / ".git")
    assert within("boot") == 0, "it was initialised, and so is found without git"
    shutil.rmtree(desk.work / ".indelible")
    told = desk.run("boot", "--json")
    assert (told.code, told.json["findings"][0]["slug"]) == (2, "missing")


def test_an_agent_with_a_directory_of_its_own_shares_the_checkout(desk: Desk) -> None:
    assert within("boot") == 0
    own = {"INDELIBLE_AGENT": "psyche", "INDELIBLE_STATE_DIR": str(desk.work / ".indelible" / "psyche")}
    assert desk.run("state", "init", env=own).code == 0
    assert desk.run("boot", env=own).code == 0
    assert within("boot") == 0
    assert desk.file(LAW).read_bytes() == STATE_OK[LAW]
