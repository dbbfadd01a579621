"""Facts of the workflow in the log: sealed with what is said of them, bound by their discipline, said once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support import signer_of

from indelible.errors import BadSignature, DisciplineError, NotFoundError, UsageError

if TYPE_CHECKING:
    from tests.support import Bench

    from indelible.memory import Memory

RECEIPT = "flow/receipt/0123456789abcdef"
SCAR = "scar/SCAR-PROC-01"
WORKFLOW = "flow/workflow.toml"


def test_a_fact_is_sealed_together_with_what_is_said_of_it(memory: Memory) -> None:
    saved = memory.record(RECEIPT, b"note\n", "receipt-issued")
    assert memory.fetch(RECEIPT).content == b"note\n"
    (said,) = memory.sayings(RECEIPT)
    assert (said.type, said.digest, said.seq, said.prev_seq) == (
        "receipt-issued",
        saved.sha256,
        saved.seq + 1,
        saved.seq,
    )
    assert [one.type for one in memory.history(RECEIPT)] == ["receipt-issued", "saved"]


def test_an_operation_that_is_done_again_adds_nothing(memory: Memory) -> None:
    first = memory.record(RECEIPT, b"note\n", "receipt-issued", op="a")
    again = memory.record(RECEIPT, b"note\n", "receipt-issued", op="a")
    assert (first.seq, again.seq, again.repeated) == (first.seq, first.seq, True)
    assert len(memory.sayings(RECEIPT)) == 1


def test_what_is_said_once_is_refused_the_second_time(memory: Memory) -> None:
    memory.record(RECEIPT, b"note\n", "receipt-issued")
    memory.mark("receipt-used", RECEIPT, digest="a" * 40)
    assert memory.mark("receipt-used", RECEIPT, digest="a" * 40).repeated
    with pytest.raises(DisciplineError, match="receipt used already"):
        memory.mark("receipt-used", RECEIPT, digest="b" * 40)
    memory.mark("receipt-used", RECEIPT, digest="b" * 40, after="a" * 40)
    with pytest.raises(DisciplineError):
        memory.mark("receipt-used", RECEIPT, digest="c" * 40, after="a" * 40)
    assert [one.digest for one in memory.sayings(RECEIPT)[:2]] == ["b" * 40, "a" * 40]


@pytest.mark.parametrize(
    ("key", "said"), [(RECEIPT, "stamped"), (SCAR, "stamped"), (WORKFLOW, "stamped"), ("flow/stamp/state/ci", "scar")]
)
def test_each_fact_has_its_own_saying(memory: Memory, key: str, said: str) -> None:
    with pytest.raises(DisciplineError):
        memory.record(key, b"text\n", said)


@pytest.mark.parametrize("key", [RECEIPT, SCAR, WORKFLOW, "flow/stamp/state/ci"])
def test_no_plain_save_makes_a_fact(memory: Memory, key: str) -> None:
    with pytest.raises(DisciplineError, match="no plain memory"):
        memory.save(key, b"text\n")
    with pytest.raises(NotFoundError):
        memory.fetch(key)


def test_a_receipt_and_a_scar_are_written_once(memory: Memory) -> None:
    for key, said in ((RECEIPT, "receipt-issued"), (SCAR, "scar")):
        memory.record(key, b"text\n", said)
        with pytest.raises(DisciplineError):
            memory.record(key, b"other\n", said)
        assert memory.fetch(key).content == b"text\n"


def test_a_stamp_is_written_anew(memory: Memory) -> None:
    for text in (b"begun\n", b"done\n"):
        memory.record("flow/stamp/state/ci", text, "stamped")
    assert [one.type for one in memory.history("flow/stamp/state/ci")] == ["stamped", "saved", "stamped", "saved"]


def test_facts_are_not_put_away(memory: Memory) -> None:
    memory.record(SCAR, b"text\n", "scar")
    memory.record("flow/stamp/state/ci", b"text\n", "stamped")
    for verb in (memory.archive, memory.erase, memory.unarchive):
        with pytest.raises(DisciplineError):
            verb(SCAR)
    with pytest.raises(DisciplineError):
        memory.archive("flow/stamp/state/ci")
    memory.erase("flow/stamp/state/ci")  # what it holds may be somebody's to have erased


def test_the_owner_alone_writes_the_workflow_and_amends_a_scar(bench: Bench, memory: Memory) -> None:
    memory.save("a", b"text\n")
    memory.amend(WORKFLOW, b"version = 1\n", by=bench.owner, reason="first")
    assert memory.is_owned(WORKFLOW)
    memory.amend(WORKFLOW, b"version = 2\n", by=bench.owner, reason="second")
    memory.record(SCAR, b"text\n", "scar")
    assert not memory.is_owned(SCAR)
    memory.amend(SCAR, b"retired\n", by=bench.owner, reason="mended")
    assert memory.is_owned(SCAR)
    with pytest.raises(BadSignature):
        memory.amend(WORKFLOW, b"version = 3\n", by=signer_of("somebody"), reason="mine")
    with pytest.raises(UsageError):
        memory.amend("a", b"other\n", by=bench.owner, reason="no slot")
