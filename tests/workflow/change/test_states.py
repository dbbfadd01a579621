"""Every state that a repository may be in: half-done merges, sparse and split indexes, submodules, odd files, damage."""

from __future__ import annotations

import os
import shutil
import socket
import stat
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from tests.support import ROOT
from tests.workflow.change.trees import Tree, change_of, new_tree, rendered, untouched

from indelible.errors import NotFoundError, UsageError
from indelible.gitsource import GitFailed
from indelible.workflow.change import (
    NotBindable,
    change_of_commit,
    change_of_index,
    difference,
    missing,
    open_change,
)  # fmt: skip

if TYPE_CHECKING:
    from pathlib import Path


def paths_of(tree: Tree) -> list[str]:
    return [file.path for file in tree.change().files]


def flags_of(tree: Tree) -> dict[str, tuple[str, ...]]:
    return {file.path: file.flags for file in tree.change().files}


# Where HEAD is


@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_before_the_first_commit_everything_is_new(home: Path, form: str) -> None:
    tree = new_tree(home / "fresh", f"--object-format={form}")
    assert tree.change().is_empty
    tree.write("a.txt", "one\n")
    tree.write("staged.txt", "two\n")
    tree.git("add", "staged.txt")
    with untouched(tree):
        change = tree.change()
    assert (change.format, change.base, change.branch) == (form, "", "refs/heads/main")
    assert [file.path for file in change.files] == ["a.txt", "staged.txt"]
    assert b"+one\n" in rendered(tree.top)
    assert tree.commit() == change.tree
    assert change_of_commit(str(tree.top), os.environ, "HEAD").digest == change.digest


def test_the_digest_is_what_the_docs_say_it_is(tree: Tree) -> None:
    tree.write("a.txt", "two\n")
    change, base = tree.change(), tree.git("rev-parse", "HEAD")
    text = f"indelible/change/v1\nsha1\n{base}\n{tree.commit()}\n-\n"
    ended = subprocess.run(["sha256sum"], input=text.encode(), capture_output=True, check=True)
    assert change.digest == ended.stdout.split()[0].decode()


def test_the_recipe_of_the_docs_finds_the_same_digest(tree: Tree) -> None:
    with open(os.path.join(ROOT, "docs", "change.md"), encoding="utf-8") as file:
        recipe = file.read().split("```sh\n", 1)[1].split("```", 1)[0]
    tree.write("a.txt", "two\n")
    tree.write("메모.txt", "new\n")
    with untouched(tree):
        ended = subprocess.run(["sh", "-ec", recipe], cwd=tree.top, capture_output=True, check=True, text=True)
        assert ended.stdout.split()[0] == tree.change().digest


def test_a_repository_of_sha256_is_bound_as_such(home: Path) -> None:
    tree = new_tree(home / "fresh", "--object-format=sha256").seed()
    tree.write("a.txt", "two\n")
    tree.write("u.bin", b"\0\1")
    with untouched(tree):
        change = tree.change()
    assert (change.format, len(change.base), len(change.tree)) == ("sha256", 64, 64)
    assert b"-one\n+two\n" in rendered(tree.top)
    assert tree.commit() == change.tree


def test_a_folder_within_stands_for_the_whole_tree(tree: Tree) -> None:
    tree.write("d/e/f.txt", "x\n")
    tree.write("a.txt", "two\n")
    assert change_of(tree.top / "d" / "e") == tree.change()


def test_a_linked_worktree_has_its_own_change(tree: Tree, home: Path) -> None:
    tree.git("worktree", "add", "-q", "-b", "side", str(home / "side"))
    side = Tree(home / "side")
    side.write("a.txt", "side\n")
    tree.write("c.py", "x=2\n")
    with untouched(tree), untouched(side):
        assert ([file.path for file in side.change().files], side.change().branch) == (["a.txt"], "refs/heads/side")
        assert ([file.path for file in tree.change().files], tree.change().branch) == (["c.py"], "refs/heads/main")
    approved = side.change().tree
    assert side.commit() == approved


