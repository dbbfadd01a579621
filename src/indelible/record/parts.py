"""The values that a record is made of, each field beside the rule for what it may hold.

Every class keeps the members that this version does not know in `unknown` and gives them back unchanged. A text that is
not there is None, a list that is not there is empty.

`State` and `Review` are derived from the log and never signed by an author; what an imported record says of its own is
the statement of its sender.
"""

# Annotations are read at run time here (shape.py), so this file does not postpone them.

from dataclasses import dataclass
from typing import Annotated

from indelible.record.rules import (
    ACTOR,
    CONFIDENCE,
    DIGEST,
    TEXT,
    TIME,
    Members,
    Rule,
    integer,
    list_of,
    matching,
    nullable,
    one_of,
)
from indelible.record.shape import Nested

Text = Annotated[str, TEXT]
MaybeText = Annotated[str | None, TEXT]
Texts = Annotated[tuple[str, ...], list_of(TEXT)]
Time = Annotated[str, TIME]
MaybeTime = Annotated[str | None, TIME]
Actor = Annotated[str, ACTOR]
MaybeDigest = Annotated[str | None, DIGEST]

_LEVELS = one_of("global", "org", "user", "project", "repo", "branch", "path", "session", "agent")
_VISIBILITIES = one_of("private", "shared", "public")
_CLASSES = one_of("user", "agent", "tool", "external", "unknown")
_RANKED = ("unknown", "external", "tool", "agent", "user")
_ANCHORS = one_of("git-commit", "git-blob", "file-digest", "git-ref", "package", "url", "env")
_ON_CHANGE = one_of("hold", "warn", "ignore")
_TRUST = one_of("verified", "observed", "claimed", "inferred", "untrusted")
_AUTHORITIES = one_of("reference", "instruction")
_SENSITIVITIES = one_of("public", "internal", "confidential", "restricted")
_STATES = one_of("draft", "active", "paused", "archived", "superseded", "retracted", "deleted")
_REVIEWS = one_of("unreviewed", "pending", "approved", "rejected", "disputed")
_VERDICTS = one_of("approve", "reject", "dispute", "reverify")
_METHODS = one_of("human", "process", "anchor", "test")
_COMMIT = matching("[0-9a-f]{7,64}", "a git commit: 7 to 64 lower-case hex digits")
_COUNT = integer(0)


@dataclass(frozen=True, slots=True)
class Size:
    """How long the content is."""

    bytes: Annotated[int, _COUNT]
    characters: Annotated[int | None, _COUNT] = None
    """Code points; None for content that is not text."""
    unknown: Members = ()


def measure(content: bytes, encoding: str) -> Size:
    """Return the size of `content`, which is UTF-8 if `encoding` says so."""
    if encoding == "base64":
        return Size(len(content))
    return Size(len(content), len(content) if content.isascii() else len(content.decode()))


@dataclass(frozen=True, slots=True)
class Act:
    """Who did it, and when."""

    by: Actor
    """`human:x`, `process:x`, `agent:tool/version`, `import:x` or `unknown`."""
    at: Time
    unknown: Members = ()


@dataclass(frozen=True, slots=True)
class Scope:
    """Where the memory applies; where it was recorded is its `Origin`."""

    level: Annotated[str, _LEVELS]
    org: MaybeText = None
    user: MaybeText = None
    project: MaybeText = None
    repo: MaybeText = None
    branch: MaybeText = None
    paths: Texts = ()
    session: MaybeText = None
    agent: MaybeText = None
    visibility: Annotated[str | None, _VISIBILITIES] = None
    unknown: Members = ()


