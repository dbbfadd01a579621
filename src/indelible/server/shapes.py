"""What goes over the wire, as types: requests are read strictly by them, answers and `/openapi.json` are written from them.

Bytes are standard base64 in JSON. A request that has a member which its type does not name is refused, so that a
misspelt `expires_at` is not silently no expiry.
"""

# msgspec reads annotations at run time, so this file does not postpone them.

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from indelible.server.bases import Answer, Class, Encoding, Finding, Reason, Request, Size
from indelible.server.judgements import Verdict, VerdictReason

# The seeds' wire form


class Save(Request, frozen=True):
    """A save in the seeds' form."""

    key: str
    content: str
    agent: str | None = None
    expires_at: str | None = None
    """From then on it is not handed out: a time with its zone. Absent or null: never."""


class SavedPlain(Answer, frozen=True, kw_only=True):
    """The seeds' answer to a save."""

    status: Literal["saved"] = "saved"
    agent: str
    key: str
    masked: tuple[str, ...] | UnsetType = UNSET
    """There where what is stored is not quite what was sent: each secret that was masked, by kind and place."""


class Row(Answer, frozen=True):
    """One memory in the seeds' form. `content` is the text exactly as it was saved."""

    key_name: str
    content: str | None
    """Null where the bytes are not UTF-8: they are in `content_base64` then."""
    content_base64: bytes | UnsetType = UNSET
    version: int | UnsetType = UNSET
    created_at: str | UnsetType = UNSET
    updated_at: str | UnsetType = UNSET
    expires_at: str | UnsetType = UNSET
    attested: str | UnsetType = UNSET
    """`agent` where the agent's own key signed it, `server` where this server vouches for it."""
    computed: bool | UnsetType = UNSET
    """True for a checksum that was computed from the verified memory and not stated by a client."""


class Rows(Answer, frozen=True):
    """The seeds' answer to a load. `findings` is there only when something is wrong."""

    memories: list[Row]
    findings: list[Finding] | UnsetType = UNSET


# /v1


class Put(Request, frozen=True):
    """A save that the server attests."""

    content: str
    encoding: Encoding = "utf-8"
    expires_at: str | None = None
    reason: Reason = None
    allow_empty: bool = False
    origin: Class | None = None
    """What kind of source the text comes from; absent: the agent, or what it was before where that is less. It is sealed with it; what is `tool` or `external` is held until it is reviewed."""
    tags: Annotated[tuple[str, ...], Meta(max_length=64)] | UnsetType = UNSET
    """Absent: as they were."""


class Slot(Request, frozen=True):
    """A slot's text, or what is to be added to it; the server attests it."""

    content: str
    reason: Reason = None


class Named(Request, frozen=True):
    """Something to be done to one memory."""

    key: str
    reason: Reason = None


class Restore(Request, frozen=True):
    """An older version to be saved again as the newest."""

    key: str
    version: Annotated[int, Meta(ge=1)]
    reason: Reason = None


class Review(Request, frozen=True):
    """A judgement that a reviewer signed."""

    leaf: bytes
    """A `reviewed` entry, made for the present head, with its signature."""


class Receipt(Request, frozen=True):
    """A receipt that an approver signed (C2SP signed-note)."""

    note: bytes
    reason: Reason = None


class Enrol(Request, frozen=True):
    """The verifier key of this API key's agent (C2SP vkey)."""

    vkey: str


class SealedBytes(Request, frozen=True):
    """One version as it is stored: salt, record body and content."""

    salt: bytes
    body: bytes
    content: bytes


class CommitChange(Request, frozen=True):
    """One entry, with the version that it saves if it saves one."""

    leaf: bytes
    sealed: SealedBytes | None = None


class CommitMend(Request, frozen=True):
    """The bytes of a key's present version, which are altered or gone in the store."""

    seq: Annotated[int, Meta(ge=0)]
    sealed: SealedBytes


class Commit(Request, frozen=True):
    """A transaction that the agent has signed."""

    expected: str
    """SHA-256 of the head note that it builds upon, 64 hex digits; empty where there is no log yet."""
    changes: Annotated[list[CommitChange], Meta(min_length=1, max_length=256)]
    note: bytes
    """The head that follows from it, signed by the agent."""
    mends: Annotated[tuple[CommitMend, ...], Meta(max_length=256)] = ()


class Done(Answer, frozen=True):
    """What a write did."""

    key: str
    version: int
    seq: int
    op: str
    repeated: bool
    """True when this operation had been carried out before, and nothing was added."""
    sha256: str | None = None
    """Of what is stored."""
    warnings: tuple[str, ...] = ()
    masked: tuple[str, ...] = ()
    """Each secret that was masked before anything was hashed, by kind and place: what is stored is not what was sent."""


