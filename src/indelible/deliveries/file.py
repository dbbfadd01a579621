"""The file of a journal of deliveries: made whole or not at all, taken over from the JSON Lines of earlier versions, put aside."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import apsw

from indelible.deliveries.row import ADD, FORMAT, Delivery, outcome_of, to_row
from indelible.files import make_folder, publish_new, remove

if TYPE_CHECKING:
    from collections.abc import Iterator

_TABLES = f"""
CREATE TABLE delivery (number INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, door TEXT NOT NULL, key TEXT NOT NULL,
    version INTEGER NOT NULL, seq INTEGER NOT NULL, outcome TEXT NOT NULL, agent TEXT NOT NULL, reader TEXT NOT NULL,
    id TEXT NOT NULL, leaf BLOB NOT NULL, commitment BLOB NOT NULL, sha256 BLOB NOT NULL, mode TEXT NOT NULL,
    policy TEXT NOT NULL, context TEXT NOT NULL, reasons TEXT NOT NULL, notes TEXT NOT NULL, review TEXT, checkpoint TEXT,
    delivered_as TEXT) STRICT;
CREATE INDEX delivery_of ON delivery(key);
PRAGMA application_id = {FORMAT};
"""
_MOST = 2**63 - 1


def make_file(path: str) -> None:
    """Make the journal at `path` under a name of its own, and link it there; whoever is second uses the first one's.

    Raises:
        OSError, apsw.Error, NotSaved, UsageError: it could not be made; nothing is left at `path`.
    """
    make_folder(os.path.dirname(path))
    fresh = f"{path}.{os.getpid()}.{os.urandom(4).hex()}.tmp"
    os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0), 0o600))
    lines = path.removesuffix(".db") + ".jsonl"
    try:
        connection = apsw.Connection(fresh)
        connection.execute("PRAGMA journal_mode=WAL").fetchall()
        for _ in connection.execute(_TABLES):
            pass
        with connection:
            _begin_behind(connection, path)
            connection.executemany(ADD, map(to_row, _carried(lines)))
        connection.close()
        publish_new(fresh, path)
        for old in (lines + ".1", lines):
            if os.path.lexists(old):
                os.replace(old, old + ".carried")
    except FileExistsError:
        return
    finally:
        for suffix in ("", "-wal", "-shm"):
            remove(fresh + suffix)


def _carried(lines: str) -> Iterator[Delivery]:
    """What earlier versions noted, oldest first; a line cut by a crash is passed over."""
    import json

    for path in (lines + ".1", lines):
        if not os.path.isfile(path):  # a pipe would be waited for
            continue
        with open(path, encoding="ascii", errors="replace") as file:
            for line in file:
                try:
                    at, door, key, version, seq = json.loads(line)
                    f"{at}{door}{key}".encode()
                    numbers = min(int(version), _MOST), min(int(seq), _MOST)
                except (ValueError, TypeError, OverflowError):
                    continue
                yield Delivery(str(at), str(door), str(key), *numbers, outcome_of(door))


def put_aside(path: str, identity: tuple[int, int]) -> str:
    """Give a file that is no journal another name, with what SQLite put beside it; gives that name, or "" where another process did.

    Args:
        identity: device and inode of the file that was found to be no good; (0, 0) for one that was not opened.
    """
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return ""
    if identity not in {(0, 0), (status.st_dev, status.st_ino)}:
        return ""
    kept, count = path + ".damaged", 1
    while os.path.lexists(kept):
        count += 1
        kept = f"{path}.damaged{count}"
    os.replace(path, kept)
    for suffix in ("-wal", "-shm"):
        if os.path.lexists(path + suffix):
            os.replace(path + suffix, kept + suffix)
    return kept


def _begin_behind(connection: apsw.Connection, path: str) -> None:
    """No number is given twice: a new journal goes on behind the last number of those put aside, as far as that can be read."""
    folder, name = os.path.split(path)
    aside = [os.path.join(folder, entry) for entry in os.listdir(folder) if entry.startswith(name + ".damaged")]
    last = max((_last_number(one) for one in aside if not one.endswith(("-wal", "-shm"))), default=0)
    if last:
        connection.execute("INSERT INTO sqlite_sequence(name, seq) VALUES ('delivery', ?)", (last,))


def _last_number(path: str) -> int:
    if os.path.islink(path) or not os.path.isfile(path):
        return 0
    try:
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            rows = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'delivery'").fetchall()
        finally:
            connection.close()
    except apsw.Error:
        return 0
    return rows[0][0] if rows and isinstance(rows[0][0], int) else 0