@dataclass(frozen=True, slots=True)
class Foreign:
    """What the memory was called in the tool it came from."""

    format: Text
    id: Text
    digest: MaybeDigest = None
    unknown: Members = ()


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the memory was recorded, and what kind of source its text comes from (`class_`)."""

    tool: MaybeText = None
    tool_version: MaybeText = None
    model: MaybeText = None
    session: MaybeText = None
    trigger: MaybeText = None
    repo: MaybeText = None
    branch: MaybeText = None
    commit: Annotated[str | None, _COMMIT] = None
    change: MaybeText = None
    uri: MaybeText = None
    foreign: Annotated[Foreign | None, Nested(Foreign)] = None
    class_: Annotated[str | None, _CLASSES] = None
    unknown: Members = ()


def rank_of(origin_class: str | None) -> int:
    """How much is believed of text from a class of origin: `unknown` (as where none is stated), `external`, `tool`, `agent`, `user`."""
    return _RANKED.index(origin_class or "unknown")


def lower_class(one: str | None, other: str | None) -> str | None:
    """The class of origin of which less is believed."""
    return min(one, other, key=rank_of)


@dataclass(frozen=True, slots=True)
class Anchor:
    """Something outside that the memory depends on, as it was then."""

    type: Annotated[str, _ANCHORS]
    value: Text
    repo: MaybeText = None
    path: MaybeText = None
    unknown: Members = ()


@dataclass(frozen=True, slots=True)
class Validity:
    """Until when, and as long as what does not change."""

    valid_from: MaybeTime = None
    valid_until: MaybeTime = None
    """The end of the time that the text speaks of."""
    expires_at: MaybeTime = None
    """From here on the memory is not delivered."""
    review_by: MaybeTime = None
    on_change: Annotated[str | None, _ON_CHANGE] = None
    anchors: Annotated[tuple[Anchor, ...], Nested(Anchor, many=True)] = ()
    unknown: Members = ()


@dataclass(frozen=True, slots=True)
class Trust:
    """How far the text may be relied on, and whether it may be read as an instruction."""

    level: Annotated[str, _TRUST]
    authority: Annotated[str, _AUTHORITIES]
    confidence: Annotated[float | None, CONFIDENCE] = None
    sensitivity: Annotated[str | None, _SENSITIVITIES] = None
    unknown: Members = ()


@dataclass(frozen=True, slots=True)
class Link:
    """A relation (`supersedes`, `depends_on`, `contradicts`, …) to another memory."""

    rel: Text
    target: Text
    note: MaybeText = None
    unknown: Members = ()


@dataclass(frozen=True, slots=True)
class State:
    """Where in its life the memory is."""

    value: Annotated[str, _STATES]
    at: MaybeTime = None
    by: Annotated[str | None, ACTOR] = None
    reason: MaybeText = None
    superseded_by: Texts = ()
    unknown: Members = ()


@dataclass(frozen=True, slots=True)
class ReviewEvent:
    """One judgement of one exact content."""

    by: Actor
    at: Time
    verdict: Annotated[str, _VERDICTS]
    of: Annotated[str, DIGEST]
    """The digest of what was judged: it says nothing about any other content."""
    method: Annotated[str | None, _METHODS] = None
    evidence: MaybeText = None
    unknown: Members = ()


@dataclass(frozen=True, slots=True)
class Review:
    """What the judgements come to, and the judgements."""

    value: Annotated[str, _REVIEWS]
    events: Annotated[tuple[ReviewEvent, ...], Nested(ReviewEvent, many=True)] = ()
    unknown: Members = ()


def _content_text(value: object) -> str | None:
    return None if value is None else str(TEXT.read(value))


@dataclass(frozen=True, slots=True)
class Content:
    """The `content` object of the interchange form; everywhere else content is bytes."""

    media_type: Text
    text: Annotated[str | None, Rule(_content_text)]
    """None for a tombstone or a redaction."""
    digest: Annotated[str, DIGEST]
    language: MaybeText = None
    encoding: Annotated[str, one_of("utf-8", "base64", empty="utf-8")] = "utf-8"
    salt: Annotated[str | None, nullable(TEXT)] = None
    commitment: MaybeDigest = None
    unknown: Members = ()
