from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.recall.rows import found, index_of, row

from indelible.errors import IndexDamaged, UsageError
from indelible.recall import index as module
from indelible.recall import layout
from indelible.recall.index import Index
from indelible.recall.segment import Segment, build

KOREAN = "배포 전에 체크섬을 확인한다"
NOTES = (
    KOREAN,
    "the database migration failed on Friday",
    "use tabs, never spaces",
    "릴리스는 금요일에 하지 않는다 🚀",
)


@pytest.mark.parametrize("question", ["체크섬", "체크섬을", "확인", "배포 전", "체크섬을 확인", "전"])
def test_korean_is_found_by_stem_particle_and_part(question):
    assert found(index_of(*NOTES), question)[0] == 1


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_hangul_is_found_in_whatever_form_it_was_typed(form):
    index = index_of(unicodedata.normalize("NFD", KOREAN), *NOTES[1:])
    assert found(index, unicodedata.normalize(form, "체크섬"))[0] == 1


@pytest.mark.parametrize("question", ["", " \n", "...", "xqzvb gkhjw", "뷁쀍"])
def test_a_question_about_nothing_finds_nothing(question):
    assert found(index_of(*NOTES), question) == []


def test_an_empty_index_finds_nothing():
    index = Index([], (), np.zeros(0, np.uint64))
    assert found(index, "anything") == []
    assert index.labels() == ()
    assert index.times.shape == (0, 4)
    assert index.labelled("tag:x").shape == (0,)


def test_emoji_are_found():
    assert found(index_of(*NOTES), "🚀") == [4]


def test_small_words_alone_still_find():
    assert found(index_of(*NOTES), "the on")[0] == 2


@pytest.mark.parametrize(
    ("question", "text"), [("databse migraton", 2), ("체크썸을", 1), ("migrtion", 2), ("릴리즈는", 4)]
)
def test_a_misspelt_question_finds_by_parts_of_words(question, text):
    assert found(index_of(*NOTES), question) == [text]


def test_a_question_of_a_megabyte_is_answered():
    assert found(index_of(*NOTES), "migration database " * 60_000)[0] == 2


def test_other_inflections_are_found():
    assert found(index_of(*NOTES), "migrations failing") == [2]


def test_equal_texts_come_newest_first():
    assert found(index_of(*(["the same lesson"] * 5)), "lesson", 3) == [5, 4, 3]


def test_a_rarer_word_tells_more():
    index = index_of("alpha common", "beta common", "gamma common", "delta common")
    assert found(index, "common gamma")[0] == 3


def test_the_turns_beside_an_answer_come_with_it():
    turns = ["what colour is your bicycle", "red, since you ask", "nice weather today", "completely unrelated remark"]
    rows = [row(seq, text, group=77, order=seq) for seq, text in enumerate(turns, 1)]
    apart = [row(seq, text) for seq, text in enumerate(turns, 1)]
    live = np.arange(1, 5, dtype=np.uint64)
    assert [hit.seq for hit in Index([], rows, live).query("bicycle colour", limit=9)] == [1, 2, 3, 4]
    assert [hit.seq for hit in Index([], apart, live).query("bicycle colour", limit=9)] == [1]


def test_a_turn_that_is_not_allowed_lends_nothing():
    rows = [row(seq, text, group=7, order=seq) for seq, text in enumerate(("the bicycle", "red", "blue"), 1)]
    index = Index([], rows, np.array([1, 2, 3], np.uint64))
    mask = np.array([False, True, True])
    assert index.query("bicycle", limit=9, allowed=mask) == []
    lending = index.query("red", limit=9, allowed=mask, nearness=np.array([9, 0, 0], np.float32))
    assert lending == index.query("red", limit=9, allowed=mask)


def test_an_episode_over_two_segments_holds_together(monkeypatch):
    turns = [row(seq, f"bicycle {seq}" if seq == 4 else f"remark {seq}", group=7, order=seq) for seq in range(1, 9)]
    live = np.arange(1, 9, dtype=np.uint64)
    whole = Index([Segment.of(turns)], (), live).query("bicycle", limit=9)
    parted = Index([Segment.of(turns[:4]), Segment.of(turns[4:6])], turns[6:], live).query("bicycle", limit=9)
    assert parted == whole
    assert {hit.seq for hit in whole} == {1, 2, 3, 4, 5, 6, 7}


WORDS = st.lists(
    st.sampled_from(["alpha", "beta", "gamma", "delta", "확인한다", "체크섬을", "배포", "전에", "🚀"]),
    min_size=1,
    max_size=6,
).map(" ".join)


@settings(max_examples=40)
@given(st.lists(WORDS, min_size=1, max_size=14), st.data())
def test_the_answer_does_not_depend_on_how_rows_lie_in_segments(texts, data):
    rows = [row(seq, text, group=seq // 5, order=seq) for seq, text in enumerate(texts, 1)]
    owners = data.draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows)))
    alive = data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)))
    question = data.draw(WORDS)
    live = np.array([one.seq for one, is_live in zip(rows, alive, strict=True) if is_live], np.uint64)
    parts = [[one for one, owner in zip(rows, owners, strict=True) if owner == number] for number in range(3)]
    parted = Index([Segment.of(part) for part in parts[:2]], parts[2], live).query(question, limit=20)
    only = Index([Segment.of([one for one in rows if one.seq in live])], (), live).query(question, limit=20)
    assert sorted(round(hit.score, 3) for hit in parted) == sorted(round(hit.score, 3) for hit in only)
    assert {hit.seq for hit in parted} == {hit.seq for hit in only}
    assert all(hit.seq in live for hit in parted)


