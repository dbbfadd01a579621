"""What speaks for a text: exact where there is something exact to hold it against."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.recall import evidence
from indelible.recall.background import FLIPS, learn
from indelible.recall.patterns import build, cue_of, known, ranges

TEXTS = [
    f"note {number}: the deploy of {number * 7} was checked by {('ana', 'bo', 'cy')[number % 3]} twice".encode()
    for number in range(200)
]
TEXTS += [f"{number}번 메모: 배포 전에 체크섬을 {number}회 확인하고 기록한다".encode() for number in range(100)]
PATTERNS = build(TEXTS)
BACKGROUND = learn(PATTERNS)


@given(st.text(alphabet="abc", max_size=12), st.text(alphabet="abc", max_size=12))
def test_the_longest_common_subsequence_is_that_of_the_textbook(one: str, other: str) -> None:
    table = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i, left in enumerate(one):
        for j, right in enumerate(other):
            table[i + 1][j + 1] = table[i][j] + 1 if left == right else max(table[i][j + 1], table[i + 1][j])
    assert evidence.common(one, other) == table[-1][-1]
    kept = evidence.matched(one, other)
    assert sum(kept) == table[-1][-1]
    letters = iter(one)
    assert all(letter in letters for letter, there in zip(other, kept, strict=True) if there)


def test_the_nearer_text_has_the_better_evidence_of_bits() -> None:
    cue = cue_of(TEXTS[5])
    rough, apart, compared = evidence.rough_bits(cue, PATTERNS, BACKGROUND)
    assert int(rough.argmax()) == 5
    assert (int(apart[5]), int(compared[5])) == (0, min(len(TEXTS[5]), 128))
    found = evidence.bits(cue.letters(128), len(TEXTS[5]), PATTERNS.sizes, apart, compared, BACKGROUND)
    assert int(found.argmax()) == 5


def test_holes_are_compared_with_nothing() -> None:
    cue = cue_of(TEXTS[5][:10] + bytes(12) + TEXTS[5][22:])
    _, apart, compared = evidence.rough_bits(cue, PATTERNS, BACKGROUND)
    assert (int(apart[5]), int(compared[5])) == (0, len(TEXTS[5]) - 12)


def test_a_lost_part_costs_naming_its_place_and_not_each_of_its_characters() -> None:
    text = b"a text of some length, long enough that half of it may well be lost, and is then found by the other half"
    whole, _ = evidence.turns(text, text, BACKGROUND, cut=False)
    half, most = evidence.turns(text[50:], text, BACKGROUND, cut=False)
    middle, _ = evidence.turns(text[:20] + text[70:], text, BACKGROUND, cut=False)
    assert whole - half < 10
    assert whole - middle < 16
    assert most >= half
    assert evidence.turns(b"", text, BACKGROUND, cut=False) == (-np.inf, -np.inf)


def test_shuffled_words_lose_no_grams() -> None:
    words = TEXTS[7].split(b" ")
    cue = cue_of(b" ".join(reversed(words)))
    found = evidence.grams(cue, PATTERNS, np.arange(len(TEXTS)), BACKGROUND.chance(cue))
    assert int(found.evidence.argmax()) == 7
    assert found.covered[7] == pytest.approx(1)
    assert found.hits[7] == len(PATTERNS.grams(7))


def test_long_texts_are_told_apart_by_the_shingles_that_only_one_has() -> None:
    one = b"\n".join(TEXTS[:80])
    other = one.replace(b"note 40:", b"note 41:")
    asked = evidence.shingles(one[: len(one) // 4] + bytes(300) + one[len(one) // 4 + 300 :])
    assert evidence.long(asked, evidence.shingles(one))[0] > evidence.long(asked, evidence.shingles(other))[0] + 5
    assert len(evidence.shingles(b"short")) == 0


def test_probabilities_of_unrelated_text_add_up_to_one() -> None:
    assert np.exp(BACKGROUND.letters).sum() == pytest.approx(1)
    assert np.exp(BACKGROUND.flipped).sum(axis=1) == pytest.approx(np.ones(len(FLIPS)))
    assert np.exp(BACKGROUND.followed.astype(np.float64)).reshape(len(FLIPS), 256, 256).sum(axis=2) == pytest.approx(
        np.ones((len(FLIPS), 256)), abs=1e-4
    )
    assert BACKGROUND.classes.seen.sum(axis=2) == pytest.approx(np.ones((len(FLIPS), 7)))
    assert ((BACKGROUND.frequency > 0) & (BACKGROUND.frequency <= 0.5)).all()


def test_the_kinds_of_bytes_are_a_forward_algorithm() -> None:
    letters = np.frombuffer("a체".encode(), np.uint8).astype(np.int64)
    classes, expected = BACKGROUND.classes, np.zeros(len(FLIPS))
    paths = np.indices((7,) * len(letters)).reshape(len(letters), -1).T
    for path in paths:
        likely = classes.first[path[0]] * classes.seen[:, path[0], letters[0]]
        for before, after, letter in zip(path, path[1:], letters[1:], strict=False):
            likely = likely * classes.steps[before, after] * classes.seen[:, after, letter]
        expected += likely
    assert classes.likely(letters) == pytest.approx(np.log(expected))


def test_ranges_and_masks_name_what_is_there() -> None:
    assert ranges(np.array([3, 10]), np.array([2, 3])).tolist() == [3, 4, 10, 11, 12]
    assert ranges(np.zeros(0, np.int64), np.zeros(0, np.int64)).tolist() == []
    assert np.bitwise_count(known(np.array([0, 1, 128]))).sum(axis=1).tolist() == [0, 8, 1024]
