"""init, adopt and doctor."""

from __future__ import annotations

import os
import re
import shutil
import stat
from typing import TYPE_CHECKING

import pytest
from tests.cli.hands import FIRST, Kept, ended, git, refused, said, sha256, start, tree

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Run


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_init_outside_a_repository_makes_a_store_in_the_data_folder_and_a_key(home: Path, run: Run) -> None:
    ran = run("init")
    assert ran.code == 0
    store = home / "data" / "indelible" / "store.db"
    assert str(store) in ran.out
    assert re.search(r"indelible/local/default\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44}", ran.out)
    assert "indelible adopt" in ran.out, "a newcomer is told what comes next"
    assert not tree(home / "work"), "nothing is left in the working folder"


@pytest.mark.parametrize("laws", [False, True])
def test_of_two_inits_at_once_one_makes_the_store_and_the_other_finds_it(home: Path, laws: bool) -> None:
    """One of them ended with 6: the laws were written already."""
    (home / "laws.md").write_text("# Laws\n\n- none\n", encoding="utf-8")
    words = ("--governance", str(home / "laws.md")) if laws else ()
    for number in range(4):
        work = home / f"work {number}"
        work.mkdir()
        git(work, "init", "-q")
        both = [start("init", *words, "--json", cwd=work) for _ in range(3)]
        documents = [said(ended(one)) for one in both]
        assert [document["exit_code"] for document in documents] == [0, 0, 0]
        assert sorted(document["fresh"] for document in documents) == [False, False, True]
        assert sum(document["governance"] is not None for document in documents) == 1
        assert len({document["vkey"] for document in documents}) == 1
        assert said(ended(start("boot", "--json", cwd=work)))["slug"] == "booted"


def test_init_twice_changes_nothing(home: Path, run: Run) -> None:
    first = said(run("init", "--json"))
    keys = tree(home / "config" / "indelible" / "keys")
    second = said(run("init", "--json"))
    assert (first["fresh"], second["fresh"]) == (True, False)
    assert first["vkey"] == second["vkey"]
    assert tree(home / "config" / "indelible" / "keys") == keys


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_everything_that_init_makes_is_the_users_alone(home: Path, run: Run) -> None:
    assert run("init").code == 0
    assert run("save", "k", input="x").code == 0
    assert run("load", "k").code == 0
    for top in ("config", "state", "data"):
        for parent, _, files in os.walk(home / top / "indelible"):
            assert os.stat(parent).st_mode & 0o077 == 0, parent
            for name in files:
                assert os.stat(os.path.join(parent, name)).st_mode & 0o077 == 0, os.path.join(parent, name)


def test_init_in_a_repository_puts_the_store_at_its_top_and_out_of_git(home: Path, run: Run) -> None:
    work = home / "work"
    git(work, "init", "-q")
    (work / "deep" / "er").mkdir(parents=True)
    assert run("init", cwd=work / "deep" / "er").code == 0
    assert (work / ".indelible" / "store.db").is_file()
    assert git(work, "status", "--porcelain", "--untracked-files=all") == "?? .indelible/config.toml"
    assert run("init").code == 0
    exclude = (work / ".git" / "info" / "exclude").read_text(encoding="utf-8")
    assert exclude.count("/.indelible/*") == 1


def test_a_worktree_shares_the_store_of_its_repository(repo: Kept) -> None:
    other = repo.home / "other"
    git(repo.work, "worktree", "add", "-q", str(other))
    assert repo.run("load", "MEMORY.md", cwd=other).stdout == FIRST
    assert not (other / ".indelible").exists()


def test_init_with_a_store_that_is_a_server_says_where_to_run_it(run: Run) -> None:
    refused(run("init", "--store", "http://127.0.0.1:1"), 64, "server")