def test_a_worktree_of_a_bare_repository_has_a_change(tree: Tree, home: Path) -> None:
    tree.git("clone", "-q", "--bare", str(tree.top), str(home / "bare.git"))
    tree.git("-C", str(home / "bare.git"), "worktree", "add", "-q", str(home / "side"))
    side = Tree(home / "side")
    side.write("a.txt", "side\n")
    with untouched(side):
        change = side.change()
    assert side.commit() == change.tree


@pytest.mark.parametrize("how", ["--shared", "--reference"])
def test_objects_that_are_borrowed_are_found(tree: Tree, home: Path, how: str) -> None:
    options = [how] if how == "--shared" else [how, str(tree.top)]
    tree.git(
        "clone", "-q", *options, f"file://{tree.top}" if how == "--reference" else str(tree.top), str(home / "borrower")
    )
    borrower = Tree(home / "borrower")
    borrower.write("a.txt", "two\n")
    with untouched(borrower):
        change = borrower.change()
    assert b"-one\n+two\n" in rendered(borrower.top)
    assert borrower.commit() == change.tree


def test_variables_that_steer_git_elsewhere_are_not_obeyed(tree: Tree, home: Path) -> None:
    other = new_tree(home / "other").seed()
    tree.write("a.txt", "two\n")
    expected = tree.change()
    steering = {
        "GIT_DIR": str(other.top / ".git"), "GIT_WORK_TREE": str(other.top), "GIT_INDEX_FILE": str(other.top / ".git" / "index"),
        "GIT_OBJECT_DIRECTORY": str(other.top / ".git" / "objects"), "GIT_PREFIX": "d/", "GIT_EXTERNAL_DIFF": "false", "GIT_DIFF_OPTS": "-u9",
        "GIT_CONFIG_PARAMETERS": "'core.autocrlf'='true'", "GIT_LITERAL_PATHSPECS": "0", "GIT_ATTR_SOURCE": "HEAD", "GIT_NAMESPACE": "x",
    }  # fmt: skip
    with untouched(other), open_change(str(tree.top), {**os.environ, **steering}) as opened:
        assert opened.change == expected
        assert b"-one\n+two\n" in b"".join(opened.render())


def test_a_shallow_clone_is_read_and_its_border_is_not_taken_for_a_beginning(tree: Tree, home: Path) -> None:
    tree.write("a.txt", "two\n")
    tree.commit()
    tree.git("clone", "-q", "--depth=1", f"file://{tree.top}", str(home / "shallow"))
    shallow = Tree(home / "shallow")
    shallow.write("a.txt", "three\n")
    assert [file.path for file in shallow.change().files] == ["a.txt"]
    assert b"-two\n+three\n" in rendered(shallow.top)
    with pytest.raises(GitFailed):
        change_of_commit(str(shallow.top), os.environ, "HEAD")


def test_a_partial_clone_is_read(tree: Tree, home: Path) -> None:
    tree.git("config", "uploadpack.allowFilter", "true")
    tree.git("clone", "-q", "--filter=blob:none", f"file://{tree.top}", str(home / "partial"))
    partial = Tree(home / "partial")
    partial.write("a.txt", "two\n")
    with untouched(partial):
        assert [file.path for file in partial.change().files] == ["a.txt"]
    assert b"-one\n+two\n" in rendered(partial.top)


@pytest.mark.parametrize("damage", ["0" * 40, "1" * 40, "rubbish"])
def test_a_broken_head_is_an_error_and_no_empty_base(tree: Tree, damage: str) -> None:
    (tree.top / ".git" / "refs" / "heads" / "main").write_text(f"{damage}\n")
    with pytest.raises(GitFailed):
        tree.change()


def test_a_broken_index_is_an_error(tree: Tree) -> None:
    (tree.top / ".git" / "index").write_bytes(b"DIRC rubbish")
    with pytest.raises(GitFailed):
        tree.change()
    with pytest.raises(GitFailed):
        change_of_index(str(tree.top), os.environ)


def test_without_an_index_everything_is_compared(tree: Tree) -> None:
    (tree.top / ".git" / "index").unlink()
    tree.write("a.txt", "two\n")
    assert paths_of(tree) == ["a.txt"]


