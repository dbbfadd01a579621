"""Where in git each memory came from, as this machine saved it: JSON Lines outside the store, without content.

The record of a memory says it too, and is gone with the row when the store is altered or deleted.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import NotSaved, UsageError
from indelible.files import append_line, replace_file

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_BYTES = 4 * 1024 * 1024
"""Beyond this size the file is written anew, with the last line of each key."""


class Recorded(NamedTuple):
    """A place in git, and what must be found there."""

    source: str
    """`owner/repo/path`; empty where none is recorded."""
    branch: str
    sha256: str | None
    embedded: bool
    """Whether the memory holds the file inside the seed's JSON form."""


NOWHERE = Recorded("", "", None, embedded=False)


class Booked(NamedTuple):
    """What was known when one version was saved; `version` is 0 on a server that counts none."""

    key: str
    version: int
    recorded: Recorded


class Book:
    """The sources of one log; `path` lies in the user's state folder."""

    def __init__(self, path: str) -> None:
        self.path = path

    def add(self, booked: Booked) -> bool:
        """Append one line in one write; False where it could not be kept, which undoes no save."""
        try:
            if append_line(self.path, _line(booked)) > MAX_BYTES:
                replace_file(self.path, b"".join(map(_line, {one.key: one for one in self.read()}.values())))
        except (OSError, NotSaved, UsageError):
            return False
        return True

    def forget(self, key: str) -> None:
        """Take what was noted about an erased key away.

        Raises:
            NotSaved, UsageError: it is still there.
        """
        kept = list(self.read())
        left = [one for one in kept if one.key != key]
        if len(left) < len(kept):
            replace_file(self.path, b"".join(map(_line, left)))

    def last(self, key: str) -> Booked | None:
        """What was noted last about `key`."""
        found = None
        for booked in self.read():
            found = booked if booked.key == key else found
        return found

    def read(self) -> Iterator[Booked]:
        """All that is kept, oldest first; a line cut by a crash is passed over."""
        import json

        try:
            with open(self.path, encoding="ascii", errors="replace") as file:
                lines = file.readlines()
        except OSError:
            return
        for line in lines:
            try:
                key, version, source, branch, digest, embedded = json.loads(line)
                yield Booked(
                    str(key), int(version), Recorded(str(source), str(branch), str(digest), embedded=bool(embedded))
                )
            except (ValueError, TypeError):
                continue


def _line(booked: Booked) -> bytes:
    import json

    source, branch, digest, embedded = booked.recorded
    return (json.dumps([booked.key, booked.version, source, branch, digest, embedded]) + "\n").encode("ascii")


def book_of(state_dir: str, name: str) -> Book:
    """The book of the log whose follower is called `name`."""
    return Book(os.path.join(state_dir, "sources", name + ".jsonl"))