class SlotRow(Answer, frozen=True, kw_only=True):
    """One open slot of a state directory."""

    name: str
    key: str
    discipline: str
    """write-once, append-only or replaceable."""
    version: int
    seq: int
    saved_at: str
    bytes: int
    sha256: str


class State(Answer, frozen=True, kw_only=True):
    """A state directory as it is sealed; the files are the client's to hold against it."""

    namespace: str
    slots: list[SlotRow]
    closed: list[str]
    """Keys of the records of past closings, the oldest first."""


class SlotText(SlotRow, frozen=True, kw_only=True):
    """A slot's text with its proof."""

    content: str
    record: msgspec.Raw
    salt: bytes
    leaf: bytes
    proof: str
    """C2SP tlog-proof."""


class Committed(Answer, frozen=True, kw_only=True):
    """The transaction is in the log."""

    status: Literal["committed"] = "committed"
    size: int
    repeated: bool


class Listed(Answer, frozen=True):
    """One memory in a listing, verified."""

    key: str
    version: int
    state: str
    saved_at: str
    size: int
    sha256: str
    attested: str


class Page(Answer, frozen=True):
    """One page of a listing. `next` is the cursor of the next one; null at the end."""

    memories: list[Listed]
    total: int
    next: str | None
    findings: list[Finding] | UnsetType = UNSET


class Memory(Answer, frozen=True):
    """One version with all that it takes to check it without trusting this server."""

    agent: str
    key: str
    version: int
    state: str
    saved_at: str
    attested: str
    sha256: str
    encoding: Encoding
    content: str
    record: msgspec.Raw
    """What is known about it; its canonical JSON is what the leaf's `record` commits to."""
    salt: bytes
    leaf: bytes
    proof: str
    """A C2SP tlog-proof of the leaf, with the signed head."""
    verdict: Verdict
    delivery: int | None
    """Its number in the deliveries; null where it could not be noted."""


class Event(Answer, frozen=True):
    """One entry about a key."""

    type: str
    seq: int
    version: int
    at: str
    by: str
    how: str
    reason: str | None
    leaf_hash: str


class History(Answer, frozen=True):
    """The entries about one key, newest first."""

    key: str
    events: list[Event]
    total: int


class Proof(Answer, frozen=True):
    """One entry and its inclusion in the signed head."""

    leaf: bytes
    proof: str


class Consistency(Answer, frozen=True):
    """That the log of `size` continues the one of `old` (RFC 6962, 2.1.2)."""

    old: int
    size: int
    hashes: list[bytes]
    note: str
    """The head at `size`."""


class Head(Answer, frozen=True):
    """The head as stored, and how far the rows go, in one instant."""

    agent: str
    """Whose log it is: the agent of the API key."""
    note: bytes | None
    entries: Size
    records: Size


class Entries(Answer, frozen=True):
    """Leaves as stored, in order from `start`; fewer than asked for where the answer would be too long."""

    start: Size
    leaves: list[bytes]


class SealedRow(Answer, frozen=True):
    """One version as stored."""

    seq: Size
    salt: bytes
    body: bytes
    content: bytes


class SealedRows(Answer, frozen=True):
    """Versions as stored, with the head of the same instant."""

    note: bytes | None
    rows: list[SealedRow]
    through: Size
    """Every row up to here, this number not included, was looked at."""


class Operation(Answer, frozen=True):
    """Where an operation stands in the log; null where it is not known."""

    op: str
    seq: int | None


class Keys(Answer, frozen=True):
    """Whose signatures this server accepts for the agent's log."""

    agent: str
    team: str
    origin: str
    agent_keys: list[str]
    server_keys: list[str]


class Audited(Answer, frozen=True):
    """The report of a second reading that shares no code with the first."""

    ok: bool
    size: int
    keys: int
    versions: int
    signed_by: list[str]
    findings: list[msgspec.Raw]


class Health(Answer, frozen=True, kw_only=True):
    """Whether the server answers, and what it is."""

    status: Literal["ok"] = "ok"
    service: Literal["indelible"] = "indelible"
    api: tuple[str, ...] = ("memory", "v1")


class Problem(msgspec.Struct, frozen=True):
    """What went wrong (RFC 9457). Other members say more."""

    type: str
    title: str
    status: int
    detail: str
    slug: str
    remedy: str


class HeldProblem(Problem, frozen=True, kw_only=True):
    """A memory that is genuine, and not handed over."""

    key: str
    version: int
    mode: str
    """The policy that it was judged by."""
    reasons: tuple[VerdictReason, ...]
    delivery: int | None
    """Its number in the deliveries; null where it could not be noted."""
