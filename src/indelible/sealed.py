r"""One version of one memory, as it is stored, and the two commitments that bind it to its entry.

    content commitment = SHA-256("indelible/content/v1\n" || salt || content)
    record  commitment = SHA-256("indelible/record/v1\n"  || salt || body)

`salt` is 32 random bytes of its own for every version. It goes when the content goes, and with
it every chance to guess a short memory from the log.
"""

from __future__ import annotations

from indelible.errors import DigestMismatch
from indelible.light import NamedTuple
from indelible.seal.digest import commit as commitment
from indelible.seal.digest import same

CONTENT_DOMAIN = b"indelible/content/v1\n"
RECORD_DOMAIN = b"indelible/record/v1\n"
SALT_SIZE = 32


class Sealed(NamedTuple):
    """Salt, record body (canonical JSON) and content (exact bytes) of one version; not yet verified."""

    salt: bytes
    body: bytes
    content: bytes


class Commitments(NamedTuple):
    """What the log says of one version: 32 bytes each."""

    content: bytes
    record: bytes


def commit(sealed: Sealed) -> Commitments:
    """Both commitments, for the writer of the entry."""
    return Commitments(
        commitment(CONTENT_DOMAIN, sealed.salt, sealed.content), commitment(RECORD_DOMAIN, sealed.salt, sealed.body)
    )


def verify(sealed: Sealed, expected: Commitments, key: str) -> None:
    """Raise unless these are the very bytes that the log commits to.

    Raises:
        DigestMismatch: salt, content or record body differ by one bit or more.
    """
    if len(sealed.salt) != SALT_SIZE:
        raise DigestMismatch(
            subject=f"The salt of {key!r}", expected=f"{SALT_SIZE} bytes", actual=f"{len(sealed.salt)} bytes", key=key
        )
    _compare("content", expected.content, commitment(CONTENT_DOMAIN, sealed.salt, sealed.content), key)
    _compare("record", expected.record, commitment(RECORD_DOMAIN, sealed.salt, sealed.body), key)


def _compare(what: str, expected: bytes, actual: bytes, key: str) -> None:
    if not same(expected, actual):
        raise DigestMismatch(
            subject=f"The {what} of {key!r}",
            expected=f"commitment {expected.hex()}",
            actual=f"commitment {actual.hex()}",
            key=key,
        )
