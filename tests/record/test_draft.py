"""What a plain save says of a memory, and what the next version keeps."""

from __future__ import annotations

import re
import uuid
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.errors import UsageError
from indelible.record import (
    MAX_KEY,
    Act,
    Foreign,
    Link,
    Origin,
    Record,
    Scope,
    Size,
    Trust,
    Validity,
    check_key,
    draft,
    next_revision,
    uuid7,
)

NOW, LATER = "2026-11-30T09:00:00Z", "2026-12-01T09:00:00Z"
RANDOM = bytes(range(10))


def plain(key: str = "MEMORY.md", content: bytes = b"x\n") -> Record:
    return draft(key, content, agent="eros", author="agent:eros/1", now=NOW, random=RANDOM)


def after(previous: Record, content: bytes = b"y\n", **more: Origin) -> Record:
    return next_revision(previous, content, author="human:lead", now=LATER, **more)


def test_a_plain_save_gets_the_mildest_values() -> None:
    record = plain()
    assert (record.kind, record.revision, record.team, record.spec) == ("fact", 1, "local", "indelible/1.0")
    assert record.scope == Scope("agent", agent="eros")
    assert record.trust == Trust("claimed", "reference")
    assert record.origin == Origin(class_="agent")
    assert record.created == Act("agent:eros/1", NOW)
    assert record.updated is None
    assert record.validity == Validity()


@pytest.mark.parametrize(
    ("key", "content", "media_type", "encoding"),
    [
        ("MEMORY.md", b"x", "text/markdown", "utf-8"),
        ("NOTES.MD", b"x", "text/markdown", "utf-8"),
        ("notes", "메모".encode(), "text/plain", "utf-8"),
        ("MEMORY.md", b"\xff", "application/octet-stream", "base64"),
        ("MEMORY.md", b"\xed\xa0\x80", "application/octet-stream", "base64"),  # a surrogate, which UTF-8 has not
        ("notes", b"", "text/plain", "utf-8"),
    ],
)
def test_media_type_and_encoding_are_told_by_key_and_content(
    key: str, content: bytes, media_type: str, encoding: str
) -> None:
    record = plain(key, content)
    assert (record.media_type, record.encoding) == (media_type, encoding)


def test_a_media_type_that_is_given_is_taken() -> None:
    record = draft("k", b"{}", agent="e", author="agent:e", now=NOW, random=RANDOM, media_type="application/json")
    assert record.media_type == "application/json"


@pytest.mark.parametrize(
    ("content", "size"),
    [
        (b"", Size(0, 0)),
        (b"a\r\n", Size(3, 3)),
        ("메모\n".encode(), Size(7, 3)),
        ("\U0001f600".encode(), Size(4, 1)),
        (b"\xff\xfe", Size(2, None)),
    ],
)
def test_the_size_is_in_bytes_and_in_characters(content: bytes, size: Size) -> None:
    assert plain(content=content).size == size


@given(st.text(min_size=1, max_size=128), st.binary(max_size=60))
def test_any_key_and_any_content_makes_a_body_that_reads_back(key: str, content: bytes) -> None:
    record = plain(key, content)
    assert Record.from_body(record.to_body()) == record


@pytest.mark.parametrize("key", ["a&agent=other", "../escape", "..", "a//b", " ", "\x00", "\ufeffMEMORY.md", "k" * 512])
def test_any_text_of_at_most_512_bytes_is_a_key(key: str) -> None:
    assert check_key(key) == key


@pytest.mark.parametrize(
    ("key", "why"),
    [
        ("", "empty"),
        ("k" * (MAX_KEY + 1), "513 bytes are too many"),
        ("가" * 171, "513 bytes are too many"),
        ("k\udcff", "character 1 is half of a surrogate pair"),
    ],
)
def test_another_key_is_refused_before_anything_is_made(key: str, why: str) -> None:
    with pytest.raises(UsageError, match=f"^key: .*{re.escape(why)}"):
        plain(key)


# ---- ids


@given(st.integers(0, 2**48 - 1), st.binary(min_size=10, max_size=10))
def test_an_id_is_a_version_7_uuid_that_sorts_by_time(millis: int, random: bytes) -> None:
    urn = uuid7(millis, random)
    found = uuid.UUID(urn)
    assert found.urn == urn
    assert (found.version, found.variant) == (7, uuid.RFC_4122)
    assert found.int >> 80 == millis
    if millis:
        assert uuid7(millis - 1, random) < urn


