"""The program counter: three fields in many spellings, a checklist, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.hands import CASES

from indelible.errors import UsageError
from indelible.state.counter import FIELDS, Step, parse_counter
from indelible.state.slot import KNOWN
from indelible.state.templates import template

WORDS = st.from_regex(r"[A-Za-z0-9가-힣][A-Za-z0-9가-힣 ,()/]{0,30}[a-z0-9가-힣]", fullmatch=True)
MARKS = st.sampled_from(
    [("", ""), ("- ", ""), ("* **", "**"), ("1. ", ""), ("### ", ""), ("> ", ""), ("**", "**"), ("  - `", "`")]
)


@given(st.tuples(WORDS, WORDS, WORDS), MARKS, st.permutations(range(3)), st.booleans(), st.sampled_from(["\n", "\r\n"]))
def test_the_fields_are_read_in_any_order_and_in_any_dress(
    values: tuple[str, str, str], marks: tuple[str, str], order: list[int], lower: bool, ending: str
) -> None:
    lines = [
        f"{marks[0]}{FIELDS[index].lower() if lower else FIELDS[index]}{marks[1]}: {values[index]}" for index in order
    ]
    counter = parse_counter(ending.join(lines).encode())
    assert (counter.target, counter.last, counter.next) == tuple(value.strip() for value in values)


def test_the_words_of_older_files_name_the_same_fields() -> None:
    counter = parse_counter((CASES / "state_ok" / "99_next_action.md").read_bytes())
    assert counter.as_dict() == {"target": "3", "last": "test added", "next": "change sorter", "steps": []}


def test_the_checklist_is_read_with_what_is_done() -> None:
    text = b"- [x] 1 ticket\n- [ ] 2 plan\n* [X] 3 built\nCurrent target: 2\nLast done: a\nNext allowed: b\n"
    assert parse_counter(text).steps == (Step(True, "1 ticket"), Step(False, "2 plan"), Step(True, "3 built"))


@pytest.mark.parametrize("name", KNOWN)
def test_a_form_that_was_not_filled_in_is_no_program_counter(name: str) -> None:
    with pytest.raises(UsageError):
        parse_counter(template(name))


@pytest.mark.parametrize("value", ["", "   ", "**", "<target>", "…", "-", "..."])
def test_a_field_without_a_value_is_named(value: str) -> None:
    text = f"Current Target: {value}\nLast Completed Step: x\nNext Permitted Action: y\n"
    with pytest.raises(UsageError, match="Current Target"):
        parse_counter(text.encode())


@given(st.binary(max_size=400))
def test_anything_else_is_refused_and_never_a_crash(content: bytes) -> None:
    try:
        assert all(parse_counter(content)[:3])
    except UsageError:
        return
