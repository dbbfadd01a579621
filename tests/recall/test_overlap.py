"""Likeness of agents: the vectors, the cosine, and the scale of the bands."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.errors import UsageError
from indelible.recall import bands, ngrams
from indelible.recall.ngrams import FOLDS
from indelible.recall.overlap import Pair, Profile, Profiler, compare, vectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

TOPICS = ("정원 꽃 나무 물 흙 햇빛 씨앗 잎 가지 뿌리 거름 봄", "market price stock bond yield rate bank loan money trade fund tax",
          "engine wheel brake road car fuel tyre gear clutch bumper garage driver", "火 水 木 金 土 日 月 山 川 田 人 口")  # fmt: skip
TEXTS = st.lists(st.text("ab 가나다漢字\n", max_size=80), max_size=4)


def profile(agent: str, texts: list[str], embed: ngrams.Embed | None = None) -> Profile:
    made = Profiler(agent, embed)
    for number, text in enumerate(texts):
        made.add(f"note-{number}", text.encode())
    return made.done()


def topical(agent: str, topic: int, notes: int = 60, seed: int = 1) -> Profile:
    rng = random.Random(f"{topic} {seed}")
    return profile(agent, [" ".join(rng.choices(TOPICS[topic].split(), k=40)) for _ in range(notes)])


def pairs_of(*profiles: Profile) -> dict[tuple[str, str], Pair]:
    return {(one.a, one.b): one for one in compare(profiles, vectors(profiles))}


@given(st.lists(TEXTS, min_size=2, max_size=5), st.randoms(use_true_random=False))
def test_the_order_of_the_agents_changes_nothing(texts: list[list[str]], rng: random.Random) -> None:
    profiles = [profile(f"agent{at}", some) for at, some in enumerate(texts)]
    there = pairs_of(*profiles)
    rng.shuffle(profiles)
    assert pairs_of(*profiles) == there
    assert all(one.cosine is None or -1 <= one.cosine <= 1 for one in there.values())


@given(TEXTS, TEXTS, TEXTS)
def test_the_cosine_is_the_same_whoever_is_named_first(one: list[str], other: list[str], third: list[str]) -> None:
    there = pairs_of(profile("a", one), profile("b", other), profile("c", third))["a", "b"]
    back = pairs_of(profile("b", one), profile("a", other), profile("c", third))["a", "b"]
    assert there.cosine == pytest.approx(back.cosine) if there.cosine is not None else back.cosine is None
    assert (there.a_in_b, there.b_in_a) == (back.b_in_a, back.a_in_b)


def test_the_same_memories_are_wholly_alike_and_other_topics_are_not() -> None:
    found = pairs_of(topical("a", 0), topical("b", 0), topical("c", 1), topical("d", 2))
    assert found["a", "b"].cosine == pytest.approx(1)
    assert found["a", "b"].a_in_b == found["a", "b"].b_in_a == 1
    assert max(abs(found[pair].cosine or 9) for pair in (("a", "c"), ("b", "d"), ("c", "d"))) < 0.3


def test_what_everybody_has_makes_nobody_alike() -> None:
    common = [" ".join(f"template{number % 50}" for number in range(at, at + 40)) for at in range(40)]
    rng = random.Random(4)
    own = [[" ".join(rng.choices(topic.split(), k=40)) for _ in range(40)] for topic in TOPICS]
    found = pairs_of(*(profile(f"agent{at}", [*common, *texts]) for at, texts in enumerate(own)))
    centred = max(one.cosine or 0 for one in found.values())
    assert centred < 0.1
    alone = pairs_of(profile("a", [*common, *own[0]]), profile("b", [*common, *own[1]]))["a", "b"]
    assert alone.cosine is not None
    assert alone.cosine > 2 * max(centred, 0.05)  # there is no third by which to tell


def test_all_of_them_the_same_are_alike() -> None:
    assert {one.cosine for one in pairs_of(*(topical(name, 1) for name in "abc")).values()} == {1.0}


def test_an_agent_without_words_has_no_cosine() -> None:
    found = pairs_of(topical("a", 0), profile("b", ["👍 …"]), profile("c", []))
    assert {one.cosine for one in found.values()} == {None}
    assert not vectors((profile("c", []),)).agents
    assert compare((profile("b", []), profile("c", [])), vectors(()))[0].shared == 0


def test_one_long_memory_and_many_short_ones_are_measured_alike() -> None:
    texts = [" ".join(random.Random(at).choices(TOPICS[0].split(), k=50)) for at in range(64)]
    long = profile("a", [" ".join(texts)])
    assert long.sums.pieces == profile("b", texts).sums.pieces == 64
    found = pairs_of(long, profile("b", texts), topical("c", 1), topical("d", 2))
    assert (found["a", "b"].cosine or 0) > 0.98


def test_a_batch_is_as_good_as_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"word{number} and {number * 7} other words to be read in one batch or in many" for number in range(50)]
    whole = profile("a", texts)
    monkeypatch.setattr("indelible.recall.overlap.BATCH", 100)
    parts = profile("a", texts)
    assert np.allclose(whole.sums.folds, parts.sums.folds)
    assert list(whole.shingles.unique) == list(parts.shingles.unique)
    assert list(whole.shingles.first) == list(parts.shingles.first)


def test_a_text_longer_than_a_batch_is_read_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(9)
    long = " ".join(str(rng.randint(0, 9999)) for _ in range(2000))
    whole = profile("a", ["first", long, "last one"])
    monkeypatch.setattr("indelible.recall.overlap.BATCH", 1000)
    parts = profile("a", ["first", long, "last one"])
    assert parts.words == whole.words
    assert set(parts.shingles.unique) < set(whole.shingles.unique)
    assert len(parts.shingles.unique) > 0.9 * len(whole.shingles.unique)
    assert set(parts.shingles.first) == {1}
    assert profile("a", ["한" * 5000]).words == 5


# With a model.


def letters(texts: list[str]) -> NDArray[np.float32]:
    return np.array([[text.count(letter) + 0.01 for letter in "aeiout"] for text in texts], np.float32)


def test_a_model_s_vectors_are_compared_instead() -> None:
    spoken = [
        profile(name, [text * 30] * 4, letters)
        for name, text in zip("abcd", ("aaa ", "aab ", "iii ", "ttt "), strict=True)
    ]
    found = pairs_of(*spoken)
    assert (found["a", "b"].cosine or 0) > 0.99
    assert (found["a", "c"].cosine or 0) < 0.1
    assert spoken[0].sums.folds.shape == (FOLDS, 6)


@pytest.mark.parametrize(
    "embed",
    [
        lambda texts: np.full((len(texts), 4), np.nan, np.float32),
        lambda texts: np.ones((len(texts) + 1, 4), np.float32),
        lambda texts: np.ones(len(texts), np.float32),
        lambda texts: np.ones((len(texts), 0), np.float32),
    ],
    ids=["not a number", "one too many", "no rows", "no columns"],
)
def test_a_model_that_gives_something_else_is_refused(embed: ngrams.Embed) -> None:
    with pytest.raises(UsageError, match="embedder gave"):
        profile("a", ["some words"], embed)


def test_a_model_that_changes_its_size_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = iter((4, 5))
    monkeypatch.setattr("indelible.recall.overlap.BATCH", 1)
    with pytest.raises(UsageError, match="embedder gave"):
        profile("a", ["some words", "some more"], lambda texts: np.ones((len(texts), next(sizes)), np.float32))


# The bands.


def calibrated(*profiles: Profile) -> tuple[bands.Calibration, dict[tuple[str, str], Pair]]:
    made = vectors(profiles)
    pairs = compare(profiles, made)
    return bands.calibrate(made, pairs), {(one.a, one.b): one for one in pairs}


def test_agents_of_other_topics_are_separate_and_a_second_half_is_nearly_the_same() -> None:
    scale, found = calibrated(
        topical("a", 0), topical("b", 0, seed=2), topical("c", 1), topical("d", 2), topical("e", 3)
    )
    assert scale.problem == ""
    assert bands.band(scale.likeness(found["a", "b"].cosine)) == "nearly-the-same"
    apart = {bands.band(scale.likeness(one.cosine)) for pair, one in found.items() if pair != ("a", "b")}
    assert apart == {"separate"}
    assert (scale.agents, scale.halves, scale.pairs) == (5, 5 * 35, 10)


def test_the_anchors_are_the_bounds_of_the_bands() -> None:
    scale = bands.Calibration(0.8, 0.1, 5, 175, 10)
    assert scale.likeness(0.8) == pytest.approx(0.9)
    assert scale.likeness(0.1) == pytest.approx(0.3)
    assert (scale.likeness(1.0), scale.likeness(-1.0), scale.likeness(None)) == (1.0, 0.0, None)
    assert [bands.band(value) for value in (0.9, 0.5, 0.3, None)] == [
        "nearly-the-same",
        "between",
        "separate",
        "not-calibrated",
    ]


@given(st.floats(-1, 1), st.floats(-1, 1))
def test_what_is_more_alike_is_not_less_so_on_the_scale(one: float, other: float) -> None:
    scale = bands.Calibration(0.8, 0.1, 5, 175, 10)
    low, high = sorted((one, other))
    assert (scale.likeness(low) or 0) <= (scale.likeness(high) or 0)


def test_with_too_little_it_is_not_calibrated() -> None:
    scale, _ = calibrated(topical("a", 0), topical("b", 1), topical("c", 2, notes=3))
    assert "3 agents" in scale.problem
    assert scale.likeness(0.99) is None


def test_where_all_are_the_same_it_is_not_calibrated() -> None:
    scale, _ = calibrated(*(topical(name, 0, seed=at) for at, name in enumerate("abcd")))
    assert "hardly more alike" in scale.problem


def test_it_is_the_same_each_time() -> None:
    profiles = [topical(name, at) for at, name in enumerate("abcd")]
    assert calibrated(*profiles)[0] == calibrated(*reversed(profiles))[0]
