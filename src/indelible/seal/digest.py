"""A SHA-256 digest as a value, and the salted commitment.

    sha256:407b828f…   "sha256:" and 64 lower-case hex digits

Two digests are compared in constant time and only with one another: never
with text. `commit` is what the log holds in place of content: without the salt
a short memory cannot be guessed from it, and erasing the salt erases the link.
"""

from __future__ import annotations

from indelible.errors import UsageError
from indelible.light import compare_digest, hashing, sha256

SIZE = 32
"""Bytes in a digest, a salt and a tree hash."""

CONTENT_DOMAIN = b"indelible/content/v1\n"
RECORD_DOMAIN = b"indelible/record/v1\n"

JOINED = 4096
_PREFIX = "sha256:"
_LOWER_HEX = frozenset("0123456789abcdef")


class Digest:
    """32 bytes of SHA-256 that compare in constant time."""

    __slots__ = ("_raw",)

    def __init__(self, raw: bytes) -> None:
        if len(raw) != SIZE:
            raise UsageError(f"A SHA-256 digest has {SIZE} bytes, not {len(raw)}")
        self._raw = bytes(raw)

    @classmethod
    def of(cls, data: bytes) -> Digest:
        """The digest of `data`."""
        return cls(sha256(data).digest())

    @classmethod
    def parse(cls, text: str) -> Digest:
        """The exact inverse of `str(digest)`: `sha256:` and 64 lower-case hex digits."""
        if not text.startswith(_PREFIX):
            raise UsageError("A digest is written as 'sha256:' and 64 hex digits")
        return cls.from_hex(text.removeprefix(_PREFIX))

    @classmethod
    def from_hex(cls, text: str) -> Digest:
        """A digest of 64 lower-case hex digits, with nothing round them."""
        if len(text) != 2 * SIZE or not _LOWER_HEX.issuperset(text):
            raise UsageError("A SHA-256 digest has 64 lower-case hex digits and nothing else")
        return cls(bytes.fromhex(text))

    @property
    def raw(self) -> bytes:
        """The 32 bytes."""
        return self._raw

    @property
    def hex(self) -> str:
        """The 64 hex digits, as `KEY.sha256` holds them."""
        return self._raw.hex()

    def __str__(self) -> str:
        return _PREFIX + self._raw.hex()

    def __repr__(self) -> str:
        return f"Digest.parse({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Digest):
            return NotImplemented
        return compare_digest(self._raw, other._raw)

    def __hash__(self) -> int:
        return hash(self._raw)


def same(expected: bytes, actual: bytes) -> bool:
    """Whether two raw digests are the same one, in constant time."""
    return len(expected) == len(actual) == SIZE and compare_digest(expected, actual)


def commit(domain: bytes, salt: bytes, data: bytes) -> bytes:
    """SHA-256(domain || salt || data): binding, and hiding for who lacks the salt.

    Args:
        domain: `CONTENT_DOMAIN` or `RECORD_DOMAIN`, so that one can never pass for the other.
        salt: 32 random bytes, one for each record.

    Raises:
        UsageError: the salt has another length; the parts would then run into one another.
    """
    if len(salt) != SIZE:
        raise UsageError(f"A salt has {SIZE} bytes, not {len(salt)}")
    if len(data) <= JOINED:
        return sha256(domain + salt + data).digest()
    hasher = hashing(len(data))(domain + salt)
    hasher.update(data)  # not joined first: `data` may be large
    return hasher.digest()
