"""File names of keys: readable where they can be, and never one file for two names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.entry import origin_of
from indelible.keys.names import file_stem

words = st.text(min_size=1, max_size=60)
names = st.text() | st.text(alphabet="aA%+/.~4e1E_") | st.builds(origin_of, words, words)


@pytest.mark.parametrize(("name", "stem"), [
    ("indelible/local/eros", "indelible+local+eros"),
    (origin_of("roops", "claude-code@laptop"), "indelible+roops+claude-code@laptop"),
    (origin_of("local", "메"), "indelible+local+%EB%A9%94"),
])  # fmt: skip
def test_an_ordinary_name_can_be_read_off_its_file(name: str, stem: str) -> None:
    assert file_stem(name) == stem


@pytest.mark.parametrize("name", [
    "indelible/local/Eros", "con", "nul.x", ".", "..", "", "a+b", "a b", "a~b", "a%4f", "a%", "a\\b", "a:b", "메", "x" * 101,
])  # fmt: skip
def test_a_name_that_some_file_system_would_not_tell_apart_is_hashed(name: str) -> None:
    assert len(file_stem(name).rpartition("~")[2]) == 32


def test_two_long_names_that_differ_in_the_last_letter_have_two_files() -> None:
    assert file_stem("메" * 300 + "a") != file_stem("메" * 300 + "b")


@given(names, names)
def test_no_two_names_share_a_file_even_where_capitals_do_not_count(one: str, other: str) -> None:
    if one != other:
        assert file_stem(one).casefold() != file_stem(other).casefold()


@given(names)
def test_a_stem_is_one_plain_file_name_with_room_for_its_suffixes(name: str) -> None:
    stem = file_stem(name)
    assert stem.isascii()
    assert stem.isprintable()
    assert not set(stem) & set('/\\:*?"<>| ')
    assert len(stem) + len("~0a1b2c3d.key") <= 143
