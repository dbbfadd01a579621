"""Where a process stands, as time goes by: commits beside an open memory, rules of retention, another reader."""

from __future__ import annotations

import os
import subprocess
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
    subprocess.run(["indelible", *words], input=stdin, check=True, capture_output=True)


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
