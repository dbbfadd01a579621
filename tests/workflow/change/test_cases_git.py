"""The cases O-GIT-01 to O-GIT-11: what people met elsewhere, each with its own repository."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.workflow.change.trees import PIXELS, Tree, change_of, new_tree, rendered, untouched

from indelible.gitsource import GitFailed, GitMissing, NoRepository
from indelible.workflow.change import change_of_commit, change_of_index, missing, open_change

if TYPE_CHECKING:
    from pathlib import Path

    from indelible.workflow.change import Change, File


def by_path(change: Change) -> dict[str, File]:
    return {file.path: file for file in change.files}


# O-GIT-01


def test_a_new_untracked_file_is_bound_and_shown(tree: Tree) -> None:
    tree.write("lib/deep/new.txt", "class New {}\n")
    with untouched(tree):
        change = tree.change()
    assert [(file.path, file.status, file.flags) for file in change.files] == [
        ("lib/deep/new.txt", "A", ("untracked",))
    ]
    assert b"+class New {}\n" in rendered(tree.top)
    tree.write("lib/deep/new.txt", "class New {};\n")
    assert tree.change().digest != change.digest


def test_a_change_of_nothing_is_empty(tree: Tree) -> None:
    change = tree.change()
    assert change.is_empty
    assert change.files == ()
    assert rendered(tree.top) == b""


# O-GIT-02


@pytest.mark.parametrize("before", [False, True])
def test_intent_to_add_is_neither_needed_nor_disturbed(tree: Tree, before: bool) -> None:
    tree.write("n.txt", "x\n")
    tree.write("empty.txt", "")
    if before:
        tree.git("add", "-N", "n.txt", "empty.txt")
    with untouched(tree):
        change = tree.change()
    flag = ("intent-to-add",) if before else ("untracked",)
    assert [(file.path, file.size, file.flags) for file in change.files] == [("empty.txt", 0, flag), ("n.txt", 2, flag)]
    if not before:
        tree.git("stash", "-u")
        assert tree.change().is_empty
        tree.git("stash", "pop")
    assert tree.change().digest == change.digest
    assert tree.commit() == change.tree


def test_a_file_whose_name_only_was_added_and_that_is_gone_again_is_no_change(tree: Tree) -> None:
    tree.write("n.txt", "x\n")
    tree.git("add", "-N", "n.txt")
    (tree.top / "n.txt").unlink()
    assert tree.change().is_empty


# O-GIT-03

SETTINGS = {
    "diff.noprefix": "true", "diff.mnemonicPrefix": "true", "color.ui": "always", "core.abbrev": "12", "diff.renames": "false",
    "diff.algorithm": "patience", "core.quotepath": "true", "diff.orderFile": "order", "diff.external": "false",
    "diff.context": "9", "diff.interHunkContext": "7", "diff.indentHeuristic": "false", "diff.srcPrefix": "x/", "diff.submodule": "log",
    "diff.suppressBlankEmpty": "true", "diff.wsErrorHighlight": "all", "diff.relative": "true", "diff.ignoreSubmodules": "all",
    "status.showUntrackedFiles": "no", "add.ignoreErrors": "true", "core.pager": "false", "core.compression": "9",
    "core.untrackedCache": "true", "index.version": "4", "index.threads": "1", "core.splitIndex": "true", "core.bigFileThreshold": "1",
    "diff.binary": "false", "core.attributesFile": "attributes", "merge.conflictStyle": "diff3", "alias.add": "!false",
}  # fmt: skip


def moved(tree: Tree) -> Tree:
    tree.git("mv", "a.txt", "moved.txt")
    tree.write("moved.txt", "one\ntwo\n")
    tree.write("메모.txt", "k\n")
    tree.write("p.bin", PIXELS + b"!")
    return tree


@pytest.mark.parametrize("scope", ["--local", "--global"])
def test_no_setting_of_how_git_shows_things_changes_the_digest(tree: Tree, home: Path, scope: str) -> None:
    order, attributes = home / "order", home / "attributes"
    order.write_text("z*\nm*\n")
    attributes.write_text("*.txt -diff\n*.bin diff\n")
    change, text = moved(tree).change(), rendered(tree.top)
    for name, value in SETTINGS.items():
        tree.git("config", scope, name, str(home / value) if value in ("order", "attributes") else value)
        with untouched(tree):
            assert (tree.change().digest, rendered(tree.top)) == (change.digest, text), name
    for name in SETTINGS:
        tree.git("config", scope, "--unset", name)


@pytest.mark.parametrize("language", ["C", "C.UTF-8", "ko_KR.UTF-8", "tr_TR.UTF-8"])
def test_the_language_of_the_machine_changes_nothing(
    tree: Tree, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    change, text = moved(tree).change(), rendered(tree.top)
    for name in ("LANG", "LC_ALL", "LANGUAGE"):
        monkeypatch.setenv(name, language)
    assert (tree.change().digest, rendered(tree.top)) == (change.digest, text)


@pytest.mark.parametrize("language", ["C", "C.UTF-8"])
def test_another_process_with_another_locale_finds_the_same_digest(tree: Tree, language: str) -> None:
    change = moved(tree).change()
    script = (
        "import os, sys; from indelible.workflow.change import open_change\n"
        "with open_change(sys.argv[1], os.environ) as opened: print(opened.change.digest, ascii([f.path for f in opened.change.files]))"
    )
    environment = {**os.environ, "LC_ALL": language, "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run(
        [sys.executable, "-c", script, tree.top], env=environment, capture_output=True, check=True, text=True
    )
    paths = [os.fsencode(file.path).decode() for file in change.files]
    assert ended.stdout.split(" ", 1)[0] == change.digest
    if language != "C":
        assert ended.stdout.split(" ", 1)[1].strip() == ascii(paths)


# O-GIT-04

ODD = (
    "메모.txt",
    "a b.txt",
    "-n",
    'q"uote.txt',
    "tab\there.txt",
    "new\nline.txt",
    ":(top)z",
    "x b/y.txt",
    "*",
    "\\",
    "é",
    "e\u0301",
    "#",
    "--",
    " ",
)


def test_no_name_is_lost_or_read_as_something_else(tree: Tree) -> None:
    for name in (*ODD, os.fsdecode(b"latin-\xe9")):
        tree.write(name, "v\n")
    with untouched(tree):
        change = tree.change()
    assert set(by_path(change)) == {*ODD, os.fsdecode(b"latin-\xe9")}
    assert rendered(tree.top).count(b"\n+v\n") == len(ODD) + 1
    assert tree.commit() == change.tree
    assert change_of_commit(str(tree.top), os.environ, "HEAD") == change._replace(
        branch="", files=tuple(file._replace(flags=()) for file in change.files)
    )


@pytest.mark.parametrize("name", ["new\nline", "co:lon", 'q"uote', "back\\slash", " ", "메모", os.fsdecode(b"\xe9")])
def test_a_repository_may_lie_in_a_folder_of_any_name(home: Path, name: str) -> None:
    tree = new_tree(home / name / "tree").seed()
    tree.write("a.txt", "two\n")
    assert [file.path for file in tree.change().files] == ["a.txt"]
    assert b"-one\n+two\n" in rendered(tree.top)
    assert tree.commit() == change_of_commit(str(tree.top), os.environ, "HEAD").tree


# O-GIT-05


def test_a_plain_folder_is_no_repository(home: Path) -> None:
    (home / "plain").mkdir()
    for compute in (
        change_of,
        lambda folder: change_of_index(folder, os.environ),
        lambda folder: change_of_commit(folder, os.environ, "HEAD"),
    ):
        with pytest.raises(NoRepository, match="lies in no git repository"):
            compute(str(home / "plain"))


def test_a_folder_that_is_not_there_is_said(home: Path) -> None:
    with pytest.raises(NoRepository, match="is not a folder"):
        change_of(home / "nowhere")


def test_a_bare_repository_has_no_work_tree_but_commits(tree: Tree, home: Path) -> None:
    tree.git("clone", "-q", "--bare", str(tree.top), str(home / "bare.git"))
    with pytest.raises(NoRepository, match="no work tree"):
        change_of(home / "bare.git")
    with pytest.raises(NoRepository, match="no work tree"):
        change_of_index(str(home / "bare.git"), os.environ)
    there = change_of_commit(str(home / "bare.git"), os.environ, "HEAD")
    assert there.digest == change_of_commit(str(tree.top), os.environ, "HEAD").digest


@pytest.mark.parametrize("inside", [".git", ".git/refs"])
def test_the_inside_of_a_git_directory_is_no_work_tree(tree: Tree, inside: str) -> None:
    with pytest.raises(NoRepository, match="no work tree"):
        change_of(tree.top / inside)


def test_without_git_there_is_an_error_and_no_answer(tree: Tree, home: Path) -> None:
    with pytest.raises(GitMissing), open_change(str(tree.top), {**os.environ, "PATH": str(home)}):
        pass


@pytest.mark.parametrize(
    "verb",
    [
        "rev-parse",
        "symbolic-ref",
        "ls-files",
        "status",
        "update-index",
        "write-tree",
        "diff-tree",
        "cat-file",
        "check-attr",
        "config",
    ],
)
def test_whenever_git_fails_there_is_an_error_and_no_answer(tree: Tree, home: Path, verb: str) -> None:
    real = subprocess.run(["which", "git"], capture_output=True, check=True, text=True).stdout.strip()
    (home / "bin").mkdir()
    (home / "bin" / "git").write_text(
        f'#!/bin/sh\nfor word; do [ "$word" = {verb} ] && {{ echo "fatal: broken" >&2; exit 129; }}; done\nexec {real} "$@"\n'
    )
    (home / "bin" / "git").chmod(0o755)
    tree.write("a.txt", "two\n")
    with (
        pytest.raises(GitFailed),
        open_change(str(tree.top), {**os.environ, "PATH": f"{home / 'bin'}:{os.environ['PATH']}"}),
    ):
        pass


# O-GIT-06


def test_modes_and_links_are_bound(tree: Tree) -> None:
    (tree.top / "l").symlink_to("a.txt")
    tree.commit()
    before = tree.change().digest
    (tree.top / "run.sh").chmod(0o755)
    executable = tree.change()
    assert [(file.path, file.old_mode, file.new_mode, file.flags) for file in executable.files] == [
        ("run.sh", "100644", "100755", ("mode",))
    ]
    (tree.top / "l").unlink()
    (tree.top / "l").symlink_to("p.bin")
    (tree.top / "out").symlink_to("/etc/hostname")
    with untouched(tree):
        change = tree.change()
    files = by_path(change)
    assert (files["out"].new_mode, files["out"].size, files["out"].flags) == (
        "120000",
        len("/etc/hostname"),
        ("untracked", "symlink"),
    )
    assert files["l"].flags == ("symlink",)
    assert b"+/etc/hostname\n" in rendered(tree.top)
    assert len({before, executable.digest, change.digest}) == 3
    assert tree.commit() == change.tree


def test_where_git_does_not_look_at_modes_that_is_said(tree: Tree) -> None:
    tree.git("config", "core.fileMode", "false")
    (tree.top / "run.sh").chmod(0o755)
    change = tree.change()
    assert change.is_empty
    assert "executable bit cannot be seen" in " ".join(change.notes)


# O-GIT-07


def test_every_byte_of_a_binary_file_counts_and_is_shown(tree: Tree) -> None:
    tree.write("p.bin", b"\x00\x02pic")
    tree.write("u.bin", b"\x00\x09")
    with untouched(tree):
        change, text = tree.change(), rendered(tree.top)
    files = by_path(change)
    assert (files["p.bin"].size, files["p.bin"].flags) == (5, ("binary",))
    assert files["u.bin"].flags == ("untracked", "binary")
    assert files["u.bin"].new == tree.git("hash-object", "u.bin")
    assert text.count(b"GIT binary patch\n") == 2
    for path in ("p.bin", "u.bin"):
        tree.write(path, (tree.top / path).read_bytes()[:-1] + b"?")
        assert tree.change().digest != change.digest
        assert rendered(tree.top) != text


def test_what_is_rendered_can_be_applied(tree: Tree, home: Path) -> None:
    text, change = rendered(moved(tree).top), tree.change()
    other = Tree(home / "other")
    tree.git("clone", "-q", str(tree.top), str(other.top))
    other.git("apply", "--index", stdin=text)
    assert other.git("write-tree") == change.tree


# O-GIT-08


def test_staging_what_was_approved_changes_nothing_and_half_of_it_is_told(tree: Tree) -> None:
    tree.write("a.txt", "two\n")
    tree.write("n.txt", "n\n")
    approved = tree.change()
    tree.git("add", "a.txt")
    assert tree.change().digest == approved.digest
    half = change_of_index(str(tree.top), os.environ)
    assert half.digest != approved.digest
    assert missing(approved, half) == ("n.txt",)
    tree.git("add", "-A")
    whole = change_of_index(str(tree.top), os.environ)
    assert whole.digest == approved.digest
    assert missing(approved, whole) == ()
    tree.git("commit", "-q", "-m", "it")
    assert change_of_commit(str(tree.top), os.environ, "HEAD").digest == approved.digest


# O-GIT-09


def test_another_base_is_another_change(tree: Tree) -> None:
    tree.write("a.txt", "two\n")
    tree.git("branch", "side")
    approved = tree.change()
    tree.git("checkout", "-q", "side")
    assert (tree.change().branch, tree.change().digest) == ("refs/heads/side", approved.digest)
    tree.git("checkout", "-q", "--detach")
    assert (tree.change().branch, tree.change().digest) == ("", approved.digest)
    tree.git("commit", "-q", "--allow-empty", "-m", "underneath")
    assert tree.change().tree == approved.tree
    assert tree.change().digest != approved.digest
    tree.git("reset", "-q", "--soft", "HEAD~1")
    assert tree.change().digest == approved.digest
    tree.git("commit", "-q", "--amend", "--allow-empty", "-m", "reworded", "--only")
    assert tree.change().digest != approved.digest


# O-GIT-10


def test_a_driver_that_shows_nothing_hides_nothing(tree: Tree, home: Path) -> None:
    ran = home / "ran"
    tree.git("config", "diff.hide.textconv", f"touch '{ran}'; true")
    tree.git("config", "diff.hide.command", f"touch '{ran}'; true")
    tree.write(".gitattributes", "*.txt diff=hide\n")
    tree.commit()
    tree.write("a.txt", "evil\n")
    with untouched(tree):
        change, text = tree.change(), rendered(tree.top)
    assert b"-one\n+evil\n" in text
    assert by_path(change)["a.txt"].flags == ("no-diff-attribute",)
    assert not ran.exists()


def test_a_file_that_an_attribute_hides_is_shown_and_flagged(tree: Tree) -> None:
    tree.write(".gitattributes", "*.py -diff\n")
    tree.commit()
    tree.write("c.py", "x=2\n")
    assert by_path(tree.change())["c.py"].flags == ("no-diff-attribute",)
    assert b"-x=1\n+x=2\n" in rendered(tree.top)


def test_what_a_filter_makes_is_what_is_bound(tree: Tree) -> None:
    tree.write(".gitattributes", "*.txt filter=up\n")
    tree.git("config", "filter.up.clean", "tr a-z A-Z")
    tree.commit()
    tree.write("a.txt", "two\n")
    with untouched(tree):
        change = tree.change()
    assert by_path(change)["a.txt"].flags == ("filtered",)
    assert b"+TWO\n" in rendered(tree.top)
    assert tree.commit() == change.tree


def test_a_pointer_filter_binds_the_pointer(tree: Tree) -> None:
    script = "printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:%s\\n' $(sha256sum | cut -c1-64)"
    tree.git("config", "filter.lfs.clean", script)
    tree.git("config", "filter.lfs.required", "true")
    tree.write(".gitattributes", "*.big filter=lfs diff=lfs merge=lfs -text\n")
    tree.write("x.big", b"\0" * 1000)
    change = tree.change()
    assert by_path(change)["x.big"].flags == ("untracked", "no-diff-attribute", "filtered")
    assert hashlib.sha256(b"\0" * 1000).hexdigest().encode() in rendered(tree.top)
    assert tree.commit() == change.tree


def test_a_filter_that_fails_is_an_error(tree: Tree) -> None:
    tree.git("config", "filter.lfs.clean", "false")
    tree.git("config", "filter.lfs.required", "true")
    tree.write(".gitattributes", "*.big filter=lfs\n")
    tree.write("x.big", b"\0" * 1000)
    with pytest.raises(GitFailed, match=r"x\.big"):
        tree.change()


# O-GIT-11

HOOK = """#!{python}
import hashlib, json, os, sys
from indelible.workflow.change import change_of_index, open_change
def bytes_of(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()
index = os.environ.get("GIT_INDEX_FILE", "")
before = bytes_of(index), bytes_of({other!r} + "/.git/index")
change = change_of_index(".", os.environ, index)
with open_change({other!r}, os.environ) as opened:
    other = opened.change
assert before == (bytes_of(index), bytes_of({other!r} + "/.git/index"))
with open({told!r}, "a") as file:
    file.write(json.dumps([index, change.base, change.tree, change.digest, other.digest]) + "\\n")
"""


@pytest.mark.parametrize(
    "form", [["commit", "-q", "-m", "x"], ["commit", "-q", "-a", "-m", "x"], ["commit", "-q", "-m", "x", "--", "c.py"]]
)
def test_inside_a_hook_it_is_the_commits_own_index_that_counts(tree: Tree, home: Path, form: list[str]) -> None:
    import json

    other = new_tree(home / "other").seed()
    other.write("a.txt", "other\n")
    expected, told = other.change().digest, home / "told"
    hook = tree.top / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(HOOK.format(python=sys.executable, other=str(other.top), told=str(told)))
    hook.chmod(0o755)
    tree.write("a.txt", "two\n")
    tree.write("c.py", "x=2\n")
    tree.git("add", "a.txt")
    tree.git(*form, env={"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)})
    (line,) = told.read_text().splitlines()
    _, base, found, digest, beside = json.loads(line)
    assert (base, found) == (tree.git("rev-parse", "HEAD~1"), tree.git("rev-parse", "HEAD^{tree}"))
    assert digest == change_of_commit(str(tree.top), os.environ, "HEAD").digest
    assert beside == expected