def test_what_is_not_live_neither_is_found_nor_counts():
    rows = [row(seq, text) for seq, text in enumerate(("rare word", "rare word", "other text", "more text"), 1)]
    index = Index([Segment.of(rows)], (), np.array([2, 3, 4], np.uint64))
    alone = Index([Segment.of(rows[1:])], (), np.array([2, 3, 4], np.uint64))
    assert index.query("rare", limit=9) == alone.query("rare", limit=9)
    assert index.seqs.tolist() == [2, 3, 4]


def test_a_mask_comes_before_the_top_list():
    crowd = [row(seq, "deploy the service on monday", "scope:theirs") for seq in range(1, 501)]
    mine = row(501, "deploy the service on tuesday", "scope:mine")
    index = Index([Segment.of(crowd)], [mine], np.arange(1, 502, dtype=np.uint64))
    assert [hit.seq for hit in index.query("deploy service monday", limit=5, allowed=index.labelled("scope:mine"))] == [
        501
    ]
    assert index.labels("scope:") == ("scope:mine", "scope:theirs")


def test_times_and_labels_are_aligned_with_the_numbers():
    rows = [row(5, "five", "tag:odd", expires=50.0), row(2, "two"), row(9, "nine", "tag:odd")]
    index = Index([Segment.of(rows[:1])], rows[1:], np.array([2, 5], np.uint64))
    assert index.seqs.tolist() == [2, 5]
    assert index.labelled("tag:odd").tolist() == [False, True]
    assert index.times[:, 0].tolist() == [2.0, 5.0]
    assert index.times[1, 3] == 50.0


def test_nearness_finds_what_shares_no_word():
    hits = index_of(*NOTES).query("체크섬", limit=5, nearness=np.array([0.5, 2.5, np.nan, -1.0], np.float32))
    assert {hit.seq for hit in hits} == {1, 2}
    assert {hit.seq: hit.channels.nearness > hit.channels.words for hit in hits} == {1: False, 2: True}


def test_a_little_nearness_alone_finds_nothing():
    assert index_of(*NOTES).query("xqzvb", limit=5, nearness=np.full(4, 1.9, np.float32)) == []


def test_a_near_turn_lends_to_those_beside_it():
    rows = [row(seq, text, group=7, order=seq) for seq, text in enumerate(("alpha", "beta", "gamma alpha"), 1)]
    index = Index([], rows, np.array([1, 2, 3], np.uint64))
    bare, near = (
        {hit.seq: hit.channels.near for hit in index.query("alpha", limit=9, nearness=np.array([0, at, 0], np.float32))}
        for at in (0, 3)
    )
    assert near[1] > bare[1]
    assert near[3] > bare[3]


@pytest.mark.parametrize(
    "wrong", [np.zeros(3, np.float32), np.zeros((4, 1), np.float32), np.full(4, np.inf, np.float32)]
)
def test_nearness_of_another_size_or_without_end_is_refused(wrong):
    with pytest.raises(UsageError, match="nearness"):
        index_of(*NOTES).query("x", limit=1, nearness=wrong)


def test_a_mask_of_another_size_is_refused():
    with pytest.raises(UsageError, match="allowed has 5 elements for 4 documents"):
        index_of(*NOTES).query("x", limit=1, allowed=np.ones(5, np.bool_))


def test_channels_add_up_to_the_score():
    for hit in index_of(*NOTES).query("체크섬을 확인 database", limit=5):
        assert hit.score == pytest.approx(sum(hit.channels))


def test_looking_at_some_finds_the_same_as_looking_at_all(monkeypatch):
    texts = [
        f"note {number} about {'checksums' if number % 7 == 0 else 'boats'} and {number * number}"
        for number in range(300)
    ]
    exact = index_of(*texts)
    expected = [exact.query(question, limit=5) for question in ("checksums 49", "boats 100", "note")]
    monkeypatch.setattr(module, "FEW", 0)
    assert [index_of(*texts).query(question, limit=5) for question in ("checksums 49", "boats 100", "note")] == expected


def test_near_duplicates_by_the_thousand_are_ranked_in_order(monkeypatch):
    monkeypatch.setattr(module, "FEW", 0)
    rows = [row(seq, "retry the upload twice") for seq in range(1, 6_001)]
    index = Index([Segment.of(rows)], (), np.arange(1, 6_001, dtype=np.uint64))
    assert [hit.seq for hit in index.query("retry upload", limit=3)] == [6000, 5999, 5998]


def test_a_file_that_changed_under_a_segment_is_an_error_and_no_answer(tmp_path, monkeypatch):
    monkeypatch.setattr(layout, "IN_MEMORY", 0)
    path = tmp_path / "s"
    segment = Segment.open(str(path), build(str(path), [row(1, "text")], {}), {})
    index = Index([segment], (), np.array([1], np.uint64))
    assert found(index, "text") == [1]
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(IndexDamaged):
        index.query("text", limit=1)
