"""The audit's own reading of entries and bodies takes what the product writes, and nothing else."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from indelible.audit.bodies import Bodies
from indelible.audit.grammar import Entry, Fault, parse_entry
from indelible.entry import GOVERNED, HOW, METHODS, NOTED, VERDICTS, Governed, Judged, Noted, Saved, format_entry
from indelible.errors import UsageError
from indelible.seal import canonical

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)
HEX = st.binary(min_size=32, max_size=32).map(bytes.hex)
NUMBERS = st.integers(0, 2**40)
CHAIN = st.one_of(st.just((None, None)), st.tuples(HEX, NUMBERS))
AT = st.datetimes().map(lambda at: at.strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0"))
BY = st.binary(min_size=4, max_size=4).map(bytes.hex)

SAVED = st.builds(
    lambda chain, **rest: Saved(prev=chain[0], prev_seq=chain[1], **rest),
    CHAIN, at=AT, by=BY, content=HEX, how=st.sampled_from(sorted(HOW)), key=TEXTS, op=TEXTS, origin=TEXTS,
    reason=st.none() | TEXTS, record=HEX, seq=NUMBERS, type=st.just("saved"), version=NUMBERS,
)  # fmt: skip
NOTES = st.builds(
    lambda chain, **rest: Noted(prev=chain[0], prev_seq=chain[1], **rest),
    CHAIN, at=AT, by=BY, digest=st.none() | TEXTS, key=TEXTS, op=TEXTS, origin=TEXTS,
    reason=st.none() | TEXTS, seq=NUMBERS, type=st.sampled_from(sorted(NOTED)), version=NUMBERS,
)  # fmt: skip
JUDGEMENTS = st.builds(
    lambda said, **rest: Judged(type=said[0], verdict=said[1], **rest),
    st.sampled_from([(kind, verdict) for kind, verdicts in VERDICTS.items() for verdict in sorted(verdicts)]),
    at=AT, by=BY, digest=HEX, key=TEXTS, method=st.sampled_from(sorted(METHODS)), op=TEXTS, origin=TEXTS, prev=HEX,
    prev_seq=NUMBERS, reason=st.none() | TEXTS, seq=NUMBERS, subject=st.none() | TEXTS, version=NUMBERS,
)  # fmt: skip
GOVERNING = st.builds(
    lambda kind, key_id, root, **rest: Governed(subject=key_id if kind == "key-revoked" else root * 2, type=kind, **rest),
    st.sampled_from(sorted(GOVERNED - {"key-rotated"})), BY, HEX, at=AT, by=BY, index=NUMBERS, op=TEXTS, origin=TEXTS,
    reason=st.none() | TEXTS, seq=NUMBERS,
)  # fmt: skip


@given(st.one_of(SAVED, NOTES, JUDGEMENTS, GOVERNING))
def test_every_entry_that_is_written_is_read(entry: Saved | Noted | Judged | Governed) -> None:
    read = parse_entry(format_entry(entry))
    assert (read.type, read.at, read.by, read.origin, read.op, read.seq) == (
        entry.type, entry.at, entry.by, entry.origin, entry.op, entry.seq,
    )  # fmt: skip
    if isinstance(entry, Governed):
        assert (read.subject, read.bound) == (entry.subject, entry.index)
    else:
        assert (read.key, read.version) == (entry.key, entry.version)
        assert (read.prev.hex(), read.prev_seq) == (entry.prev or "", -1 if entry.prev_seq is None else entry.prev_seq)
    if isinstance(entry, Saved):
        assert (read.content.hex(), read.record.hex()) == (entry.content, entry.record)


@given(SAVED, st.data())
def test_another_spelling_of_the_same_entry_is_refused(entry: Saved, data: st.DataObject) -> None:
    body = format_entry(entry)
    members = json.loads(body)
    spelling = data.draw(
        st.sampled_from(
            [
                json.dumps(members, separators=(",", ":"), sort_keys=True),
                json.dumps(members, ensure_ascii=False, sort_keys=True),
                json.dumps(dict(reversed(members.items())), ensure_ascii=False, separators=(",", ":")),
                body.decode().replace('"type":"saved"', '"type":"saved","type":"saved"'),
                body.decode() + "\n",
            ]
        )
    ).encode()
    if spelling != body:
        with pytest.raises(Fault):
            parse_entry(spelling)


@given(SAVED, st.integers(0, 10_000), st.integers(0, 255))
def test_whatever_is_read_is_canonical(entry: Saved, place: int, byte: int) -> None:
    body = bytearray(format_entry(entry))
    body[place % len(body)] = byte
    try:
        parse_entry(bytes(body))
    except Fault:
        return
    assert canonical.dumps(canonical.loads(bytes(body))) == bytes(body)


@pytest.mark.parametrize("key", ["k" * 513, "가" * 171])
def test_a_key_of_more_than_512_bytes_is_refused(key: str) -> None:
    entry = Saved(
        "2026-11-30T00:00:00Z", "00000000", "0" * 64, "saved", key, "op", "o", None, None, None, "0" * 64, 0, "saved", 1
    )
    assert isinstance(parse_entry(format_entry(entry._replace(key=key[:-1]))), Entry)
    with pytest.raises(Fault):
        parse_entry(format_entry(entry))


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
)
NAMES = st.sampled_from(["key", "revision", "size", "bytes", "a", "ｂ", "😀"])
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4), max_leaves=8
)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=5)


def whole_way(data: bytes) -> tuple[object, object, object] | None:
    """What a body says, read by the canonical parser; None where it is refused."""
    try:
        value = canonical.loads(data)
        if canonical.dumps(value) != data or not isinstance(value, dict):
            return None
    except UsageError:
        return None
    size = value.get("size")
    return value.get("key"), value.get("revision"), size.get("bytes") if isinstance(size, dict) else None


def through_forms(bodies: Bodies, data: bytes) -> tuple[object, object, object] | None:
    try:
        return bodies.parse(data)
    except Fault:
        return None


@given(
    st.lists(OBJECTS, min_size=1, max_size=6),
    st.integers(0, 2**31),
    st.sampled_from(list(b'0159-.eE"\\,:{}[] \x7f\xc3at')),
)
@example([{"size": {"bytes": 1}, "key": "a", "revision": 1}, {"size": [{"bytes": 1}, 1]}], 0, 0)
@example([{"size": [{"bytes": 3}, 7]}, {"size": [{"bytes": 3}, 8]}], 0, 0)
@example([{"key": None, "revision": ":"}], 0, 0)
def test_a_learnt_form_takes_exactly_what_the_whole_way_takes(
    objects: list[dict[str, object]], place: int, byte: int
) -> None:
    bodies = Bodies()
    texts = [canonical.dumps(one) for one in objects]
    for text in texts * 2:
        assert through_forms(bodies, text) == whole_way(text)
    for text in texts:
        changed = bytearray(text)
        changed[place % len(text)] = byte
        assert through_forms(bodies, bytes(changed)) == whole_way(bytes(changed))
