"""A damaged text finds its original, or is told that it cannot: what each of the four answers promises."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indelible.errors import NotFoundError, UsageError
from indelible.recall import damage
from indelible.recall.certify import Answer, Certainty, Memory, identify
from indelible.recall.patterns import Patterns, build, cue_of

if TYPE_CHECKING:
    from collections.abc import Callable

WORDS = (  # noqa: SIM905 - a sentence is easier to read
    "the release was moved from friday to monday because nobody had checked how old backups are read by another version of "
    "our server please ask before deleting a branch that is shared with people who review it keys rotate every ninety days "
    "customers in korea see dates in their own order so never format them by hand tests run twice when a cache is cold"
).split()


def sentence(number: int, words: int = 18) -> bytes:
    """A text of its own, the same in every run."""
    dice = random.Random(number)
    return f"{number}: {' '.join(dice.choices(WORDS, k=words))}.".encode()


TEXTS = [
    *(sentence(number) for number in range(120)),
    "배포 전에 체크섬을 확인한다. 지난 금요일에는 확인하지 않아서 서버가 두 번 멈췄다.".encode(),
]
PATTERNS = build(TEXTS, range(1000, 1000 + len(TEXTS)))


def stored(seq: int) -> bytes:
    """What a healthy store gives."""
    return TEXTS[seq - 1000]


def asked(cue: bytes, rebuild: Callable[[int], bytes] = stored, patterns: Patterns = PATTERNS) -> Answer:
    return identify(cue, patterns, rebuild=rebuild)


@pytest.mark.parametrize("at", range(0, len(TEXTS), 8))
def test_a_true_copy_is_perfect_without_any_noise(at: int) -> None:
    answer = asked(TEXTS[at])
    assert answer.certainty is Certainty.PERFECT
    assert answer.original == TEXTS[at]
    assert answer.candidates[0].seq == 1000 + at
    assert answer.noise is not None
    assert answer.noise.bits == answer.noise.rate == answer.noise.lost == 0
    assert answer.gap == float("inf")


HARM = [
    (damage.flipped, 0.2),
    (damage.edited, 0.3),
    (damage.shuffled, 0.5),
    (damage.halved, 0.5),
    (damage.cut, 0.4),
    (damage.zeroed, 0.5),
]


@pytest.mark.parametrize(("harm", "rate"), HARM)
def test_each_kind_of_damage_is_seen_through_and_measured(harm: damage.Damage, rate: float) -> None:
    dice = np.random.default_rng(3)
    for at in range(0, len(TEXTS), 7):
        cue = harm(TEXTS[at], rate, dice)
        answer = asked(cue)
        assert answer.certainty is Certainty.PERFECT, (at, answer)
        assert answer.original == TEXTS[at]
        assert answer.noise is not None
        assert answer.noise.bits == sum((a ^ b).bit_count() for a, b in zip(cue, TEXTS[at], strict=False))
        assert answer.noise.compared == 8 * min(len(cue), len(TEXTS[at]))
        assert answer.noise.rate + answer.noise.lost > 0


def test_what_is_stored_and_was_altered_is_a_mismatch_with_its_distance_and_never_given_out() -> None:
    altered = bytearray(TEXTS[5])
    altered[10] ^= 0b101
    answer = asked(damage.edited(TEXTS[5], 0.2, np.random.default_rng(1)), lambda _: bytes(altered))
    assert answer.certainty is Certainty.MISMATCH
    assert answer.candidates[0].seq == 1005
    assert answer.original == b""
    assert answer.noise is not None
    assert answer.noise.bits == 2
    assert answer.noise.compared == 8 * min(len(TEXTS[5]), 128)
    assert answer.noise.rate == 2 / answer.noise.compared


def test_what_cannot_be_read_any_more_is_a_mismatch_of_nothing_compared() -> None:
    def erased(seq: int) -> bytes:
        raise NotFoundError(f"{seq} was erased")

    answer = asked(TEXTS[5], erased)
    assert answer.certainty is Certainty.MISMATCH
    assert answer.noise is not None
    assert answer.noise.compared == 0


def test_two_that_the_cue_does_not_tell_apart_are_named_and_neither_is_given_out() -> None:
    one, other = (
        b"The backup of the billing database runs at " + hour + b" and is read back on the first day of every month"
        for hour in (b"04:15", b"11:40")
    )
    patterns = build([*TEXTS, one, other])
    texts = [*TEXTS, one, other]
    cue = one.replace(b"04:15", bytes(5))
    answer = identify(bytes(6).join((cue[:43], cue[48:])), patterns, rebuild=texts.__getitem__)
    assert answer.certainty is Certainty.AMBIGUOUS
    assert {found.seq for found in answer.candidates[:2]} == {len(TEXTS), len(TEXTS) + 1}
    assert answer.candidates[0].posterior < 0.99
    assert answer.original == b""


def test_a_text_that_is_like_nothing_stored_is_unknown() -> None:
    for cue in (
        b"",
        b"?",
        b"Bye!",
        random.Random(1).randbytes(4000),
        b"Completely different prose about sailing, olives and the weather in March.",
        bytes(500),
    ):
        answer = asked(cue)
        assert answer.certainty is Certainty.UNKNOWN, cue
        assert answer.original == b""


def test_the_very_same_bytes_under_two_names_are_one_answer() -> None:
    texts = [*TEXTS, TEXTS[3]]
    answer = identify(damage.edited(TEXTS[3], 0.2, np.random.default_rng(2)), build(texts), rebuild=texts.__getitem__)
    assert answer.certainty is Certainty.PERFECT
    assert answer.candidates[0].seq == 3
    assert len(TEXTS) not in {found.seq for found in answer.candidates}


def test_nothing_is_known_of_an_empty_store() -> None:
    assert identify(b"anything", build([]), rebuild=stored).certainty is Certainty.UNKNOWN


def test_a_store_of_one_text_knows_it_and_nothing_else() -> None:
    only = build(TEXTS[:1])
    assert (
        identify(damage.edited(TEXTS[0], 0.2, np.random.default_rng(4)), only, rebuild=lambda _: TEXTS[0]).certainty
        is Certainty.PERFECT
    )
    assert (
        identify(
            b"Completely different prose about sailing, olives and March.", only, rebuild=lambda _: TEXTS[0]
        ).certainty
        is Certainty.UNKNOWN
    )


def version(number: int) -> bytes:
    """A long file of which many versions exist: a tenth of its lines are its own."""
    return b"\n".join(sentence(line if line % 10 else line + 10_000 * number) for line in range(400))


LONG = {
    "cut": lambda text: text[: len(text) // 2],
    "the beginning lost": lambda text: text[len(text) // 3 :],
    "a block of zeros": lambda text: text[:9000] + bytes(8192) + text[17192:],
    "other line endings": lambda text: text.replace(b"\n", b"\r\n"),
    "an edit in the middle": lambda text: (
        text[:20000] + b"\n\nA paragraph that somebody wrote into it.\n\n" + text[20300:]
    ),
    "bit rot": lambda text: damage.flipped(text, 0.002, np.random.default_rng(5)),
    "much bit rot": lambda text: damage.flipped(text, 0.02, np.random.default_rng(5)),
}


@pytest.mark.parametrize("harm", LONG)
def test_a_damaged_file_finds_its_original_among_versions_of_it(harm: str) -> None:
    texts = [version(number) for number in range(6)]
    for at in (0, 4):
        answer = identify(LONG[harm](texts[at]), build(texts), rebuild=texts.__getitem__)
        assert answer.certainty is Certainty.PERFECT, (at, answer)
        assert answer.candidates[0].seq == at
        assert answer.original == texts[at]


@given(st.binary(max_size=300))
@settings(max_examples=60)
def test_no_bytes_make_it_fail_and_no_strange_bytes_make_it_sure(cue: bytes) -> None:
    assert asked(cue).certainty in {Certainty.UNKNOWN, Certainty.AMBIGUOUS}


def test_posteriors_are_shares_and_the_energy_falls_as_the_cue_comes_nearer() -> None:
    dice = np.random.default_rng(6)
    energies = []
    for rate in (0.1, 0.2, 0.3, 0.45):
        answer = asked(damage.flipped(TEXTS[9], rate, dice))
        assert sum(found.posterior for found in answer.candidates) <= 1 + 1e-9
        energies.append(answer.energy)
    assert energies == sorted(energies)


def test_an_inverted_list_answers_as_a_scan_does() -> None:
    scanned, listed = Memory(PATTERNS), Memory(PATTERNS, many=True)
    dice = np.random.default_rng(7)
    for at in range(0, len(TEXTS), 5):
        cue = damage.edited(TEXTS[at], 0.25, dice)
        assert scanned.identify(cue, stored).candidates[0] == listed.identify(cue, stored).candidates[0]


def test_a_filter_hides_what_it_does_not_let_through() -> None:
    without = PATTERNS.select(np.array([at for at in range(len(TEXTS)) if at != 9]))
    assert identify(TEXTS[9], without, rebuild=stored).certainty is Certainty.UNKNOWN
    assert identify(TEXTS[10], without, rebuild=stored).certainty is Certainty.PERFECT


def test_patterns_whose_arrays_do_not_fit_are_refused_with_the_remedy() -> None:
    with pytest.raises(UsageError, match="reindex"):
        identify(b"x", PATTERNS._replace(bits=PATTERNS.bits[:, :8]), rebuild=stored)


def test_holes_are_no_evidence() -> None:
    cue = cue_of(b"abc" + bytes(6) + b"def" + bytes(5) + b"\xff" * 8)
    assert cue.kept.tolist() == [True] * 3 + [False] * 6 + [True] * 8 + [False] * 8
    assert cue.under(b"abcdefghijklmnopqrstuvwxyz0") == b"abcjklmnopqz0"


DOCUMENT = b"\n\n".join(b" ".join(sentence(1000 + line, 14) for line in range(at, at + 5)) for at in range(0, 300, 5))
NOTES = (
    b"# Failure: worker killed by the OOM killer\nThe CSV export loaded every order into memory, and the worker was killed at 02:10.\n",
    b"Decision: invoices are numbered for each country from January on. The tax office asked for it.\n",
    "회의록: 다음 배포는 목요일이며, 담당자는 김민수이다. 체크섬 확인을 잊지 말 것.".encode(),
    b'{"id": 4, "price": [1, 2, 3], "name": null}',
    b"id,name,price\n1,apple,2\n2,pear,3\n",
    "Привет, как дела? Завтра мы встретимся у метро в семь часов вечера.".encode(),
    "明日の会議は午後三時からです。資料を忘れないでください。".encode(),
    b"the and of to a in is it",
)


@pytest.mark.parametrize(
    "store",
    [
        [DOCUMENT],
        [DOCUMENT, DOCUMENT[::-1]],
        [DOCUMENT[:3000]],
        [DOCUMENT[:150]],
        [DOCUMENT[:90]],
        [*TEXTS[:4], DOCUMENT],
    ],
)
def test_a_small_store_and_a_long_text_take_no_note_for_their_own(store: list[bytes]) -> None:
    memory = Memory(build(store))
    for cue in NOTES:
        assert memory.identify(cue, store.__getitem__).certainty is Certainty.UNKNOWN, cue


@pytest.mark.parametrize(
    "cue",
    [
        bytes(4096),
        b" " * 500,
        b"a" * 300,
        b"ab" * 200,
        b"\n- " * 100,
        random.Random(2).randbytes(300),
        random.Random(3).randbytes(200).hex().encode(),
    ],
)
def test_what_is_no_text_at_all_is_unknown(cue: bytes) -> None:
    for store in (TEXTS, [DOCUMENT], TEXTS[:1]):
        assert identify(cue, build(store), rebuild=store.__getitem__).certainty is Certainty.UNKNOWN


TWINS = [
    (
        b"Deploys happen on Tuesday at ten, after the tests are green. The window is fifteen minutes long; stay until the graphs are flat.\n",
        (b"Tuesday", b"Wednesday"),
        (b"fifteen", b"ten"),
    ),
    (
        b"2025-03-04,Anna,anna@example.com,19.90,paid\n2025-03-05,Bo,bo@example.com,21.00,open\n",
        (b"19.90", b"44.15"),
        (b"open", b"paid"),
    ),
    (
        b'{"service": "billing", "replicas": 3, "region": "eu-west-1", "port": 8080, "debug": false}',
        (b"8080", b"9443"),
        (b"false", b"true"),
    ),
    (
        b"def retry(times: int = 3) -> None:\n    for attempt in range(times):\n        sleep(2 ** attempt)\n",
        (b"= 3", b"= 5"),
        (b"2 **", b"3 **"),
    ),
    (
        b"The nightly job may be restarted by the person on duty, and its output is kept for thirty days in the archive.",
        (b"may be", b"must not be"),
        (b"thirty", b"ninety"),
    ),
]


@pytest.mark.parametrize(("text", "first", "second"), TWINS)
def test_a_text_between_two_versions_that_is_neither_is_ambiguous(
    text: bytes, first: tuple[bytes, bytes], second: tuple[bytes, bytes]
) -> None:
    other = text.replace(*first).replace(*second)
    memory = Memory(build([text, other, *TEXTS]))
    for cue in (text.replace(*first), text.replace(*second)):
        answer = memory.identify(cue, [text, other, *TEXTS].__getitem__)
        assert answer.certainty is Certainty.AMBIGUOUS, answer
        assert {found.seq for found in answer.candidates[:2]} == {0, 1}


def test_noise_tells_by_how_much_the_cue_is_longer_or_shorter() -> None:
    for cue, longer in (
        (TEXTS[4][: len(TEXTS[4]) // 2 + 9], len(TEXTS[4]) // 2 + 9 - len(TEXTS[4])),
        (TEXTS[4] + b" (seen again)", 13),
        (TEXTS[4], 0),
    ):
        noise = asked(cue).noise
        assert noise is not None
        assert noise.longer == longer


def form(dice: random.Random) -> bytes:
    """One of the forms that machines fill in, with numbers of its own."""
    number = dice.randrange
    forms = (
        f"Order {number(1000, 9999)} was shipped to customer {number(100, 999)} on 2025-{number(1, 13):02}-{number(1, 28):02}; it takes {number(2, 9)} days.",
        f'{{"id": {number(10000, 99999)}, "service": "billing", "replicas": {number(1, 9)}, "port": {number(1000, 9999)}, "debug": false}}',
        "\n".join(f"2025-01-{number(1, 28):02}T{number(24):02}:{number(60):02}:00Z INFO job {number(1, 9999)} done in {number(1, 999)} ms" for _ in range(20)),
    )  # fmt: skip
    return dice.choice(forms).encode()


@pytest.mark.parametrize("count", [1, 2, 6, 60])
def test_another_form_filled_in_is_no_copy(count: int) -> None:
    dice = random.Random(count)
    store = [form(dice) for _ in range(count)]
    memory = Memory(build(store))
    for _ in range(25):
        answer = memory.identify(form(dice), store.__getitem__)
        assert answer.certainty in {Certainty.AMBIGUOUS, Certainty.UNKNOWN}, answer


def test_a_form_of_which_a_part_was_lost_is_still_found() -> None:
    dice = random.Random(8)
    store = [form(dice) for _ in range(6)]
    for at in range(6):
        answer = identify(store[at][: len(store[at]) * 4 // 5], build(store), rebuild=store.__getitem__)
        assert answer.original == store[at]
