"""The sealed body: one spelling for one record, and nothing in it that the author cannot say."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.errors import Malformed, UsageError
from indelible.record import Anchor, Link, Origin, Record, Scope, Trust, Validity, draft, instant
from indelible.seal import canonical

NOW = "2026-11-30T09:00:00Z"
PLAIN = draft("MEMORY.md", b"x\n", agent="eros", author="agent:eros", now=NOW, random=bytes(10))
RICH = replace(
    PLAIN,
    title="Tests need a database",
    tags=("testing", "db"),
    scope=Scope("branch", repo="github.com/example/app", branch="feat/X", paths=("tests/**",), visibility="shared"),
    origin=Origin(tool="claude-code", commit="a" * 40, class_="user"),
    validity=Validity(expires_at="2027-01-01T00:00:00.25Z", anchors=(Anchor("git-blob", "b" * 40, path="a.py"),)),
    trust=Trust("inferred", "reference", confidence=1.0),
    links=(Link("depends_on", "urn:uuid:9"),),
    extensions=(("org.example/x", b'{"a":null}'),),
    unknown=(("mood", b'"calm"'),),
)


def body_of(record: Record) -> dict[str, object]:
    value = canonical.loads(record.to_body())
    assert isinstance(value, dict)
    return dict(value)


def test_the_body_of_a_plain_save_is_these_bytes() -> None:
    """Changing this changes what stores hold: it needs a migration and an ADR."""
    assert PLAIN.to_body() == (
        b'{"created":{"at":"2026-11-30T09:00:00Z","by":"agent:eros"},"encoding":"utf-8",'
        b'"id":"urn:uuid:01a22bae-b680-7000-8000-000000000000","key":"MEMORY.md","kind":"fact",'
        b'"media_type":"text/markdown","origin":{"class":"agent"},"revision":1,'
        b'"scope":{"agent":"eros","level":"agent"},"size":{"bytes":2,"characters":2},"spec":"indelible/1.0",'
        b'"team":"local","trust":{"authority":"reference","level":"claimed"}}'
    )


@pytest.mark.parametrize("record", [PLAIN, RICH], ids=["plain", "rich"])
def test_a_body_gives_back_its_record(record: Record) -> None:
    assert Record.from_body(record.to_body()) == record


@pytest.mark.parametrize("record", [PLAIN, RICH], ids=["plain", "rich"])
def test_no_byte_of_a_body_can_change_without_another_record(record: Record) -> None:
    body = record.to_body()
    for place in range(len(body)):
        for flip in (1, 0x20, 0x80):
            changed = body[:place] + bytes([body[place] ^ flip]) + body[place + 1 :]
            try:
                other = Record.from_body(changed)
            except Malformed:
                continue
            assert other != record
            assert other.to_body() == changed


@given(st.binary(max_size=60))
def test_arbitrary_bytes_are_malformed(data: bytes) -> None:
    with pytest.raises(Malformed):
        Record.from_body(data)


@pytest.mark.parametrize(
    "change",
    [
        {"review": {"value": "approved"}},
        {"state": {"value": "active"}},
        {"mood": "calm"},
        {"tags": []},
        {"key": None},
        {"unknown": {}},
        {"unknown": {"review": {"value": "approved"}}},
        {"unknown": {"trust": {"level": "verified", "authority": "instruction"}}},
        {"unknown": {"key": "another"}},
        {"content_unknown": {"text": "another"}},
        {"content_unknown": {}},
        {"scope": {"level": "agent", "galaxy": "far away"}},
        {"scope": {"level": "agent", "unknown": {"level": "global"}}},
        {"size": {"bytes": -1}},
        {"encoding": "latin-1"},
        {"spec": "indelible/2.0"},
    ],
    ids=str,
)
def test_a_body_that_says_what_no_author_can_say_is_malformed(change: dict[str, object]) -> None:
    with pytest.raises(Malformed, match="does not parse"):
        Record.from_body(canonical.dumps({**body_of(PLAIN), **change}))


def test_a_body_in_another_spelling_is_malformed() -> None:
    with pytest.raises(Malformed, match="canonical"):
        Record.from_body(PLAIN.to_body() + b"\n")
    with pytest.raises(Malformed, match="canonical"):
        Record.from_body(PLAIN.to_body().replace(b"MEMORY", b"MEM\\u004fRY"))


def test_an_unknown_member_may_bear_the_name_of_a_member_that_only_the_body_has() -> None:
    record = replace(PLAIN, unknown=(("encoding", b'"rot13"'), ("unknown", b'{"size":1}')))
    again = Record.from_body(record.to_body())
    assert again == record
    assert again.encoding == "utf-8"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"scope": Scope("galaxy")}, 'scope.level: "galaxy" is none of global'),
        ({"validity": Validity(expires_at="never")}, 'validity.expires_at: "never" is not a time'),
        ({"links": (Link("refines", "\ud800"),)}, "links[0].target: character 0 is half of a surrogate pair"),
        ({"revision": 2**53}, "revision: 9007199254740992 is no whole number"),
        ({"unknown": (("state", b'{"value":"active"}'),)}, 'unknown: "state" is a known member'),
    ],
)
def test_what_may_not_be_said_is_never_sealed(change: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError) as caught:
        replace(PLAIN, **change).to_body()  # type: ignore[arg-type]
    assert caught.value.message.startswith(words)


# ---- times


@pytest.mark.parametrize(
    "time",
    [
        "2026-11-10T00:00:00Z",
        "2026-11-10T00:00:00.1Z",
        "2026-11-10T00:00:00.123456789Z",
        "2028-02-29T00:00:00Z",
        "9999-12-31T23:59:59Z",
        "0001-01-01T00:00:00Z",
    ],
)
def test_a_time_in_utc_is_kept_as_it_is_written(time: str) -> None:
    record = replace(PLAIN, validity=Validity(expires_at=time))
    assert Record.from_body(record.to_body()).validity.expires_at == time


@pytest.mark.parametrize(
    ("time", "why"),
    [
        ("2026-02-30T00:00:00Z", "no day of the calendar"),
        ("2026-02-29T00:00:00Z", "no day of the calendar"),
        ("2026-13-01T00:00:00Z", "no day of the calendar"),
        ("0000-01-01T00:00:00Z", "no day of the calendar"),
        ("2026-11-09T24:00:00Z", "no time of day"),
        ("2026-11-09T23:60:00Z", "no time of day"),
        ("2026-12-31T23:59:60Z", "leap second"),
        ("2026-12-31T23:59:61Z", "no such second"),
        ("2026-11-10T00:00:00", "in UTC"),
        ("2026-11-10T09:00:01+09:00", "in UTC"),
        ("2026-11-10T00:00:01-00:00", "in UTC"),
        ("2026-11-10T00:00:01\u221209:00", "in UTC"),
        ("2026-11-10t00:00:01z", "in UTC"),
        ("2026-11-10 00:00:01Z", "in UTC"),
        ("20261110T000001Z", "in UTC"),
        ("２０２６-11-10T00:00:01Z", "in UTC"),
        ("+12026-11-10T00:00:00Z", "in UTC"),
        ("2026-11-10T00:00:00.Z", "in UTC"),
        ("2026-11-10T00:00:00Z\n", "in UTC"),
        ("2026-11-10", "in UTC"),
        ("2026-W46-2", "in UTC"),
        ("1794268800", "in UTC"),
        ("1e999", "in UTC"),
        ("never", "in UTC"),
        ("", "in UTC"),
    ],
)
def test_what_is_no_time_in_utc_is_refused_with_the_reason(time: str, why: str) -> None:
    with pytest.raises(UsageError, match=why) as caught:
        replace(PLAIN, validity=Validity(expires_at=time)).to_body()
    assert caught.value.message.startswith("validity.expires_at: ")


def test_times_are_compared_by_their_instant_and_not_by_their_text() -> None:
    whole, later = "2026-11-10T00:00:00Z", "2026-11-10T00:00:00.5Z"
    assert later < whole
    assert instant(later) - instant(whole) == 500_000_000
    assert instant("1970-01-01T00:00:01.0000000019Z") == 1_000_000_001
    with pytest.raises(UsageError, match=r"^time: "):
        instant("soon")
