"""Opening a SQLite store: which files are refused, how one is made, how one is brought up to this format.

Opening writes nothing, with one exception: a store of an older format is copied beside itself and
brought up in one transaction, which a crash undoes.
"""

from __future__ import annotations

import os
import stat
import time

import apsw

from indelible.errors import NotSaved, StoreError, UsageError
from indelible.files import not_written, publish_new, remove, sync_folder
from indelible.store.schema import APPLICATION_ID, FORMAT, SETTINGS, STEPS

BUSY_MS = 10_000
"""How long a writer waits for another one."""


class Patience:
    """A busy handler that asks about a thousand times a second: SQLite's own asks ten times, for a lock that is free for microseconds.

    Args:
        ms: how long one wait may take.
    """

    __slots__ = ("_deadline", "_seconds")

    def __init__(self, ms: int) -> None:
        self._seconds, self._deadline = ms / 1000, 0.0

    def __call__(self, asked: int) -> bool:
        now = time.monotonic()
        if asked == 0:
            self._deadline = now + self._seconds
        time.sleep(0.0004 + (os.getpid() * 7 + asked * 13) % 16 * 0.0001)  # each process at its own moments
        return now < self._deadline


_orphans: list[apsw.Connection] = []
"""Handles that must be neither used nor closed: closing one in a forked child would drop the parent's locks."""


def orphan(*connections: apsw.Connection | None) -> None:
    """Give handles up without closing them."""
    _orphans.extend(connection for connection in connections if connection is not None)


def refuse_odd_paths(path: str) -> None:
    """A store is a plain file of ours, or not yet there. A link is refused before anything is made behind it.

    Raises:
        StoreError: a link, a folder, a device, or somebody else's file.
    """
    try:
        path.encode("utf-8")
    except UnicodeEncodeError as exc:
        raise UsageError(
            "The store's path is not UTF-8 text", remedy="Give the file and its folders names in UTF-8"
        ) from exc
    folder = os.path.dirname(path)
    if os.path.islink(folder):
        raise StoreError(
            f"The store's folder {folder} is a link to {os.readlink(folder)}, which is not followed",
            remedy="Name the folder itself",
            path=path,
        )
    try:
        status = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as exc:
        raise StoreError(
            f"The store {path} cannot be looked at ({exc.strerror})", remedy="Check the rights of its folder", path=path
        ) from exc
    if stat.S_ISLNK(status.st_mode):
        raise StoreError(
            f"The store {path} is a link to {os.readlink(path)}, which is not followed",
            remedy="Name the file itself",
            path=path,
        )
    if not stat.S_ISREG(status.st_mode):
        kind = "a folder" if stat.S_ISDIR(status.st_mode) else "not a plain file"
        raise StoreError(
            f"The store {path} is {kind}", remedy="Name the store's file, usually .indelible/store.db", path=path
        )
    if hasattr(os, "geteuid") and status.st_uid != os.geteuid():
        raise StoreError(
            f"The store {path} belongs to another account (uid {status.st_uid})",
            remedy="Two accounts share memory through 'indelible serve'; or change the owner of the file",
            path=path,
        )


def create(path: str) -> None:
    """Make an empty store: built whole under a name of its own, then linked to `path`, so that half of one is never seen."""
    folder, name = os.path.split(path)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        _sweep(folder, name)
        fresh = os.path.join(folder, f".{name}.{os.getpid()}.{os.urandom(4).hex()}.new")
        os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0), 0o600))
    except OSError as exc:
        raise not_written(path, exc, "The store") from exc
    try:
        _fill(fresh)
        _publish(fresh, path)
    except OSError as exc:
        raise not_written(path, exc, "The store") from exc
    except apsw.Error as exc:
        raise NotSaved(
            f"No store can be made at {path} ({exc})", remedy="Check the disk's free room", path=path
        ) from exc
    finally:
        for suffix in ("", "-wal", "-shm", "-journal"):
            remove(fresh + suffix)


def _fill(fresh: str) -> None:
    connection = apsw.Connection(fresh)
    try:
        connection.execute("PRAGMA synchronous=FULL")
        _advance(connection, 0)
        if connection.pragma("journal_mode", "wal") != "wal":
            raise StoreError(
                "The file system of this folder does not allow WAL mode",
                remedy="Put the store on a local disk",
                path=fresh,
            )
    finally:
        connection.close()


def _publish(fresh: str, path: str) -> None:
    """Where another process was first, its store stands."""
    try:
        publish_new(fresh, path)
    except FileExistsError:
        return
    sync_folder(os.path.dirname(path))


