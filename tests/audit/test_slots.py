"""The disciplines of slots, read by the audit: what is lawful is passed over, what is not is found. Its rules are its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.audit.stores import look, slugs
from tests.keeping.desks import lift_the_disciplines
from tests.support import Bench, bench_at

from indelible.keeping import StateDirectory
from indelible.memory.deciding import Decision

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from indelible.memory import Memory

LAW, PLAN, CRITIC, NEXT = (
    "state/00_governance.md",
    "state/20_plan_approved.md",
    "state/30_critic_summary.md",
    "state/99_next_action.md",
)
COUNTER = b"Current Target: 3\nLast done: x\nNext allowed: y\n"


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = bench_at(tmp_path)
    memory = made.memory(create=True)
    for key, text in {LAW: b"# Law\n", PLAN: b"# Plan\n", CRITIC: b"# Round 1\n", NEXT: COUNTER}.items():
        memory.save(key, text)
    yield made
    made.close()


def lawful(memory: Memory, bench: Bench) -> None:
    state = StateDirectory(memory, None)
    state.append("30", b"# Round 2\n")
    state.write("99", COUNTER + b"- [x] done\n")
    state.amend("00", b"# Law, amended\n", by=bench.owner, reason="test")
    state.amend("30", b"# Rounds, in short\n", by=bench.owner, reason="test")
    state.append("30", b"# Round 3\n")
    memory.review(PLAN, "dispute", by=memory.signer, method="process", reason="test")
    state.close(reason="done")
    state.write("20", b"# Another plan\n")
    state.append("30", b"# Another round\n")
    memory.save("state/notes.md", b"no slot")
    memory.save("state/notes.md", b"no slot, and no discipline")


def test_what_every_verb_does_is_lawful(bench: Bench) -> None:
    lawful(bench.memory(), bench)
    assert slugs(look(bench)) == set()
    assert slugs(look(bench, signatures=False)) == set(), "an owner's word is looked at even where hashes alone are"


UNLAWFUL: dict[str, tuple[Callable[[Memory], object], str]] = {
    "a law with another text": (lambda memory: memory.save(LAW, b"# Mine\n"), "slot-rewritten"),
    "a record that does not continue": (lambda memory: memory.save(CRITIC, b"# Round 2\n"), "slot-rewritten"),
    "a law put away": (lambda memory: memory.archive(LAW), "slot-withdrawn"),
    "a plan put away by itself": (lambda memory: memory.archive(PLAN), "slot-withdrawn"),
    "a plan erased": (lambda memory: memory.erase(PLAN), "slot-withdrawn"),
    "a plan put away and brought back": (lambda memory: (memory.archive(PLAN), memory.unarchive(PLAN)), "slot-rewritten"),
    "a second law": (lambda memory: memory.save("state/00_other.md", b"# Mine\n"), "slot-doubled"),
}  # fmt: skip


@pytest.mark.parametrize("what", UNLAWFUL)
def test_what_was_signed_past_the_program_is_an_error(bench: Bench, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    lift_the_disciplines(monkeypatch)
    act, slug = UNLAWFUL[what]
    act(bench.memory())
    report = look(bench)
    assert (slugs(report), report.ok, report.tampered) == ({slug}, False, True)


def test_an_amendment_by_a_key_that_is_no_owners_counts_for_nothing(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = bench.memory()
    StateDirectory(memory, None).amend("00", b"# Amended\n", by=bench.owner, reason="test")
    assert slugs(look(bench, owners=())) == {"unknown-owner", "slot-rewritten"}
    lift_the_disciplines(monkeypatch)
    memory.save(PLAN, b"# Mine\n")
    wish = Decision("amended", "amend", PLAN, memory.signer, "human", None, "mine", None, None, "op")
    memory._do("op", lambda: memory._decide(wish), PLAN)
    assert slugs(look(bench)) == {"unknown-owner", "slot-rewritten"}


def test_an_owner_ends_what_was_wrong(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = bench.memory()
    with monkeypatch.context() as patch:
        lift_the_disciplines(patch)
        memory.save(LAW, b"# Mine\n")
    StateDirectory(memory, None).amend("00", b"# Law\n", by=bench.owner, reason="as it was")
    assert slugs(look(bench)) == set()
