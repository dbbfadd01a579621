"""The files of a change: from its two trees, read where nobody's settings reach, and with what a reader should know."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from indelible.gitsource.command import GitFailed
from indelible.light import NamedTuple
from indelible.workflow.change.model import GITLINK, LINK, File

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from indelible.workflow.change.place import Place
    from indelible.workflow.change.scratch import Scratch

EMPTY_TREE = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
RAW = ("diff-tree", "-r", "-z", "--no-renames", "--full-index", "--no-abbrev", "--ignore-submodules=none")
_PLAIN = (b"unspecified", b"set")


class Row(NamedTuple):
    """One record of `git diff-tree --raw`."""

    path: bytes
    status: str
    old_mode: str
    new_mode: str
    old: str
    new: str


def changed(work: Scratch, place: Place, base: str, tree: str) -> list[Row]:
    """What differs between a commit or tree and a tree.

    Raises:
        GitFailed: one of them is not here.
    """
    out = work.alone.must(work.folder, *RAW, "--raw", base or EMPTY_TREE[place.format], tree)
    parts = out.split(b"\0")
    rows = [_row(head, path) for head, path in zip(parts[0:-1:2], parts[1::2], strict=True)]
    return sorted(rows)


def describe(
    work: Scratch, place: Place, base: str, tree: str, rows: Sequence[Row], marks: Mapping[str, Sequence[bytes]]
) -> tuple[File, ...]:
    """The rows with sizes and flags.

    Args:
        marks: flag to the paths that have it.
    """
    if not rows:
        return ()
    sizes = _sizes(work, place, rows)
    binary = _binary(work, place, base, tree)
    hidden, filtered = _attributes(work, place, rows)
    given = {flag: set(paths) for flag, paths in marks.items()} | {
        "binary": binary,
        "no-diff-attribute": hidden,
        "filtered": filtered,
    }
    return tuple(_file(row, sizes, given) for row in rows)


def _row(head: bytes, path: bytes) -> Row:
    old_mode, new_mode, old, new, status = head.decode("ascii").removeprefix(":").split(" ")
    return Row(path, status, old_mode, new_mode, old.strip("0") and old, new.strip("0") and new)


def _file(row: Row, sizes: Mapping[str, int], given: Mapping[str, set[bytes]]) -> File:
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


def _sizes(work: Scratch, place: Place, rows: Sequence[Row]) -> dict[str, int]:
    """Sizes of all objects on both sides. In a partial clone, asking for them fetches those that the reading will need."""
    sides = [side for row in rows for side in ((row.old_mode, row.old), (row.new_mode, row.new))]
    names = sorted({name for mode, name in sides if name and mode != GITLINK})
    asked = "".join(f"{name}\n" for name in names).encode()
    answer = work.real.must(
        place.top, "cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)", stdin=asked
    )
    found = {}
    for line in answer.decode("ascii", "replace").splitlines():
        name, kind, *size = line.split(" ")
        if kind != "blob" or not size:
            raise GitFailed(
                f"The object {name} is not in {place.top}", remedy="Fetch it, or try 'git fsck' there", folder=place.top
            )
        found[name] = int(size[0])
    return found


def _binary(work: Scratch, place: Place, base: str, tree: str) -> set[bytes]:
    """Paths whose content git takes for binary by looking at it."""
    out = work.alone.must(work.folder, *RAW, "--numstat", base or EMPTY_TREE[place.format], tree)
    return {record[4:] for record in out.split(b"\0") if record.startswith(b"-\t-\t")}


def _attributes(work: Scratch, place: Place, rows: Sequence[Row]) -> tuple[set[bytes], set[bytes]]:
    """Paths that `git diff` would have hidden or shown otherwise, and paths whose content a filter makes."""
    if place.bare:
        return set(), set()
    asked = b"".join(row.path + b"\0" for row in rows)
    parts = work.real.must(place.top, "check-attr", "-z", "--stdin", "diff", "filter", stdin=asked).split(b"\0")
    said = list(zip(parts[0::3], parts[1::3], parts[2::3], strict=False))
    hidden = {path for path, name, value in said if name == b"diff" and value not in _PLAIN}
    return hidden, {path for path, name, value in said if name == b"filter" and value not in (*_PLAIN, b"unset")}
