"""Shingles: containment, and the passages that two texts share."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.recall.codepoints import read, words_of
from indelible.recall.overlap import Profiler
from indelible.recall.shingles import Shared, Shingled, common, containment, gather, meetings, passages, shingles

WORDS = st.lists(st.sampled_from([f"w{number}" for number in range(40)]), min_size=0, max_size=60)
PASSAGE = "배포 전에 반드시 체크섬을 확인하고 승인을 받은 뒤에만 푸시한다"


def shingled(*texts: str) -> Shingled:
    made = Profiler("x")
    for number, text in enumerate(texts):
        made.add(f"k{number}", text.encode())
    return made.done().shingles


def within(one: Shingled, other: Shingled) -> float:
    return containment(len(common(one, other)[0]), one)


@given(st.lists(WORDS, min_size=1, max_size=5), st.lists(WORDS, max_size=5))
def test_what_stands_whole_in_another_is_contained_whole(texts: list[list[str]], more: list[list[str]]) -> None:
    one = shingled(*map(" ".join, texts))
    other = shingled(*map(" ".join, [*more, *texts]))
    assert within(one, other) == (1.0 if len(one.unique) else 0.0)
    assert 0 <= within(other, one) <= 1


@given(st.lists(WORDS, max_size=5), st.lists(WORDS, max_size=5))
def test_containment_is_that_of_the_sets_of_runs_of_seven_words(one: list[list[str]], other: list[list[str]]) -> None:
    runs = [{tuple(text[at : at + 7]) for text in texts for at in range(len(text) - 6)} for texts in (one, other)]
    left, right = (shingled(*map(" ".join, texts)) for texts in (one, other))
    assert len(left.unique) == len(runs[0])
    assert len(common(left, right)[0]) == len(runs[0] & runs[1])


def test_a_shingle_of_a_script_without_spaces_is_fourteen_characters() -> None:
    text = "東京都港区芝公園四丁目二番八号東京"
    assert len(shingles(words_of((text,)))[0]) == len(text) - 13
    assert within(shingled(text[:14]), shingled(f"これは{text}です")) == 1


def test_a_shingle_does_not_go_over_the_end_of_a_text() -> None:
    assert len(shingled("one two three four", "five six seven eight").unique) == 0


def test_those_that_share_most_come_first_and_the_fresh_before_them() -> None:
    other = "nothing of that kind stands here at all, not a word, or a sign, or a stroke"
    one = shingled(PASSAGE, f"{PASSAGE} and then some more words that only this one has", other)
    stale = (np.zeros(3, np.bool_), np.zeros(3, np.bool_))
    found = meetings(one, one, 10, stale)
    assert [pair[:2] for pair in found] == [(2, 2), (1, 1), (0, 0)]
    assert found[0][2] > found[-1][2]
    fresh = (np.array([False, True, False]), np.zeros(3, np.bool_))
    assert meetings(one, one, 1, fresh)[0][:2] == (1, 1)
    assert meetings(one, shingled("other"), 10, stale) == []


@given(WORDS, WORDS, st.lists(st.integers(100, 140).map(str), min_size=7, max_size=30))
def test_a_passage_that_was_put_into_another_text_is_found_whole(
    before: list[str], after: list[str], words: list[str]
) -> None:
    text = " ".join(words)
    left = read(f"x1 x2 {text} y1".encode())
    right = read(" ".join((*before, text, *after)).encode())
    found = passages(left, right)
    assert any(text in left.nfc[one.left[0] : one.left[1]] for one in found)
    for one in found:
        assert left.nfc[slice(*one.left)].split() == right.nfc[slice(*one.right)].split()


@given(WORDS, WORDS)
def test_no_passage_could_be_longer(one: list[str], other: list[str]) -> None:
    for found in passages(read(" ".join(one).encode()), read(" ".join(other).encode())):
        starts = [len(" ".join(words)[: side[0]].split()) for words, side in ((one, found.left), (other, found.right))]
        ends = [start + found.words for start in starts]
        assert one[starts[0] : ends[0]] == other[starts[1] : ends[1]]
        assert not (starts[0] and starts[1] and one[starts[0] - 1] == other[starts[1] - 1])
        assert ends[0] == len(one) or ends[1] == len(other) or one[ends[0]] != other[ends[1]]


def test_both_sides_may_be_written_differently_and_still_be_the_same_words() -> None:
    left, right = read(f"# A\n- {PASSAGE}.".encode()), read(f"… {PASSAGE.replace(' ', '  ')}".encode())
    assert passages(left, right) == [Shared((6, 6 + len(PASSAGE)), (2, 2 + len(PASSAGE.replace(" ", "  "))), 9)]


@pytest.mark.parametrize("text", ["", "one", "한", "a b c d e f"])
def test_a_text_shorter_than_a_shingle_shares_nothing(text: str) -> None:
    assert passages(read(text.encode()), read(text.encode())) == []
    assert containment(0, shingled(text)) == 0


def test_what_is_repeated_without_end_takes_no_time_and_is_found() -> None:
    text = read(b"buy this now and tell all your friends " * 5000)
    found = passages(text, text)
    assert found[0].words == 8 * 5000


def test_a_hash_is_of_the_words_and_not_of_where_they_stand() -> None:
    rng = random.Random(3)
    words = [str(rng.randint(0, 999)) for _ in range(300)]
    whole = shingles(words_of((" ".join(words),)))[0]
    part = shingles(words_of((" ".join(words[100:150]),)))[0]
    assert list(whole[100:144]) == list(part)


def test_nobody_has_no_shingles() -> None:
    assert len(gather([]).unique) == 0
