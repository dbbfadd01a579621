"""The part of a long text that a question is about."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from indelible.recall.excerpt import excerpt

LONG = "".join(f"Line {number} of the ledger says nothing that matters here.\n" for number in range(2_000))


def test_a_short_text_is_whole() -> None:
    found = excerpt("x", "short", 100)
    assert (found.text, found.whole) == ("short", True)


def test_the_lines_around_the_words_are_given_and_are_whole() -> None:
    text = LONG[:50_000] + "The zebra crossing is painted on Friday.\n" + LONG[50_000:]
    found = excerpt("when is the zebra crossing painted?", text, 1_000)
    assert "zebra crossing is painted on Friday" in found.text
    assert len(found.text) <= 1_000
    assert text[found.start - 1] == text[found.end - 1] == "\n"


@given(st.text(max_size=20), st.text(max_size=400), st.integers(1, 200))
def test_an_excerpt_is_a_part_of_the_text_and_never_longer_than_asked(query: str, text: str, characters: int) -> None:
    found = excerpt(query, text, characters)
    assert text[found.start : found.end] == found.text
    assert len(found.text) <= characters or found.whole
    assert found.text or not text
