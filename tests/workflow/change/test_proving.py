"""What is read at an approval is what the names name, whatever lies in the objects folder under them."""

from __future__ import annotations

import hashlib
import os
import zlib
from typing import TYPE_CHECKING

import pytest

from indelible.errors import IndelibleError
from indelible.workflow.change import open_change

if TYPE_CHECKING:
    from tests.workflow.change.trees import Tree


def read(tree: Tree) -> bytes:
    with open_change(str(tree.top), os.environ) as opened:
        return b"".join(opened.render())


def plant(tree: Tree, kind: str, named: bytes, held: bytes) -> None:
    """An object that has the name of one content, and holds another."""
    name = hashlib.sha1(b"%s %d\0%s" % (kind.encode(), len(named), named), usedforsecurity=False).hexdigest()
    path = tree.top / ".git" / "objects" / name[:2] / name[2:]
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_bytes(zlib.compress(b"%s %d\0%s" % (kind.encode(), len(held), held)))


@pytest.mark.parametrize("held", [b"good\n", b"good, and longer\n"])
def test_a_new_file_cannot_be_shown_as_another(tree: Tree, held: bytes) -> None:
    plant(tree, "blob", b"evil\n", held)
    tree.write("a.txt", b"evil\n")
    with pytest.raises(IndelibleError, match="is not what its name says"):
        read(tree)


def test_what_was_there_before_cannot_be_shown_as_another(tree: Tree) -> None:
    plant(tree, "blob", b"one\n", b"one\nevil\n")
    tree.write("a.txt", b"one\nevil\nmore\n")
    with pytest.raises(IndelibleError):
        read(tree)


def test_a_folder_cannot_be_shown_without_one_of_its_files(tree: Tree) -> None:
    tree.write("d/good.txt", "good\n")
    tree.git("add", "-A")
    good = tree.run("cat-file", "tree", f"{tree.git('write-tree')}:d").stdout
    tree.write("d/evil.txt", "evil\n")
    tree.git("add", "-A")
    evil = tree.run("cat-file", "tree", f"{tree.git('write-tree')}:d").stdout
    plant(tree, "tree", evil, good)
    with pytest.raises(IndelibleError, match="is not what its name says"):
        read(tree)


def test_the_commit_it_stands_on_cannot_be_shown_as_another(tree: Tree) -> None:
    tree.write("a.txt", "one\nevil\n")
    tree.git("add", "-A")
    altered = tree.git("write-tree").encode()
    told = tree.run("cat-file", "commit", "HEAD").stdout
    plant(tree, "commit", told, told.replace(told[5:45], altered))
    with pytest.raises(IndelibleError):
        read(tree)
