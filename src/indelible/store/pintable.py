"""The rows of a follower: its pin, and the verified present of each key."""

from __future__ import annotations

from indelible.light import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import apsw


class Pin(NamedTuple):
    """The last head that this reader accepted, and what it knows of the log so far."""

    first: bytes
    """Leaf hash of the log's first entry: which log this is, not only how long."""
    size: int
    note: bytes
    """The checkpoint, as the store gave it: byte-equal means nothing is new."""
    frontier: bytes
    signer: str
    """The agent's verifier key that is in force; empty until a head or a rotation showed it."""
    former: str
    """The agent's other verifier keys, with spaces between."""
    revoked: str
    """`keyid:index` pairs, with spaces between: not trusted from that entry on."""
    restored: str
    """Leaf hashes, in hex with spaces between, of the `store-restored` entries that were accepted: each serves once."""
    given: str
    """The given pin that the log was held against, as `mark_of` writes it; empty for none."""
    origin: str
    """How it came to be: `own`, `first-use`, `repository`, `given`, or `accepted`."""


class Glance(NamedTuple):
    """What a read of one key needs of the pin; the fields are those of `Pin`."""

    note: bytes
    signer: str
    former: str
    revoked: str
    given: str
    origin: str


class Latest(NamedTuple):
    """The verified present of one key."""

    head_seq: int
    head: bytes
    """Leaf hash of the last entry about this key."""
    saved_seq: int
    version: int
    content: bytes
    record: bytes
    state: str
    """`active`, `archived`, `superseded` or `erased`."""
    by: str
    at: str


_TABLES = """
CREATE TABLE IF NOT EXISTS pin (one INTEGER PRIMARY KEY CHECK (one = 1), first BLOB NOT NULL, size INTEGER NOT NULL,
    note BLOB NOT NULL, frontier BLOB NOT NULL, signer TEXT NOT NULL, former TEXT NOT NULL, revoked TEXT NOT NULL,
    restored TEXT NOT NULL, given TEXT NOT NULL, origin TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS latest (key TEXT PRIMARY KEY, head_seq INTEGER NOT NULL, head BLOB NOT NULL, saved_seq INTEGER NOT NULL,
    version INTEGER NOT NULL, content BLOB NOT NULL, record BLOB NOT NULL, state TEXT NOT NULL, by TEXT NOT NULL, at TEXT NOT NULL)
    STRICT, WITHOUT ROWID;
"""
FORMAT = 1
RECENT = 1000
_ROW = "head_seq, head, saved_seq, version, content, record, state, by, at"
_PIN = "first, size, note, frontier, signer, former, revoked, restored, given, p.origin"
_LOOK = f"SELECT 0, note, signer, former, revoked, given, origin, 0, 0, 0 FROM pin UNION ALL SELECT 1, {_ROW} FROM latest WHERE key = ?"
"""One statement, and so one snapshot. Not a join: with a bound value SQLite plans those afresh at every call (6 µs)."""
_LOOK_UNDER = (
    "SELECT 0, note, signer, former, revoked, given, origin, 0, 0, 0, '' FROM pin UNION ALL "
    f"SELECT * FROM (SELECT 1, {_ROW}, key FROM latest WHERE key >= ? AND key < ? ORDER BY key)"
)
_PUT = f"INSERT OR REPLACE INTO latest(key, {_ROW}) VALUES (?,?,?,?,?,?,?,?,?,?)"
_PUT_PIN = "INSERT OR REPLACE INTO pin VALUES (1,?,?,?,?,?,?,?,?,?,?)"
_WIDTH = 1 + len(Glance._fields)


def make_tables(connection: apsw.Connection) -> None:
    """Both tables, where they are not there yet."""
    for _ in connection.execute(_TABLES):
        pass
    connection.pragma("user_version", FORMAT)


def look(connection: apsw.Connection, key: str) -> tuple[Glance | None, Latest | None]:
    """Pin and row in one statement, and so in one snapshot."""
    glance = latest = None
    for row in connection.execute(_LOOK, (key,)):
        if row[0]:
            latest = Latest._make(row[1:])
        else:
            glance = Glance._make(row[1:_WIDTH])
    return glance, latest if glance is not None else None


