"""The public conformance suite: nine edits behind the store's back, each refused when memory is read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from agmi.attacks.at_rest import AT_REST_ATTACKS_WITH_SNAPSHOT, SnapshotRollbackAttack
from tests.conformance.agmi_adapter import IndelibleAdapter
from tests.support import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from agmi.attacks.base import Attack

REASONS = {
    "T1 content tamper": "digest-mismatch",
    "T2 tail truncation": "missing",
    "T3 middle deletion": "missing",
    "T4 reordering": "digest-mismatch",
    "T5 forged insertion": "stray-rows",
    "T6 cross-context replay": "digest-mismatch",
    "T7 rollback replay": "digest-mismatch",
    "T8 metadata tamper": "digest-mismatch",
    "T9 snapshot rollback": "rolled-back",
}


def test_agmi_check_prints_nine_rejected_each_for_its_reason(tmp_path: Path) -> None:
    report = tmp_path / "row.json"
    command = os.path.join(os.path.dirname(sys.executable), "agmi-check")
    ended = subprocess.run(
        [command, "--adapter", "tests.conformance.agmi_adapter:IndelibleAdapter", "--json", str(report)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([ROOT, *filter(None, sys.path)])},
        capture_output=True, check=False, text=True, timeout=120,
    )  # fmt: skip
    edits = json.loads(report.read_text())["edits"]
    for edit in edits:
        sys.stdout.write(f"{edit['edit']:26}{edit['verdict']:10}{edit['detail']}\n")
    assert {edit["edit"]: edit["verdict"] for edit in edits} == dict.fromkeys(REASONS, "REJECTED")
    assert [edit["edit"] for edit in edits if f"({REASONS[edit['edit']]}: " not in edit["detail"]] == []
    assert (ended.returncode, ended.stderr) == (0, "")


class _WithoutPin(IndelibleAdapter):
    """A reader who sees the store for the first time, each time."""

    def reload(self) -> None:
        super().reload()
        self.reader = f"{self.reader}-next"


@pytest.mark.parametrize("attack", AT_REST_ATTACKS_WITH_SNAPSHOT, ids=lambda attack: attack.name)
def test_a_reader_without_a_pin_refuses_all_but_the_older_complete_copy(attack: type[Attack]) -> None:
    result = attack().run(_WithoutPin())
    expected = "VULNERABLE" if attack is SnapshotRollbackAttack else "safe"
    assert result.status == expected, result
