"""Texts as words: what counts as one, that both forms of Hangul are one text, and that places lead back to bytes."""

from __future__ import annotations

import unicodedata

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from indelible.recall.codepoints import ALONE, ranges, read, words_of

TEXTS = st.text(st.characters(codec="utf-8"), max_size=60) | st.text(
    "ab 가나漢字か\u0301\u1100\u1161\u11a8.\n", max_size=60
)


def spelled(text: str) -> list[str]:
    words = words_of((text,))
    return [text[start:end] for start, end in zip(words.starts, words.ends, strict=True)]


def test_words_are_runs_of_letters_and_single_characters_of_scripts_without_spaces() -> None:
    assert spelled("Don't push_now, 배포 전에! 確認する ไทย 👍") == [
        "Don", "t", "push_now", "배포", "전에", "確", "認", "す", "る", "ไ", "ท", "ย",
    ]  # fmt: skip


def test_case_and_width_make_no_difference_and_letters_do() -> None:
    one, other = words_of(("Push ＡＢＣ 한국",)), words_of(("pUSH abc 한국",))
    assert list(one.hashes) == list(other.hashes)
    assert list(words_of(("push",)).hashes) != list(words_of(("pusch",)).hashes)


def test_both_forms_of_hangul_are_one_text() -> None:
    plain = "배포 전에 체크섬을 확인한다"
    other = read(unicodedata.normalize("NFD", plain).encode())
    assert other.nfc == plain
    assert spelled(other.nfc) == spelled(plain)


def test_no_word_goes_over_the_end_of_a_text() -> None:
    words = words_of(("one two", "", "three", "…"))
    assert list(words.texts) == [0, 0, 2]
    assert list(words.origins) == [0, 8, 9, 15, 17]


@given(TEXTS, TEXTS)
def test_a_word_has_one_hash_wherever_it_stands(text: str, before: str) -> None:
    alone = words_of((unicodedata.normalize("NFC", text),))
    later = words_of((unicodedata.normalize("NFC", before), unicodedata.normalize("NFC", text)))
    assert list(alone.hashes) == list(later.hashes[later.texts == 1])


@given(st.binary(max_size=80))
def test_any_bytes_are_read_and_come_back_whole(content: bytes) -> None:
    text = read(content)
    assert text.byte(len(text.nfc)) == len(content)
    assert text.byte(0) == 0
    words_of((text.nfc,))


@given(TEXTS.map(lambda text: text.encode()))
def test_the_place_of_a_word_is_that_of_its_bytes(content: bytes) -> None:
    text = read(content)
    words = words_of((text.nfc,))
    for start, end in zip(words.starts, words.ends, strict=True):
        there = content[text.byte(int(start)) : text.byte(int(end))].decode()
        assert unicodedata.normalize("NFC", there) == text.nfc[start:end]


def test_equal_ranges_have_equal_hashes_and_others_have_others() -> None:
    values = np.array([3, 1, 4, 1, 5, 3, 1, 4], np.uint64)
    hashes = ranges(values, np.array([0, 5, 1, 3]), np.array([3, 8, 2, 4]))
    assert hashes[0] == hashes[1]
    assert hashes[2] == hashes[3]
    assert len(set(hashes.tolist())) == 2


def test_a_character_that_is_a_word_weighs_half_of_one() -> None:
    words = words_of(("漢 word",))
    assert list(words.weights) == [1, 2]
    assert words.kinds[0] == ALONE
