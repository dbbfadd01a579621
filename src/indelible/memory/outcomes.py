"""What writing, listing and judging memory hand out; named with the rest in `results`, and made when first asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from indelible.errors import IntegrityError
    from indelible.gate.verdict import Verdict


class Held(NamedTuple):
    """A memory that is genuine, and not handed over: without its content."""

    key: str
    version: int
    seq: int
    verdict: Verdict
    """Why it is held."""
    delivery: int | None
    """Its number in the deliveries; None where none are kept."""


class Saved(NamedTuple):
    """What a save did."""

    key: str
    version: int
    seq: int
    sha256: str
    op: str
    repeated: bool = False
    """True when this operation had already been carried out, and nothing was added."""
    warnings: tuple[str, ...] = ()
    masked: tuple[str, ...] = ()
    """What was masked before anything was hashed, by kind and place: what is stored, and `sha256`, are not of the text that was given."""


class Version(NamedTuple):
    """One entry in the history of a key, newest first."""

    type: str
    seq: int
    version: int
    at: str
    by: str
    how: str
    reason: str | None
    op: str
    revoked: bool
    """Whether the key that signed it is not trusted from this entry or an earlier one on."""
    leaf: bytes
    """Leaf hash: what the next entry about the key names."""
    content: bytes | None
    record: bytes | None


class Listed(NamedTuple):
    """One memory in a listing, verified."""

    key: str
    version: int
    state: str
    at: str
    size: int
    sha256: str
    attested: str
    body: bytes


class Listing(NamedTuple):
    """A page, with what is wrong said beside what is right: nothing is left out silently."""

    items: tuple[Listed, ...]
    findings: tuple[IntegrityError, ...]
    total: int
    next: str | None
    """Give it as `after` for the next page; None at the end."""