def test_the_example_of_rfc_9562_comes_out() -> None:
    """Appendix A.6: the 74 random bits are those of the example, the version and variant bits of no weight."""
    random = bytes.fromhex("0cc3" + "18c4dc0c0c07398f")
    assert uuid7(0x017F22E279B0, random) == "urn:uuid:017f22e2-79b0-7cc3-98c4-dc0c0c07398f"


def test_a_clock_or_randomness_that_is_off_makes_no_id() -> None:
    with pytest.raises(UsageError, match="clock"):
        draft("k", b"", agent="e", author="agent:e", now="1969-12-31T23:59:59Z", random=RANDOM)
    with pytest.raises(UsageError, match="clock"):
        uuid7(2**48, RANDOM)
    with pytest.raises(UsageError, match="10 random bytes, not 3"):
        uuid7(0, b"abc")
    with pytest.raises(UsageError, match=r"^time: "):
        draft("k", b"", agent="e", author="agent:e", now="soon", random=RANDOM)


# ---- the next version


def test_the_next_version_is_the_same_memory_with_other_content() -> None:
    first = plain()
    second = after(first)
    assert (second.id, second.key, second.created) == (first.id, first.key, first.created)
    assert second.revision == 2
    assert second.updated == Act("human:lead", LATER)
    assert second.size == Size(2, 2)
    assert Record.from_body(second.to_body()) == second


def test_what_was_said_of_the_memory_stays_and_unknown_members_too() -> None:
    first = replace(
        plain(),
        tags=("db",),
        scope=Scope("repo", repo="github.com/example/app", unknown=(("x", b"1"),)),
        validity=Validity(expires_at="2027-01-01T00:00:00Z"),
        links=(Link("refines", "urn:uuid:1"),),
        crit=("org.example/x",),
        extensions=(("org.example/x", b"{}"),),
        unknown=(("mood", b'"calm"'),),
        content_unknown=(("mood", b'"calm"'),),
    )
    second = after(first)
    for name in ("tags", "scope", "validity", "links", "crit", "extensions", "unknown", "content_unknown"):
        assert getattr(second, name) == getattr(first, name)


@pytest.mark.parametrize(
    ("before", "now"),
    [("verified", "claimed"), ("observed", "claimed"), ("claimed", "claimed"), ("inferred", "inferred"),
     ("untrusted", "untrusted")],
)  # fmt: skip
def test_trust_in_other_content_never_rises(before: str, now: str) -> None:
    first = replace(plain(), trust=Trust(before, "reference", confidence=0.9, sensitivity="internal"))
    assert after(first).trust == Trust(now, "reference", sensitivity="internal")


def test_the_origin_is_that_of_the_new_content_but_for_its_foreign_name_and_the_lower_class() -> None:
    foreign = Foreign("lorekit", "row-7")
    first = replace(plain(), origin=Origin(tool="lorekit", class_="external", foreign=foreign, unknown=(("x", b"1"),)))
    second = after(first, origin=Origin(tool="codex", class_="agent"))
    assert second.origin == Origin(tool="codex", class_="external", foreign=foreign, unknown=(("x", b"1"),))
    assert after(second, origin=Origin(class_="unknown")).origin.class_ == "unknown"
    assert after(replace(first, origin=Origin()), origin=Origin(class_="agent")).origin.class_ is None


def test_the_media_type_follows_when_text_becomes_binary_and_back() -> None:
    binary = after(plain(), b"\xff")
    assert (binary.media_type, binary.encoding) == ("application/octet-stream", "base64")
    text = after(binary, b"y")
    assert (text.media_type, text.encoding) == ("text/markdown", "utf-8")
    json = replace(plain(), media_type="application/json")
    assert after(json).media_type == "application/json"


def test_a_withheld_content_that_comes_has_no_stated_digest_any_more() -> None:
    first = replace(plain(), digest="sha256:" + "0" * 64, size=None)
    assert after(first).digest is None


def test_there_is_no_version_after_the_last_number() -> None:
    with pytest.raises(UsageError, match=r"^revision: 9007199254740991 is the last"):
        after(replace(plain(), revision=2**53 - 1))
