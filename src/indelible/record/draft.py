"""New records: the first version of a memory, and the next.

What a plain save does not say gets the mildest value there is: the agent's own scope, a claim, a reference. What it
does say is put in with `dataclasses.replace`; `Record.to_body` checks the whole.
"""

from dataclasses import replace
from functools import lru_cache
from json.encoder import encode_basestring

from indelible.errors import UsageError
from indelible.record.model import SPEC, Record
from indelible.record.parts import Act, Origin, Scope, Size, Trust, lower_class, measure
from indelible.record.rules import MAX_INTEGER, check_key, instant

RANDOM_SIZE = 10
"""Bytes of randomness in an id."""

_BINARY = "application/octet-stream"
_BY_AGENT = Origin(class_="agent")
_AFTER_A_CHANGE = {"inferred": "inferred", "untrusted": "untrusted"}


def draft(
    key: str,
    content: bytes,
    *,
    agent: str,
    author: str,
    now: str,
    random: bytes,
    team: str = "local",
    origin: Origin = _BY_AGENT,
    media_type: str | None = None,
) -> Record:
    """Return the first version of a memory, as a plain save makes it.

    Args:
        key: Any text of 1 to 512 bytes of UTF-8.
        content: The exact bytes; nothing is normalised.
        agent: The namespace that the memory is for.
        author: The actor: `agent:claude-code/2.1`, `human:x`, …
        now: The time, RFC 3339 in UTC.
        random: 10 bytes nobody can guess, for the id.
        team: The team that the agent belongs to.
        origin: Where the memory was recorded.
        media_type: None to tell by the key and the content.

    Raises:
        UsageError: The key cannot be saved under, or the clock or the randomness is off.
    """
    encoding, size = _look_at(content)
    return Record(
        spec=SPEC,
        id=uuid7(instant(now) // 1_000_000, random),
        revision=1,
        kind="fact",
        scope=Scope("agent", agent=agent),
        created=Act(author, now),
        trust=Trust("claimed", "reference"),
        media_type=media_type or _media_type(key, encoding),
        encoding=encoding,
        key=check_key(key),
        origin=origin,
        team=team,
        size=size,
    )


def plain_body(key: str, content: bytes, *, agent: str, author: str, now: str, random: bytes, team: str) -> bytes:
    """Return `draft(…).to_body()`, written straight out: most saves are plain first versions, and this is a tenth of the time.

    Raises:
        UsageError: As `draft` and `to_body` do.
    """
    quoted_agent, quoted_author, quoted_team = _quoted(agent, author, team)
    encoding, size = _look_at(content)
    length = (
        f'{{"bytes":{size.bytes}}}'
        if size.characters is None
        else f'{{"bytes":{size.bytes},"characters":{size.characters}}}'
    )
    return (
        f'{{"created":{{"at":"{now}","by":{quoted_author}}},"encoding":"{encoding}","id":"{uuid7(_millis(now), random)}",'
        f'"key":{encode_basestring(check_key(key))},"kind":"fact","media_type":"{_media_type(key, encoding)}",'
        f'"origin":{{"class":"agent"}},"revision":1,"scope":{{"agent":{quoted_agent},"level":"agent"}},"size":{length},'
        f'"spec":"{SPEC}","team":{quoted_team},"trust":{{"authority":"reference","level":"claimed"}}}}'
    ).encode()


@lru_cache(maxsize=64)
def _quoted(agent: str, author: str, team: str) -> tuple[str, str, str]:
    """Return the three as JSON, checked once by the model's own rules."""
    draft(
        "k", b"", agent=agent, author=author, now="2000-01-01T00:00:00Z", random=bytes(RANDOM_SIZE), team=team
    ).to_body()
    return encode_basestring(agent), encode_basestring(author), encode_basestring(team)


@lru_cache(maxsize=4)
def _millis(now: str) -> int:
    return instant(now) // 1_000_000


def next_revision(previous: Record, content: bytes, *, author: str, now: str, origin: Origin = _BY_AGENT) -> Record:
    """Return the version after `previous`, with other content.

    Everything that was said of the memory stays (scope, validity, links, extensions, members that this version does not
    know) but for what was said of the old content: trust in it falls back to a claim and never rises, and the media
    type follows when text becomes binary or the other way round.

    Args:
        previous: The version that it follows.
        content: The exact bytes.
        author: The actor who changed it.
        now: The time, RFC 3339 in UTC.
        origin: Where this version was recorded. What the memory was called elsewhere stays, and its class is never raised.

    Raises:
        UsageError: There is no number after the last one.
    """
    if previous.revision >= MAX_INTEGER:
        raise UsageError(f"revision: {previous.revision} is the last one that there is", member="revision")
    encoding, size = _look_at(content)
    return replace(
        previous,
        revision=previous.revision + 1,
        updated=Act(author, now),
        origin=_recorded(origin, previous.origin),
        trust=replace(previous.trust, level=_AFTER_A_CHANGE.get(previous.trust.level, "claimed"), confidence=None),
        media_type=_next_media_type(previous, encoding),
        encoding=encoding,
        size=size,
        digest=None,
    )


def uuid7(millis: int, random: bytes) -> str:
    """Return a version 7 UUID (RFC 9562, 5.7) as a URN.

    Args:
        millis: Milliseconds since 1970.
        random: 10 bytes; 74 of their 80 bits go in.

    Raises:
        UsageError: An argument is out of its range.
    """
    if len(random) != RANDOM_SIZE:
        raise UsageError(f"An id takes {RANDOM_SIZE} random bytes, not {len(random)}")
    if not 0 <= millis < 1 << 48:
        raise UsageError(f"An id cannot be made at {millis} ms after 1970: set this machine's clock right")
    high = 0x7000 | int.from_bytes(random[:2]) & 0x0FFF
    low = 1 << 63 | int.from_bytes(random[2:]) & (1 << 62) - 1
    text = f"{millis:012x}{high:04x}{low:016x}"
    return f"urn:uuid:{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def _look_at(content: bytes) -> tuple[str, Size]:
    """Return how the content is to be written outside, and its size."""
    try:
        return "utf-8", measure(content, "utf-8")
    except UnicodeDecodeError:
        return "base64", measure(content, "base64")


def _media_type(key: str, encoding: str) -> str:
    if encoding == "base64":
        return _BINARY
    return "text/markdown" if key.lower().endswith(".md") else "text/plain"


def _next_media_type(previous: Record, encoding: str) -> str:
    """Return the media type for other content: the old one, unless text became binary or binary text."""
    old = previous.media_type
    if encoding == "base64":
        return _BINARY if old.startswith("text/") else old
    return _media_type(previous.key or "", encoding) if old == _BINARY else old


def _recorded(origin: Origin, previous: Origin) -> Origin:
    """Return where a version was recorded, with what the memory was called elsewhere, and the lower of the two classes."""
    return replace(
        origin, foreign=origin.foreign or previous.foreign, unknown=origin.unknown or previous.unknown,
        class_=lower_class(origin.class_, previous.class_),
    )  # fmt: skip
