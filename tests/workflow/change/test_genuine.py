"""An object store that an agent has altered: nothing that is shown or diffed comes from an object that is not what its name says."""

from __future__ import annotations

import hashlib
import os
import zlib
from typing import TYPE_CHECKING

import pytest
from tests.workflow.change.planting import plant, raw
from tests.workflow.change.trees import Tree, new_tree, rendered

from indelible.errors import NotFoundError
from indelible.gitsource import GitFailed
from indelible.gitsource.command import Git
from indelible.gitsource.genuine import ObjectAltered, Wanted, reading
from indelible.stepping.facts import head_of
from indelible.stepping.scarchecks import edits_of
from indelible.workflow.addedlines import commits_in
from indelible.workflow.change import Change, change_of_commit, change_of_index, open_change
from indelible.workflow.change.packed import open_packed
from indelible.workflow.change.packing import PackFile
from indelible.workflow.proposals import approvers_at

if TYPE_CHECKING:
    from pathlib import Path

ODD = (ObjectAltered, GitFailed)
"""Where git peels a name it looks at the commit itself, and says that there is none."""
EVIL, GOOD = b"import evil\n", b"import good\n"


def refused(tree: Tree, name: str) -> None:
    """No way to the change gives an answer, before and after it was staged."""
    for compute in (tree.change, lambda: rendered(tree.top)):
        with pytest.raises(ObjectAltered, match=name):
            compute()
    tree.git("add", "-A")
    for compute in (lambda: change_of_index(str(tree.top), os.environ), tree.change):
        with pytest.raises(ObjectAltered, match=name) as caught:
            compute()
        assert caught.value.exit_code == 2


@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_a_content_that_was_put_in_the_place_of_the_new_one_is_refused(home: Path, form: str) -> None:
    tree = new_tree(home / "fresh", f"--object-format={form}").seed()
    tree.write("d/a.py", EVIL)
    name = plant(tree.top, "blob", EVIL, GOOD, form)
    refused(tree, rf"{name} \(d/a\.py\)")


def test_of_the_same_size_or_type_or_not_it_is_refused(tree: Tree) -> None:
    tree.write("a.py", EVIL)
    for kind, held in (("blob", GOOD), ("blob", b""), ("blob", EVIL + b"\0" * 9), ("tree", b"")):
        name = plant(tree.top, "blob", EVIL, held)
        path = tree.top / ".git" / "objects" / name[:2] / name[2:]
        path.write_bytes(zlib.compress(b"%s %d\0%s" % (kind.encode(), len(held), held)))
        with pytest.raises(ODD):
            tree.change()


def test_a_content_that_was_put_in_the_place_of_the_old_one_is_refused(tree: Tree) -> None:
    tree.write("a.txt", b"one\nevil\n")
    name = plant(tree.top, "blob", b"one\n", b"one\nevil\n")
    refused(tree, rf"{name} \(a\.txt\)")


def test_a_folder_that_was_put_in_the_place_of_another_is_refused(tree: Tree) -> None:
    tree.write("lib/deep/evil.py", EVIL)
    shown = tree.git("rev-parse", "HEAD^{tree}")
    tree.git("add", "-A")
    top = tree.git("write-tree")
    name = tree.git("rev-parse", f"{top}:lib/deep")
    real = raw(tree.top, "tree", name)
    plant(tree.top, "tree", real, b"")
    refused(tree, rf"{name} \(lib/deep\)")
    plant(tree.top, "tree", real, real)
    assert [file.path for file in tree.change().files] == ["lib/deep/evil.py"]
    plant(tree.top, "tree", raw(tree.top, "tree", top), raw(tree.top, "tree", shown))
    refused(tree, rf"{top} \(the top of the tree\)")


def test_an_old_folder_that_was_made_to_hold_what_is_new_is_refused(tree: Tree) -> None:
    tree.write("lib/a.py", "a\n")
    tree.commit()
    old = tree.git("rev-parse", "HEAD:lib")
    tree.write("lib/evil.py", EVIL)
    tree.git("add", "-A")
    new = tree.git("rev-parse", f"{tree.git('write-tree')}:lib")
    plant(tree.top, "tree", raw(tree.top, "tree", old), raw(tree.top, "tree", new))
    refused(tree, rf"{old} \(lib\)")


