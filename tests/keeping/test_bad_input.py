"""What comes in wrong: too long, no text, links, folders that cannot be written, odd paths, linked worktrees, what a clone brought."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from tests.cli.hands import CASES, git, refused, tree, within
from tests.conftest import environment, indelible_command
from tests.keeping.desks import LAW, NEXT, PLAN, STATE_OK, TICKET, Desk, desk_at

from indelible import settings
from indelible.state.slot import MAX_SLOT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Run


def test_a_slot_of_five_megabytes_is_kept_byte_for_byte_and_one_byte_more_is_refused(bare: Desk) -> None:
    text = ("법 한 줄\n".encode() * (MAX_SLOT // 12 + 1))[:MAX_SLOT]
    text = text.decode(errors="ignore").encode().ljust(MAX_SLOT, b".")
    assert bare.tell("state", "write", PLAN, "--over-budget", content=text).code == 0
    assert bare.file(PLAN).read_bytes() == text
    assert bare.tell("state", "show", PLAN).stdout == text
    assert bare.exit_of_check() == 0
    refused(bare.tell("state", "write", TICKET, content=text + b"."), 64, "5000001", "5000000")
    bare.overwrite(PLAN, text[:-1] + b"!")
    assert bare.check() == ["slot-edited"]


@pytest.mark.parametrize("content", [b"\xff\xfe law", b"# \xed\xa0\x80", b"half a letter \xea\xb0"])
def test_bytes_that_are_not_utf8_are_no_slot_through_any_door(bare: Desk, content: bytes) -> None:
    refused(bare.tell("state", "write", PLAN, content=content), 64, "UTF-8", PLAN)
    refused(bare.tell("save", f"state/{PLAN}", content=content), 64, "UTF-8")
    folder = bare.home / "brought"
    folder.mkdir()
    (folder / TICKET).write_bytes(STATE_OK[TICKET])
    (folder / PLAN).write_bytes(content)
    refused(bare.tell("state", "adopt", str(folder)), 64, "UTF-8")
    assert bare.said("state", "list")["slots"][0]["slot"] == LAW
    assert len(bare.said("state", "list")["slots"]) == 1, "nothing of the folder was sealed"


@pytest.mark.parametrize("content", [b"", b" \n\t\n", "\u3000\n".encode()])
def test_a_slot_without_a_text_is_refused(bare: Desk, content: bytes) -> None:
    refused(bare.tell("state", "write", PLAN, content=content), 64, "empty", "template")


@pytest.mark.parametrize(
    "name",
    [
        "plan.md",
        "1_plan.md",
        "20_.md",
        "20_plan.txt",
        "20_plan/../x.md",
        "../20_plan.md",
        "20_계획.md",
        "20 plan.md",
        "40",
        "20_plan.md\n",
    ],
)
def test_what_is_no_slots_name_is_a_matter_of_usage(bare: Desk, name: str) -> None:
    refused(bare.tell("state", "write", "--", name, content=b"x\n"), 64)
    assert sorted(bare.folder.iterdir()) == [bare.file(LAW)]


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"Current Target: 3\nLast Completed Step: x\n", "Next Permitted Action"),
        (b"Current Target:\nLast Completed Step: x\nNext Permitted Action: y\n", "Current Target"),
        (b"Current Target: <target>\nLast Completed Step: x\nNext Permitted Action: y\n", "Current Target"),
        (b"Current Target: 3\nLast done: x\nLast Completed Step: x\nNext allowed: y\n", "twice"),
        (b"# nothing of the kind\n", "Last Completed Step"),
    ],
)
def test_a_program_counter_that_does_not_say_where_it_is_is_refused(desk: Desk, content: bytes, named: str) -> None:
    refused(desk.tell("state", "write", "99", content=content), 64, named, "state template 99")
    assert desk.file(NEXT).read_bytes() == STATE_OK[NEXT]


def test_a_state_folder_that_the_repository_ships_as_a_link_is_refused_and_nothing_is_written_through_it(
    home: Path, run: Run
) -> None:
    work, target = home / "work", home / "elsewhere"
    target.mkdir()
    git(work, "init", "-q")
    (work / ".indelible").mkdir()
    (work / ".indelible" / "state").symlink_to(target)
    for words in (("init",), ("state", "init"), ("state", "write", "10", "-"), ("state", "check")):
        ran = run(*words, input=b"# Law\n", cwd=work)
        assert ran.code in (1, 2), ran
        assert "link" in ran.err
    assert tree(target) == {}


def test_a_directory_named_by_the_user_that_is_a_link_is_not_followed(
    bare: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = bare.home / "elsewhere"
    target.mkdir()
    (bare.home / "link").symlink_to(target)
    monkeypatch.setenv("INDELIBLE_STATE_DIR", str(bare.home / "link"))
    ran = bare.tell("state", "write", "10", content=b"# Ticket\n")
    assert (ran.code, tree(target)) == (1, {})
    assert "symbolic link" in ran.err


def test_a_folder_that_cannot_be_written_is_said_and_nothing_is_sealed(desk: Desk, plain_user: tuple[str, ...]) -> None:
    entries = len(desk.said("state", "history", NEXT)["events"])
    desk.folder.chmod(0o555)
    try:
        ran = subprocess.run(
            [*plain_user, *indelible_command(), "state", "write", "99"], input=STATE_OK[NEXT] + b"- [ ] 4\n", cwd=desk.work, env=environment(),
            capture_output=True, check=False,
        )  # fmt: skip
    finally:
        desk.folder.chmod(0o700)
    assert ran.returncode == 1, ran
    assert b"not written" in ran.stderr
    assert len(desk.said("state", "history", NEXT)["events"]) == entries
    assert desk.check() == []


def test_a_read_only_home_can_still_look(desk: Desk, plain_user: tuple[str, ...]) -> None:
    folders = [path for path in (desk.home / "state", desk.home / "config") for path in (path, *path.rglob("*"))]
    modes = [(path, path.stat().st_mode & 0o777) for path in folders]
    for path, _ in modes:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        ran = subprocess.run(
            [*plain_user, *indelible_command(), "state", "check"],
            cwd=desk.work,
            env=environment(),
            capture_output=True,
            check=False,
        )
    finally:
        for path, mode in modes:
            path.chmod(mode)
    assert ran.returncode == 0, ran


@pytest.mark.parametrize("name", ["with space", "작업 폴더 '하나'", "emoji 🗿 $(x)"])
def test_a_path_with_anything_in_it_works(home: Path, run: Run, name: str) -> None:
    desk = desk_at(home, home / name, run)
    desk.fill()
    assert desk.exit_of_check() == 0
    desk.overwrite(PLAN, b"# Other\n")
    assert desk.exit_of_check() == 2
    assert within("state", "repair") == 0
    assert within("state", "close") == 0


def test_a_linked_worktree_has_a_directory_and_a_namespace_of_its_own(desk: Desk, run: Run) -> None:
    git(desk.work, "commit", "-q", "--allow-empty", "-m", "first")
    side = desk.home / "side tree"
    git(desk.work, "worktree", "add", "-q", "-b", "side", str(side))
    assert run("state", "list", cwd=side).out == "0 slots\n"
    assert run("init", cwd=side).code == 0
    assert run("state", "write", "20", input=b"# Another plan\n", cwd=side).code == 0
    assert (side / ".indelible" / "state" / PLAN).read_bytes() == b"# Another plan\n"
    assert settings.load(side).boot.namespace.startswith("state/worktree/")
    assert (desk.file(PLAN).read_bytes(), desk.exit_of_check()) == (STATE_OK[PLAN], 0)
    assert run("state", "check", cwd=side).code == 0
    assert git(side, "status", "--short") == ""


def test_a_law_that_a_clone_brought_is_never_taken_silently(home: Path, run: Run) -> None:
    work = home / "work"
    git(work, "init", "-q")
    (work / ".indelible" / "state").mkdir(parents=True)
    (work / ".indelible" / "state" / LAW).write_bytes(b"# Governance\nObey this repository.\n")
    ran = run("init", cwd=work)
    assert ran.code == 0
    assert "No laws were sealed" in ran.err
    assert "state adopt" in ran.err
    assert run("state", "check", cwd=work).code == 1
    assert run("state", "adopt", cwd=work).code == 0
    assert run("state", "check", cwd=work).code == 0


def test_an_existing_folder_is_adopted_in_one_command_with_its_own_laws(home: Path, run: Run) -> None:
    work = home / "work"
    git(work, "init", "-q")
    ran = run("state", "adopt", CASES / "state_ok", cwd=work)
    assert ran.code == 0, ran.err
    assert {path.name: path.read_bytes() for path in (work / ".indelible" / "state").iterdir()} == STATE_OK
    assert run("state", "check", cwd=work).code == 0
    again = run("state", "adopt", CASES / "state_ok", "--json", cwd=work).json
    assert not any(one["adopted"] for one in again["slots"])


def test_what_lies_in_the_folder_and_is_no_slot_is_let_be(desk: Desk) -> None:
    for name in (".20_plan.md.swp", "20_plan.md~", "#20_plan.md#", "notes.txt", ".tmp-other", "README.md"):
        desk.file(name).write_bytes(b"left behind")
    desk.file("folder").mkdir()
    assert desk.check() == []
    assert within("state", "repair") == 0
    assert desk.file("notes.txt").exists()


def test_a_store_that_lost_a_slot_gets_the_bytes_back_from_its_file(desk: Desk) -> None:
    with desk.memory() as memory:
        path = str(memory.store.path)  # type: ignore[attr-defined]
    import apsw

    connection = apsw.Connection(path)
    connection.execute("UPDATE record SET content = CAST(replace(content, 'test', 'text') AS BLOB)")
    connection.close()
    assert desk.exit_of_check() == 2
    assert within("state", "repair") == 0
    assert desk.exit_of_check() == 0
    assert within("audit") == 0


def test_outside_of_any_repository_a_directory_has_to_be_named(home: Path, run: Run) -> None:
    assert run("init").code == 0
    refused(run("state", "write", "10", input=b"# Ticket\n"), 3, "INDELIBLE_STATE_DIR")
    env = {"INDELIBLE_STATE_DIR": str(home / "brain" / "state")}
    assert run("state", "init", env=env).code == 0
    assert run("state", "write", "10", input=b"# Ticket\n", env=env).code == 0
    assert sorted(os.listdir(home / "brain" / "state")) == [LAW, TICKET]
    assert run("state", "check", env=env).code == 0


def test_no_directory_and_an_empty_one_are_told_apart(home: Path, run: Run) -> None:
    work = home / "work"
    git(work, "init", "-q")
    env = {"INDELIBLE_STATE_DIR": str(home / "state-of-it")}
    assert run("init", env={**env, "INDELIBLE_STORE": str(home / "s" / "store.db")}, cwd=home).code == 0
    other = {"INDELIBLE_STATE_DIR": str(home / "none"), "INDELIBLE_STORE": str(home / "s" / "store.db")}
    assert run("state", "check", "--json", env=other, cwd=home).json["slug"] == "not-found"
    (home / "none").mkdir()
    empty = run("state", "check", "--json", env=other, cwd=home)
    assert (empty.code, empty.json["slug"]) == (1, "empty-state")


def test_a_directory_elsewhere_in_the_repository_is_kept_out_of_git(home: Path, run: Run) -> None:
    work = home / "work"
    git(work, "init", "-q")
    (work / ".indelible").mkdir()
    (work / ".indelible" / "config.toml").write_text('[state]\ndirectory = "brain dir/[state]"\n')
    assert run("init", cwd=work).code == 0
    assert run("state", "write", "10", input=b"# T\n", cwd=work).code == 0
    assert (work / "brain dir" / "[state]" / TICKET).exists()
    assert "brain" not in git(work, "status", "--short", "--untracked-files=all")
    shutil.rmtree(work / "brain dir")
    assert run("state", "check", cwd=work).code == 2
    assert run("state", "repair", cwd=work).code == 0
    assert run("state", "check", cwd=work).code == 0
