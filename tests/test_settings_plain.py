"""Plain settings files: what is read without `tomllib` is what `tomllib` reads, and everything else is left to it."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.settings.plaintoml import plain_members

PLAIN = """\
# .indelible/config.toml

agent = "default"
require_pin = true
"quoted name" = "값"
[agents]
rudex = "indelible/roops/rudex+0a1b2c3d+AQ="
"""
LEFT_TO_TOMLLIB = (
    'a = "x" # why', "a = 1", 'a = "tab\\t"', 'a="x"', "a = 'x'", 'a = """x"""', 'a = ["x"]', "a.b = true", '[a.b]\nc = "x"',
    '[[a]]\nb = "x"', 'a = "x"\r\n', 'a  = "x"', ' a = "x"', "[ a ]", "a = 2026-06-10", "[a]\n[b]\n[a]", 'a = "x"\na = "y"',
    'a = "x"\n[a]\nb = "y"', "[", "]", "[]", "=", " = ", 'a = "', 'a = """', "a = tru", '"" = "x"', "a", "# \x00", 'a = "\u200b"',
)  # fmt: skip


def parsed(text: str) -> object:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def test_a_plain_file_is_read_as_tomllib_reads_it() -> None:
    assert plain_members(PLAIN) == tomllib.loads(PLAIN)
    assert plain_members("") == {}


@pytest.mark.parametrize("text", LEFT_TO_TOMLLIB)
def test_what_is_not_plain_is_left_to_tomllib(text: str) -> None:
    assert plain_members(text) is None


LINES = st.lists(
    st.sampled_from(('a = "x"', "b = true", "c = false", "[t]", "[u]", "", "# c", '"k k" = "v"', 'd = "한"', "e = 1", "[t.x]", 'a = "y"', "#", "[t"))
    | st.text(st.sampled_from('a"[]=# \\.\t\'1'), max_size=12),
    max_size=8,
).map("\n".join)  # fmt: skip


@given(LINES)
def test_whatever_is_read_here_tomllib_reads_the_same(text: str) -> None:
    found = plain_members(text)
    assert found is None or found == parsed(text)
