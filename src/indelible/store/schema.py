"""The tables of a SQLite store, and the numbered steps that lead to them.

`id` is `log.id << 40 | seq` in both big tables: rows of one log lie together in the order of the
log, and a save appends to the end of each. The views are for people with a `sqlite3` shell.
"""

APPLICATION_ID = 0x494E444C
"""`INDL` in ASCII: what `file` and `PRAGMA application_id` show."""
SEQ_BITS = 40
SEQ_MASK = (1 << SEQ_BITS) - 1

STEPS: tuple[str, ...] = (
    f"""
    CREATE TABLE log    (id INTEGER PRIMARY KEY, agent TEXT UNIQUE NOT NULL, note BLOB NOT NULL) STRICT;
    CREATE TABLE entry  (id INTEGER PRIMARY KEY, leaf BLOB NOT NULL) STRICT;
    CREATE TABLE record (id INTEGER PRIMARY KEY, salt BLOB NOT NULL, body BLOB NOT NULL, content BLOB NOT NULL) STRICT;
    CREATE TABLE tile   (log INTEGER NOT NULL, level INTEGER NOT NULL, n INTEGER NOT NULL, hashes BLOB NOT NULL,
                         PRIMARY KEY (log, level, n)) STRICT, WITHOUT ROWID;
    CREATE TABLE op     (log INTEGER NOT NULL, op TEXT NOT NULL, seq INTEGER NOT NULL,
                         PRIMARY KEY (log, op)) STRICT, WITHOUT ROWID;
    CREATE VIEW entries AS SELECT log.agent, entry.id & {SEQ_MASK} AS seq, leaf
        FROM entry JOIN log ON log.id = entry.id >> {SEQ_BITS};
    CREATE VIEW records AS SELECT log.agent, record.id & {SEQ_MASK} AS seq, salt, body, content
        FROM record JOIN log ON log.id = record.id >> {SEQ_BITS};
    """,
)
"""Step N leads from format N to format N + 1. A step is never edited once released."""

FORMAT = len(STEPS)

SETTINGS = (
    "PRAGMA trusted_schema=OFF",  # an edited schema must not run functions for us
    "PRAGMA cell_size_check=ON",  # a damaged page is an error, not a guess
    "PRAGMA mmap_size=0",  # an I/O error is a return code, not SIGBUS
    "PRAGMA foreign_keys=ON",
    "PRAGMA synchronous=FULL",  # NORMAL loses acknowledged saves at a power cut (measured)
    "PRAGMA wal_autocheckpoint=1000",
    "PRAGMA journal_size_limit=67108864",
    "PRAGMA secure_delete=ON",  # what a page held before is overwritten when it gets another use
)
