"""A bypass is found at the next boot, and git is not started where nothing moved."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Run
    from tests.githooks.conftest import Repo


@pytest.fixture
def awake(repo: Repo, run: Run) -> Repo:
    """With a state directory, so that there is something to boot."""
    ended = run("state", "init", cwd=repo.top)
    assert ended.code == 0, ended.err
    return repo


def boot(repo: Repo, run: Run, **env: str) -> str:
    ended = run("boot", cwd=repo.top, env=env)
    return ended.out + ended.err


def test_commits_past_the_hooks_are_told_at_each_boot_until_a_person_takes_them(awake: Repo, run: Run) -> None:
    assert "nobody approved" not in boot(awake, run)
    awake.write("readme.txt", "unseen\n")
    awake.plainly("commit", "-q", "-a", "-m", "Unseen")
    for _ in range(2):
        said = boot(awake, run)
        assert f"HEAD moved to {awake.head[:12]} by commits that nobody approved: {awake.head[:12]}" in said
    assert run("hooks", "install", "--git", cwd=awake.top).code == 0
    assert "nobody approved" not in boot(awake, run)


def test_approved_commits_and_moves_back_are_not_told(awake: Repo, run: Run) -> None:
    boot(awake, run)
    awake.commit()
    assert "nobody approved" not in boot(awake, run)
    awake.must("reset", "-q", "--hard", "HEAD~1")
    assert "nobody approved" not in boot(awake, run)


def test_what_was_fetched_is_not_told_and_what_was_pushed_is(awake: Repo, run: Run) -> None:
    far = awake.top.parent / "far.git"
    awake.must("init", "-q", "--bare", str(far))
    awake.must("remote", "add", "origin", str(far))
    awake.plainly("push", "-q", "origin", "main")
    boot(awake, run)
    other = type(awake)(awake.top.parent / "other", run)
    awake.must("clone", "-q", str(far), str(other.top))
    other.write("theirs.txt", "theirs\n")
    other.must("add", "-A")
    other.must("commit", "-q", "-m", "Theirs")
    other.must("push", "-q")
    awake.must("pull", "-q", "--ff-only", "origin", "main")
    assert "nobody approved" not in boot(awake, run)
    awake.write("readme.txt", "unseen\n")
    awake.plainly("commit", "-q", "-a", "-m", "Unseen")
    awake.plainly("push", "-q", "origin", "main")
    assert "nobody approved" in boot(awake, run)


def test_git_is_not_started_where_nothing_moved(awake: Repo, run: Run, tmp_path: Path) -> None:
    awake.must("gc", "-q")  # HEAD's branch is packed now
    boot(awake, run)
    folder = tmp_path / "bin"
    folder.mkdir()
    git = folder / "git"
    git.write_text(f"#!/bin/sh\necho started >> {tmp_path}/started\nexit 1\n")
    git.chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    assert "git" not in boot(awake, run, PATH=path).lower().replace(".git", "")
    assert not (tmp_path / "started").exists()
    awake.plainly("commit", "-q", "--allow-empty", "-m", "x")
    assert "could not be checked" in boot(awake, run, PATH=path)
    assert (tmp_path / "started").exists()


def test_hooks_that_were_changed_are_told(awake: Repo, run: Run) -> None:
    boot(awake, run)
    awake.must("config", "branch.main.description", "no matter")
    assert "commits may go unchecked" not in boot(awake, run)
    awake.must("config", "core.hooksPath", os.devnull)
    assert f"core.hooksPath was changed to {os.devnull}" in boot(awake, run)
    awake.must("config", "--unset", "core.hooksPath")
    assert "commits may go unchecked" not in boot(awake, run)
    (awake.top / ".git" / "hooks" / "pre-push").unlink()
    assert "git's hook pre-push is not what was installed" in boot(awake, run)


def test_nothing_is_said_and_nothing_loaded_where_there_are_no_hooks(bare_repo: Repo, run: Run) -> None:
    assert run("state", "init", cwd=bare_repo.top).code == 0
    bare_repo.must("commit", "-q", "--allow-empty", "-m", "x")
    assert "nobody approved" not in boot(bare_repo, run)
