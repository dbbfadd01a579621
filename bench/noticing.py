"""What it costs to notice that something failed before: patterns of scars over lines, beside Python's own engine in turns with it.

The lines are those of this package, as a large change would add them. The second figure is what the engine is for: a text ten times as
long takes ten times as long, with a pattern for which `re` takes ten thousand times as long.
"""

from __future__ import annotations

import os
import re
from functools import partial
from typing import TYPE_CHECKING

from ratios import interleave, ratio
from table import Row

import indelible
from indelible.workflow.automaton import Automaton

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

PATTERNS = (
    r"git\s+push", r"\beval\(", "DROP TABLE", r"sorted\(.*key\s*=\s*hash", "(?i)todo|fixme", r"[A-Za-z_]+\s*=\s*None",
    r"os\.(environ|getenv)", r"\w+\.didChangeDependencies\(",
)  # fmt: skip
MANY = "a.*a.*a.*b"
SHORT, LONG = 10_000, 100_000


def rows(rounds: int = 5) -> Iterator[Row]:
    """Both figures."""
    lines = list(_lines())
    ours, theirs = (
        [Automaton(pattern).search for pattern in PATTERNS],
        [re.compile(pattern).search for pattern in PATTERNS],
    )
    asked = len(lines) * len(PATTERNS)
    much, many = Automaton(MANY), "a" * LONG
    works = {
        "ours": (partial(_search, ours, lines), asked), "re": (partial(_search, theirs, lines), asked),
        "short": (partial(much.search, many[:SHORT]), 1), "long": (partial(much.search, many), 1),
    }  # fmt: skip
    times = interleave(works, rounds=rounds)
    yield Row(
        f"a line against a pattern, {len(PATTERNS)} patterns over {len(lines):,} lines, against `re`",
        f"{ratio(times['ours'], times['re'])}; {times['ours'].micros()}", "<= 8 x", ratio(times["ours"], times["re"]).least <= 8,
    )  # fmt: skip
    grown = ratio(times["long"], times["short"])
    yield Row(
        f"`{MANY}` over {LONG:,} characters, against {SHORT:,}",
        f"{grown}; {times['long'].least * 1e3:.0f} ms",
        "<= 15 x",
        grown.least <= 15,
    )


def _search(searches: Sequence[Callable[[str], object]], lines: Sequence[str]) -> int:
    return sum(bool(search(line)) for search in searches for line in lines)


def _lines() -> Iterator[str]:
    for folder, _, names in os.walk(os.path.dirname(indelible.__file__)):
        for name in names:
            if name.endswith(".py"):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    yield from file.read().splitlines()
