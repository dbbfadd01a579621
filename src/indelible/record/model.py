"""Record: one version of one memory, without its content bytes; and the body that is sealed.

The body is the canonical JSON (RFC 8785) of the record, and the record is exactly what the body says: `from_body` takes
nothing that `to_body` does not write. It has no digest of the content and no log position: the entry holds salted
commitments to both. It has no state and no review either: a memory cannot speak about its own review. As it begins::

    {"created":{"at":"2026-11-30T09:00:00Z","by":"agent:eros"},"encoding":"utf-8","id":"urn:uuid:0193…",
     "key":"MEMORY.md","kind":"fact","media_type":"text/markdown","origin":{"class":"agent"},"revision":1, …}

Members are those of the interchange form, but for content (`media_type`, `language`, `encoding`, `size`, and `digest`
only when the bytes are not at hand) and for what this version does not know: `unknown` in each object, and
`content_unknown` for the members of the interchange form's `content`.
"""

# Annotations are read at run time here (shape.py), so this file does not postpone them.

from dataclasses import dataclass
from typing import Annotated, ClassVar, Self

from indelible.errors import Malformed, UsageError
from indelible.record.parts import (
    Act,
    Content,
    Link,
    MaybeDigest,
    MaybeText,
    Origin,
    Scope,
    Size,
    Texts,
    Trust,
    Validity,
)
from indelible.record.rules import KEY, TEXT, Members, Rule, integer, matching, members, nullable, one_of, write_members
from indelible.record.shape import BODY_ONLY, Nested, keep_foreign, read, shape_of, write
from indelible.seal import canonical

SPEC = "indelible/1.0"

_SPEC = matching(r"indelible/1\.[0-9]+", "a format that this version reads: indelible/1.N")
_ID = matching(
    "urn:(uuid|ulid|indelible):[^\n\r\u2028\u2029]+", "a URN on one line: urn:uuid:…, urn:ulid:… or urn:indelible:…"
)
_KIND = matching(
    "fact|decision|procedure|preference|constraint|failure|observation|task_state|reference|x-[a-z0-9.-]+",
    "one of fact, decision, procedure, preference, constraint, failure, observation, task_state, reference, x-…",
)
_REVERSE_DNS = matching(
    r"[a-z0-9-]+(\.[a-z0-9-]+)+(/[A-Za-z0-9._-]+)?", "a name in reverse-DNS form: org.example or org.example/name"
)
_NULLABLE = nullable(TEXT)
_NOWHERE = Origin()
_ALWAYS = Validity()
_CONTENT_UNKNOWN = Rule(lambda value: keep_foreign(shape_of(Content, "wire"), value, ""), write=write_members)


@dataclass(frozen=True, slots=True)
class Record:
    """One version of one memory. `draft` makes the first, `next_revision` each later one."""

    RESERVED: ClassVar[frozenset[str]] = frozenset({"content", "integrity", "prev", "review", "state", "stats"})
    """Members of the interchange form that are not the author's to say."""

    spec: Annotated[str, _SPEC]
    id: Annotated[str, _ID]
    """A URN, the same in every revision and every tool."""
    revision: Annotated[int, integer(1)]
    kind: Annotated[str, _KIND]
    scope: Annotated[Scope, Nested(Scope)]
    created: Annotated[Act, Nested(Act)]
    trust: Annotated[Trust, Nested(Trust)]
    media_type: Annotated[str, TEXT, BODY_ONLY]
    encoding: Annotated[str, one_of("utf-8", "base64"), BODY_ONLY]
    """How the content is written outside: `utf-8`, or `base64` where it is not that."""
    key: Annotated[str | None, KEY] = None
    title: Annotated[str | None, _NULLABLE] = None
    summary: Annotated[str | None, _NULLABLE] = None
    tags: Texts = ()
    updated: Annotated[Act | None, Nested(Act)] = None
    origin: Annotated[Origin, Nested(Origin)] = _NOWHERE
    validity: Annotated[Validity, Nested(Validity)] = _ALWAYS
    links: Annotated[tuple[Link, ...], Nested(Link, many=True)] = ()
    license: MaybeText = None
    crit: Texts = ()
    """Extensions that hold the memory back wherever they are not understood."""
    extensions: Annotated[Members, members(_REVERSE_DNS)] = ()
    team: MaybeText = None
    language: Annotated[str | None, TEXT, BODY_ONLY] = None
    size: Annotated[Size | None, Nested(Size), BODY_ONLY] = None
    """None where the content did not come with the record."""
    digest: Annotated[MaybeDigest, BODY_ONLY] = None
    """What the sender says is the SHA-256 of content that did not come with the record."""
    unknown: Members = ()
    content_unknown: Annotated[Members, _CONTENT_UNKNOWN, BODY_ONLY] = ()

    def to_body(self) -> bytes:
        """Return the canonical JSON that is sealed.

        Raises:
            UsageError: A member holds what it may not; the error names it.
        """
        value = write(self, "body")
        read(type(self), "body", value)
        return canonical.dumps(value)

    @classmethod
    def from_body(cls, data: bytes) -> Self:
        """Return the record that `to_body` wrote as `data`.

        Raises:
            Malformed: `data` is not byte for byte what `to_body` writes.
        """
        try:
            record = read(cls, "body", canonical.loads(data))
        except UsageError as exc:
            raise Malformed(f"A sealed record does not parse: {exc.message}") from exc
        if canonical.dumps(write(record, "body")) != data:
            raise Malformed("A sealed record is not written in its canonical form")
        return record
