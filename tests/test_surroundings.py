"""Where a process stands, as time goes by: commits beside an open memory, rules of retention, another reader."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from indelible import open_memory
from indelible.errors import HeldError, UsageError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def here(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a commit, which the library's memory is opened in."""
    folder = home / "work"
    git(folder, "init", "-q")
    git(folder, "remote", "add", "origin", "https://git.example.org/demo/app.git")
    (folder / "setup.py").write_text("one")
    commit(folder, "one")
    monkeypatch.chdir(folder)
    return folder


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def commit(folder: Path, text: str) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", text)


def indelible(*words: str, stdin: bytes = b"note") -> None:
    subprocess.run([sys.executable, "-m", "indelible", *words], input=stdin, check=True, capture_output=True)


def test_an_open_memory_sees_the_commit_that_is_made_beside_it(here: Path) -> None:
    indelible("init")
    indelible("save", "k", "--scope", "repo", "--anchor", "setup.py")
    with open_memory() as memory:
        assert memory.load("k").verdict is not None
        first = memory.judge("k").context.place.revision
        (here / "setup.py").write_text("two")
        commit(here, "two")
        with pytest.raises(HeldError) as held:
            memory.load("k")
        assert [reason["slug"] for reason in held.value.facts["reasons"]] == ["anchor-changed"]  # type: ignore[attr-defined]
        assert memory.judge("k").context.place.revision == git(here, "rev-parse", "HEAD") != first


def test_an_open_memory_sees_another_branch(here: Path) -> None:
    indelible("init")
    branch = git(here, "symbolic-ref", "--short", "HEAD")
    indelible("save", "k", "--scope", f"branch:{branch}")
    with open_memory() as memory:
        memory.load("k")
        git(here, "checkout", "-qb", "other")
        assert memory.judge("k").verdict.slugs == ("scope",)


def test_what_the_rules_keep_no_longer_is_held_though_nothing_was_erased(here: Path) -> None:
    indelible("init")
    indelible("save", "k", "--kind", "observation")
    (here / ".indelible" / "retention.toml").write_text('[[content]]\nkind = "observation"\nexpire_after = "1m"\n')
    with open_memory() as memory:
        assert not memory.judge("k").verdict.held
        memory._clock = lambda: "2126-01-01T00:00:00Z"
        assert memory.judge("k").verdict.slugs == ("retention-over",)
        assert memory.fetch("k").content == b"note"


def test_rules_that_are_not_well_formed_are_said_and_nothing_is_handed_over(here: Path) -> None:
    indelible("init")
    indelible("save", "k")
    (here / ".indelible" / "retention.toml").write_text("[[content]]\nexpire_after = 5\n")
    with open_memory() as memory, pytest.raises(UsageError, match="expire_after"):
        memory.load("k")


def test_another_reader_is_given_what_is_shared_and_nothing_else(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    indelible("init")
    indelible("save", "own", "--scope", "repo")
    indelible("save", "shared", "--scope", "repo", "--visibility", "shared")
    monkeypatch.setitem(os.environ, "INDELIBLE_READER", "rudex")
    with open_memory() as memory:
        assert memory.load("shared").content == b"note"
        assert memory.judge("own").verdict.slugs == ("permission",)


def test_an_approval_where_the_files_cannot_be_seen_binds_nothing(here: Path, tmp_path: Path) -> None:
    """Else whatever else cannot be seen would be what was approved: a folder, a pipe, a link out of the repository."""
    indelible("init")
    indelible("save", "k", "--anchor", "setup.py")
    store = str(here / ".indelible" / "store.db")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    indelible("key", "create", "kim", "--role", "reviewer", "--unprotected")
    subprocess.run(
        [sys.executable, "-m", "indelible", "--store", store, "review", "approve", "k"],
        cwd=elsewhere,
        check=True,
        capture_output=True,
    )
    with open_memory() as memory:
        assert memory.judge("k").subject.review.anchors == ""
        (here / "setup.py").unlink()
        (here / "setup.py").symlink_to("/etc/passwd")
        assert memory.judge("k").verdict.slugs == ("anchor-outside",)


def test_an_approval_of_a_file_that_is_gone_is_none_of_what_lies_in_its_place(here: Path) -> None:
    indelible("init")
    indelible("save", "k", "--anchor", "setup.py")
    indelible("key", "create", "kim", "--role", "reviewer", "--unprotected")
    (here / "setup.py").unlink()
    indelible("review", "approve", "k")
    with open_memory() as memory:
        assert not memory.judge("k").verdict.held
        (here / "setup.py").mkdir()
        assert memory.judge("k").verdict.held


def test_a_folder_that_became_a_link_is_seen_by_an_open_memory(here: Path, tmp_path: Path) -> None:
    indelible("init")
    (here / "d").mkdir()
    (here / "d" / "f.txt").write_text("one")
    indelible("save", "k", "--anchor", "d/f.txt")
    with open_memory() as memory:
        assert not memory.judge("k").verdict.held
        (here / "d").rename(tmp_path / "d")
        (here / "d").symlink_to(tmp_path / "d")
        assert memory.judge("k").verdict.slugs == ("anchor-outside",)


def test_a_settings_file_cannot_switch_the_gate_off(here: Path) -> None:
    indelible("init")
    indelible("save", "k", "--origin", "external")
    config = here / ".indelible" / "config.toml"
    before = config.read_text()
    for policy in ("clock-sane", "understood", "not-expired"):
        config.write_text(f'policy = "{policy}"\n{before}')
        with open_memory() as memory:
            assert "origin-unreviewed" in memory.judge("k").verdict.slugs
    for policy in ("lifecycle", "unsafe-deliver-all"):
        config.write_text(f'policy = "{policy}"\n{before}')
        with pytest.raises(UsageError, match="lets almost everything through"):
            open_memory()


def test_a_branch_that_is_called_by_a_secret_is_not_kept_by_the_deliveries(here: Path) -> None:
    indelible("init")
    indelible("save", "k")
    secret = "ghp_" + "Zz09" * 9
    git(here, "checkout", "-qb", f"x/{secret}")
    with open_memory() as memory:
        memory.load("k")
    kept = [path for path in here.parent.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]
    assert not [path for path in kept if ".git" not in path.parts]