def test_init_does_not_quietly_replace_a_store_that_this_reader_knows(kept: Kept) -> None:
    kept.remove()
    refused(kept.run("init"), 2, "gone", "indelible init --anew")
    assert not kept.store.exists()
    refused(kept.run("verify", "MEMORY.md"), 2, "gone")
    refused(kept.run("save", "MEMORY.md", input=b"x"), 2, "gone")


def test_a_lost_store_can_be_given_up_on_purpose(kept: Kept) -> None:
    kept.remove()
    assert kept.run("init", "--anew").code == 0
    kept.save("MEMORY.md", b"anew\n")
    ran = kept.run("verify", "MEMORY.md")
    assert (ran.code, ran.err) == (0, "")
    assert kept.run("audit").code == 0


def test_init_anew_leaves_a_store_that_is_there_alone(kept: Kept) -> None:
    kept.run("init", "--anew")
    assert kept.load("MEMORY.md") == FIRST


# adopt


def lay_out(work: Path, home: Path) -> Path:
    """A project as Claude Code leaves it: files in the repository, and its own notes in the user's home."""
    git(work, "init", "-q")
    (work / "MEMORY.md").write_bytes(FIRST)
    (work / "CLAUDE.md").write_bytes(b"rules\r\n")
    folder = home / ".claude" / "projects" / re.sub(r"[^A-Za-z0-9]", "-", str(work)) / "memory"
    (folder / "topics").mkdir(parents=True)
    (folder / "MEMORY.md").write_bytes(b"- [Debugging](topics/debugging.md)\n")
    (folder / "topics" / "debugging.md").write_bytes(b"look at the -wal\n")
    (folder / "notes.txt").write_bytes(b"not Markdown\n")
    return folder


def test_adopt_takes_in_what_agents_left_in_one_command(home: Path, run: Run) -> None:
    work = home / "work"
    lay_out(work, home)
    ran = run("adopt")
    assert ran.code == 0, ran.err
    listed = {item["key"]: item["sha256"] for item in said(run("list", "--json"))["memories"]}
    assert listed.pop("state/00_governance.md"), "the laws of the state directory"
    assert listed == {
        "CLAUDE.md": sha256(b"rules\r\n"),
        "MEMORY.md": sha256(FIRST),
        "memory/MEMORY.md": sha256(b"- [Debugging](topics/debugging.md)\n"),
        "memory/topics/debugging.md": sha256(b"look at the -wal\n"),
    }
    assert run("verify", "MEMORY.md", "MEMORY.md").code == 0
    assert (work / "MEMORY.md").read_bytes() == FIRST, "the files stay as they are"


def test_adopting_again_takes_only_what_changed(home: Path, run: Run) -> None:
    lay_out(home / "work", home)
    assert run("adopt").code == 0
    again = said(run("adopt", "--json"))
    assert [item["adopted"] for item in again["memories"]] == [False] * 4
    (home / "work" / "CLAUDE.md").write_bytes(b"more rules\n")
    changed = said(run("adopt", "--json", cwd=home / "work"))
    assert [item["key"] for item in changed["memories"] if item["adopted"]] == ["CLAUDE.md"]
    how = [entry["how"] for entry in said(run("history", "--json", "CLAUDE.md"))["entries"]]
    assert how == ["imported", "imported"]


def test_adopt_takes_the_files_and_folders_that_are_named(home: Path, run: Run) -> None:
    notes = home / "notes"
    (notes / "deep").mkdir(parents=True)
    for name in ("b.md", "a.md", "deep/c.md", ".hidden.md", "d.txt"):
        (notes / name).write_bytes(name.encode())
    ran = run("adopt", "--json", notes, home / ".gitconfig")
    assert [item["key"] for item in said(ran)["memories"]] == [
        "notes/.hidden.md",
        "notes/a.md",
        "notes/b.md",
        "notes/deep/c.md",
        ".gitconfig",
    ]


