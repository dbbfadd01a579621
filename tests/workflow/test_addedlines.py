"""The lines that commits add, against real git: odd names, hostile contents, merges, roots, attributes that hide a file."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

import pytest
from tests.cli.hands import git

from indelible.errors import Unchecked
from indelible.gitsource import GitFailed
from indelible.workflow.addedlines import added_lines, attempts_in_range, commits_in
from indelible.workflow.scars import BARRIER, Scar

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = (
    "diff --git a/x b/x", "--- a/x", "+++ b/x", "@@ -1 +1,9 @@", "+plus", "-minus", " space", "", "\\ No newline at end of file", "\tTAB",
    "a" * 40, "Binary files a/x and b/x differ", "caf\u00e9", "old mode 100644", "Subproject commit " + "b" * 40,
)  # fmt: skip
NAMES = (
    "a.txt",
    "with space.txt",
    'quo"te.txt',
    "tab\there.txt",
    "caf\u00e9/\ud55c\uad6d.txt",
    "b b/c.txt",
    "new\nline.txt",
    "-dash",
    "back\\slash",
)


def made(work: Path) -> Path:
    git(work, "init", "-q")
    return work


def commit(work: Path, files: dict[str, str | bytes], *words: str) -> str:
    for name, text in files.items():
        path = work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    git(work, "add", "-A")
    git(work, "commit", "-qm", "step", *words)
    return git(work, "rev-parse", "HEAD").strip()


def edits(work: Path, old: str = "", new: str = "HEAD") -> dict[str, dict[str, list[str]]]:
    return dict(commits_in(str(work), os.environ, old, new))


@pytest.mark.skipif(os.name == "nt", reason="these names cannot be had there")
@pytest.mark.parametrize("seed", range(6))
def test_every_added_line_is_found_under_its_own_name(home: Path, seed: int) -> None:
    """Each commit appends to files lines that look like a diff's own; what was appended is known, and is what is found."""
    work, chance = made(home / "work"), random.Random(seed)
    texts: dict[str, str] = {}
    expected = {}
    for _ in range(8):
        fresh: dict[str, list[str]] = {}
        for name in chance.sample(NAMES, chance.randrange(1, 5)):
            fresh[name] = chance.sample(HOSTILE, chance.randrange(1, 6))
            texts[name] = texts.get(name, "") + "".join(f"{line}\n" for line in fresh[name])
        expected[commit(work, {name: texts[name] for name in fresh})] = fresh
    found = edits(work)
    assert list(found) == list(expected)
    for one, lines in expected.items():
        assert {path: sorted(added) for path, added in found[one].items()} == {
            path: sorted(added) for path, added in lines.items()
        }


def test_the_first_commit_and_a_file_without_a_last_newline_count(home: Path) -> None:
    work = made(home / "work")
    first = commit(work, {"a": "one\ntwo"})
    second = commit(work, {"a": "one\ntwo\nthree", "empty": ""})
    assert edits(work) == {first: {"a": ["one", "two"]}, second: {"a": ["two", "three"], "empty": []}}
    assert list(edits(work, first)) == [second]


def test_deleted_renamed_and_binary_files(home: Path) -> None:
    work = made(home / "work")
    first = commit(work, {"a": "one\n", "b": b"\0\1\nneedle\n"})
    (work / "a").rename(work / "c")
    second = commit(work, {})
    (work / "c").unlink()
    third = commit(work, {})
    found = edits(work)
    assert found[first]["b"] == ["\0\1", "needle"]
    assert found[second] == {"a": [], "c": ["one"]}
    assert found[third] == {"c": []}


@pytest.mark.parametrize("attribute", ["-diff", "binary", "diff=hidden", "-text"])
def test_an_attribute_hides_nothing(home: Path, attribute: str) -> None:
    work = made(home / "work")
    git(work, "config", "diff.hidden.textconv", "true")
    git(work, "config", "diff.hidden.command", "true")
    git(work, "config", "diff.noprefix", "true")
    git(work, "config", "diff.external", "true")
    one = commit(work, {".gitattributes": f"* {attribute}\n", "a.py": "needle\n"})
    assert edits(work)[one]["a.py"] == ["needle"]


