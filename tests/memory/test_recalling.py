"""Recall: what is near in its words, and applies; what is held takes no place from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from indelible.errors import UsageError

if TYPE_CHECKING:
    from tests.support import Bench

GOOD = b"Deploy the billing service with make deploy once the nightly tests have passed on staging"


def test_a_held_copy_pushes_nothing_that_applies_out_of_its_place(bench: Bench) -> None:
    memory = bench.memory(create=True)
    for number in range(5):
        memory.save(
            f"f{number}", f"billing item {number} of the ledger number {number * 111} kept in drawer {number}".encode()
        )
    memory.save("z-good", GOOD)
    before = [one.key for one in memory.recall("deploy the billing service").delivered]
    for number in range(3):
        memory.save(f"a-copy{number}", GOOD, origin="external")
    found = memory.recall("deploy the billing service")
    after = [one.key for one in found.delivered]
    assert before[0] == after[0] == "z-good"
    assert len(after) == len(before)
    assert all(key.startswith("f") for key in after[1:]), "what is as near as the others may come in another order"
    assert "a-copy0" in {one.key for one in found.held}


def test_what_has_no_word_in_common_is_neither_given_nor_judged(bench: Bench) -> None:
    memory = bench.memory(create=True)
    memory.save("k", GOOD)
    memory.save("other", b"nothing of the kind", origin="external")
    found = memory.recall("billing")
    assert [one.key for one in found.delivered] == ["k"]
    assert found.held == ()


def test_a_memory_that_was_altered_is_named_and_the_others_come_all_the_same(bench: Bench) -> None:
    memory = bench.memory(create=True)
    memory.save("a", b"billing one")
    memory.save("b", b"billing two")
    bench.sql("UPDATE record SET content = x'00' WHERE id = ?", bench.row_id(0))
    found = memory.recall("billing")
    assert [one.key for one in found.delivered] == ["b"]
    assert [finding.slug for finding in found.findings] == ["digest-mismatch"]


def test_a_limit_below_one_is_refused(bench: Bench) -> None:
    with pytest.raises(UsageError):
        bench.memory(create=True).recall("x", limit=0)


def test_only_what_has_every_tag_is_recalled(bench: Bench) -> None:
    memory = bench.memory(create=True)
    memory.save("a", b"billing one", tags=("x", "y"))
    memory.save("b", b"billing two", tags=("x",))
    assert [one.key for one in memory.recall("billing", tags=("x", "y")).delivered] == ["a"]
