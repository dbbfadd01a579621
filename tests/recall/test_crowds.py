"""The last look before some texts are handed over: neither stuffing nor copies crowd out what should answer."""

from __future__ import annotations

import pytest
from agmi.attacks.memory_specific import HIJACK_FIXTURES, HIJACK_K, HijackFixture, filler_memory
from agmi.mutations import dilute_stuffing
from hypothesis import given
from hypothesis import strategies as st

from indelible.recall.crowds import settle


def places(query: str, texts: list[str], limit: int) -> list[int]:
    return list(settle(query, texts, limit).places)


@pytest.mark.parametrize("fixture", HIJACK_FIXTURES, ids=lambda fixture: fixture.key)
@pytest.mark.parametrize("filler", [0, 60])
def test_a_stuffed_entry_takes_no_place_from_a_genuine_one(fixture: HijackFixture, filler: int) -> None:
    diluted = dilute_stuffing(fixture.entry)
    others = [*fixture.genuine, *map(filler_memory, range(filler))]
    for entry in (fixture.entry, *([diluted] if diluted else [])):
        assert places(fixture.query, [entry, *others], HIJACK_K).count(0) == 0


def test_a_list_of_the_questions_words_comes_after_prose() -> None:
    prose = ["To reset a VPN password, open the portal.", "The VPN client needs the password again after a reset."]
    crammed = "vpn reset password portal client login account help token access forgot change"
    assert places("reset vpn password portal client login account", [crammed, *prose], 3)[-1] == 0


def test_a_long_honest_text_that_repeats_its_topic_is_not_taken_for_stuffed() -> None:
    honest = " ".join(f"The cache of region {number} is cleared when a key of it changes." for number in range(20))
    assert places("when is the cache of a region cleared?", [honest, "The cache is large."], 2)[0] == 0


def test_an_honest_text_in_korean_that_has_numbers_and_repeats_its_topic_is_not_pushed_behind() -> None:
    honest = (
        "욕계는 불교에서 말하는 세계이다. 욕계에는 6가지 천이 있다. 욕계의 하늘은 1, 2, 3, 4, 5, 6의 순서로 높다. 1923년과 1945년, 1950년에 "
        "욕계를 다룬 책이 3권 나왔고, 2004년에 4권, 2010년에 5권, 2015년에 7권이 더 나왔다. 욕계 밖에는 색계가 있다."
    )
    others = [f"다른 세계의 하늘은 {number}층으로 나뉜다." for number in range(6)]
    assert places("욕계의 하늘을 다룬 책은 1945년에 몇 권이 나왔는가?", [honest, *others], 3)[0] == 0


def test_a_text_in_korean_that_is_stuffed_comes_after_prose() -> None:
    stuffed = "배포 배포 배포 배포 배포 배포 배포 권한 권한 권한"
    assert places("배포 권한은 누구에게 있나?", [stuffed, "배포 권한은 두 사람에게만 있다."], 2) == [1, 0]


def test_copies_come_after_everything_else_but_for_one() -> None:
    copies = [
        f"Deploys of the billing service run from the main branch every Tuesday at ten. {number}" for number in range(5)
    ]
    texts = [*copies, "Ask Dana before you deploy."]
    assert places("deploy the billing service", texts, 2) == [0, 5]
    assert places("deploy the billing service", texts, 6) == [0, 1, 5, 2, 3, 4]  # a pair is no crowd


texts = st.lists(st.text(st.sampled_from("ab가나 .\n"), max_size=30), max_size=12)


@given(st.text(st.sampled_from("ab가나 "), max_size=12), texts, st.integers(1, 6))
def test_the_answer_is_a_list_of_places_without_repeats_and_the_same_each_time(
    query: str, among: list[str], limit: int
) -> None:
    found = places(query, among, limit)
    assert len(found) == len(set(found)) <= limit
    assert set(found) <= set(range(len(among)))
    assert places(query, among, limit) == found


@given(st.text(st.sampled_from("ab가나 "), max_size=12), texts)
def test_a_smaller_limit_gives_the_beginning_of_what_a_larger_one_gives(query: str, among: list[str]) -> None:
    every = places(query, among, len(among) + 1)
    kept = places(query, among, 2)
    assert kept == every[:2]


def test_a_crowd_that_differs_in_a_number_leaves_half_of_the_places() -> None:
    crowd = [
        f"When the staging cluster is rebuilt the caches of the region are cold, says run {number} with hash {number * 7919:x}."
        for number in range(40)
    ]
    right = "Rebuilding the staging cluster takes an hour, and the caches are warmed by hand."
    found = places("when is the staging cluster rebuilt?", [*crowd, right], 5)
    assert 40 in found
    assert sum(place < 40 for place in found) == 4
    assert len(places("when is the staging cluster rebuilt?", crowd, 5)) == 5
