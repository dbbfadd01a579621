from __future__ import annotations

import subprocess
import sys
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.recall.tokens import MOST_TERMS, READ, features, parse_features, query_terms, split_row


@given(st.binary(max_size=400))
def test_any_bytes_have_features_that_parse_back(content):
    row = features(content)
    parsed = parse_features(row)
    assert list(parsed.terms) == sorted(set(parsed.terms))
    assert list(parsed.grams) == sorted(set(parsed.grams))
    assert len(parsed.counts) == len(parsed.terms)
    assert all(1 <= count <= 255 for count in parsed.counts)
    assert features(content) == row


@given(st.text(max_size=200))
def test_a_question_finds_every_term_in_its_own_text(text):
    own = parse_features(features(text.encode("utf-8", "surrogatepass")))
    asked = query_terms(text)
    assert set(asked.terms) <= set(own.terms) or len(own.terms) > MOST_TERMS
    assert set(asked.grams) <= set(own.grams)


@given(st.binary(max_size=60), st.integers(1, 40))
def test_features_that_are_cut_or_added_to_are_refused(content, by):
    row = features(content)
    for wrong in (row[:-by], row + bytes(by)):
        if wrong != row:
            with pytest.raises(ValueError, match="row of features"):
                split_row(wrong)


def test_composed_and_decomposed_hangul_are_the_same_words():
    text = "배포 전에 체크섬을 확인한다"
    assert features(unicodedata.normalize("NFD", text).encode()) == features(text.encode())
    mixed = "배포 " + unicodedata.normalize("NFD", "전에 체크섬을") + " 확인한다"
    assert query_terms(mixed) == query_terms(text)


def test_case_plurals_and_width_do_not_part_words():
    assert query_terms("CHECKSUMS").terms == query_terms("checksum").terms == query_terms("ｃｈｅｃｋｓｕｍ").terms


def test_a_two_syllable_word_is_in_its_inflected_form():
    assert set(query_terms("확인").terms) <= set(parse_features(features("확인한다".encode())).terms)


def test_a_single_syllable_is_found_where_a_word_begins_with_it():
    assert set(query_terms("전").terms) <= set(parse_features(features("배포 전에".encode())).terms)


def test_small_words_are_left_out_unless_there_is_nothing_else():
    assert query_terms("what is the checksum") == query_terms("checksum")
    assert len(query_terms("what is the").terms) == 3


@pytest.mark.parametrize("text", ["", "   ", "!?…", "\u200d\ufe0f"])
def test_nothing_is_asked_by_a_question_without_words(text):
    assert query_terms(text).terms == ()


def test_an_emoji_is_a_word():
    assert set(query_terms("🚀").terms) <= set(parse_features(features("launched 🚀🚀 today".encode())).terms)


@pytest.mark.parametrize("piece", ["checksum ", "확인한다 ", "한", "x", "🚀", "\u1112\u1161\u11ab"])
def test_a_question_of_a_megabyte_is_cut_in_a_moment(piece):
    text = piece * (1_000_000 // len(piece.encode()))
    begun = time.process_time()
    asked = query_terms(text)
    assert time.process_time() - begun < 0.5
    assert len(asked.terms) <= MOST_TERMS


def test_of_a_long_text_only_the_beginning_is_read():
    long = b"checksum " * (READ // 9 + 1)
    assert features(long + b"zebra") == features(long)


def test_features_need_no_numpy():
    code = "import sys; from indelible.recall.tokens import features; features(b'checksums'); assert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
