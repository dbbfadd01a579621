"""Patterns mean what `re` says of them, and none takes longer than its size times that of the text."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.errors import UsageError
from indelible.workflow.automaton import MOST_STATES, Automaton, compiled
from indelible.workflow.scartext import check_pattern

ATOMS = ("a", "b", "A", " ", ".", r"\w", r"\s", r"\d", "[ab]", "[^a]", "[a-c1]", r"\b", r"\B", "^", "$", "_", r"\S", r"\W", "1", r"\n", "-", "K", "é", "ß")  # fmt: skip
LETTERS = "abAB1_ -\n.Ké\u212aß\u00a0"


def pattern_of(chance: random.Random, depth: int) -> str:
    kind = chance.random()
    if depth == 0 or kind < 0.35:
        return chance.choice(ATOMS)
    if kind < 0.6:
        return pattern_of(chance, depth - 1) + pattern_of(chance, depth - 1)
    if kind < 0.75:
        return f"(?:{pattern_of(chance, depth - 1)}|{pattern_of(chance, depth - 1)})"
    if kind < 0.95:
        return (
            f"(?:{pattern_of(chance, depth - 1)}){chance.choice(('*', '+', '?', '{1,3}', '{2}', '*?', '+?', '{0,2}'))}"
        )
    return f"((?i:{pattern_of(chance, depth - 1)}))"


@pytest.mark.parametrize("seed", range(8))
def test_a_pattern_matches_where_re_matches(seed: int) -> None:
    """`re` is the oracle, with texts so short that it cannot explode."""
    chance = random.Random(seed)
    compared = 0
    for _ in range(400):
        pattern = chance.choice(("", "", "(?i)", "(?s)")) + pattern_of(chance, 4)
        try:
            made = Automaton(pattern)
        except UsageError:
            continue
        for _ in range(6):
            # Before Python 3.14, `\\B` did not match in an empty text.
            text = "".join(chance.choice(LETTERS) for _ in range(chance.randrange(r"\B" in pattern, 8)))
            assert made.search(text) == (re.search(pattern, text, re.MULTILINE) is not None), (pattern, text)
            compared += 1
    assert compared > 2_000


@given(st.text(max_size=12), st.text(max_size=40))
def test_a_text_by_its_letters_is_found_where_it_stands(needle: str, text: str) -> None:
    made = Automaton(re.escape(needle))
    assert made.search(text) == (needle in text)
    assert made.matches_nothing == (needle == "")


@pytest.mark.parametrize("pattern", [
    "(a+)+b", "(a|a)*b", "(a|aa)+b", "(.*)*b", "(.*a){12}b", "a.*a.*a.*a.*a.*b", "(x+x+)+y", "^(([a-z])+.)+[A-Z]([a-z])+b$",
    r"(\w+\s*)+:b", "(a*)*(a*)*(a*)*b",
])  # fmt: skip
def test_what_explodes_in_other_engines_ends_here(pattern: str) -> None:
    """With `re` each of these takes longer than anybody waits; the test ends at all, and that is what it says."""
    made = Automaton(pattern)
    assert not made.search("a" * 20_000)
    assert not made.search("x" * 20_000)


@pytest.mark.parametrize(("pattern", "word"), [
    ("(?=a)b", "looks"), ("(?!a)b", "looks"), ("(?<=a)b", "looks"), ("(?<!a)b", "looks"), (r"(a)\1", "goes back"),
    ("(?P<x>a)(?P=x)", "goes back"), ("(a)?(?(1)b|c)", "goes back"), ("a++b", "possessive"), ("(?>a+)b", "atomic"), ("(?a)a", "ASCII"),
])  # fmt: skip
def test_what_needs_backtracking_is_refused_by_name(pattern: str, word: str) -> None:
    with pytest.raises(UsageError, match=word):
        Automaton(pattern)


@pytest.mark.parametrize("pattern", ["(", "[", "a{2,1}", "*", r"\q", "(?P<1>a)", "(" * 90 + ")" * 89])
def test_what_is_no_regular_expression_is_refused_with_its_place(pattern: str) -> None:
    with pytest.raises(UsageError, match="no regular expression"):
        Automaton(pattern)


@pytest.mark.parametrize("pattern", ["(a{50}){50}", "((a{20}){20}){20}", "a{5000}", "(a|b){0,900}"])
def test_what_is_too_large_is_refused_before_it_is_built(pattern: str) -> None:
    with pytest.raises(UsageError, match=str(MOST_STATES)):
        Automaton(pattern)


@pytest.mark.parametrize("pattern", ["", "a*", "(a|)", r"\b", "^", "$", "a?b*", "(?:)", "(?i)x*"])
def test_what_matches_where_nothing_stands_is_no_pattern_of_a_scar(pattern: str) -> None:
    with pytest.raises(UsageError, match="everywhere"):
        check_pattern(pattern)


def test_a_pattern_is_compiled_once() -> None:
    assert compiled("git push") is compiled("git push")
    assert compiled(r"git\s+push\b.*--force").literal == "--force"
    assert compiled("(?i)push").literal == ""
