r"""What a change is read from: a repository of our own with those objects, and only those, that were held against their names.

    base commit -> its tree  \
                              two trees, walked side by side as far as they differ -> contents on either side
    the tree that results    /

The user's objects are an agent's to write, and git does not look whether one that it reads is what its name says. So each
is read once, held against its name, and written from memory to where the listing and the rendering read: no moment lies between
the look and the use. Which paths differ, git says, of what is there: what this walk did not bring is missing there, and an error.
"""

from __future__ import annotations

import os
import re

from indelible.files import not_written
from indelible.gitsource.command import GitFailed
from indelible.gitsource.genuine import Wanted, reading
from indelible.light import TYPE_CHECKING, NamedTuple
from indelible.workflow.change.scratch import genuine_objects_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from indelible.gitsource.genuine import Genuine, Objects
    from indelible.workflow.change.place import Place
    from indelible.workflow.change.scratch import Scratch

LARGE = 64 << 20
"""Bytes from which on a content is named with its size and object instead of being written out: it is hashed, and not brought."""
_ENTRY = {size: re.compile(rb"([0-7]+) ([^\0]+)\0(.{%d})" % size, re.DOTALL) for size in (20, 32)}
_KIND, _FOLDER, _CONTENTS = 0o170000, 0o040000, (0o100000, 0o120000)


class Entry(NamedTuple):
    """A line of a tree."""

    path: bytes
    mode: int
    name: str


class Held(NamedTuple):
    """What was brought."""

    sizes: Mapping[str, int]
    """Of every content on either side, in bytes."""
    large: frozenset[str]
    """Contents that were held against their names, and are too large to be brought."""
    fresh: tuple[str, ...]
    """What only the new side has: trees and contents."""


class Gathering:
    """Objects on their way from a repository to one of our own. Lives as long as the reading.

    Args:
        folder: where they are written.
        most: bytes of a content that is brought; None for any.
    """

    def __init__(self, objects: Objects, folder: str, most: int | None) -> None:
        self._objects, self._folder, self._most = objects, folder, most
        self._trees: dict[str, frozenset[Entry]] = {}
        self._pairs: set[tuple[frozenset[str], frozenset[str]]] = set()
        self.sizes: dict[str, int] = {}
        self.large: set[str] = set()

    def commit(self, name: str) -> bytes:
        """Bring a commit; gives its bytes."""
        (found,) = self._objects.read([Wanted(name, "a commit")], "commit")
        return self._bring(found)

    def between(self, old: str, new: str) -> tuple[set[str], set[str]]:
        """Bring what two trees differ in; gives the names on the old side, and on the new one.

        Args:
            old: empty where there is none.
        """
        before, after, contents = {old} - {""}, {new}, dict[str, Wanted]()
        level = [(b"", frozenset(before), frozenset(after))]
        while level:
            self._read_trees(level)
            below: dict[bytes, tuple[set[str], set[str]]] = {}
            for path, olds, news in level:
                if (olds, news) not in self._pairs:  # what lies under the same pair elsewhere is the same
                    self._pairs.add((olds, news))
                    old_side, new_side = self._entries(olds), self._entries(news)
                    before.update(_sorted_out(old_side - new_side, path, 0, below, contents))
                    after.update(_sorted_out(new_side - old_side, path, 1, below, contents))
            level = [(path, frozenset(olds), frozenset(news)) for path, (olds, news) in below.items()]
        self._read_contents([one for name, one in contents.items() if name not in self.sizes])
        return before, after

    def _read_trees(self, level: Iterable[tuple[bytes, frozenset[str], frozenset[str]]]) -> None:
        wanted = {
            name: Wanted(name, os.fsdecode(path) or "the top of the tree")
            for path, olds, news in level for name in olds | news if name not in self._trees
        }  # fmt: skip
        for found in self._objects.read(list(wanted.values()), "tree"):
            self._trees[found.name] = _parsed(self._bring(found), wanted[found.name])

    def _entries(self, trees: Iterable[str]) -> frozenset[Entry]:
        return frozenset().union(*(self._trees[name] for name in trees))

    def _read_contents(self, wanted: list[Wanted]) -> None:
        for found in self._objects.read(wanted, "blob", self._most):
            self.sizes[found.name] = found.size
            if found.content is None:
                self.large.add(found.name)
            else:
                self._bring(found)

    def _bring(self, found: Genuine) -> bytes:
        from zlib import compress

        content, path = found.content or b"", os.path.join(self._folder, found.name[:2], found.name[2:])
        data = compress(b"%s %d\0%s" % (found.kind.encode(), found.size, content), 1)
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(data)
        except OSError as exc:
            raise not_written(self._folder, exc, "The folder") from exc
        return content


def gather(work: Scratch, place: Place, base: str, tree: str) -> Held:
    """Bring everything that a commit (or none) and a tree differ in.

    Raises:
        ObjectAltered: an object is not what its name says. GitFailed: one is not here. NotSaved: no room.
    """
    with reading(work.real, place.top) as objects:
        gathering = Gathering(objects, genuine_objects_of(work.folder), LARGE)
        old = tree_of(gathering.commit(base)) if base else ""
        before, after = gathering.between(old, tree)
    return Held(gathering.sizes, frozenset(gathering.large), tuple(sorted(after - before)))


def tree_of(commit: bytes) -> str:
    """The tree that a commit's bytes name."""
    return commit.partition(b"\n")[0].removeprefix(b"tree ").decode("ascii", "replace")


def _sorted_out(
    entries: Iterable[Entry], above: bytes, side: int,
    below: dict[bytes, tuple[set[str], set[str]]], contents: dict[str, Wanted],
) -> Iterator[str]:  # fmt: skip
    """Put folders and contents where they are read from next; gives their names. A commit of another repository is none of them."""
    for one in entries:
        path = above + b"/" + one.path if above else one.path
        if one.mode & _KIND == _FOLDER:
            below.setdefault(path, (set(), set()))[side].add(one.name)
        elif one.mode & _KIND in _CONTENTS:
            contents[one.name] = Wanted(one.name, os.fsdecode(path))
        else:
            continue
        yield one.name


def _parsed(tree: bytes, wanted: Wanted) -> frozenset[Entry]:
    """The lines of a tree.

    Raises:
        GitFailed: it is not made of such lines.
    """
    size = len(wanted.name) // 2
    found = _ENTRY[size].findall(tree)
    if sum(len(mode) + len(name) + size + 2 for mode, name, _ in found) != len(tree):
        raise GitFailed(f"The tree {wanted.name} cannot be read", remedy="Try 'git fsck' there")
    return frozenset(Entry(name, int(mode, 8), content.hex()) for mode, name, content in found)
