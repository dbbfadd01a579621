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
from contextlib import contextmanager

from indelible.gitsource.command import GitFailed
from indelible.gitsource.genuine import Wanted, reading
from indelible.light import TYPE_CHECKING, NamedTuple
from indelible.workflow.change.packing import PackFile
from indelible.workflow.change.scratch import genuine_objects_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from indelible.gitsource.genuine import Genuine, Objects
    from indelible.workflow.change.place import Place
    from indelible.workflow.change.scratch import Scratch

LARGE = 64 << 20
"""Bytes from which on a content is named with its size and object instead of being written out: it is hashed, and not brought."""
_ENTRY = {size: re.compile(rb"([0-7]+) ([^\0]+)\0(.{%d})" % size, re.DOTALL) for size in (20, 32)}
_REMEMBERED = 2_000
"""Trees that are kept in memory from one pair to the next."""
_KIND, _FOLDER, _CONTENTS = 0o170000, 0o040000, (0o100000, 0o120000)


Line = tuple[bytes, bytes, bytes]
"""Of a tree, as it stands there: mode, path, name. Most lines are the same on both sides, and are not looked at further."""


class Entry(NamedTuple):
    """A line of a tree."""

    path: bytes
    mode: int
    name: str


class Root(NamedTuple):
    """What a commit names, in hex."""

    tree: str
    parents: tuple[str, ...]


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
        pack: where they are written.
        most: bytes of a content that is brought; None for any.
    """

    def __init__(self, objects: Objects, pack: PackFile, most: int | None) -> None:
        self._objects, self._pack, self._most = objects, pack, most
        self._trees: dict[str, frozenset[Line]] = {}
        self._roots: dict[str, Root] = {}
        self._brought: set[str] = set()
        self._pairs: set[tuple[frozenset[str], frozenset[str]]] = set()
        self.sizes: dict[str, int] = {}
        self.large: set[str] = set()

    def commit(self, name: str, parents: Sequence[str]) -> None:
        """Bring a commit, those that git says are its parents, and what it changes of each.

        Raises:
            ObjectAltered, GitFailed: they are not its parents, too.
        """
        there = {one: self.root(one) for one in (name, *parents)}
        if there[name].parents != tuple(parents):
            raise GitFailed(f"Git tells other parents of the commit {name} than it has", remedy="Try 'git fsck' there")
        for parent in parents or [""]:
            self.between(there[parent].tree if parent else "", there[name].tree)

    def root(self, name: str) -> Root:
        """Bring a commit; gives what it names."""
        if name not in self._roots:
            (found,) = self._objects.read([Wanted(name, "a commit")], "commit")
            self._roots[name] = root_of(self._bring(found))
        return self._roots[name]

    def between(self, old: str, new: str) -> tuple[set[str], set[str]]:
        """Bring what two trees differ in; gives the names on the old side, and on the new one.

        Args:
            old: empty where there is none.
        """
        if len(self._trees) > _REMEMBERED:  # of a long range; they are read anew
            self._trees.clear()
            self._pairs.clear()
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
            self._trees[found.name] = _lines(self._bring(found), found.name)

    def _entries(self, trees: Iterable[str]) -> frozenset[Line]:
        return frozenset[Line]().union(*(self._trees[name] for name in trees))

    def _read_contents(self, wanted: list[Wanted]) -> None:
        for found in self._objects.read(wanted, "blob", self._most):
            self.sizes[found.name] = found.size
            if found.content is None:
                self.large.add(found.name)
            else:
                self._bring(found)

    def _bring(self, found: Genuine) -> bytes:
        if found.name not in self._brought:
            self._brought.add(found.name)
            self._pack.add(found.name, found.kind, found.content or b"")
        return found.content or b""


@contextmanager
def gathering(work: Scratch, place: Place, most: int | None) -> Iterator[Gathering]:
    """What `work.alone` reads from when the `with` has ended.

    Raises:
        GitMissing, GitFailed. NotSaved: no room.
    """
    with reading(work.real, place.top) as objects, PackFile(genuine_objects_of(work.folder), place.format) as pack:
        yield Gathering(objects, pack, most)


def gather(work: Scratch, place: Place, base: str, tree: str) -> Held:
    """Bring everything that a commit (or none) and a tree differ in.

    Raises:
        ObjectAltered: an object is not what its name says. GitFailed: one is not here. NotSaved: no room.
    """
    with gathering(work, place, LARGE) as found:
        before, after = found.between(found.root(base).tree if base else "", tree)
    return Held(found.sizes, frozenset(found.large), tuple(sorted(after - before)))


def root_of(commit: bytes) -> Root:
    """What a commit's bytes name.

    Raises:
        GitFailed: they name no tree.
    """
    head = [line.partition(b" ") for line in commit.partition(b"\n\n")[0].split(b"\n")]
    trees, parents = (
        [name.decode("ascii", "replace") for word, _, name in head if word == kind] for kind in (b"tree", b"parent")
    )
    if len(trees) != 1:
        raise GitFailed("A commit cannot be read", remedy="Try 'git fsck' there")
    return Root(trees[0], tuple(parents))


def _sorted_out(
    lines: Iterable[Line], above: bytes, side: int,
    below: dict[bytes, tuple[set[str], set[str]]], contents: dict[str, Wanted],
) -> Iterator[str]:  # fmt: skip
    """Put folders and contents where they are read from next; gives their names. A commit of another repository is none of them."""
    for one in map(_entry, lines):
        path = above + b"/" + one.path if above else one.path
        if one.mode & _KIND == _FOLDER:
            below.setdefault(path, (set(), set()))[side].add(one.name)
        elif one.mode & _KIND in _CONTENTS:
            contents[one.name] = Wanted(one.name, os.fsdecode(path))
        else:
            continue
        yield one.name


def entries_of(tree: bytes, name: str) -> frozenset[Entry]:
    """The lines of a tree.

    Raises:
        GitFailed: it is not made of such lines.
    """
    return frozenset(map(_entry, _lines(tree, name)))


def _lines(tree: bytes, name: str) -> frozenset[Line]:
    size = len(name) // 2
    found = _ENTRY[size].findall(tree)
    if sum(len(mode) + len(path) for mode, path, _ in found) + len(found) * (size + 2) != len(tree):
        raise GitFailed(f"The tree {name} cannot be read", remedy="Try 'git fsck' there")
    return frozenset(found)


def _entry(line: Line) -> Entry:
    mode, path, name = line
    return Entry(path, int(mode, 8), name.hex())
