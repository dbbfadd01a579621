"""API keys: who may call the server, as which agent, to do what, under which keys.

    idl_<id, 12 hex>_<43 characters of base64url: 256 random bits>

The text is shown once. Kept are its SHA-256 (of 256 random bits, which needs no slow hash) and what it
allows, in `<config>/server/apikeys.db` (0600), read afresh for each request: a key that another process
revokes is refused at the next one. No WAL: the file alone is the whole, so it can be put in another's place.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from hashlib import sha256
from hmac import compare_digest
from secrets import token_hex, token_urlsafe
from typing import TYPE_CHECKING, TypeAlias

import apsw

from indelible.entry import check_text
from indelible.errors import AccessDenied, NotFoundError, NotSaved, StoreError, UsageError
from indelible.settings import now
from indelible.store.opening import refuse_odd_paths

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

READ, WRITE, ERASE, REVIEW = "read", "write", "erase", "review"
VERBS = (READ, WRITE, ERASE, REVIEW)
"""In the order in which they are shown."""
AGENTS = (READ, WRITE, ERASE)
"""What an agent's own key allows unless told otherwise: it does not hand in reviews."""

_TABLE = """CREATE TABLE IF NOT EXISTS apikey (id TEXT PRIMARY KEY, agent TEXT NOT NULL, verbs TEXT NOT NULL, prefix TEXT NOT NULL,
    hash BLOB NOT NULL, created TEXT NOT NULL, revoked TEXT) STRICT, WITHOUT ROWID"""
_ALL = "SELECT id, agent, verbs, prefix, created, revoked FROM apikey ORDER BY created, id"
_ONE = "SELECT id, agent, verbs, prefix, created, revoked, hash FROM apikey WHERE id = ?"
_REVOKE = "UPDATE apikey SET revoked = ? WHERE id = ? AND revoked IS NULL"
_NO_HASH = bytes(32)
_Rows: TypeAlias = list[tuple[object, ...]]
_ID_BYTES = 6
_SECRET_BYTES = 32
_MAX_TEXT = 256


class NoCredential(AccessDenied):
    """No API key, or none that is in force. Which of the two is not said."""

    slug = "no-api-key"
    http_status = 401
    remedy = "Send a key made with 'indelible apikey create AGENT' in the header x-api-key"


@dataclass(frozen=True, slots=True)
class ApiKey:
    """What is known about a key; its text is not."""

    id: str
    agent: str
    verbs: frozenset[str]
    prefix: str
    """Only memory keys that begin with it; empty for all."""
    created: str
    revoked: str | None = None
    """When it was revoked."""