def test_an_adopted_file_can_be_restored_from_git(home: Path, run: Run) -> None:
    work = home / "work"
    lay_out(work, home)
    git(work, "remote", "add", "origin", "https://git.example.org/team/notes.git")
    git(work, "add", "MEMORY.md")
    git(work, "commit", "-qm", "first")
    assert run("adopt").code == 0
    Kept(run, home, work, work / ".indelible" / "store.db").alter()
    assert run("load", "MEMORY.md").code == 2
    assert run("restore", "MEMORY.md", "--from-git").code == 0
    assert run("load", "MEMORY.md").stdout == FIRST


def test_adopt_does_not_follow_links(home: Path, run: Run) -> None:
    work = home / "work"
    (home / "secret.md").write_bytes(b"secret")
    (work / "MEMORY.md").write_bytes(FIRST)
    (work / "CLAUDE.md").symlink_to(home / "secret.md")
    ran = run("adopt", "--json")
    assert [item["key"] for item in said(ran)["memories"]] == ["MEMORY.md"]
    refused(run("adopt", "CLAUDE.md"), 64, "link", str(home / "secret.md"))


def test_adopt_says_that_a_link_was_passed_over(home: Path, run: Run) -> None:
    work = home / "work"
    (work / "AGENTS.md").write_bytes(b"rules\n")
    (work / "CLAUDE.md").symlink_to("AGENTS.md")
    ran = run("adopt")
    assert ran.code == 0
    assert "CLAUDE.md" in ran.err
    assert "link" in ran.err


@pytest.mark.parametrize("named", ["nowhere.md", "empty"])
def test_adopt_with_nothing_to_take_says_so(home: Path, run: Run, named: str) -> None:
    (home / "work" / "empty").mkdir()
    ran = run("adopt", named)
    assert ran.code in (3, 64)
    assert named in ran.err
    refused(run("adopt"), 3, "Name the files")
    assert not (home / "data").exists(), "nothing was made for nothing"


def test_adopting_an_emptied_file_over_a_full_memory_needs_to_be_said(kept: Kept) -> None:
    kept.file("MEMORY.md", b"")
    kept.file("AGENTS.md", b"rules\n")
    ran = kept.run("adopt", "--json")
    assert ran.code == 6
    assert {item["key"]: item["adopted"] for item in said(ran)["memories"]} == {"MEMORY.md": False, "AGENTS.md": True}
    assert kept.load("MEMORY.md") == FIRST
    assert kept.load("AGENTS.md") == b"rules\n", "the others were taken in"


def test_adopt_takes_bytes_that_are_no_text(home: Path, run: Run) -> None:
    (home / "work" / "GEMINI.md").write_bytes(b"\xff\xfe\x00")
    assert run("adopt").code == 0
    assert run("load", "GEMINI.md").stdout == b"\xff\xfe\x00"


# doctor


def test_doctor_of_a_healthy_store_has_no_complaint(kept: Kept) -> None:
    ran = kept.run("doctor", "--json")
    assert {finding["state"] for finding in said(ran)["findings"]} == {"good"}, ran.out
    assert ran.code == 0
    plain = kept.run("doctor")
    assert plain.code == 0
    assert "1 memory" in plain.out


def test_doctor_before_init_says_what_to_do_and_makes_nothing(home: Path, run: Run) -> None:
    ran = run("doctor")
    assert ran.code == 0
    assert "indelible init" in ran.out
    assert not (home / "data").exists()
    assert not (home / "config").exists()


def test_doctor_names_a_tampered_memory_and_leaves_with_2(kept: Kept) -> None:
    kept.alter()
    ran = kept.run("doctor")
    assert ran.code == 2, "a failed check has the code of tampering whichever verb finds it"
    assert "MEMORY.md" in ran.out
    assert ran.out.count("indelible incident") == 1