def test_an_index_that_is_not_there_is_said(tree: Tree) -> None:
    with pytest.raises(NotFoundError, match="There is no index"):
        change_of_index(str(tree.top), os.environ, ".git/next-index-1.lock")


@pytest.mark.parametrize("name", ["nowhere", "", "HEAD^{tree}", "--all", "a\nb", "HEAD:a.txt"])
def test_what_names_no_commit_is_said(tree: Tree, name: str) -> None:
    with pytest.raises(NotFoundError):
        change_of_commit(str(tree.top), os.environ, name)


def test_a_repository_of_another_account_is_not_read(tree: Tree) -> None:
    if os.geteuid():
        pytest.skip("only root can give a folder away")
    os.chown(tree.top, 65534, 65534)
    with pytest.raises(GitFailed, match="another account"):
        tree.change()


def test_a_lock_that_somebody_holds_is_no_obstacle(tree: Tree) -> None:
    (tree.top / ".git" / "index.lock").write_bytes(b"")
    tree.write("a.txt", "two\n")
    with untouched(tree):
        assert paths_of(tree) == ["a.txt"]
        assert change_of_index(str(tree.top), os.environ).is_empty


# What is going on


def parted(tree: Tree) -> None:
    tree.git("checkout", "-q", "-b", "side")
    tree.write("side.txt", "side\n")
    tree.write("a.txt", "side\n")
    tree.commit("side")
    tree.git("checkout", "-q", "main")
    tree.write("main.txt", "main\n")
    tree.commit("main")


def test_the_other_head_of_a_merge_is_bound(tree: Tree) -> None:
    parted(tree)
    tree.git("merge", "-q", "--no-commit", "side")
    with untouched(tree):
        change, index = tree.change(), change_of_index(str(tree.top), os.environ)
    assert change.parents == (tree.git("rev-parse", "side"),)
    assert change.digest == index.digest != change._replace(parents=()).digest
    tree.git("commit", "-q", "--no-edit")
    assert change_of_commit(str(tree.top), os.environ, "HEAD").digest == change.digest


def test_a_merge_that_changes_nothing_is_not_empty(tree: Tree) -> None:
    parted(tree)
    tree.git("merge", "-q", "--no-commit", "-s", "ours", "side")
    assert tree.change().files == ()
    assert not tree.change().is_empty


def test_conflicts_are_refused_until_they_are_resolved(tree: Tree) -> None:
    parted(tree)
    tree.write("a.txt", "main\n")
    tree.commit()
    assert tree.run("merge", "side").returncode
    with untouched(tree):
        for compute in (tree.change, lambda: change_of_index(str(tree.top), os.environ)):
            with pytest.raises(NotBindable, match=r"not resolved: a\.txt"):
                compute()
    tree.write("a.txt", "both\n")
    tree.git("add", "a.txt")
    assert tree.change().parents == (tree.git("rev-parse", "side"),)


@pytest.mark.parametrize(
    ("command", "words"),
    [(["cherry-pick", "side"], "cherry-pick"), (["revert", "HEAD~1"], "revert"), (["rebase", "side"], "rebase")],
)
def test_what_is_half_done_is_told(tree: Tree, command: list[str], words: str) -> None:
    parted(tree)
    for text in ("main\n", "again\n"):
        tree.write("a.txt", text)
        tree.commit()
    assert tree.run(*command, env={"GIT_EDITOR": "true"}).returncode
    with pytest.raises(NotBindable):
        tree.change()
    tree.write("a.txt", "resolved\n")
    tree.git("add", "-A")
    assert words in " ".join(tree.change().notes)


# Indexes of all kinds


def test_files_that_marks_hide_are_seen(tree: Tree) -> None:
    tree.git("update-index", "--assume-unchanged", "a.txt", "run.sh")
    tree.git("update-index", "--skip-worktree", "c.py", "p.bin")
    tree.write("a.txt", "hidden\n")
    tree.write("c.py", "hidden\n")
    (tree.top / "p.bin").unlink()
    with untouched(tree):
        assert flags_of(tree) == {"a.txt": ("assume-unchanged",), "c.py": ("skip-worktree",)}