class ApiKeys:
    """The API keys of the server whose settings lie in `config_dir`.

    Args:
        clock: the time now, RFC 3339 UTC.
    """

    def __init__(self, config_dir: str, *, clock: Callable[[], str] = now) -> None:
        self.path = os.path.join(config_dir, "server", "apikeys.db")
        self._clock = clock
        self._connection: apsw.Connection | None = None
        self._identity: tuple[int, int] | None = None

    def create(self, agent: str, verbs: Iterable[str] = AGENTS, prefix: str = "") -> str:
        """Make a key and return its text, which cannot be had again.

        Raises:
            UsageError: no agent, an unknown verb or none, a prefix that no key can have.
        """
        check_text(agent, "agent")
        allowed = frozenset(verbs)
        if not allowed or not allowed <= frozenset(VERBS):
            raise UsageError(f"An API key allows one or more of {', '.join(VERBS)}", verbs=sorted(allowed))
        if prefix:
            check_text(prefix, "prefix")
        key_id = token_hex(_ID_BYTES)
        text = f"idl_{key_id}_{token_urlsafe(_SECRET_BYTES)}"
        self._make()
        self._execute(
            "INSERT INTO apikey VALUES (?, ?, ?, ?, ?, ?, NULL)",
            (key_id, agent, _format_verbs(allowed), prefix, _hash(text), self._clock()),
        )
        return text

    def list(self) -> tuple[ApiKey, ...]:
        """All keys, revoked ones too, oldest first."""
        return tuple(_parse(row) for row in self._execute(_ALL))

    def revoke(self, key_id: str) -> ApiKey:
        """Take a key out of force, from the next request on. Once more is no error.

        Raises:
            NotFoundError: there is no key of that id.
        """
        self._execute(_REVOKE, (self._clock(), key_id))
        rows = self._execute(_ONE, (key_id,))
        if not rows:
            raise NotFoundError("There is no API key of that id", remedy="'indelible apikey list' shows their ids")
        return _parse(rows[0])

    def authenticate(self, text: str) -> ApiKey:
        """The key that `text` is.

        Raises:
            NoCredential: it is none, or a revoked one.
        """
        scheme, _, rest = text[:_MAX_TEXT].partition("_")
        key_id = rest.partition("_")[0] if scheme == "idl" else ""
        rows = self._execute(_ONE, (key_id,))
        # An unknown id takes the same steps as a known one with a wrong secret.
        kept = rows[0][-1] if rows else _NO_HASH
        same = compare_digest(_hash(text), kept if isinstance(kept, bytes) else _NO_HASH)
        if not (rows and same and rows[0][-2] is None):
            raise NoCredential("There is no API key in this request, or none that is in force")
        return _parse(rows[0])

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = self._identity = None

    def _execute(self, statement: str, values: tuple[object, ...] = ()) -> _Rows:
        connection = self._open()
        if connection is None:
            return []
        try:
            return connection.execute(statement, values).fetchall()
        except (apsw.FullError, apsw.ReadOnlyError, apsw.BusyError) as exc:
            raise NotSaved(
                "The file of API keys could not be written", remedy="Check its disk and rights, and try again"
            ) from exc
        except apsw.Error as exc:
            raise self._unusable("is damaged or no file of API keys") from exc

    def _open(self) -> apsw.Connection | None:
        """The file as it is now: one that was put in its place, or taken away, counts at once."""
        try:
            status = os.lstat(self.path)
        except (FileNotFoundError, NotADirectoryError):
            self.close()
            return None
        except OSError as exc:
            raise self._unusable("cannot be looked at") from exc
        if self._connection is not None and self._identity == (status.st_dev, status.st_ino):
            return self._connection
        self.close()
        refuse_odd_paths(self.path)
        if os.name == "posix" and status.st_mode & 0o022:
            raise self._unusable("may be changed by other users of this machine")
        try:
            self._connection = apsw.Connection(self.path, flags=apsw.SQLITE_OPEN_READWRITE)
        except apsw.Error as exc:
            raise self._unusable("cannot be opened") from exc
        self._connection.set_busy_timeout(5_000)
        self._identity = (status.st_dev, status.st_ino)
        return self._connection

    def _make(self) -> None:
        """The file and its table, private from the first moment on."""
        folder = os.path.dirname(self.path)
        refuse_odd_paths(self.path)
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0), 0o600))
        except OSError as exc:
            raise NotSaved(
                f"The file of API keys could not be made ({exc.strerror})", remedy=f"Check the folder {folder}"
            ) from exc
        self._execute("PRAGMA synchronous=FULL")
        self._execute(_TABLE)

    def _unusable(self, fault: str) -> StoreError:
        return StoreError(
            f"The file of API keys {self.path} {fault}",
            remedy="Put it right, or move it away and make new keys",
            path=self.path,
        )


def _hash(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


def _format_verbs(verbs: frozenset[str]) -> str:
    return " ".join(verb for verb in VERBS if verb in verbs)


def _parse(row: tuple[object, ...]) -> ApiKey:
    key_id, agent, verbs, prefix, created, revoked = row[:6]
    return ApiKey(
        str(key_id),
        str(agent),
        frozenset(str(verbs).split()),
        str(prefix),
        str(created),
        None if revoked is None else str(revoked),
    )