def test_a_merge_adds_what_none_of_its_parents_has(home: Path) -> None:
    work = made(home / "work")
    commit(work, {"a": "base\n"})
    git(work, "checkout", "-qb", "side")
    side = commit(work, {"side": "from the side\n"})
    git(work, "checkout", "-q", "main")
    main = commit(work, {"main": "from main\n"})
    git(work, "merge", "-q", "--no-commit", "--no-ff", "side")
    merge = commit(work, {"a": "base\nevil\n"})
    found = edits(work)
    assert found[merge] == {"a": ["evil"]}
    assert found[side] == {"side": ["from the side"]}
    assert found[main] == {"main": ["from main"]}


def test_attempts_of_a_range_name_their_commits(home: Path) -> None:
    work = made(home / "work")
    first = commit(work, {"a.sql": "DROP TABLE a;\n"})
    second = commit(work, {"b.sql": "SELECT 1;\nDROP TABLE b;\n", "c.md": "DROP TABLE c;\n"})
    scar = Scar(
        "SCAR-DB-01",
        "Dropping",
        "DROP TABLE",
        "data was lost",
        paths=("**/*.sql",),
        added=("DROP TABLE",),
        level=BARRIER,
    )
    found = attempts_in_range(str(work), os.environ, first, "HEAD", [scar])
    assert [(one.commit, one.where, one.line) for one in found] == [(second, "b.sql", 2)]
    assert len(attempts_in_range(str(work), os.environ, "", "HEAD", [scar])) == 2


def test_a_change_that_was_waived_is_no_attempt_once_it_is_committed(home: Path) -> None:
    from indelible.workflow.change import open_change

    work = made(home / "work")
    first = commit(work, {"a": "x\n"})
    (work / "b").write_bytes(b"needle\n")
    with open_change(str(work), os.environ) as opened:
        digest = opened.change.digest
    commit(work, {})
    scar = Scar("SCAR-DB-01", "t", "t", "w", added=("needle",), waived=(digest,))
    assert attempts_in_range(str(work), os.environ, first, "HEAD", [scar]) == ()
    assert len(attempts_in_range(str(work), os.environ, first, "HEAD", [scar._replace(waived=("0" * 64,))])) == 1


def test_a_range_that_git_does_not_know_is_no_empty_one(home: Path) -> None:
    work = made(home / "work")
    commit(work, {"a": "x\n"})
    for old, new in (("nowhere", "HEAD"), ("", "nowhere"), ("", "--all")):
        with pytest.raises(GitFailed):
            attempts_in_range(str(work), os.environ, old, new, [])


@pytest.mark.parametrize("patch", [
    b"diff --git a/x b/x\n@@ -0,0 +1,2 @@\n+one\n", b"diff --git a/x b/x\n@@ -0,0 +1 @@\n+one\n@@ -0,0 +3,2 @@\nnothing\n",
    b"diff --git a/x b/x\n@@ -1,2 +0,0 @@\n-one\n+two\n",
])  # fmt: skip
def test_a_patch_that_is_not_as_long_as_it_says_is_not_read_in_part(patch: bytes) -> None:
    with pytest.raises(Unchecked):
        added_lines(patch.splitlines())


def test_of_a_shallow_clone_it_is_not_known(home: Path) -> None:
    work = made(home / "work")
    first = commit(work, {"a": "one\n"})
    second = commit(work, {"a": "two\n"})
    third = commit(work, {"a": "three\n"})
    git(home, "clone", "-q", "--depth", "2", work.as_uri(), "shallow")
    with pytest.raises(Unchecked, match="shallow"):
        edits(home / "shallow")
    assert list(edits(home / "shallow", second)) == [third]
    assert first not in edits(home / "shallow", second)


def test_objects_by_sha256_are_read_as_well(home: Path) -> None:
    work = home / "work"
    git(work, "init", "-q", "--object-format=sha256")
    one = commit(work, {"a": "one\n"})
    assert len(one) == 64
    assert edits(work) == {one: {"a": ["one"]}}
