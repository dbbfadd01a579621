"""Ranking: the words that are shared decide, and neither stuffing nor copies crowd out what should answer."""

from __future__ import annotations

import pytest
from agmi.attacks.memory_specific import HIJACK_FIXTURES, HIJACK_K, HijackFixture, filler_memory
from agmi.mutations import dilute_stuffing
from hypothesis import given
from hypothesis import strategies as st

from indelible.gate.ranking import rank

DEPLOYS = [
    "Deploys run from the main branch every Tuesday.",
    "The staging cluster is rebuilt nightly.",
    "Ask Dana before you deploy the billing service.",
    "Tea is in the cupboard.",
]


def test_what_shares_rarer_words_comes_first_and_what_shares_none_is_not_proposed() -> None:
    assert rank("how do I deploy the billing service?", DEPLOYS, 5)[0] == 2
    assert 3 not in rank("deploy billing", DEPLOYS, 5)
    assert rank("zebra", DEPLOYS, 5) == []
    assert rank("", DEPLOYS, 5) == []


def test_there_are_never_more_than_the_limit() -> None:
    assert len(rank("the", DEPLOYS, 1)) == 1
    assert rank("the", [], 3) == []


def test_a_plural_and_another_case_are_the_same_word() -> None:
    assert rank("DEPLOY", DEPLOYS, 5)[:1] == [0]


def test_korean_is_found_by_parts_of_its_words() -> None:
    texts = ["배포는 화요일에 한다.", "회의는 월요일에 있다.", "차는 찬장에 있다."]
    assert rank("배포를 언제 하나요?", texts, 2)[0] == 0


@pytest.mark.parametrize("fixture", HIJACK_FIXTURES, ids=lambda fixture: fixture.key)
@pytest.mark.parametrize("filler", [0, 60])
def test_a_stuffed_entry_takes_no_place_from_a_genuine_one(fixture: HijackFixture, filler: int) -> None:
    diluted = dilute_stuffing(fixture.entry)
    others = [*fixture.genuine, *map(filler_memory, range(filler))]
    for entry in (fixture.entry, *([diluted] if diluted else [])):
        assert rank(fixture.query, [entry, *others], HIJACK_K).count(0) == 0


def test_a_list_of_the_questions_words_comes_after_prose() -> None:
    prose = ["To reset a VPN password, open the portal.", "The VPN client needs the password again after a reset."]
    crammed = "vpn reset password portal client login account help token access forgot change"
    assert rank("reset vpn password portal client login account", [crammed, *prose], 3)[-1] == 0


def test_a_long_honest_text_that_repeats_its_topic_is_not_taken_for_stuffed() -> None:
    honest = " ".join(f"The cache of region {number} is cleared when a key of it changes." for number in range(20))
    assert rank("when is the cache of a region cleared?", ["The cache is large.", honest], 2)[0] == 1


def test_copies_come_after_everything_else() -> None:
    copies = [
        f"Deploys of the billing service run from the main branch every Tuesday at ten. {number}" for number in range(5)
    ]
    texts = [*copies, "Ask Dana before you deploy."]
    assert rank("deploy the billing service", texts, 2) == [0, 5]
    assert rank("deploy the billing service", texts, 6) == [0, 5, 1, 2, 3, 4]


texts = st.lists(st.text(st.sampled_from("ab가나 .\n"), max_size=30), max_size=12)


@given(st.text(st.sampled_from("ab가나 "), max_size=12), texts, st.integers(1, 6))
def test_the_answer_is_a_list_of_places_without_repeats_and_the_same_each_time(
    query: str, among: list[str], limit: int
) -> None:
    found = rank(query, among, limit)
    assert len(found) == len(set(found)) <= limit
    assert set(found) <= set(range(len(among)))
    assert rank(query, among, limit) == found


@given(st.text(st.sampled_from("ab가나 "), max_size=12), texts)
def test_a_smaller_limit_gives_the_beginning_of_what_a_larger_one_gives(query: str, among: list[str]) -> None:
    every = rank(query, among, len(among) + 1)
    kept = rank(query, among, 2)
    assert kept == every[:2]
