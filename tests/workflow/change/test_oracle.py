"""2,000 random repositories: the tree is the one that `git add -A && git commit` makes, and nothing of the user's is touched."""

from __future__ import annotations

import os
import shutil
from random import Random
from typing import TYPE_CHECKING

import pytest
from tests.workflow.change.trees import Tree, untouched
from tests.workflow.change.worlds import World, files_of, make_bases, make_world

from indelible.workflow.change import NotBindable, change_of_commit, open_change

if TYPE_CHECKING:
    from pathlib import Path

    from indelible.workflow.change import Change

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="needs git")
BATCHES, EACH = 40, 50


def committed(world: World, top: Path) -> Tree | None:
    """The oracle: a copy in which git commits everything; nothing where git itself refuses."""
    shutil.copytree(world.tree.top, top, symlinks=True)
    oracle = Tree(top)
    present = [name for name in world.skipped if os.path.lexists(os.path.join(os.fsencode(top), name))]
    for option, names in (("--no-assume-unchanged", world.assumed), ("--no-skip-worktree", present)):
        if names:
            oracle.git("update-index", option, "-z", "--stdin", stdin=b"".join(name + b"\0" for name in names))
    if oracle.run("add", "-A").returncode:
        return None
    oracle.git("commit", "-q", "--allow-empty", "--no-verify", "-m", "all of it")
    return oracle


def stashed(world: World, top: Path, change: Change) -> str:
    """The second oracle: the tree of `git stash create`, which knows no untracked files, in a copy. Empty where it makes none."""
    untracked = world.tree.git("ls-files", "--others", "--exclude-standard")
    # Where an empty folder has taken a file's place, `git stash` keeps the file, and a commit does not.
    odd = any(file.status == "D" and os.path.lexists(world.tree.top / file.path) for file in change.files)
    if world.assumed or world.skipped or world.nested or not change.base or untracked or odd:
        return ""
    shutil.copytree(world.tree.top, top, symlinks=True)
    ended = Tree(top).run("stash", "create")
    name = ended.stdout.decode().strip()
    return Tree(top).git("rev-parse", f"{name}^{{tree}}") if not ended.returncode and name else ""


def mutate(world: World, random: Random) -> bool:
    """One byte of one file that a commit would contain."""
    names = [name for name in files_of(world.tree) if b".git" not in name]
    seen = set(os.fsencode(world.tree.git("ls-files", "-z", "-c", "-o", "--exclude-standard")).split(b"\0"))
    names = [name for name in names if name in seen]
    if not names:
        return False
    path = os.path.join(os.fsencode(world.tree.top), random.choice(names))
    with open(path, "ab") as file:
        file.write(b"!")
    return True


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(BATCHES))
def test_the_tree_is_what_git_commits_and_nothing_else_changes(tmp_path: Path, batch: int) -> None:
    random = Random(f"exact change {batch}")
    bases = make_bases(tmp_path, random, 10)
    for number in range(EACH):
        here = tmp_path / f"w{number}"
        world = make_world(bases[number % len(bases)], here / "tree", random)
        oracle = committed(world, here / "oracle")
        try:
            with untouched(world.tree, ask=False), open_change(str(world.tree.top), os.environ) as opened:
                change = opened.change
        except NotBindable:
            assert world.nested
            continue
        if oracle is None:
            assert world.nested, "git refuses, and this does not"
            continue
        assert change.tree == oracle.git("rev-parse", "HEAD^{tree}", "--").removesuffix("\n--")
        if number % 5 == 0:
            commit = change_of_commit(str(oracle.top), os.environ, "HEAD")
            assert (commit.base, commit.digest) == (change.base, change.digest)
            assert [file[:6] for file in change.files] == [file[:6] for file in commit.files]
        assert stashed(world, here / "stash", change) in ("", change.tree)
        if number % 4 == 0 and mutate(world, random):
            with open_change(str(world.tree.top), os.environ) as opened:
                assert opened.change.digest != change.digest
        shutil.rmtree(here)
