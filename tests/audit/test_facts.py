"""Facts of the workflow: what came into the log past their discipline is an error of the audit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.audit.stores import look, slugs
from tests.support import Bench, bench_at

from indelible.memory import amending, bound, deciding, disciplining, recording

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from indelible.memory import Memory

RECEIPT, SCAR, WORKFLOW, STAMP = (
    "flow/receipt/0123456789abcdef",
    "scar/SCAR-A-01",
    "flow/workflow.toml",
    "flow/stamp/state/7",
)


def fill(memory: Memory, bench: Bench) -> None:
    memory.record(RECEIPT, b"note\n", "receipt-issued")
    memory.mark("receipt-used", RECEIPT, digest="a" * 40)
    memory.record(SCAR, b"scar\n", "scar")
    memory.mark("waived", SCAR, digest="b" * 64, reason="a test", once=False)
    memory.record(STAMP, b"begun\n", "stamped")
    memory.record(STAMP, b"done\n", "stamped")
    memory.amend(WORKFLOW, b"version = 1\n", by=bench.owner, reason="first")
    memory.amend(SCAR, b"retired\n", by=bench.owner, reason="mended")


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = bench_at(tmp_path)
    fill(made.memory(create=True), made)
    yield made
    made.close()


@pytest.fixture
def memory(bench: Bench) -> Memory:
    return bench.memory()


def lift(patch: pytest.MonkeyPatch) -> None:
    """A program that keeps no discipline, as somebody with the agent's key can have."""
    for module in (disciplining, amending):
        patch.setattr(module, "refuse_save", lambda *_args, **_facts: None)
    for module in (disciplining, deciding):
        patch.setattr(module, "refuse_note", lambda *_args: None)
    for module in (disciplining, recording, bound):
        patch.setattr(module, "check_record", lambda *_args: None)


def test_what_every_verb_does_is_lawful(memory: Memory, bench: Bench) -> None:
    assert slugs(look(bench)) == set()
    memory.erase(STAMP)
    assert slugs(look(bench)) == set()


UNLAWFUL: dict[str, tuple[Callable[[Memory], object], str]] = {
    "a receipt with another text": (lambda memory: memory.save(RECEIPT, b"other\n"), "fact-rewritten"),
    "a receipt that nobody issued": (lambda memory: memory.save("flow/receipt/ffff", b"other\n"), "fact-rewritten"),
    "a scar with another text": (lambda memory: memory.save(SCAR, b"other\n"), "fact-rewritten"),
    "a scar that says it once more": (lambda memory: memory.record(SCAR, b"other\n", "scar"), "fact-rewritten"),
    "a scar put away": (lambda memory: memory.archive(SCAR), "fact-withdrawn"),
    "a receipt erased": (lambda memory: memory.erase(RECEIPT), "fact-withdrawn"),
    "a workflow of the agent's": (lambda memory: memory.save(WORKFLOW, b"mine = 1\n"), "fact-rewritten"),
    "a stamp without its entry": (lambda memory: memory.save(STAMP, b"done\n"), "fact-rewritten"),
}


@pytest.mark.parametrize("what", UNLAWFUL)
def test_what_was_signed_past_the_program_is_an_error(
    bench: Bench, memory: Memory, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    lift(monkeypatch)
    act, slug = UNLAWFUL[what]
    act(memory)
    report = look(bench)
    assert (slugs(report), report.ok, report.tampered) == ({slug}, False, True)


def test_an_amendment_by_a_key_that_is_no_owners_counts_for_nothing(bench: Bench, memory: Memory) -> None:
    assert slugs(look(bench, owners=())) == {"unknown-owner", "fact-rewritten"}