@pytest.mark.parametrize("cone", ["--cone", "--no-cone"])
@pytest.mark.parametrize("sparse", ["--sparse-index", "--no-sparse-index"])
def test_a_sparse_checkout_keeps_what_it_does_not_have(tree: Tree, cone: str, sparse: str) -> None:
    for name in ("in/a", "in/b", "out/a", "out/deep/b", "other/x"):
        tree.write(name, "one\n")
    tree.commit()
    tree.git("sparse-checkout", "set", cone, *([sparse] if cone == "--cone" else []), "in")
    assert not (tree.top / "out").exists()
    assert tree.change().is_empty
    tree.write("in/a", "two\n")
    tree.write("out/deep/b", "there all the same\n")
    tree.write("out/new", "and this one is new\n")
    with untouched(tree):
        flags = flags_of(tree)
    assert flags.keys() == {"in/a", "out/deep/b", "out/new"}
    tree.git("sparse-checkout", "disable")
    assert (tree.top / "other" / "x").exists()


def test_a_split_index_is_read_and_its_halves_are_left_alone(tree: Tree) -> None:
    tree.git("update-index", "--split-index")
    tree.write("n.txt", "new\n")
    tree.git("add", "n.txt")
    tree.write("a.txt", "two\n")
    (shared,) = (tree.top / ".git").glob("sharedindex.*")
    os.utime(shared, (1_700_000_000, 1_700_000_000))
    with untouched(tree):
        change = tree.change()
        index = change_of_index(str(tree.top), os.environ)
    assert [file.path for file in change.files] == ["a.txt", "n.txt"]
    assert [file.path for file in index.files] == ["n.txt"]


@pytest.mark.parametrize("setting", ["core.untrackedCache", "core.ignoreStat", "feature.manyFiles"])
def test_caches_of_what_has_changed_are_not_believed(tree: Tree, setting: str) -> None:
    tree.git("config", setting, "true")
    tree.git("update-index", "--force-untracked-cache")
    tree.git("status", env={"GIT_OPTIONAL_LOCKS": "1"})
    tree.write("d/new.txt", "x\n")
    tree.write("a.txt", "two\n")
    with untouched(tree):
        assert paths_of(tree) == ["a.txt", "d/new.txt"]


def test_a_monitor_that_says_nothing_has_changed_is_not_asked(tree: Tree, home: Path) -> None:
    monitor = home / "monitor"
    monitor.write_text(f"#!/bin/sh\ntouch '{home}/asked'\nprintf 'token\\0'\n")
    monitor.chmod(0o755)
    tree.git("config", "core.fsmonitor", str(monitor))
    tree.git("update-index", "--fsmonitor")
    tree.git("status", env={"GIT_OPTIONAL_LOCKS": "1"})
    tree.write("a.txt", "two\n")
    tree.write("d/new.txt", "x\n")
    with untouched(tree):
        (home / "asked").unlink()
        assert paths_of(tree) == ["a.txt", "d/new.txt"]
        assert not (home / "asked").exists()


def test_a_change_within_the_tick_of_the_index_is_seen(tree: Tree) -> None:
    for number in range(20):
        tree.write("a.txt", f"{number:03}\n")
        tree.git("add", "a.txt")
        index = tree.top / ".git" / "index"
        tree.write("a.txt", f"{number:03}!"[:4])
        when = os.stat(tree.top / "a.txt")
        os.utime(index, ns=(when.st_atime_ns, when.st_mtime_ns))
        approved = tree.change()
        copy = Tree(tree.top.parent / f"copy{number}")
        shutil.copytree(tree.top, copy.top, symlinks=True)
        assert copy.commit() == approved.tree


# Repositories within


@pytest.fixture
def outer(tree: Tree, home: Path) -> Tree:
    """With a submodule at `sub`."""
    inner = new_tree(home / "inner").seed()
    tree.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner.top), "sub")
    tree.commit()
    return tree


