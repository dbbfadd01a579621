"""Names, keys and disciplines of slots."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.errors import DisciplineError, UsageError
from indelible.state.slot import (
    APPEND_ONLY,
    KNOWN,
    REPLACEABLE,
    WRITE_ONCE,
    check_change,
    check_namespace,
    check_text,
    closed_key,
    key_of,
    named,
    namespace_of_closed,
    parse_name,
    slot_of_key,
)

NAMES = st.builds(
    lambda number, name: f"{number:02}_{name}.md",
    st.integers(0, 99),
    st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}", fullmatch=True),
)
NAMESPACES = st.sampled_from(["state", "state/worktree/a%20b", "state/at/app-0a1b2c3d"])


@given(NAMES, NAMESPACES)
def test_a_slot_is_found_again_by_its_key(name: str, namespace: str) -> None:
    slot = named(name)
    assert slot_of_key(key_of(namespace, name)) == (namespace, slot)
    assert slot.discipline == (WRITE_ONCE if slot.number < 30 else APPEND_ONLY if slot.number < 90 else REPLACEABLE)
    assert check_namespace(namespace) == namespace


@given(st.text())
def test_whatever_is_no_slots_name_is_none(text: str) -> None:
    slot = parse_name(text)
    assert slot is None or (slot.name == text and text.endswith(".md") and "/" not in text)
    assert slot_of_key(text) is None or text.startswith("state/")


@pytest.mark.parametrize(
    "key",
    [
        "state/closed/20260101T000000Z",
        "state/x/00_a.md",
        "states/00_a.md",
        "state/00_a.md.sha256",
        "state/at/00_a.md/x",
        "state/00_a\nb.md",
    ],
)
def test_a_key_that_is_no_slots_is_bound_by_nothing(key: str) -> None:
    assert slot_of_key(key) is None


def test_known_slots_go_by_their_number_and_others_do_not() -> None:
    assert [named(name[:2]).name for name in KNOWN] == list(KNOWN)
    with pytest.raises(UsageError, match="no name of its own"):
        named("42")


@given(NAMES, st.binary(min_size=1), st.binary())
def test_a_free_slot_takes_anything_and_a_replaceable_one_always(name: str, before: bytes, after: bytes) -> None:
    slot = named(name)
    check_change(slot, None, after)
    if slot.discipline == REPLACEABLE:
        check_change(slot, before, after)
    elif slot.discipline == WRITE_ONCE:
        with pytest.raises(DisciplineError) as caught:
            check_change(slot, before, after)
        assert str(caught.value.facts["sha256"]) in str(caught.value)


@given(st.binary(min_size=1), st.binary())
def test_an_append_only_slot_takes_what_continues_it_and_nothing_else(before: bytes, after: bytes) -> None:
    slot = named("30")
    check_change(slot, before, before + b"more")
    if not after.startswith(before) or after == before:
        with pytest.raises(DisciplineError):
            check_change(slot, before, after)


@pytest.mark.parametrize("content", [b"", b"\n \n", b"\xff"])
def test_what_is_no_text_is_no_slots(content: bytes) -> None:
    with pytest.raises(UsageError):
        check_text(named("99"), content)


def test_the_record_of_a_closing_is_told_by_its_key() -> None:
    key = closed_key("state/at/app", "2026-06-10T17:43:56Z", "DEMO-12")
    assert key == "state/at/app/closed/20260610T174356Z-DEMO-12"
    assert namespace_of_closed(key) == "state/at/app"
    assert namespace_of_closed("state/10_ticket.md") is None


def test_of_closings_within_one_second_each_has_a_key_of_its_own() -> None:
    taken: list[str] = []
    for _ in range(3):
        taken.append(closed_key("state", "2026-06-10T17:43:56Z", "DEMO-12", taken))
    first = "state/closed/20260610T174356Z-DEMO-12"
    assert taken == [first, f"{first}.2", f"{first}.3"] == sorted(taken)
    assert {namespace_of_closed(key) for key in taken} == {"state"}


@pytest.mark.parametrize("text", ["", "other", "state/", "state/at", "state/at/a/b", "state/worktree/"])
def test_a_namespace_that_is_none_is_a_matter_of_usage(text: str) -> None:
    with pytest.raises(UsageError):
        check_namespace(text)
