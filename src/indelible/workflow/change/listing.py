"""The files of a change: from its two trees, read where nobody's settings reach, and with what a reader should know."""

from __future__ import annotations

import os

from indelible.light import TYPE_CHECKING, NamedTuple
from indelible.workflow.change.genuine import gather
from indelible.workflow.change.model import GITLINK, LINK, File

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from indelible.workflow.change.genuine import Held
    from indelible.workflow.change.place import Place
    from indelible.workflow.change.scratch import Scratch

EMPTY_TREE = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
RAW = ("diff-tree", "-r", "-z", "--no-renames", "--full-index", "--no-abbrev", "--ignore-submodules=none")
_ATTRIBUTES = ("check-attr", "-z", "--stdin", "diff", "filter")
_PLAIN = (b"unspecified", b"set")


class Row(NamedTuple):
    """One record of `git diff-tree --raw`."""

    path: bytes
    status: str
    old_mode: str
    new_mode: str
    old: str
    new: str


class Read(NamedTuple):
    """What differs between two trees."""

    rows: tuple[Row, ...]
    binary: frozenset[bytes]
    """Paths whose content git takes for binary by looking at it, or is too large to be looked at."""
    held: Held


def read_rows(work: Scratch, place: Place, base: str, tree: str) -> Read:
    """What differs between a commit and a tree, in the order of the paths' bytes: of objects that are what their names say.

    Args:
        base: the commit, in hex; empty where there is none.

    Raises:
        ObjectAltered: an object is not what its name says. GitFailed: one is not here. NotSaved: no room.
    """
    held = gather(work, place, base, tree)
    trees = (base or EMPTY_TREE[place.format], tree)
    rows, rest = _parsed(work.alone.must(work.folder, *RAW, "--raw", *(() if held.large else ("--numstat",)), *trees))
    large = [row.path for row in rows if is_large(held, row.old, row.new)]
    if held.large:
        without = excluding(map(os.fsdecode, large))
        rest = work.alone.must(work.folder, "--no-literal-pathspecs", *RAW, "--numstat", *trees, *without).split(b"\0")
    binary = frozenset(record[4:] for record in rest if record.startswith(b"-\t-\t"))
    return Read(tuple(sorted(rows)), binary.union(large), held)


def is_large(held: Held, *names: str) -> bool:
    """Whether one of the two sides of a path is too large to be looked at."""
    return not held.large.isdisjoint(names)


def excluding(paths: Iterable[str]) -> tuple[str, ...]:
    """Arguments of git (with `--no-literal-pathspecs`) for all paths but these."""
    without = [f":(top,literal,exclude){path}" for path in paths]
    return ("--", *without) if without else ()


def describe(work: Scratch, place: Place, read: Read, marks: Mapping[str, Collection[bytes]]) -> tuple[File, ...]:
    """The rows with sizes and flags.

    Args:
        marks: flag to the paths that have it.
    """
    if not read.rows:
        return ()
    asked = b"" if place.bare else b"".join(row.path + b"\0" for row in read.rows)
    hidden, filtered = _attributes(work.real.must(place.top, *_ATTRIBUTES, stdin=asked))
    given = {**marks, "binary": read.binary, "no-diff-attribute": hidden, "filtered": filtered}
    flags = {flag: frozenset(paths) for flag, paths in given.items()}
    return tuple(_file(row, read.held.sizes, flags) for row in read.rows)


def _parsed(out: bytes) -> tuple[list[Row], list[bytes]]:
    """The raw records, and what follows them."""
    parts, rows = out.split(b"\0"), []
    end = next((at for at in range(0, len(parts), 2) if not parts[at].startswith(b":")), len(parts))
    rows = [_row(head, path) for head, path in zip(parts[0:end:2], parts[1:end:2], strict=True)]
    return rows, parts[end:]


def _row(head: bytes, path: bytes) -> Row:
    old_mode, new_mode, old, new, status = head.decode("ascii").removeprefix(":").split(" ")
    return Row(path, status, old_mode, new_mode, old.strip("0") and old, new.strip("0") and new)


def _file(row: Row, sizes: Mapping[str, int], given: Mapping[str, frozenset[bytes]]) -> File:
    flags = [flag for flag, paths in given.items() if row.path in paths]
    modes = (row.old_mode, row.new_mode)
    if LINK in modes:
        flags.append("symlink")
    if GITLINK in modes and "nested-repository" not in flags:
        flags.append("submodule")
    if row.status in "MT" and row.old_mode != row.new_mode:
        flags.append("mode")
    size = 0 if row.new_mode == GITLINK else sizes.get(row.new, 0)
    return File(os.fsdecode(row.path), row.status, *modes, row.old, row.new, size, tuple(flags))


def _attributes(answer: bytes) -> tuple[set[bytes], set[bytes]]:
    """Paths that `git diff` would have hidden or shown otherwise, and paths whose content a filter makes."""
    parts = answer.split(b"\0")
    said = list(zip(parts[0::3], parts[1::3], parts[2::3], strict=False))
    hidden = {path for path, name, value in said if name == b"diff" and value not in _PLAIN}
    return hidden, {path for path, name, value in said if name == b"filter" and value not in (*_PLAIN, b"unset")}
