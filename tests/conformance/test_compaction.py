"""The public suite of what survives compaction: five rounds, twelve sessions, on a real state directory."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING

import pytest
from compaction_kit.canaries import CanaryType, seeded_canaries
from compaction_kit.cli import main as kit
from compaction_kit.corpus import build_random_session
from compaction_kit.generated import build_generated_session
from compaction_kit.report import build_report
from compaction_kit.runner import run_conformance
from compaction_kit.session import build_seeded_session
from compaction_kit.testing import assert_no_flags, check_compactor
from tests.conformance.compaction_adapter import TAIL, TOKENS, IndelibleCompactor
from tests.tokens import count

from indelible.state.budget import estimate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from compaction_kit.runner import ConformanceRun

ROUNDS = 5
SEEDS = range(1, 13)
KEPT = (CanaryType.SAFETY_RULE, CanaryType.HARD_CONSTRAINT, CanaryType.GOAL_STATE)
"""What has to survive to the last word. Facts and preferences do too, since they are notes and there is room."""


@pytest.fixture(autouse=True)
def _in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hundreds of writes, each synced: none needs a disk."""
    if os.path.isdir("/dev/shm"):
        monkeypatch.setattr(tempfile, "tempdir", "/dev/shm")


@pytest.fixture
def compactor() -> Iterator[IndelibleCompactor]:
    made = IndelibleCompactor()
    yield made
    made.close()


def fits(run: ConformanceRun) -> bool:
    """Whether each round's whole output, by our estimate and by a real tokenizer, is in the budget, with a tail before the briefing."""
    texts = [result.context.text for result in run.rounds]
    assert max(map(estimate, texts)) <= TOKENS
    assert max(map(count, texts)) <= TOKENS
    tails = [text.partition("[indelible ")[0] for text in texts]
    assert all(tail.startswith(("[user] ", "[assistant] ")) for tail in tails)
    assert all(TAIL // 2 < estimate(tail) <= TAIL for tail in tails)
    return True


@pytest.mark.parametrize("seed", SEEDS)
def test_what_was_sealed_survives_five_compactions_whole(seed: int, compactor: IndelibleCompactor) -> None:
    session, canaries = build_random_session(seed)
    run = run_conformance(session, compactor, rounds=ROUNDS, canaries=canaries)
    report = build_report(run, canaries, session)
    assert_no_flags(report)
    assert (report.flagged_types, report.late_cliff_types) == ([], [])
    for kind in KEPT:
        assert run.survival_curve(kind) == [1.0] * ROUNDS
    assert (
        len({result.context.text.partition("[indelible ")[2] for result in run.rounds}) == 1
    )  # nothing is lost, and nothing added
    assert fits(run)


def test_the_kits_own_session_survives_too(compactor: IndelibleCompactor) -> None:
    run = run_conformance(build_seeded_session(), compactor, rounds=ROUNDS, canaries=seeded_canaries())
    assert [result.survival_by_type for result in run.rounds] == [
        dict.fromkeys(map(str, map(_value, CanaryType)), 1.0)
    ] * ROUNDS
    assert fits(run)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_sessions_with_decoys_are_kept_without_a_flag(seed: int, compactor: IndelibleCompactor) -> None:
    session, canaries = build_generated_session(seed)
    run = run_conformance(session, compactor, rounds=ROUNDS, canaries=canaries)
    assert_no_flags(build_report(run, canaries, session))
    assert fits(run)


def test_the_kits_own_command_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert kit(["check", "tests.conformance.compaction_adapter:IndelibleCompactor", "--rounds", str(ROUNDS)]) == 0
    said = capsys.readouterr().out
    assert "All canaries held through the final round; no stale values carried." in said
    assert "FLAG |" not in said
    assert said.count("| SILENT | — | 100% |") == len(CanaryType)


def test_within_a_share_of_the_transcript_no_type_is_flagged(compactor: IndelibleCompactor) -> None:
    """The kit's budget is in characters, of which a short session has few: then records are cut, and laws and next action are not."""
    report = check_compactor(compactor, rounds=ROUNDS, budget_fraction=0.9)
    assert_no_flags(report)


def _value(kind: CanaryType) -> str:
    return str(kind.value)
