"""A record shortened from its old end, at the beginning of a round."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.state.budget import Room, estimate
from indelible.state.cutting import shorten, split_rounds

ROUNDS = "# Critic\n\n" + "".join(f"## Round {number}\nblocked: reason {number}\n" for number in range(1, 31))


def room(tokens: int, characters: int = 1 << 40) -> Room:
    return Room(tokens, characters)


def test_the_newest_rounds_stay_whole() -> None:
    short = shorten(split_rounds(ROUNDS), room(40))
    assert short.text.startswith("## Round ")
    assert short.text.endswith("## Round 30\nblocked: reason 30\n")
    assert ROUNDS.endswith(short.text)
    assert (short.unit, short.total) == ("rounds", 31)  # with the title, which is the oldest of them
    assert short.text.count("## Round") == short.total - short.left_out
    assert estimate(short.text) <= 40


@pytest.mark.parametrize(("text", "unit", "pieces"), [
    ("one\n\ntwo\nstill two\n\nthree\n", "paragraphs", 3),
    ("- one\n- two\n- three\n", "lines", 3),
    ("# A\none\n## B\ntwo\n# C\nthree\n## D\n", "rounds", 2),
    ("# Only one\n\ntext\n\nmore\n", "paragraphs", 3),
    ("", "lines", 0),
    ("\n\n\n", "lines", 3),
])  # fmt: skip
def test_a_round_is_what_the_text_has(text: str, unit: str, pieces: int) -> None:
    found = split_rounds(text)
    assert (found.unit, len(found.pieces)) == (unit, pieces)
    assert "".join(found.pieces) == text


def test_of_a_last_round_that_is_itself_too_long_the_end_is_kept() -> None:
    text = "## Round 1\nshort\n## Round 2\n" + "".join(f"line {number} of many\n" for number in range(1000))
    short = shorten(split_rounds(text), room(50))
    assert text.endswith(short.text)
    assert short.text.startswith("line ")
    assert short.left_out == 2
    assert 0 < estimate(short.text) <= 50


def test_of_one_line_without_end_the_last_characters_are_kept() -> None:
    short = shorten(split_rounds("가나다 " * 100_000), room(100))
    assert 0 < estimate(short.text) <= 100


@given(st.text(st.sampled_from("a 가\n#-🚀"), max_size=300), st.integers(0, 60), st.integers(0, 200))
def test_what_is_kept_is_the_end_and_fits(text: str, tokens: int, characters: int) -> None:
    rounds = split_rounds(text)
    assert "".join(rounds.pieces) == text
    short = shorten(rounds, Room(tokens, characters))
    assert text.endswith(short.text)
    assert estimate(short.text) <= tokens
    assert len(short.text) <= characters
