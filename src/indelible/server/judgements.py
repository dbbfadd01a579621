"""What the gate says, on the wire: verdicts, what is held, deliveries, recall, reviews."""

# msgspec reads annotations at run time, so this file does not postpone them.

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from indelible.server.bases import Answer, Encoding, Finding, Request


class Recall(Request, frozen=True):
    """What is looked for."""

    query: Annotated[str, Meta(max_length=10_000)]
    limit: Annotated[int, Meta(ge=1, le=100)] = 5
    tags: Annotated[tuple[str, ...], Meta(max_length=64)] = ()
    """Only memories that have all of them."""
    kinds: Annotated[tuple[str, ...], Meta(max_length=64)] = ()
    """Only memories of one of these kinds."""
    levels: Annotated[tuple[str, ...], Meta(max_length=16)] = ()
    """Only memories whose scope is of one of these levels."""
    prefix: str = ""
    """Only memories whose key begins so."""
    since: str = ""
    """Only memories that were saved at this time or later (RFC 3339)."""
    until: str = ""
    """Only memories that were saved before this time."""
    characters: Annotated[int, Meta(ge=0, le=10_000_000)] = 0
    """At most so many characters of each text in `fenced`; 0 for all. `content` is whole."""


class VerdictReason(msgspec.Struct, frozen=True):
    """One thing that speaks against a memory, or that has to be said of it."""

    slug: str
    message: str
    remedy: str


class VerdictReview(Answer, frozen=True):
    """What the reviews of a version come to: `unreviewed`, `pending`, `approved`, `rejected` or `disputed`."""

    value: str
    by: str | None
    at: str | None


class Verdict(Answer, frozen=True):
    """How a memory was judged."""

    held: bool
    mode: str
    """The preset, or `custom`."""
    policy: str
    delivered_as: Literal["reference", "rule"] | None
    """Null where it is held."""
    reasons: tuple[VerdictReason, ...]
    """Why it is held."""
    notes: tuple[VerdictReason, ...]
    """What is said beside it, held or not."""
    review: VerdictReview


class Judged(Answer, frozen=True):
    """What the gate says of one version, which is not handed over."""

    agent: str
    key: str
    version: int
    state: str
    verdict: Verdict
    context: dict[str, str]
    """In what it was judged."""


class HeldMemory(Answer, frozen=True):
    """A memory that is held."""

    key: str
    version: int
    verdict: Verdict


class HeldPage(Answer, frozen=True):
    """What is held of some memories, in the order of their keys. `next` is the cursor of the next page, which may hold none; null at the end."""

    held: list[HeldMemory]
    judged: int
    """How many were judged for this page."""
    next: str | None
    findings: list[Finding] | UnsetType = UNSET


class DeliveryReason(Answer, frozen=True):
    """A reason, as the deliveries keep it."""

    slug: str
    message: str


class DeliveryReview(Answer, frozen=True):
    """The review that counted."""

    verdict: str
    reviewer: str
    at: str


class Checkpoint(Answer, frozen=True):
    """A head."""

    size: int
    root: str


class Delivery(Answer, frozen=True):
    """One memory handed out, held back, verified or saved, or a write that was refused. Digests are hex, and empty where there is none to tell."""

    number: int
    at: str
    door: str
    key: str
    version: int
    seq: int
    outcome: str
    """`delivered`, `held`, `shown` (held, and asked for all the same), `verified` or `saved`."""
    agent: str
    reader: str
    id: str
    leaf: str
    commitment: str
    sha256: str | None
    """Null once the memory was erased."""
    mode: str
    policy: str
    context: dict[str, str]
    reasons: tuple[DeliveryReason, ...]
    notes: tuple[DeliveryReason, ...]
    review: DeliveryReview | None
    checkpoint: Checkpoint | None
    delivered_as: str | None


class Deliveries(Answer, frozen=True):
    """One page of the deliveries, the oldest first. `next` is what to give as `after` for the next one; null at the end."""

    deliveries: list[Delivery]
    next: int | None


class Channels(Answer, frozen=True):
    """What a score is the sum of: words in common, character n-grams, turns beside it, an embedder's nearness."""

    words: float
    grams: float
    near: float
    nearness: float


class RecalledMemory(Answer, frozen=True):
    """A memory that a query led to."""

    key: str
    version: int
    sha256: str
    encoding: Encoding
    content: str
    fenced: str
    """The text as it is to be put before a model: in a frame that it cannot imitate."""
    verdict: Verdict
    delivery: int | None
    score: float
    channels: Channels
    gap: float | None
    """By how much its score is above that of the next candidate; null where there is none."""
    similar: list[str]
    """Keys of memories that were as near, and are nearly the same text."""


class RecalledHeld(Answer, frozen=True):
    """A memory that a query led to, and that is held."""

    key: str
    version: int
    verdict: Verdict
    delivery: int | None


class Recalled(Answer, frozen=True):
    """What a query led to, best first."""

    delivered: list[RecalledMemory]
    held: list[RecalledHeld]
    withheld: int
    """Candidates that are held, those in `held` included."""
    warnings: list[str]
    """What is to be known of the index."""
    findings: list[Finding] | UnsetType = UNSET


class Identify(Request, frozen=True):
    """A text that may be a damaged copy of a memory."""

    content: str
    encoding: Encoding = "utf-8"
    prefix: str = ""
    """Only memories whose key begins so."""


class Original(Answer, frozen=True):
    """A version that the text may be a copy of."""

    key: str
    version: int
    newest: int
    state: str
    posterior: float


class CopyNoise(Answer, frozen=True):
    """How far the text is from its original; for a mismatch, what is stored from the original's pattern."""

    bits: int
    compared: int
    rate: float
    lost: float
    """The share of the original's n-grams that is not there."""


class Identified(Answer, frozen=True):
    """Which memory the text is a copy of. Of the first: `perfect`, `mismatch`; of several: `ambiguous`; of none: `unknown`."""

    certainty: Literal["perfect", "mismatch", "ambiguous", "unknown"]
    originals: list[Original]
    gap: float | None
    """Nats between the first and the second; null where there is no other."""
    energy: float | None
    """Nats; null for a copy without any noise."""
    noise: CopyNoise | None
    identical: bool
    """Whether the text has the very digest of the first original."""
    longer: int
    """Bytes that it (for a mismatch: what is stored) has more than that; negative: fewer."""
    also: list[str]
    """Other keys that the same original is under."""
    findings: list[Finding] | UnsetType = UNSET


class Judgement(Answer, frozen=True):
    """What somebody decided about a version."""

    type: str
    verdict: str
    seq: int
    at: str
    by: str
    """Key id of who signed it."""
    reviewer: str | None
    """Name of the reviewer's key; null where this server knows no reviewer by it, and it counts for nothing here."""
    method: str
    subject: str | None
    reason: str | None
    leaf: bytes


class Reviews(Answer, frozen=True):
    """The judgements of the present version, the oldest first, and what they come to."""

    key: str
    version: int
    review: VerdictReview
    reviews: list[Judgement]