def look_under(connection: apsw.Connection, prefix: str) -> tuple[Glance | None, tuple[tuple[str, Latest], ...]]:
    """Pin, and the rows of the keys that begin with `prefix`, in order, in one statement."""
    glance, rows = None, []
    for row in connection.execute(_LOOK_UNDER, (prefix, prefix + "\U0010ffff")):
        if row[0]:
            rows.append((row[-1], Latest._make(row[1:-1])))
        else:
            glance = Glance._make(row[1:_WIDTH])
    return glance, tuple(rows) if glance is not None else ()


def look_saved(
    connection: apsw.Connection, start: Callable[[Pin], int]
) -> tuple[Glance | None, tuple[Pin, tuple[tuple[str, Latest], ...]] | None]:
    """Pin, and the rows of every key whose present version was saved at entry `start(pin)` or later.

    The pin is read first: a row that is newer than it is looked at once more the next time, and none is missed.
    """
    row = connection.execute(f"SELECT {_PIN} FROM pin p").fetchone()
    if row is None:
        return None, None
    pin = Pin._make(row)
    rows = connection.execute(f"SELECT {_ROW}, key FROM latest WHERE saved_seq >= ? ORDER BY saved_seq", (start(pin),))
    glance = Glance(pin.note, pin.signer, pin.former, pin.revoked, pin.given, pin.origin)
    return glance, (pin, tuple((found[-1], Latest._make(found[:-1])) for found in rows))


class Table:
    """Pin and rows inside one transaction; rows that were put lie over those on disk until flushed."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection, self.released = connection, False
        self._execute, self._executemany = connection.execute, connection.executemany
        row = self._execute(f"SELECT {_PIN} FROM pin p").fetchone()
        self.pin: Pin | None = Pin._make(row) if row else None
        self._before = self.pin
        self._laid: dict[str, Latest] = {}
        self._stored = self.pin is not None
        """Whether rows may be on disk: a first follow then looks none up."""
        self._recent: dict[str, Latest] | None = {}
        """What was put in this transaction; None once it was too much to keep, or the table was reset."""

    @property
    def fresh(self) -> bool:
        return self._before is None

    def get(self, key: str) -> Latest | None:
        row = self._laid.get(key)
        if row is None and self._stored:
            found = self._execute(f"SELECT {_ROW} FROM latest WHERE key = ?", (key,)).fetchone()
            return Latest._make(found) if found else None
        return row

    def put(self, key: str, row: Latest) -> None:
        self._laid[key] = row

    def keys(self, after: str = "", limit: int = -1, prefix: str = "") -> list[tuple[str, Latest]]:
        """Rows in order of their keys, from the first one after `after`."""
        self.flush()
        rows: list[tuple[str, Latest]] = []
        for key, *row in self._execute(
            f"SELECT key, {_ROW} FROM latest WHERE key > ? AND key >= ? ORDER BY key", (after, prefix)
        ):
            if not key.startswith(prefix) or len(rows) == limit:
                break
            rows.append((key, Latest._make(row)))
        return rows

    def present(self, states: frozenset[str]) -> Iterator[tuple[str, int, bytes, str]]:
        """`(key, saved_seq, content, state)` of each memory in one of these states, in the order of their keys' bytes."""
        self.flush()
        for key, seq, content, state in self._execute("SELECT key, saved_seq, content, state FROM latest ORDER BY key"):
            if state in states:
                yield key, seq, content, state

    def count(self) -> int:
        self.flush()
        return sum(count for (count,) in self._execute("SELECT count(*) FROM latest"))

    def flush(self) -> None:
        if self._laid:
            self._executemany(_PUT, ((key, *row) for key, row in self._laid.items()))
            few = self._recent is not None and len(self._recent) + len(self._laid) <= RECENT
            self._recent = {**(self._recent or {}), **self._laid} if few else None
            self._laid, self._stored = {}, True
        if self.pin is not None and self.pin is not self._before:
            self._execute(_PUT_PIN, self.pin)

    def lay_over(self, memory: apsw.Connection) -> None:
        """Into a copy in memory, where the disk refused them: so that what was just written is not forgotten by this process."""
        if self._recent is None or self.pin is None:
            return  # the old pin is right, only late
        memory.executemany(_PUT, ((key, *row) for key, row in {**self._recent, **self._laid}.items()))
        memory.execute(_PUT_PIN, self.pin)

    def reset(self) -> None:
        """Forget everything in this transaction: for following from nothing again."""
        self._execute("DELETE FROM latest")
        self._laid, self._stored, self.pin, self._recent = {}, False, None, None
