"""Rounds of the critic: written and read back, judged whole, and what a later change makes of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.errors import UsageError
from indelible.workflow.rounds import (
    APPROVED,
    BLOCKED,
    NONE,
    OK,
    PILLARS,
    REJECTED,
    STALE,
    Pillar,
    Round,
    check_round,
    format_round,
    next_number,
    parse_pillar,
    parse_rounds,
    standing,
)

DIGEST = "a" * 64
FINE = tuple(Pillar(name, OK) for name in PILLARS)
line = st.text(st.characters(categories=("L", "N", "P", "S", "Zs")), min_size=1, max_size=60).map(
    lambda text: " ".join(text.split())
).filter(lambda text: text.isprintable() and text != "")  # fmt: skip
lines = st.lists(line, max_size=3).map(tuple)
notes = line.map(lambda text: text.replace("(", "").replace(")", "").strip())


@st.composite
def rounds(draw: st.DrawFn) -> Round:
    pillars = tuple(Pillar(name, draw(st.sampled_from((OK, BLOCKED))), draw(st.just("") | notes)) for name in PILLARS)
    made = Round(
        draw(st.integers(1, 9999)), REJECTED, draw(st.just("") | line), draw(st.just(DIGEST) | st.just("0" * 64)), "b" * 12, "c" * 12, pillars,
        draw(lines), draw(lines), draw(lines), draw(lines),
    )  # fmt: skip
    return made if made.open else made._replace(verdict=APPROVED)


@given(st.lists(rounds(), max_size=4))
def test_what_is_written_reads_back(found: list[Round]) -> None:
    assert parse_rounds(b"".join(map(format_round, found))) == tuple(found)


@given(rounds())
def test_every_round_that_can_be_written_is_one(found: Round) -> None:
    assert check_round(found) == found


@given(st.binary(max_size=200))
def test_any_text_can_be_read(content: bytes) -> None:
    parse_rounds(content)
    parse_rounds(b"## Round 1: rejected\n" + content)


def test_a_round_that_was_written_by_hand_names_no_change_and_is_stale() -> None:
    text = "# Critic\n\n## Round 1: rejected\nBlocked: ties change order\nIgnored: no docs\nDo not try again: hashing\n\n## Round 2 - Approved.\nfine\n"
    first, second = parse_rounds(text.encode())
    assert (first.number, first.verdict, first.blocked, first.never) == (
        1,
        REJECTED,
        ("ties change order",),
        ("hashing",),
    )
    assert (second.number, second.verdict, second.digest) == (2, APPROVED, "")
    assert standing((first, second), DIGEST) == STALE
    assert next_number(text.encode()) == 3


def test_a_round_with_two_changes_names_none() -> None:
    text = (
        format_round(Round(1, APPROVED, "", DIGEST, "b" * 12, "c" * 12, FINE))
        + b"Change: sha256:"
        + b"d" * 64
        + b" base - tree "
        + b"e" * 12
    )
    assert [one.digest for one in parse_rounds(text)] == [""]


@pytest.mark.parametrize(("verdict", "digest", "blocked", "expected"), [
    (APPROVED, DIGEST, (), APPROVED), (REJECTED, DIGEST, ("x",), REJECTED), (APPROVED, DIGEST, ("x",), REJECTED),
    (APPROVED, "b" * 64, (), STALE), (REJECTED, "b" * 64, ("x",), STALE), ("maybe", DIGEST, (), REJECTED), (APPROVED, "", (), STALE),
])  # fmt: skip
def test_the_last_round_stands_for_its_very_change_only(
    verdict: str, digest: str, blocked: tuple[str, ...], expected: str
) -> None:
    earlier = Round(1, APPROVED, digest=DIGEST)
    assert standing((earlier, Round(2, verdict, digest=digest, blocked=blocked)), DIGEST) == expected


def test_without_a_round_there_is_no_standing_and_without_a_change_no_approval() -> None:
    assert standing((), DIGEST) == NONE
    assert standing((Round(1, APPROVED),), "") == STALE


@pytest.mark.parametrize("change", [
    {"pillars": FINE[:-1]}, {"pillars": (*FINE, Pillar("luck", OK))}, {"pillars": (*FINE, FINE[0])}, {"verdict": "fine"},
    {"blocked": ("left open",)}, {"pillars": (Pillar("correctness", BLOCKED), *FINE[1:])}, {"verdict": REJECTED}, {"critic": "a\nb"},
    {"fixed": ("two\nlines",)}, {"ignored": ("x" * 1001,)}, {"never": ("x",) * 51}, {"pillars": (Pillar("correctness", OK, "a (b)"), *FINE[1:])},
    {"pillars": (Pillar("correctness", "meh"), *FINE[1:])},
])  # fmt: skip
def test_a_round_that_says_too_little_or_contradicts_itself_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        check_round(Round(1, APPROVED, pillars=FINE)._replace(**change))  # type: ignore[arg-type]


def test_pillars_are_those_of_the_workflow() -> None:
    mine = (Pillar("taste", OK),)
    assert check_round(Round(1, APPROVED, pillars=mine), ("taste",))
    with pytest.raises(UsageError, match="nothing of taste"):
        check_round(Round(1, APPROVED, pillars=FINE), ("taste",))


@pytest.mark.parametrize(("text", "pillar"), [
    ("tests=ok", Pillar("tests", OK)), ("tests=blocked", Pillar("tests", BLOCKED)), ("tests=blocked: no  ties", Pillar("tests", BLOCKED, "no ties")),
])  # fmt: skip
def test_a_verdict_on_a_pillar_as_the_command_line_has_it(text: str, pillar: Pillar) -> None:
    assert parse_pillar(text) == pillar


@pytest.mark.parametrize("text", ["tests", "tests=", "=ok", "Tests=ok", "tests=fine", "te sts=ok"])
def test_what_is_no_verdict_on_a_pillar(text: str) -> None:
    with pytest.raises(UsageError):
        parse_pillar(text)
