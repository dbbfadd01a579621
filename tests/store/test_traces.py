"""Traces: a remnant of 31 bytes is found wherever it stands, and what is everywhere is not looked for."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from indelible.store.traces import FAR, NEAR, PIECE, SURE, Traces

texts = st.binary(min_size=SURE, max_size=400).filter(
    lambda data: all(len(set(data[at : at + PIECE])) >= 6 for at in range(len(data) - PIECE + 1))
)


@given(texts, st.data(), st.binary(max_size=40), st.binary(max_size=40))
def test_every_remnant_of_31_bytes_is_found_wherever_it_stands(
    text: bytes, data: st.DataObject, before: bytes, after: bytes
) -> None:
    start = data.draw(st.integers(0, len(text) - SURE))
    end = data.draw(st.integers(start + SURE, len(text)))
    traces = Traces()
    assert traces.add(text)
    assert traces.find(before + text[start:end] + after)


@given(st.binary(min_size=8, max_size=30).filter(lambda data: len(set(data)) >= 6), st.binary(max_size=40))
def test_a_short_text_is_found_whole(text: bytes, before: bytes) -> None:
    traces = Traces()
    assert traces.add(text)
    assert (before + text).find(text) in [at for at, _ in traces.find(before + text + b"..")]


def test_what_stands_everywhere_by_chance_is_not_looked_for() -> None:
    traces = Traces()
    for plain in (b"", b"x", b"1234567", bytes(10_000), b"-" * 80, b"ab" * 40):
        assert not traces.add(plain)
    assert not traces
    innocent = Traces(b"/home/ada/project/.indelible/store.db and more")
    assert not innocent.add(b"/home/ada/project/.indelible/store.db")


def test_of_a_long_text_every_page_is_found() -> None:
    text = b"".join(f"line {number} of many, {number * 7919}\n".encode() for number in range(40_000))
    traces = Traces()
    traces.add(text)
    assert len(traces.pieces) < 25_000
    for start in range(0, len(text) - NEAR, 99_991):
        assert traces.find(text[start : start + FAR + SURE])


@given(texts, st.binary(max_size=40))
def test_what_another_text_holds_is_told(text: bytes, before: bytes) -> None:
    traces = Traces()
    traces.add(text)
    traces.add(b"a short one!")
    wanted = {text[:PIECE], b"a short one!"}
    assert traces.within(before + text, wanted) >= {text[:PIECE]}
    assert traces.within(b"it says: a short one!", wanted) == {b"a short one!"}
