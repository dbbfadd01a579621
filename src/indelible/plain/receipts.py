"""What this machine saved at plain servers, kept where their writers cannot reach it.

A plain checksum can be rewritten together with the text. A receipt cannot, from there: it is one row of a small
SQLite file in the user's state folder, `(place, agent, key, digest, when, stage)`, never content. `sending` is
put before the first request of a save and `saved` after it was read back, so that a save which was cut between
its halves is known for what it is. Rows are only added, so that an older version served as the present one is
told from a foreign one.

The file is 0600 and is made, folder and all, at the first save. None there means no receipts; a broken one is an
error and not "no receipts", since deleting what it says must not be a way round it.
"""

from __future__ import annotations

import os
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from indelible.errors import IndelibleError, NotSaved, Unchecked
from indelible.seal.digest import Digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import apsw

SENDING, SAVED = "sending", "saved"

_TABLE = """
CREATE TABLE IF NOT EXISTS receipt (id INTEGER PRIMARY KEY, place TEXT NOT NULL, agent TEXT NOT NULL, key TEXT NOT NULL,
    digest BLOB NOT NULL, at TEXT NOT NULL, stage TEXT NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS receipt_of ON receipt(place, agent, key, id);
"""
_BUSY_MS = 10_000


@dataclass(frozen=True, slots=True)
class Receipt:
    """That these bytes were sent, or saved and read back."""

    digest: Digest
    """Of the whole content, as `KEY.sha256` has it."""
    at: str
    stage: str
    """`sending` or `saved`."""


class Receipts:
    """The receipts of this machine.

    Args:
        path: the file, in the user's state folder.
        clock: the time, RFC 3339 in UTC.
    """

    def __init__(self, path: str, clock: Callable[[], str]) -> None:
        self.path = path
        self._clock = clock

    def put(self, place: str, agent: str, key: str, digest: Digest, stage: str) -> None:
        """Add a receipt.

        Raises:
            NotSaved: it cannot be kept: full, read-only, broken.
        """
        row = (place, agent, key, digest.raw, self._clock(), stage)
        with self._open("kept", NotSaved) as connection:
            connection.execute("INSERT INTO receipt(place, agent, key, digest, at, stage) VALUES (?,?,?,?,?,?)", row)

    def get(self, place: str, agent: str, key: str) -> tuple[Receipt, ...]:
        """All receipts for a key, newest first; empty where there are none.

        Raises:
            Unchecked: the file is there and cannot be read.
        """
        if not os.path.lexists(self.path):
            return ()
        query = "SELECT digest, at, stage FROM receipt WHERE place = ? AND agent = ? AND key = ? ORDER BY id DESC"
        with self._open("read", Unchecked) as connection:
            rows: list[tuple[Any, ...]] = connection.execute(query, (place, agent, key)).fetchall()
        return tuple(Receipt(Digest(digest), at, stage) for digest, at, stage in rows)

    def forget(self, place: str, agent: str, key: str) -> None:
        """Take every receipt for an erased key away: a digest lets a short text be guessed.

        Raises:
            NotSaved: they are still there.
        """
        if os.path.lexists(self.path):
            with self._open("changed", NotSaved) as connection:
                connection.execute("PRAGMA secure_delete=ON")
                connection.execute("DELETE FROM receipt WHERE place = ? AND agent = ? AND key = ?", (place, agent, key))
                if connection.changes():
                    connection.execute("VACUUM")  # pages that were split hold rows in their free space too

    def keys(self, place: str, agent: str) -> tuple[str, ...]:
        """Every key that has a receipt, in order.

        Raises:
            Unchecked: the file is there and cannot be read.
        """
        if not os.path.lexists(self.path):
            return ()
        query = "SELECT DISTINCT key FROM receipt WHERE place = ? AND agent = ? ORDER BY key"
        with self._open("read", Unchecked) as connection:
            rows: list[tuple[Any, ...]] = connection.execute(query, (place, agent)).fetchall()
        return tuple(key for (key,) in rows)

    @contextmanager
    def _open(self, done: str, error: type[IndelibleError]) -> Iterator[apsw.Connection]:
        """A connection for one statement: a command makes one or two in its life."""
        import apsw

        try:
            self._make()
            with closing(apsw.Connection(self.path, flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
                connection.set_busy_timeout(_BUSY_MS)
                connection.execute("PRAGMA synchronous=FULL")
                for _ in connection.execute(_TABLE):
                    pass
                yield connection
        except (OSError, apsw.Error) as exc:
            raise error(
                f"The receipts of this machine, {self.path}, cannot be {done} ({exc})",
                remedy="Check the file and its folder; deleting it forgets what this machine saved", file=self.path,
            ) from exc  # fmt: skip

    def _make(self) -> None:
        os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
        os.close(os.open(self.path, os.O_CREAT | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0), 0o600))
