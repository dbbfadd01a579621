"""What a plain server's client hands out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from indelible.errors import DigestMismatch
from indelible.seal.digest import Digest

if TYPE_CHECKING:
    from indelible.plain.forms import Embedded, Verdict


@dataclass(frozen=True, slots=True)
class PlainLoaded:
    """A memory from a plain server, with what can be said about it."""

    key: str
    stored: bytes
    """What the server has, whatever the verdict; `content` is for use."""
    verdict: Verdict
    embedded: Embedded | None
    """Its parts, where it is of the embedded form and sound."""
    keyed: bool
    """Whether a receipt of this machine stands behind the verdict."""
    warnings: tuple[str, ...]
    versions: str
    """The rows that the server sent, for a person who has to find out."""

    @property
    def checksum_ok(self) -> bool | None:
        """The seed's three states: matches, does not match, never had a checksum."""
        return self.verdict.state

    @property
    def sha256(self) -> str:
        """64 hex digits, of what is stored."""
        return Digest.of(self.stored).hex

    @property
    def content(self) -> bytes:
        """The stored bytes.

        Raises:
            DigestMismatch: they are not what was saved.
        """
        if self.verdict.state is False:
            stated, computed = self.verdict.stated, self.verdict.computed
            raise DigestMismatch(
                subject=f"The memory {self.key!r}",
                expected=str(stated or ""),
                actual=str(computed),
                versions=self.versions,
                reason=self.verdict.reason,
            )
        return self.stored


@dataclass(frozen=True, slots=True)
class PlainSaved:
    """A save that was read back."""

    key: str
    sha256: str
    """64 hex digits, as `KEY.sha256` now holds them."""
    warnings: tuple[str, ...]
    masked: tuple[str, ...] = ()
    """What was masked before anything was hashed or sent, by kind and place."""