def test_doctor_calls_a_store_that_is_gone_what_boot_calls_it(kept: Kept) -> None:
    """A store that was read here is missing, and not one that was never made: 'init' is no remedy."""
    for end in ("", "-wal", "-shm"):
        kept.store.with_name(kept.store.name + end).unlink(missing_ok=True)
    ran = kept.run("doctor", "--json")
    assert ran.code == 2
    (found,) = [one for one in said(ran)["findings"] if one["slug"] == "tampered"]
    assert "is gone" in found["text"]
    assert "indelible incident" in found["remedy"]
    assert "Run 'indelible init'" not in kept.run("doctor").out


BROKEN = [("[boot\n", "not TOML"), ("budget = 1\n", "budget"), ('secrets = "allow"\n', "secrets")]


@pytest.mark.parametrize(("text", "said_of_it"), BROKEN)
@pytest.mark.parametrize("verb", [("doctor",), ("hooks", "status")])
def test_broken_settings_do_not_keep_the_last_failure_of_a_hook_from_being_seen(
    repo: Kept, verb: tuple[str, ...], text: str, said_of_it: str
) -> None:
    """The gate's own words send people to 'indelible doctor'."""
    log = repo.home / "state" / "indelible" / "hooks.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    line = f"2026-11-30T14:00:33Z codex PreToolUse ({repo.work}/sub) usage: the settings are broken\n"
    log.write_text(line, encoding="utf-8")
    with (repo.store.parent / "config.toml").open("a", encoding="utf-8") as file:
        file.write(text)
    ran = repo.run(*verb)
    assert ran.code == 1
    assert said_of_it in ran.out
    assert "config.toml" in ran.out
    assert "the last hook that failed here: 2026-11-30T14:00:33Z codex PreToolUse" in ran.out
    document = said(repo.run(*verb, "--json"))
    assert document["exit_code"] == 1
    assert "codex PreToolUse" in str(document)


def test_a_variable_of_ours_that_is_off_is_found_by_the_doctor_too(repo: Kept) -> None:
    ran = repo.run("doctor", env={"INDELIBLE_REQUIRE_PIN": "perhaps"})
    assert ran.code == 1
    assert "INDELIBLE_REQUIRE_PIN is neither 1 nor 0" in ran.out


def test_an_option_that_is_off_is_still_a_wrong_use(repo: Kept) -> None:
    refused(repo.run("doctor", "--agent", ""), 64, "The name of the agent")


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_doctor_names_a_file_that_others_can_write(kept: Kept) -> None:
    kept.store.chmod(0o666)
    ran = kept.run("doctor")
    assert "chmod 600" in ran.out
    assert str(kept.store) in ran.out


def test_doctor_names_a_pin_that_was_lost(kept: Kept) -> None:
    kept.lose_pin()
    ran = kept.run("doctor")
    assert ran.code == 1
    assert "indelible pin set" in ran.out


def test_doctor_names_a_key_that_is_damaged(kept: Kept) -> None:
    for path in (kept.home / "config" / "indelible" / "keys").glob("*.key"):
        path.write_bytes(b"garbage")
    ran = kept.run("doctor")
    assert ran.code == 1
    assert "key" in ran.out


def test_doctor_says_that_a_server_does_not_answer(run: Run) -> None:
    ran = run("doctor", "--store", "http://127.0.0.1:1", env={"INDELIBLE_API_KEY": "x" * 20})
    assert ran.code == 1
    assert "127.0.0.1:1" in ran.out


def test_doctor_changes_nothing(kept: Kept) -> None:
    before = tree(kept.home)
    assert kept.run("doctor").code == 0
    after = tree(kept.home)
    for name, data in before.items():
        if not name.endswith("-shm"):
            assert after[name] == data, name


def test_a_store_that_moved_with_its_repository_is_a_first_look_and_says_so(repo: Kept) -> None:
    moved = repo.home / "moved"
    shutil.move(repo.work, moved)
    repo.work.mkdir()
    ran = repo.run("verify", "MEMORY.md", cwd=moved)
    assert ran.code == 0
    assert "rollback not checked" in ran.err
