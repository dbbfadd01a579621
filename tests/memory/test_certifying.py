"""Which memory a text is a copy of: damaged, cut, of an older version, of what was altered, of nothing."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from indelible.recall.certify import Certainty

if TYPE_CHECKING:
    from tests.support import Bench

    from indelible.memory import Memory

RELEASE = (
    b"The release branch is cut on Thursday at ten. The nightly tests have to pass on staging first.\n"
    b"Deploys of the billing service go through make deploy, and only after Dana has said yes to that very change.\n"
)
KOREAN = "배포 전에는 반드시 체크섬을 확인하고, 실패하면 사령관에게 알린다. 롤백은 오 분 안에 끝나야 한다.\n".encode()


@pytest.fixture
def memory(bench: Bench) -> Memory:
    made = bench.memory(create=True)
    made.save("release", RELEASE)
    made.save("korean", KOREAN)
    for number in range(30):
        made.save(
            f"note-{number:02}",
            f"Drawer {number * 37} of the archive holds the ledgers of year {1900 + number}.".encode(),
        )
    return made


def flipped(text: bytes, rate: float) -> bytes:
    chance = random.Random(7)
    made = bytearray(text)
    for bit in chance.sample(range(8 * len(made)), int(8 * len(made) * rate)):
        made[bit // 8] ^= 1 << bit % 8
    return bytes(made)


@pytest.mark.parametrize("key", ["release", "korean"])
def test_a_third_of_flipped_bits_is_a_number_and_no_doubt(memory: Memory, key: str) -> None:
    original = memory.fetch(key).content
    found = memory.identify(flipped(original, 0.3))
    assert (found.certainty, found.originals[0].key, found.originals[0].version) == (Certainty.PERFECT, key, 1)
    assert found.noise is not None
    assert found.noise.rate == pytest.approx(0.3, abs=0.01)
    assert found.noise.compared == 8 * len(original)


def test_a_true_copy_has_no_noise(memory: Memory) -> None:
    found = memory.identify(RELEASE)
    assert found.certainty is Certainty.PERFECT
    assert found.noise is not None
    assert (found.noise.bits, found.noise.lost) == (0, 0)


def test_a_half_that_is_lost_is_found_by_the_other(memory: Memory) -> None:
    found = memory.identify(RELEASE[len(RELEASE) // 2 :])
    assert (found.certainty, found.originals[0].key) == (Certainty.PERFECT, "release")


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\x00" * 4096,
        b"Something that nobody ever wrote down in this store, about whales",
        random.Random(1).randbytes(3000),
    ],
)
def test_what_is_no_copy_is_unknown(memory: Memory, text: bytes) -> None:
    found = memory.identify(text)
    assert found.certainty is Certainty.UNKNOWN
    assert found.original is None


def test_an_empty_store_knows_nothing(bench: Bench) -> None:
    assert bench.memory(create=True).identify(RELEASE).certainty is Certainty.UNKNOWN


def test_a_damaged_copy_of_an_older_version_is_told_from_the_newest(memory: Memory) -> None:
    memory.save("release", RELEASE.replace(b"Thursday at ten", b"Friday at noon "))
    old, new = memory.identify(flipped(RELEASE, 0.05)), memory.identify(flipped(memory.fetch("release").content, 0.05))
    assert (old.certainty, old.originals[0].version, old.originals[0].newest) == (Certainty.PERFECT, 1, 2)
    assert (new.certainty, new.originals[0].version, new.originals[0].newest) == (Certainty.PERFECT, 2, 2)


def test_what_does_not_tell_two_apart_names_both(memory: Memory) -> None:
    memory.save("twin", RELEASE.replace(b"Thursday", b"Saturday"))
    found = memory.identify(RELEASE[RELEASE.index(b"Deploys") :])
    assert found.certainty is Certainty.AMBIGUOUS
    assert {one.key for one in found.originals[:2]} == {"release", "twin"}


def test_a_copy_of_what_was_altered_in_the_store_is_a_mismatch_with_its_distance(bench: Bench, memory: Memory) -> None:
    memory.identify(RELEASE)
    altered = RELEASE.replace(b"ten", b"two")
    bench.sql("UPDATE record SET content = ? WHERE id = ?", altered, bench.row_id(0))
    found = memory.identify(flipped(RELEASE, 0.1))
    assert (found.certainty, found.originals[0].key) == (Certainty.MISMATCH, "release")
    assert found.finding is not None
    assert found.finding.slug == "digest-mismatch"
    assert found.noise is not None
    assert 0 < found.noise.bits < 8 * len(RELEASE)


def test_what_was_erased_is_known_no_more(memory: Memory) -> None:
    memory.identify(RELEASE)
    memory.erase("release")
    assert memory.identify(RELEASE).certainty is Certainty.UNKNOWN


def test_a_prefix_narrows_what_may_be_named(memory: Memory) -> None:
    assert memory.identify(RELEASE, prefix="note-").certainty is Certainty.UNKNOWN
    assert memory.identify(RELEASE, prefix="rel").originals[0].key == "release"


TEMPLATE = (
    "# Service {name}\n\nOwner: {owner}. Port {port}. It is restarted by hand, after the queue has drained, and never on a Friday.\n"
    * 2
)
A = TEMPLATE.format(name="ledger", owner="Mina", port=4711).encode()
B = TEMPLATE.format(name="mailer", owner="Dana", port=9022).encode()


@pytest.mark.parametrize("how", ["older", "archived", "many versions", "expired"])
def test_a_true_copy_is_known_by_its_digest_whatever_became_of_it_since(memory: Memory, how: str) -> None:
    memory.save("svc/a", A)
    memory.save("svc/b", B)
    if how == "archived":
        memory.archive("svc/a")
    for number in range({"older": 1, "many versions": 70}.get(how, 0)):
        memory.save("svc/a", f"Quite another text about the service, number {number * 37}".encode())
    found = memory.identify(A)
    for text in (A, flipped(A, 0.02)):
        found = memory.identify(text)
        assert (found.certainty, found.originals[0].key, found.originals[0].version) == (Certainty.PERFECT, "svc/a", 1)
        assert found.identical is (text == A)
    assert found.originals[0].state == ("archived" if how == "archived" else "active")


def test_what_may_not_be_named_takes_nothing_from_what_may(memory: Memory) -> None:
    memory.save("secret/pw", A)
    memory.save("mine/near", A.replace(b"Mina", b"Lisa"))
    memory.save("mine/guess", A)
    found = memory.identify(A, prefix="mine/")
    assert (found.certainty, found.originals[0].key, found.identical, found.also) == (
        Certainty.PERFECT,
        "mine/guess",
        True,
        (),
    )
    everywhere = memory.identify(A)
    assert {everywhere.originals[0].key, *everywhere.also} == {"secret/pw", "mine/guess"}


def test_an_older_version_that_was_altered_behind_the_back_is_no_original(bench: Bench, memory: Memory) -> None:
    memory.save("release", b"Quite another text by now, about the weather on the northern coast")
    bench.sql("UPDATE record SET content = x'00' WHERE id = ?", bench.row_id(0))
    assert memory.identify(RELEASE).certainty in (Certainty.UNKNOWN, Certainty.MISMATCH)


def test_an_erased_version_is_known_no_more(memory: Memory) -> None:
    memory.save("release", RELEASE.replace(b"Thursday", b"Saturday"))
    assert memory.identify(RELEASE).originals[0].version == 1
    memory.erase("release")
    assert memory.identify(RELEASE).certainty is Certainty.UNKNOWN
