"""The rows of a SQLite store as they are in the file: read-only, in one snapshot, with nothing concluded from them.

A row that cannot be read does not end the reading: it comes as a `Torn`, and the rows behind it are tried one by one.
Columns come as whatever type the file has; who reads them must look.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from urllib.parse import quote

import apsw

from indelible.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

APPLICATION_ID = 0x494E444C
FORMAT = 1
SEQ_BITS = 40
MAX_LOG = 2**23 - 1
"""Ids are `log << 40 | seq` in a signed 64-bit number."""

MAX_SIZE = 2**SEQ_BITS
"""More entries than this have no ids."""

_ROTATED = b'"type":"key-rotated"'
_BUSY_MS = 10_000
_BATCH = 1000
_HOPELESS = 64
"""Batches in a row without one readable row, after which a table is given up."""
_LOWEST, _HIGHEST = -(2**63), 2**63 - 1
_SETTINGS = (
    "trusted_schema=OFF",
    "cell_size_check=ON",
    "mmap_size=0",  # a page that cannot be read is an error to tell of, not the end of the process
    "query_only=ON",
    "cache_size=-512",  # every page is read once, in order: a larger cache only costs
)
UNREADABLE = (apsw.Error, UnicodeDecodeError, OverflowError)
"""What apsw raises for a row or a page that cannot be read."""


class Log(NamedTuple):
    """A row of `log`."""

    id: int
    agent: str
    """As text; bytes that are not UTF-8 come out escaped, and so match no agent."""
    note: object


class Torn(str):
    """Stands where the columns of a row would, if the row is there, or should be, and cannot be read: says why."""

    __slots__ = ()


Row: TypeAlias = "tuple[Any, ...]"
"""Number and columns of a row of `entry` or `record`; or its number and a `Torn`."""


class Span(NamedTuple):
    """Rows in a range of ids."""

    rows: int
    first: int


class Source:
    """A store's file, open for reading.

    Raises:
        StoreError: it cannot be read at all, or is not a store of the format that this program knows.
    """

    def __init__(self, path: str) -> None:
        self.path = os.path.abspath(path)
        try:
            self._connection = _open(self.path)
            self._execute = self._connection.execute
            for setting in _SETTINGS:
                self._execute(f"PRAGMA {setting}").fetchall()
            self._check_format()
        except (apsw.Error, OSError) as exc:
            raise StoreError(f"The store {self.path} cannot be read ({_first_line(exc)})", path=self.path) from exc

    def _check_format(self) -> None:
        application, version = self._connection.pragma("application_id"), self._connection.pragma("user_version")
        if application != APPLICATION_ID:
            raise StoreError(f"{self.path} is not an Indelible store", path=self.path)
        if version != FORMAT:
            raise StoreError(
                f"The store {self.path} has format {version}; this program knows format {FORMAT}",
                remedy="Upgrade Indelible, and audit it again", path=self.path,
            )  # fmt: skip

    def begin(self) -> None:
        """Hold one snapshot from here on. BEGIN takes none by itself, so something is read at once."""
        self._execute("BEGIN")
        self._execute("SELECT 1 FROM sqlite_schema").fetchall()

    def close(self) -> None:
        """Give the file up; nothing was written."""
        self._connection.close()

    def integrity(self) -> Iterator[str]:
        """What SQLite itself finds wrong with the file, line by line."""
        try:
            for (line,) in self._execute("PRAGMA integrity_check(100)"):
                if line != "ok":
                    yield line
        except UNREADABLE as exc:
            yield _first_line(exc)

    def schema(self) -> Iterator[tuple[str, str, str]]:
        """`(type, name, sql)` of everything in the schema, but for what SQLite keeps there itself."""
        for kind, name, sql in self._execute("SELECT type, CAST(name AS BLOB), CAST(sql AS BLOB) FROM sqlite_schema"):
            label = _text(name)
            if not label.startswith("sqlite_"):
                yield str(kind), label, _text(sql)

    def logs(self) -> list[Log]:
        """Every log, in the order of its agent."""
        rows = self._execute("SELECT id, CAST(agent AS BLOB), note FROM log ORDER BY agent")
        return [Log(number, _text(agent), note) for number, agent, note in rows]

    def end(self, table: str, log: int) -> int:
        """One past the number of the last row of a log in `entry` or `record`."""
        query = f"SELECT max(id) FROM {table} WHERE id >= ? AND id < ?"  # noqa: S608 - `table` is one of two words
        rows = list(self._execute(query, (log << SEQ_BITS, (log + 1) << SEQ_BITS)))
        return 0 if rows[0][0] is None else int(rows[0][0]) - (log << SEQ_BITS) + 1

    def entries(self, log: int, end: int) -> Iterator[Row]:
        """`(number, leaf)` of every entry below `end`, in order."""
        return self._rows("entry", "leaf", log, end)

    def records(self, log: int, end: int) -> Iterator[Row]:
        """`(number, salt, body, content)` of every version below `end`, in order."""
        return self._rows("record", "salt, body, content", log, end)

    def _rows(self, table: str, columns: str, log: int, end: int) -> Iterator[Row]:
        base, start, hopeless, end = log << SEQ_BITS, 0, 0, min(end, MAX_SIZE)
        query = f"SELECT id - {base}, {columns} FROM {table} WHERE id >= ? AND id < ? ORDER BY id LIMIT {_BATCH}"  # noqa: S608 - constants
        while start < end and hopeless < _HOPELESS:
            try:
                count = 0
                for row in self._execute(query, (base + start, base + end)):
                    start, count = row[0] + 1, count + 1
                    yield row
                if count < _BATCH:
                    return
            except UNREADABLE:
                found = list(self._one_by_one(table, columns, base, range(start, min(start + _BATCH, end))))
                hopeless = 0 if any(type(row[1]) is not Torn for row in found) else hopeless + 1
                yield from found
                start += _BATCH

    def _one_by_one(self, table: str, columns: str, base: int, numbers: range) -> Iterator[Row]:
        query = f"SELECT {columns} FROM {table} WHERE id = ?"  # noqa: S608 - constants
        for seq in numbers:
            try:
                row = self._execute(query, (base + seq,)).fetchone()
            except UNREADABLE as exc:
                yield seq, Torn(_first_line(exc))
            else:
                if row is not None:
                    yield seq, *row

    def rotations(self, log: int) -> Iterator[object]:
        """Every leaf of a log that may hold a `key-rotated`."""
        query = f"SELECT leaf FROM entry WHERE id BETWEEN ? AND ? AND instr(leaf, x'{_ROTATED.hex()}') ORDER BY id"  # noqa: S608 - constants
        try:
            yield from (row[0] for row in self._execute(query, (log << SEQ_BITS, ((log + 1) << SEQ_BITS) - 1)))
        except UNREADABLE:
            return  # the row that cannot be read is told of where the entries are

    def operations(self, log: int) -> Iterator[tuple[bytes, int]]:
        """`(operation id, number of its entry)` of every row of `op`."""
        return iter(self._execute("SELECT CAST(op AS BLOB), seq FROM op WHERE log = ?", (log,)))

    def tile(self, log: int, level: int, n: int) -> object:
        """The hashes of one tile; None where there is none."""
        row = self._execute("SELECT hashes FROM tile WHERE log = ? AND level = ? AND n = ?", (log, level, n)).fetchone()
        return row[0] if row else None

    def tiles(self, log: int) -> list[tuple[int, int]]:
        """`(level, n)` of every tile."""
        return list(self._execute("SELECT level, n FROM tile WHERE log = ?", (log,)))

    def beyond(self, table: str, log: int, end: int) -> Span:
        """Rows of a log in `entry` or `record` from number `end` on."""
        span = self._span(table, "id", (log << SEQ_BITS) + min(end, MAX_SIZE), ((log + 1) << SEQ_BITS) - 1)
        return Span(span.rows, span.first - (log << SEQ_BITS))

    def homeless(self, table: str, logs: list[int]) -> int:
        """How many rows of a table belong to none of these logs."""
        column, shift = ("id", SEQ_BITS) if table in ("entry", "record") else ("log", 0)
        edges = [_LOWEST, *(edge for log in sorted(logs) for edge in (log << shift, (log + 1) << shift)), _HIGHEST]
        gaps = [(low, high) for low, high in zip(edges[::2], edges[1::2], strict=True) if low < high]
        return sum(self._span(table, column, low, high - (high != _HIGHEST)).rows for low, high in gaps)

    def _span(self, table: str, column: str, low: int, high: int) -> Span:
        query = f"SELECT count(*), min({column}) FROM {table} WHERE {column} BETWEEN ? AND ?"  # noqa: S608 - constants
        ((count, first),) = self._execute(query, (low, min(high, _HIGHEST)))
        return Span(int(count), int(first or 0))


def _open(path: str) -> apsw.Connection:
    """A read-only connection; on a read-only file system, of a store that was closed cleanly."""
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
    connection.set_busy_timeout(_BUSY_MS)
    try:
        connection.execute("SELECT 1 FROM sqlite_schema").fetchall()
        return connection
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        connection.close()
        if os.path.exists(path + "-wal") and os.path.getsize(path + "-wal"):
            raise
    return apsw.Connection(f"file:{quote(path)}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)


def _text(value: object) -> str:
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:120]