def _sweep(folder: str, name: str) -> None:
    """Remove what a crash of an earlier `create` left: it has no links to it and no one reads it."""
    for entry in os.listdir(folder):
        if entry.startswith(f".{name}.") and ".new" in entry and not _alive(entry[len(name) + 2 :].split(".")[0]):
            remove(os.path.join(folder, entry))


def _alive(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except (ValueError, ProcessLookupError):
        return False
    except OSError:
        return True
    return True


def connect(path: str, *, write: bool, busy_ms: int = BUSY_MS) -> apsw.Connection:
    """A connection with our settings on a store of our format.

    Raises:
        StoreError: not a store, or of a newer format.
    """
    connection = _open(path, write=write, busy_ms=busy_ms)
    for setting in SETTINGS:
        connection.execute(setting)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)  # nobody's code in the file runs when we write
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    version = _check_format(connection, path)
    if version < FORMAT:
        connection.close()
        _upgrade(path, version, busy_ms)
        return connect(path, write=write, busy_ms=busy_ms)
    if write and connection.pragma("journal_mode") != "wal" and connection.pragma("journal_mode", "wal") != "wal":
        raise StoreError(
            f"The store {path} cannot be put into WAL mode",
            remedy="Put it on a local disk; end the program that holds it",
            path=path,
        )
    # A one-shot command would otherwise pay the fsyncs of a checkpoint at its end.
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    return connection


def _open(path: str, *, write: bool, busy_ms: int) -> apsw.Connection:
    if write and not (os.access(path, os.W_OK) and os.access(os.path.dirname(path), os.W_OK)):
        raise apsw.ReadOnlyError("the file or its folder is read-only")
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE if write else apsw.SQLITE_OPEN_READONLY)
    connection.set_busy_handler(
        Patience(busy_ms)
    )  # before any statement: the first one after a crash waits for the recovery of another process
    if write:
        return connection
    try:
        connection.execute("SELECT 1 FROM sqlite_schema").fetchall()
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        connection.close()
        return _open_immutable(path)
    return connection


def _open_immutable(path: str) -> apsw.Connection:
    """On a read-only file system a cleanly closed store can be read as it is; one with a tail in its -wal cannot."""
    if os.path.exists(path + "-journal"):
        raise StoreError(
            f"{path}-journal lies beside the store, which keeps none: SQLite will not read one with a journal that is not its own",
            remedy="Look at what put it there, and move it away", path=path,
        )  # fmt: skip
    wal = path + "-wal"
    if os.path.exists(wal) and os.path.getsize(wal):
        raise StoreError(
            f"The store {path} lies on a read-only file system with saves still in {os.path.basename(wal)}, which would be passed over",
            remedy="Copy the store and its -wal to a writable folder and read it there",
            path=path,
        )
    return apsw.Connection(f"file:{uri_path(path)}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)


def uri_path(path: str) -> str:
    """A path inside an SQLite URI, where only these three mean something. No import: it is needed when handles have run out."""
    return path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")


def _check_format(connection: apsw.Connection, path: str) -> int:
    application, version = connection.pragma("application_id"), connection.pragma("user_version")
    if application != APPLICATION_ID:
        raise StoreError(
            f"{path} is a database, but not an Indelible store",
            remedy="Name the right file, usually .indelible/store.db",
            path=path,
            not_a_store=True,
        )
    if version < 1:
        raise StoreError(
            f"The store {path} says that it has format {version}, which never was",
            remedy="Put a good copy of it back",
            path=path,
            not_a_store=True,
        )
    if version > FORMAT:
        raise StoreError(
            f"The store {path} has format {version}; this program knows formats up to {FORMAT}",
            remedy="Upgrade Indelible: an older program never writes into a newer store",
            path=path,
        )
    return int(version)


def _upgrade(path: str, version: int, busy_ms: int) -> None:
    """Copy the store beside itself, then take the missing steps in one transaction."""
    connection = _open(path, write=True, busy_ms=busy_ms)
    try:
        backup = f"{path}.format{version}.bak"
        if not os.path.exists(backup):
            os.close(os.open(backup + ".new", os.O_CREAT | os.O_TRUNC | os.O_RDWR, 0o600))
            connection.execute("VACUUM INTO ?", (backup + ".new",))
            os.replace(backup + ".new", backup)
        connection.execute("PRAGMA synchronous=FULL")
        _advance(connection, version)
    finally:
        connection.close()


def _advance(connection: apsw.Connection, version: int) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        if connection.pragma("user_version") == version:  # another process may have been first
            for step in STEPS[version:]:
                for _ in connection.execute(step):
                    pass
            connection.pragma("application_id", APPLICATION_ID)
            connection.pragma("user_version", len(STEPS))
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
