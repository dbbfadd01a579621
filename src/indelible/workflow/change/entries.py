"""What stands in an index, as far as a change depends on it: conflicts, submodules, and marks that hide a file.

`git ls-files -s -v -z` prints one record for each entry: a letter (`H`; `S` skip-worktree; `M` unmerged; small where the
entry is assumed unchanged), mode, object, stage, a tab, and the path. A large index is millions of bytes; it is searched
with regular expressions, and taken apart only where something is found.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from indelible.errors import UsageError
from indelible.light import NamedTuple
from indelible.workflow.change.model import GITLINK

if TYPE_CHECKING:
    from collections.abc import Iterable

    from indelible.gitsource.command import Git, Running

_ODD = re.compile(rb"\0(?!H )([A-Za-z?]) ([0-7]{6}) ([0-9a-f]+) ([0-3])\t([^\0]+)")
_LINK = re.compile(rb"\0[A-Za-z] " + GITLINK.encode() + rb" [0-9a-f]+ [0-3]\t([^\0]+)")
_EMPTY = re.compile(rb"\0[A-Za-z] [0-7]{6} (?:e69de29bb2d1d643|473a0f4c3be8a936)[0-9a-f]+ 0\t([^\0]+)")
_FLAGS = re.compile(
    rb"([^\0]+)\0  ctime: [^\n]*\n  mtime: [^\n]*\n  dev: [^\n]*\n  uid: [^\n]*\n  size: [^\n]*\tflags: ([0-9a-f]+)\n"
)
_INTENT = 1 << 29
FEW = 5
"""Paths up to which a search through the whole listing is quicker than taking it apart."""
SHOWN = 10
"""Paths that a message names."""


class NotBindable(UsageError):
    """The work tree is in a state to which nobody can bind an approval."""

    slug = "change-not-bindable"


class Entries(NamedTuple):
    """An index, read."""

    listing: bytes
    """Each record with a NUL before it."""
    submodules: tuple[bytes, ...]
    assumed: tuple[bytes, ...]
    """Marked as assumed unchanged."""
    skipped: tuple[bytes, ...]
    """Marked as skip-worktree."""
    intended: tuple[bytes, ...]
    """`git add -N`: only the name is known yet."""

    def known(self, paths: Iterable[bytes]) -> set[bytes]:
        """Those of `paths` that have an entry."""
        paths = set(paths)
        if len(paths) <= FEW:
            return {path for path in paths if b"\t" + path + b"\0" in self.listing}
        return paths & {record.partition(b"\t")[2] for record in self.listing.split(b"\0")}


def begin_entries(git: Git, top: str) -> Running:
    """Start the reading."""
    return git.begin(top, "ls-files", "-s", "-v", "-z")


def read_entries(git: Git, top: str, index: str, running: Running) -> Entries:
    """End it.

    Args:
        index: the file of the index that was read.

    Raises:
        NotBindable: conflicts are not resolved. GitFailed.
    """
    listing = b"\0" + running.must()
    assumed, skipped, unmerged = [], [], set()
    for letter, _, _, stage, path in _odd(listing):
        if stage != b"0":
            unmerged.add(path)
        if letter.islower():
            assumed.append(path)
        if letter in b"Ss":
            skipped.append(path)
    if unmerged:
        raise NotBindable(
            f"Conflicts are not resolved: {shown(sorted(unmerged))}", remedy="Resolve them, then 'git add' those files"
        )
    intended = _intended(git, top, listing) if _is_extended(index) else ()
    links = tuple(_LINK.findall(listing)) if b" %s " % GITLINK.encode() in listing else ()
    return Entries(listing, links, tuple(assumed), tuple(skipped), intended)


def clear_marks(git: Git, top: str, entries: Entries) -> None:
    """Take away, in the copy of the index, the marks that would hide a file; an entry that is skipped and absent keeps its own."""
    for option, paths in (
        ("--no-assume-unchanged", entries.assumed),
        ("--no-skip-worktree", present(top, entries.skipped)),
    ):
        if paths:
            git.must(top, "update-index", option, "-z", "--stdin", stdin=b"".join(path + b"\0" for path in paths))


def shown(paths: list[bytes]) -> str:
    """Some of the paths, for a message."""
    names = ", ".join(printable(os.fsdecode(path)) for path in paths[:SHOWN])
    return names if len(paths) <= SHOWN else f"{names} and {len(paths) - SHOWN:,} more"


def printable(name: str) -> str:
    """A name as one line, which steers no terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in name)


def present(top: str, skipped: tuple[bytes, ...]) -> list[bytes]:
    """Those that are there all the same. Of a folder that is not there, nothing is."""
    root, there = os.fsencode(top), {b"": True}

    def folder(path: bytes) -> bool:
        if path not in there:
            there[path] = folder(os.path.dirname(path)) and os.path.isdir(os.path.join(root, path))
        return there[path]

    return [path for path in skipped if folder(os.path.dirname(path)) and os.path.lexists(os.path.join(root, path))]


def _odd(listing: bytes) -> list[tuple[bytes, ...]]:
    """The records that are no plain entries. Counting is much quicker than searching, and mostly there are none."""
    return _ODD.findall(listing) if listing.count(b"\0H ") != listing.count(b"\0") - 1 else []


def _is_extended(index: str) -> bool:
    """Whether its version has room for the mark of `git add -N`: git writes version 3 only where it is needed."""
    try:
        with open(index, "rb") as file:
            return file.read(8)[4:] > b"\0\0\0\2"
    except FileNotFoundError:
        return False


def _intended(git: Git, top: str, listing: bytes) -> tuple[bytes, ...]:
    """Such an entry has the object of an empty file, so only those are asked about."""
    empty = _EMPTY.findall(listing)
    found = []
    for start in range(0, len(empty), 500):
        answer = git.must(top, "ls-files", "--debug", "-z", "--", *map(os.fsdecode, empty[start : start + 500]))
        found += [path for path, flags in _FLAGS.findall(answer) if int(flags, 16) & _INTENT]
    return tuple(found)
