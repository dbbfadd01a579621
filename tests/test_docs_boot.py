"""The page about boot: every outcome, finding and bound that the code has, and an example in the form that boot gives."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support import ROOT

from indelible.boot.briefing import SAYS
from indelible.boot.layout import LAW, MARK_SIZE, NEXT, RECORD, SHORT, Part, compose
from indelible.boot.named import EDITED
from indelible.boot.waking import CODES
from indelible.cli.briefly import _SAYS
from indelible.settings.booting import BUDGET
from indelible.state.budget import Room

PAGE = Path(ROOT, "docs", "boot.md").read_text(encoding="utf-8")


def rows(heading: str) -> dict[str, list[str]]:
    lines = PAGE.split(heading)[1].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| `")]
    return {found[0].strip("`"): found[1:] for found in cells}


def test_every_outcome_is_told_with_its_exit_code() -> None:
    told = {slug: int(cells[0]) for slug, cells in rows("## Outcomes").items() if cells[0].isdigit()}
    assert told == CODES
    assert set(CODES) == set(SAYS) == set(_SAYS)


def test_every_finding_of_boot_itself_is_told() -> None:
    assert EDITED in rows("Findings of boot itself")


def test_the_budget_and_the_sizes_of_marks_are_those_of_the_code() -> None:
    assert f"{BUDGET:,} tokens" in PAGE
    assert f"carry all {MARK_SIZE} hex digits, those between them {SHORT}" in PAGE


def test_the_example_has_the_form_that_boot_gives() -> None:
    record = "".join(f"## Round {number}\nblocked: reason {number}\n" for number in range(1, 5001))
    parts = [
        Part("00_governance.md", LAW, "# Governance\n", "indelible state show 00_governance.md"),
        Part("30_critic_summary.md", RECORD, record, "indelible state show 30_critic_summary.md"),
        Part("99_next_action.md", NEXT, "Current Target: 3\n", "indelible state show 99_next_action.md"),
    ]
    made = compose(parts, Room(BUDGET, 1 << 40), about="5 slots of state, verified for eros", digest="0" * 64)
    example = PAGE.split("$ indelible boot\n")[1].split("```")[0]
    shapes = [
        re.sub(r"[0-9a-f]{16,64}|[0-9]+", "N", line)
        for line in made.text.splitlines()
        if line.startswith(("[", "order", "sha", "cut"))
    ]
    told = [re.sub(r"[0-9a-f]{16,64}|[0-9]+", "N", line) for line in example.splitlines()]
    begin = told[0].partition(" …")[0]
    assert shapes[0].startswith(begin)
    for shape in shapes[2:]:
        assert shape in told
