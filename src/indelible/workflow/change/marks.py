"""Marks in an index that hide a file from git: skip-worktree and assume-unchanged. They are taken away in the copy."""

from __future__ import annotations

import os
import re

from indelible.light import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from indelible.gitsource.command import Git

ASK_MARKS = ("ls-files", "-v", "-z")
"""One record for each entry: a letter (`H`; `S` skip-worktree; small where it is assumed unchanged), a space, the path."""

_ODD = re.compile(rb"\0(?!H )([A-Za-z?]) ([^\0]+)")


class Marks(NamedTuple):
    """Paths."""

    assumed: tuple[bytes, ...]
    skipped: tuple[bytes, ...]

    def present(self, top: str) -> tuple[bytes, ...]:
        """Those of `skipped` that are there all the same: a sparse checkout has no file in the place of the others."""
        root, there = os.fsencode(top), {b"": True}

        def folder(path: bytes) -> bool:
            if path not in there:
                there[path] = folder(os.path.dirname(path)) and os.path.isdir(os.path.join(root, path))
            return there[path]

        return tuple(
            path for path in self.skipped
            if folder(os.path.dirname(path)) and os.path.lexists(os.path.join(root, path))
        )  # fmt: skip


def read_marks(listing: bytes) -> Marks:
    """What `ASK_MARKS` answered."""
    listing = b"\0" + listing
    if listing.count(b"\0H ") == listing.count(b"\0") - 1:  # quicker than a search, and mostly there are none
        return Marks((), ())
    odd = _ODD.findall(listing)
    return Marks(
        tuple(path for letter, path in odd if letter.islower()), tuple(path for letter, path in odd if letter in b"Ss")
    )


def clear(git: Git, top: str, assumed: tuple[bytes, ...], present: tuple[bytes, ...]) -> None:
    """Take the marks away.

    Raises:
        GitFailed.
    """
    for option, paths in (("--no-assume-unchanged", assumed), ("--no-skip-worktree", present)):
        if paths:
            git.must(top, "update-index", option, "-z", "--stdin", stdin=b"".join(path + b"\0" for path in paths))