def test_a_submodule_is_bound_by_its_head(outer: Tree) -> None:
    assert outer.change().is_empty
    inner = Tree(outer.top / "sub")
    inner.write("a.txt", "two\n")
    inner.commit()
    for ignore in ("none", "all", "dirty", "untracked"):
        outer.git("config", "submodule.sub.ignore", ignore)
        outer.git("config", "diff.ignoreSubmodules", ignore)
        with untouched(outer):
            (file,) = outer.change().files
        assert (file.path, file.new_mode, file.new, file.size, file.flags) == (
            "sub",
            "160000",
            inner.git("rev-parse", "HEAD"),
            0,
            ("submodule",),
        )
        assert inner.git("rev-parse", "HEAD").encode() in rendered(outer.top)
    approved = outer.change().tree
    for name in ("submodule.sub.ignore", "diff.ignoreSubmodules"):
        outer.git("config", "--unset", name)
    assert outer.commit() == approved


@pytest.mark.parametrize("what", ["changed", "new", "staged"])
def test_a_submodule_with_uncommitted_content_is_refused(outer: Tree, what: str) -> None:
    inner = Tree(outer.top / "sub")
    inner.write("n.txt" if what == "new" else "a.txt", "two\n")
    if what == "staged":
        inner.git("add", "-A")
    outer.git("config", "submodule.sub.ignore", "all")
    with untouched(outer), pytest.raises(NotBindable, match="not committed there: sub"):
        outer.change()
    inner.commit()
    assert paths_of(outer) == ["sub"]


def test_a_submodule_that_is_not_checked_out_is_no_change(outer: Tree, home: Path) -> None:
    outer.git("clone", "-q", str(outer.top), str(home / "clone"))
    assert change_of(home / "clone").is_empty


def test_a_submodule_that_is_taken_out_is_a_deletion(outer: Tree) -> None:
    shutil.rmtree(outer.top / "sub")
    (file,) = outer.change().files
    assert (file.path, file.status) == ("sub", "D")
    approved = outer.change().tree
    assert outer.commit() == approved


def test_a_nested_repository_is_bound_as_the_commit_it_stands_at(tree: Tree) -> None:
    inner = new_tree(tree.top / "vendored" / "inner").seed()
    with untouched(tree):
        change = tree.change()
    (file,) = change.files
    assert (file.path, file.new, file.flags) == (
        "vendored/inner",
        inner.git("rev-parse", "HEAD"),
        ("untracked", "nested-repository"),
    )
    assert tree.commit() == change.tree
    inner.write("a.txt", "two\n")
    with pytest.raises(NotBindable, match="vendored/inner"):
        tree.change()


def test_a_nested_repository_without_a_commit_is_left_out_and_told(tree: Tree) -> None:
    new_tree(tree.top / "empty").write("x", "x\n")
    tree.write("a.txt", "two\n")
    with untouched(tree):
        change = tree.change()
    assert [file.path for file in change.files] == ["a.txt"]
    assert change.notes == ("empty is a repository without a commit, and left out",)


def test_an_unclean_nested_repository_is_refused(tree: Tree) -> None:
    new_tree(tree.top / "inner").seed().write("a.txt", "two\n")
    with pytest.raises(NotBindable, match="inner"):
        tree.change()


# Files of all kinds