def test_a_base_that_was_given_another_tree_is_refused(tree: Tree) -> None:
    base = tree.git("rev-parse", "HEAD")
    real, before = raw(tree.top, "commit", base), tree.git("rev-parse", "HEAD^{tree}")
    tree.write("evil.py", EVIL)
    tree.git("add", "-A")
    after = tree.git("write-tree")
    plant(tree.top, "commit", real, real.replace(before.encode(), after.encode()))
    for compute in (
        tree.change,
        lambda: change_of_index(str(tree.top), os.environ),
        lambda: head_of(str(tree.top), os.environ),
    ):
        with pytest.raises(ODD):
            compute()
    change = Change("sha1", base, before)
    with pytest.raises((*ODD, NotFoundError)), open_packed(str(tree.top), os.environ, change, b""):
        pass
    with reading(Git(os.environ, 60.0), str(tree.top)) as objects, pytest.raises(ObjectAltered, match=base):
        list(objects.read([Wanted(base, "HEAD")], "commit"))


def test_a_commit_that_was_given_another_tree_or_parent_is_refused(tree: Tree) -> None:
    first = tree.git("rev-parse", "HEAD")
    tree.write("evil.py", EVIL)
    tree.commit()
    head = tree.git("rev-parse", "HEAD")
    real = raw(tree.top, "commit", head)
    for was, held in ((b"HEAD^{tree}", b"HEAD~1^{tree}"), (b"HEAD~1", b"")):
        old = tree.git("rev-parse", was).encode()
        other = (
            real.replace(old, tree.git("rev-parse", held).encode())
            if held
            else real.replace(b"parent " + old + b"\n", b"")
        )
        plant(tree.top, "commit", real, other)
        with pytest.raises((*ODD, NotFoundError)):
            change_of_commit(str(tree.top), os.environ, "HEAD")
        with pytest.raises(ODD):
            list(commits_in(str(tree.top), os.environ, first, "HEAD"))
        plant(tree.top, "commit", real, real)
    assert [file.path for file in change_of_commit(str(tree.top), os.environ, "HEAD").files] == ["evil.py"]


def test_scars_are_looked_for_in_what_is_committed_and_nothing_else(tree: Tree) -> None:
    first = tree.git("rev-parse", "HEAD")
    tree.write("a.py", EVIL)
    tree.commit()
    name = plant(tree.top, "blob", EVIL, GOOD)
    with pytest.raises(ObjectAltered, match=name):
        list(commits_in(str(tree.top), os.environ, first, "HEAD"))


def test_who_may_approve_is_read_from_what_is_committed_and_nothing_else(tree: Tree) -> None:
    assert approvers_at(str(tree.top), os.environ, "HEAD") == ()
    text = b"[boot]\n"
    tree.write(".indelible/config.toml", text)
    tree.commit()
    assert approvers_at(str(tree.top), os.environ, "HEAD") == ()
    assert approvers_at(str(tree.top), os.environ, "HEAD~1") == ()
    name = plant(tree.top, "blob", text, b'[approvers]\nmine = "x"\n')
    with pytest.raises(ObjectAltered, match=name):
        approvers_at(str(tree.top), os.environ, "HEAD")


