"""The tables that a store of format 1 has, word for word, and nothing beside them that could run by itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from indelible.audit.findings import Notebook
    from indelible.audit.source import Source

_WORDS = {
    "log": "CREATE TABLE log (id INTEGER PRIMARY KEY, agent TEXT UNIQUE NOT NULL, note BLOB NOT NULL) STRICT",
    "entry": "CREATE TABLE entry (id INTEGER PRIMARY KEY, leaf BLOB NOT NULL) STRICT",
    "record": "CREATE TABLE record (id INTEGER PRIMARY KEY, salt BLOB NOT NULL, body BLOB NOT NULL, content BLOB NOT NULL) STRICT",
    "tile": "CREATE TABLE tile (log INTEGER NOT NULL, level INTEGER NOT NULL, n INTEGER NOT NULL, hashes BLOB NOT NULL, "
            "PRIMARY KEY (log, level, n)) STRICT, WITHOUT ROWID",
    "op": "CREATE TABLE op (log INTEGER NOT NULL, op TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (log, op)) STRICT, WITHOUT ROWID",
    "entries": "CREATE VIEW entries AS SELECT log.agent, entry.id & 1099511627775 AS seq, leaf "
               "FROM entry JOIN log ON log.id = entry.id >> 40",
    "records": "CREATE VIEW records AS SELECT log.agent, record.id & 1099511627775 AS seq, salt, body, content "
               "FROM record JOIN log ON log.id = record.id >> 40",
}  # fmt: skip


def look_at_schema(source: Source, findings: Notebook) -> None:
    """Compare what is in the file with what belongs there."""
    left = dict(_WORDS)
    for kind, name, sql in source.schema():
        expected = left.pop(name, None)
        if kind == "trigger":
            findings.add("altered-schema", f"There is a trigger {name!r}, which would run at the next save")
        elif expected is None:
            findings.add("foreign-table", f"There is a {kind} {name!r}, which does not belong to a store")
        elif _squeeze(sql) != _squeeze(expected):
            findings.add("altered-schema", f"The {kind} {name!r} is not as it was made")
    for name in left:
        findings.add("altered-schema", f"The table or view {name!r} is gone")


def _squeeze(sql: str) -> str:
    """Without blanks, in which two ways of writing one statement may differ."""
    return re.sub(r"\s+", "", sql)