def test_a_pipe_and_a_socket_are_no_content(tree: Tree) -> None:
    os.mkfifo(tree.top / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        here = os.getcwd()
        os.chdir(tree.top)
        listening.bind("socket")
        os.chdir(here)
        tree.write("a.txt", "two\n")
        assert paths_of(tree) == ["a.txt"]


def test_a_pipe_in_the_place_of_a_file_is_an_error_that_names_it(tree: Tree) -> None:
    (tree.top / "a.txt").unlink()
    os.mkfifo(tree.top / "a.txt")
    with pytest.raises(GitFailed, match=r"a\.txt"):
        tree.change()


AS_NOBODY = """
import os, sys
from indelible.gitsource import GitFailed
from indelible.workflow.change import open_change
with open_change(sys.argv[2], os.environ):
    pass  # what is needed is loaded: another account may not read this Python
os.setgid(65534); os.setuid(65534)
try:
    with open_change(sys.argv[1], {**os.environ, "HOME": "/nonexistent"}) as opened:
        print("computed", [file.path for file in opened.change.files])
except GitFailed as exc:
    print(exc)
"""


@pytest.mark.parametrize(
    ("path", "tracked"), [("secret.txt", False), ("a.txt", True), ("closed/x", False), ("closed/x", True)]
)
def test_what_cannot_be_read_is_an_error_that_names_it(tree: Tree, home: Path, path: str, tracked: bool) -> None:
    tree.write(path, "x\n")
    if tracked:
        tree.commit()
    tree.write(path, "no\n")
    target = tree.top / (path.partition("/")[0])
    other = new_tree(home / "other").seed()
    script = AS_NOBODY
    if os.geteuid() == 0:
        for folder, folders, files in os.walk(tree.top):
            for name in [".", *folders, *files]:
                os.chown(os.path.join(folder, name), 65534, 65534, follow_symlinks=False)
        for above in list(tree.top.parents)[:-1]:
            os.chmod(above, stat.S_IMODE(os.stat(above).st_mode) | 0o711)  # noqa: S103 - to be walked through
    else:
        script = script.replace("os.setgid(65534); os.setuid(65534)", "")
    target.chmod(0)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "TMPDIR": "/tmp",
    }
    ended = subprocess.run(
        [sys.executable, "-c", script, tree.top, other.top],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    target.chmod(0o755)
    assert path.partition("/")[0] in ended.stdout, ended.stderr
    assert not ended.stdout.startswith("computed")


def test_a_file_that_vanishes_while_git_looks_is_not_in_the_change(tree: Tree, home: Path) -> None:
    real = shutil.which("git")
    (home / "bin").mkdir()
    (home / "bin" / "git").write_text(
        f'#!/bin/sh\nfor word; do [ "$word" = update-index ] && rm -rf "{tree.top}/going" "{tree.top}/a.txt"; done\nexec {real} "$@"\n'
    )
    (home / "bin" / "git").chmod(0o755)
    tree.write("going/x.txt", "x\n")
    tree.write("a.txt", "two\n")
    tree.write("stays.txt", "y\n")
    with open_change(str(tree.top), {**os.environ, "PATH": f"{home / 'bin'}:{os.environ['PATH']}"}) as opened:
        assert [(file.path, file.status) for file in opened.change.files] == [("a.txt", "D"), ("stays.txt", "A")]


def test_a_file_that_turns_into_something_else_while_git_looks_is_looked_at_again(tree: Tree, home: Path) -> None:
    real = shutil.which("git")
    (home / "bin").mkdir()
    (home / "bin" / "git").write_text(
        f'#!/bin/sh\nfor word; do [ "$word" = update-index ] && [ ! -d "{tree.top}/new" ] && {{ rm "{tree.top}/new"; mkdir "{tree.top}/new"; echo z >"{tree.top}/new/z"; }}; done\nexec {real} "$@"\n'
    )
    (home / "bin" / "git").chmod(0o755)
    tree.write("new", "x\n")
    with open_change(str(tree.top), {**os.environ, "PATH": f"{home / 'bin'}:{os.environ['PATH']}"}) as opened:
        assert [file.path for file in opened.change.files] == ["new/z"]


@pytest.mark.slow
def test_a_huge_sparse_file_takes_little_memory_and_little_room(tree: Tree) -> None:
    with open(tree.top / "huge.bin", "wb") as file:
        file.truncate(1 << 30)
    script = (
        "import os, sys; from indelible.workflow.change import open_change\n"
        "with open_change(sys.argv[1], os.environ) as opened:\n"
        "    size = sum(len(piece) for piece in opened.render())\n"
        "    used = sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(opened.work.folder) for name in names)\n"
        "    print(opened.change.files[0].size, size, used, [line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')][0])"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run(
        [sys.executable, "-c", script, tree.top], env=environment, capture_output=True, check=True, text=True
    )
    size, shown, used, memory = map(int, ended.stdout.split())
    assert size == 1 << 30
    assert shown < 1_000
    assert used < 64 << 20
    assert memory < 100 << 10


def test_a_large_file_is_named_in_what_is_shown(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("indelible.workflow.change.genuine.LARGE", 1000)
    tree.write("large (1) 큰.txt", "x\n" * 1000)
    tree.write("a.txt", "two\n")
    text = rendered(tree.top)
    assert b"-one\n+two\n" in text
    assert b"x\nx\n" not in text
    assert "Large file 'large (1) 큰.txt' 000000 - -> 100644".encode() in text
    assert b" 2000 bytes\n" in text
    tree.commit()
    (tree.top / "large (1) 큰.txt").unlink()
    assert b"x\nx\n" not in rendered(tree.top)
    assert b" -> 000000 - 0 bytes\n" in rendered(tree.top)


@pytest.mark.slow
def test_twenty_thousand_untracked_files_are_all_bound(tree: Tree) -> None:
    for number in range(20_000):
        tree.write(f"many/{number % 100}/{number}.txt", f"{number}\n")
    change = tree.change()
    assert len(change.files) == 20_000
    assert {file.flags for file in change.files} == {("untracked",)}
    assert tree.commit() == change.tree


def test_ignored_files_are_listed_a_folder_at_a_time_and_a_bounded_number(tree: Tree) -> None:
    tree.write(".gitignore", "node_modules/\n*.log\n")
    tree.commit()
    for number in range(1000):
        tree.write(f"node_modules/{number}.js", "x")
    tree.write("메모.log", "x")
    change = tree.change()
    assert change.is_empty
    assert change.ignored == ("node_modules/", "메모.log")
    for number in range(300):
        tree.write(f"{number:03}.log", "x")
    change = tree.change()
    assert len(change.ignored) == 200
    assert "102 more ignored files and folders are not listed" in change.notes


def test_a_folder_in_the_place_of_a_file_and_the_other_way_round(tree: Tree) -> None:
    tree.write("d/e", "x\n")
    tree.commit()
    (tree.top / "a.txt").unlink()
    tree.write("a.txt/below", "x\n")
    shutil.rmtree(tree.top / "d")
    tree.write("d", "x\n")
    (tree.top / "c.py").unlink()
    (tree.top / "c.py").mkdir()
    with untouched(tree):
        change = tree.change()
    assert [(file.path, file.status) for file in change.files] == [
        ("a.txt", "D"),
        ("a.txt/below", "A"),
        ("c.py", "D"),
        ("d", "A"),
        ("d/e", "D"),
    ]
    assert tree.commit() == change.tree


def test_a_link_in_the_place_of_a_folder_is_not_followed(tree: Tree, home: Path) -> None:
    tree.write("d/e", "x\n")
    tree.commit()
    (home / "elsewhere").mkdir()
    (home / "elsewhere" / "e").write_text("secret\n")
    shutil.rmtree(tree.top / "d")
    (tree.top / "d").symlink_to(home / "elsewhere")
    change = tree.change()
    assert [(file.path, file.status, file.flags) for file in change.files] == [
        ("d", "A", ("untracked", "symlink")),
        ("d/e", "D", ()),
    ]
    assert b"secret" not in rendered(tree.top)
    assert tree.commit() == change.tree


# Line endings of three platforms

ENDINGS = [
    (lines, attributes) for lines in ("true", "input", "false")
    for attributes in ("", "* text=auto\n", "*.txt text eol=crlf\n", "*.txt eol=lf\n", "* -text\n", "*.utf text working-tree-encoding=UTF-16\n")
]  # fmt: skip


@pytest.mark.parametrize(("lines", "attributes"), ENDINGS)
def test_line_endings_are_those_that_git_commits(tree: Tree, lines: str, attributes: str) -> None:
    if attributes:
        tree.write(".gitattributes", attributes)
        tree.commit()
    tree.git("config", "core.autocrlf", lines)
    for name, text in (
        ("a.txt", "one\r\ntwo\r\n"),
        ("lf.txt", "one\ntwo\n"),
        ("mixed.txt", "one\r\ntwo\n"),
        ("c.py", "x\r\n"),
    ):
        tree.write(name, text)
    tree.write("wide.utf", "하나\r\n둘\r\n".encode("utf-16"))
    with untouched(tree):
        change = tree.change()
    assert tree.commit() == change.tree
    assert change_of_commit(str(tree.top), os.environ, "HEAD").digest == change.digest


def test_a_checkout_of_windows_and_one_of_linux_have_one_digest(tree: Tree, home: Path) -> None:
    tree.write("a.txt", "one\ntwo\n")
    tree.commit()
    tree.git("clone", "-q", "-c", "core.autocrlf=true", str(tree.top), str(home / "windows"))
    windows = Tree(home / "windows")
    assert (windows.top / "a.txt").read_bytes() == b"one\r\ntwo\r\n"
    windows.write("a.txt", "one\r\nthree\r\n")
    tree.write("a.txt", "one\nthree\n")
    assert windows.change().digest == tree.change().digest
    assert rendered(windows.top) == rendered(tree.top)


# What goes elsewhere


def test_the_pack_brings_the_change_to_another_clone(tree: Tree, home: Path) -> None:
    tree.git("clone", "-q", str(tree.top), str(home / "other"))
    other = Tree(home / "other")
    tree.write("a.txt", "two\n")
    tree.write("d/new.bin", b"\0\1\2")
    with open_change(str(tree.top), os.environ) as opened:
        pack, change = opened.pack(), opened.change
    other.git("unpack-objects", "-q", "--strict", stdin=pack)
    assert other.git("diff-tree", "-r", "--name-only", "HEAD", change.tree).split("\n") == ["a.txt", "d/new.bin"]


def test_nothing_is_left_over_in_the_folder_of_temporary_files(tree: Tree, home: Path) -> None:
    (home / "tmp").mkdir()
    environment = {**os.environ, "TMPDIR": str(home / "tmp")}
    tree.write("a.txt", "two\n")
    with open_change(str(tree.top), environment) as opened:
        assert list((home / "tmp").iterdir())
        assert stat.S_IMODE(os.stat(opened.work.folder).st_mode) == 0o700
    change_of_index(str(tree.top), environment)
    with pytest.raises(NotFoundError):
        change_of_commit(str(tree.top), environment, "nowhere")
    assert list((home / "tmp").iterdir()) == []


def test_a_pushs_hook_sees_the_commits_that_are_kept_aside(tree: Tree, home: Path) -> None:
    tree.git("clone", "-q", "--bare", str(tree.top), str(home / "bare.git"))
    hook, told = home / "bare.git" / "hooks" / "pre-receive", home / "told"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(
        f"#!{sys.executable}\nimport os, sys\nfrom indelible.workflow.change import change_of_commit\n"
        f"new = sys.stdin.readline().split()[1]\nopen({str(told)!r}, 'w').write(change_of_commit('.', os.environ, new).digest)\n"
    )
    hook.chmod(0o755)
    tree.write("a.txt", "two\n")
    change = tree.change()
    tree.commit()
    tree.git(
        "push",
        "-q",
        str(home / "bare.git"),
        "main",
        env={"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    assert told.read_text() == change.digest


def test_what_differs_from_what_was_approved_is_told_path_by_path(tree: Tree) -> None:
    tree.write("a.txt", "two\n")
    tree.write("n.txt", "n\n")
    approved = tree.change()
    (tree.top / "n.txt").unlink()
    tree.write("a.txt", "three\n")
    tree.write("extra.txt", "e\n")
    now = tree.change()
    assert difference(approved, now) == (("n.txt",), ("extra.txt",), ("a.txt",))
    assert missing(approved, now) == ("a.txt", "extra.txt", "n.txt")
    tree.commit()
    with pytest.raises(UsageError, match="different commits"):
        difference(approved, tree.change())


def test_the_time_that_git_may_take_is_bounded_and_told(
    tree: Tree, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("indelible.workflow.change.place.LIMIT", 1.0)
    tree.git("config", "filter.slow.clean", "sleep 60")
    tree.write(".gitattributes", "*.txt filter=slow\n")
    tree.write("a.txt", "two\n")
    begun = time.monotonic()
    with pytest.raises(GitFailed, match="longer than 1 s"):
        tree.change()
    assert time.monotonic() - begun < 30