def test_a_large_content_is_held_against_its_name_too(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("indelible.workflow.change.genuine.LARGE", 1000)
    old, new = b"old\n" * 100_000, b"new\n" * 100_000
    tree.write("large.txt", old)
    tree.commit()
    tree.write("large.txt", new)
    with open_change(str(tree.top), os.environ) as opened:
        assert opened.change.files[0].flags == ("binary",)
        assert b"Large file 'large.txt'" in b"".join(opened.render())
        assert edits_of(opened) == {"large.txt": []}
    for one, other in ((new, old), (old, new)):
        name = plant(tree.top, "blob", one, other)
        with pytest.raises(ObjectAltered, match=name):
            tree.change()
        plant(tree.top, "blob", one, one)
    tree.write("large.txt", "small\n")
    with open_change(str(tree.top), os.environ) as opened:
        assert b"small" not in b"".join(opened.render())
        assert edits_of(opened) == {"large.txt": []}, "of a file with one large side, too, only that it is there"


def test_what_is_planted_while_it_is_looked_at_is_not_shown(tree: Tree) -> None:
    tree.write("a.py", EVIL)
    tree.git("add", "-A")
    with open_change(str(tree.top), os.environ) as opened:
        plant(tree.top, "blob", EVIL, GOOD)
        plant(tree.top, "blob", b"one\n", GOOD)
        assert b"+import evil\n" in b"".join(opened.render())


def test_an_approver_elsewhere_reads_the_real_content_or_none(tree: Tree, home: Path) -> None:
    clone = home / "clone"
    tree.git("clone", "-q", str(tree.top), str(clone))
    tree.write("a.txt", b"one\nevil\n")
    tree.write("large.bin", os.urandom(100_000))
    with open_change(str(tree.top), os.environ) as opened:
        change, pack, shown = opened.change, opened.pack(), b"".join(opened.render())
    with open_packed(str(clone), os.environ, change, pack) as opened:
        assert b"".join(opened.render()) == shown
    name = plant(clone, "blob", b"one\n", b"one\nevil\n")
    with pytest.raises(ObjectAltered, match=name), open_packed(str(clone), os.environ, change, pack):
        pass


def test_the_same_folder_in_many_places_is_read_once(tree: Tree) -> None:
    """Ten folders in ten folders in …: a hundred million paths to nothing would never end."""
    inner = tree.git("hash-object", "-w", "--stdin", stdin=b"x\n")
    line = f"100644 blob {inner}\tx\n"
    for _ in range(3):
        lines = "".join(f"040000 tree {inner}\tf{number}\n" for number in range(10)) if "blob" not in line else line
        inner, line = tree.git("mktree", stdin=lines.encode()), ""
    tree.git("read-tree", inner)
    assert len(change_of_index(str(tree.top), os.environ).files) == 100 + 4


def test_every_object_is_read_in_order_whatever_is_missing(tree: Tree) -> None:
    names = tree.git("rev-list", "--objects", "--no-object-names", "HEAD").split("\n") * 40
    wanted = [Wanted(name, "one of many") for one in names for name in (one, "1" * 40)]
    with reading(Git(os.environ, 60.0), str(tree.top)) as objects:
        found = list(objects.find(wanted))
    assert [one and one.name for one in found] == [name for one in names for name in (one, None)]
    with reading(Git(os.environ, 60.0), str(tree.top)) as objects, pytest.raises(GitFailed, match="no blob 1111"):
        list(objects.read([Wanted("1" * 40, "x\ty")], "blob"))


@pytest.mark.parametrize("form", ["sha1", "sha256"])
@pytest.mark.parametrize("far", [1 << 31, 1000])
def test_a_pack_is_what_git_says_a_pack_is(home: Path, form: str, far: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("indelible.workflow.change.packing._FAR", far)
    tree = new_tree(home / "fresh", f"--object-format={form}")
    held = [b"x" * size for size in (0, 1, 15, 16, 2047, 2048, 300_000)] + [
        os.urandom(9_000),
        *(b"%d" % one for one in range(600)),
    ]
    names = []
    with PackFile(str(tree.top / ".git" / "objects"), form) as pack:
        for one in held:
            names.append(hashlib.new(form, b"blob %d\0%s" % (len(one), one)).hexdigest())
            pack.add(names[-1], "blob", one)
    tree.git("verify-pack", ".git/objects/pack/pack-held.idx")
    tree.git("fsck", "--full", "--strict")
    with reading(Git(os.environ, 60.0), str(tree.top)) as objects:
        found = list(objects.read([Wanted(name, "one") for name in names], "blob"))
    assert [one.content for one in found] == held
