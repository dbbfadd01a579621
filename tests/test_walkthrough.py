"""The third page is run from its first line to its last, as a newcomer types it.

`…` on a page stands for what is left out: alone for any lines, at the end of a line for the rest of it. Names of objects, receipts
and keys differ from run to run; one that is told twice has to come out as one, and two as two.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from tests.test_docs import ROOT, blocks, make_tools, needs_shell, shell, steady, steps

if TYPE_CHECKING:
    from pathlib import Path

PAGE = (ROOT / "docs" / "walkthrough.md").read_text(encoding="utf-8")
_NAME = re.compile(r"\b[0-9a-f]{7,64}\b")
_LEAST = 7
"""Hex digits of the shortest name."""


@pytest.fixture
def shop(home: Path) -> Path:
    """A folder with one file, and a person whose passphrase lies where only a test would put it."""
    here = home / "you" / "shop"
    here.mkdir(parents=True)
    (here / "shop.py").write_text("def total(prices):\n    return sum(prices)\n", encoding="utf-8")
    secret = home / "phrase"
    secret.write_text("a phrase that no agent knows\n", encoding="utf-8")
    secret.chmod(0o600)
    make_tools(here.parent / "bin")
    return here


def run(shop: Path, told: list[tuple[str, str]]) -> list[str]:
    person = {"INDELIBLE_PASSPHRASE_FILE": str(shop.parents[1] / "phrase"), "LOGNAME": "mina"}
    printed = shell(shop, [command for command, _ in told], person)
    return [steady(text.replace(str(shop.parent), "/home/you"), shop) for text in printed]


def pattern_of(told: str) -> str:
    """What fits a text of the page; each name in it is a group."""
    rows = []
    for line in told.splitlines():
        if line == "…":
            rows.append(r"(?:.*\n)*?")
            continue
        text, rest = (line[:-1], ".*") if line.endswith("…") else (line, "")
        parts, at = [], 0
        for name in _NAME.finditer(text):
            parts += [re.escape(text[at : name.start()]), f"([0-9a-f]{{{len(name[0])}}})"]
            at = name.end()
        rows.append("".join(parts) + re.escape(text[at:]) + rest + r" *\n")
    return "".join(rows)


def hold_against(told: list[tuple[str, str]], printed: list[str], shop: Path) -> None:
    """Each command printed what the page says, and each name of the page is one name."""
    real: dict[str, str] = {}
    assert len(printed) == len(told)
    for (command, said), text in zip(told, printed, strict=True):
        said = steady(said, shop)  # noqa: PLW2901
        found = re.fullmatch(pattern_of(said), text)
        assert found, f"$ {command}\n{text}\n--- the page has\n{said}"
        names = [name[0] for line in said.splitlines() for name in _NAME.finditer(line.removesuffix("…"))]
        for name, came in zip(names, found.groups(), strict=True):
            assert real.setdefault(name[:_LEAST], came[:_LEAST]) == came[:_LEAST], f"$ {command}\n{name}: {text}"
    assert len(set(real.values())) == len(real)


@needs_shell
def test_a_ticket_goes_to_its_push_as_the_third_page_says(shop: Path) -> None:
    told = [step for session in blocks("console", PAGE) for step in steps(session)]
    hold_against(told, run(shop, told), shop)


@needs_shell
def test_a_yes_is_for_one_change_as_the_readme_says(shop: Path) -> None:
    told = steps(blocks("console")[2])
    before = ["git init -q && indelible init 2>/dev/null && git add -A && git commit -qm first"]
    _, *printed = run(shop, [*((line, "") for line in before), *told])
    hold_against(told, printed, shop)
