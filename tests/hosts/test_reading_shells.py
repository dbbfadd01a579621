"""Properties of the guard's reading: it never breaks, and no way of quoting hides a name."""

from __future__ import annotations

import os
import shlex
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.hosts.commands import Line
from indelible.hosts.places import OWN, STATE, Place, Places
from indelible.hosts.shell import read
from indelible.hosts.words import UNKNOWN, Word, alternatives, literal, plain, spoken

TOP = "/no/such/home/repo"
SLOT = f"{TOP}/.indelible/state/00_governance.md"
PLACES = Places(
    (Place(SLOT, STATE), Place(f"{TOP}/.indelible/state", STATE), Place(f"{TOP}/.indelible", OWN)), "/no/such/home"
)
SHELLISH = st.text(st.sampled_from("ab./ '\"\\$`(){}<>|&;\n*?[]!=#~-0"), max_size=80)


def by_single(text: str) -> str:
    return shlex.quote(text)


def by_double(text: str) -> str:
    return f'"{text}"'


def by_backslash(text: str) -> str:
    return "".join(f"\\{char}" for char in text)


def by_code(text: str) -> str:
    return "$'" + "".join(f"\\x{ord(char):02x}" for char in text) + "'"


def by_variable(text: str) -> str:
    return text  # set in front of the command


QUOTES = st.sampled_from([str, by_single, by_double, by_backslash, by_code])


@given(SHELLISH | st.text(max_size=60))
def test_any_text_is_read(text: str) -> None:
    line = Line(text, TOP, {"HOME": "/no/such/home"})
    line.writes(PLACES)
    assert line.is_reading in (True, False)
    assert line.boot is None or line.is_reading


@given(
    st.lists(st.tuples(st.integers(1, 12), QUOTES), min_size=1, max_size=12),
    st.sampled_from([">", ">>", ">|", "rm", "mv x"]),
)
def test_no_quoting_hides_a_name(cuts: list[tuple[int, object]], how: str) -> None:
    rest, spelt = ".indelible/state/00_governance.md", ""
    for size, quote in cuts:
        piece, rest = rest[:size], rest[size:]
        spelt += quote(piece) if piece and callable(quote) else piece
    command = f"echo x {how} {spelt}{rest}" if how.startswith(">") else f"{how} {spelt}{rest}"
    assert Line(command, TOP, {}).writes(PLACES)


@given(st.integers(0, 33), st.integers(0, 33))
def test_no_variable_of_the_same_line_hides_a_name(first: int, second: int) -> None:
    name = ".indelible/state/00_governance.md"
    start, end = sorted((first, second))
    command = f"v='{name[start:end]}'; echo x > '{name[:start]}'\"${{v}}\"'{name[end:]}'"
    assert Line(command, TOP, {}).writes(PLACES)


@given(st.text(max_size=40))
def test_a_quoted_text_is_its_own_pattern(text: str) -> None:
    assert spoken(literal(text)) == text
    assert alternatives(literal(text)) == (literal(text),)


@pytest.mark.parametrize(
    ("pattern", "found"),
    [("a{b,c}d", ("abd", "acd")), ("{a,b}{c,d}", ("ac", "ad", "bc", "bd")), ("a{b}c", ("a{b}c",)), ("{a,{b,c}}", ("a", "b", "c")),
     ("{a,}", ("a", "")), ("{", ("{",)), ("}{,", ("}{,",))],
)  # fmt: skip
def test_braces_are_read_as_a_shell_does(pattern: str, found: tuple[str, ...]) -> None:
    assert alternatives(pattern) == found


def test_braces_that_grow_without_end_are_bounded() -> None:
    assert len(alternatives("{a,b}" * 30)) < 200


@pytest.mark.parametrize(
    ("pattern", "above", "meant"),
    [(".indelible/state/0*.md", False, True), (".indelible/*/00_governance.md", False, True), ("*/state/00_governance.md", False, False),
     (".*", True, True), ("*", True, False), (".ind?lible", True, True), (".[i]ndelible/state", False, True), ("..", True, True)],
)  # fmt: skip
def test_a_pattern_means_what_a_shell_would_match(pattern: str, above: bool, meant: bool) -> None:
    assert bool(PLACES.named_by(Word(spoken(pattern), pattern), TOP, above=above)) is meant


def test_where_capitals_are_small_letters_so_are_they_here() -> None:
    caseless = PLACES._replace(caseless=True)
    assert caseless.named(".INDELIBLE/State/00_Governance.MD", TOP)
    assert caseless.named_by(plain(".INDELIBLE/State/00_Governance.MD"), TOP)
    assert PLACES.named(".INDELIBLE/State/00_Governance.MD", TOP) is None


def test_the_end_of_an_unknown_path_is_enough() -> None:
    assert PLACES.named_by(Word("", f"{UNKNOWN}/00_governance.md"), TOP)
    assert PLACES.named_by(Word("", f"{UNKNOWN}/.indelible/whatever"), TOP)
    assert PLACES.named_by(Word("", f"{UNKNOWN}/build/state"), TOP) is None


@pytest.mark.parametrize(
    "text",
    ["$(" * 20_000, "`" * 20_001, "((" * 20_000, "{" * 20_000, "<(" * 20_000, "a " * 60_000, "cat <<A\n" * 10_000, '"$(' * 10_000,
     "bash -c '" * 5_000, "x" * 150_000, "{a,b}" * 10_000, "a=$a$a;" * 10_000,
     "set -- a b;" + "set -- $@ $@;" * 10_000, "a=" + "b" * 4_000 + ";echo " + "$a" * 60_000, "echo {0..99999999999999999999999}", "echo {1..9}" * 10_000,
     "a=($a $a);" * 10_000, "((a)" * 20_000, "${a:-" * 20_000, "a=(" * 20_000, "awk '" + "/" * 100_000, "sed '" + "s/[" * 30_000, "find . " + "( " * 50_000,
     "find . " + "! " * 50_000, "cat <<A\n" + "$(" * 30_000, "echo 1;" * 20_000, "a=1;" * 20_000 + "$(a)" * 2_000],
)  # fmt: skip
def test_no_text_takes_long(text: str) -> None:
    begun = time.process_time()
    line = Line(text, TOP, {"HOME": "/no/such/home"})
    line.writes(PLACES)
    assert line.is_reading in (True, False)
    assert time.process_time() - begun < 2


def test_a_folder_that_was_entered_is_left_with_its_parentheses() -> None:
    found = read("(cd .indelible; rm a); rm b", TOP, {}).commands
    assert [command.cwd for command in found if command.words[0].text == "rm"] == [os.path.join(TOP, ".indelible"), TOP]
