"""What a measurement says, and how it is printed: Markdown, one row for each figure, with its target beside it."""

from __future__ import annotations

import os
import platform
import sys
from typing import NamedTuple

import apsw


class Row(NamedTuple):
    """One figure."""

    what: str
    measured: str
    reach: str = "–"
    """The target, as text."""
    reached: bool | None = None
    """None where there is no target, or where it could not be measured."""

    def format(self) -> str:
        mark = {True: "yes", False: "**no**", None: "–"}[self.reached]
        return line(self.what, self.measured, self.reach, mark)


def line(*cells: object) -> str:
    """One line of a Markdown table."""
    return f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in cells)} |"


def heading(*cells: str) -> str:
    """The first two lines of a Markdown table."""
    return f"{line(*cells)}\n{line(*('---' for _ in cells))}"


def machine() -> str:
    """What this was measured on, in one paragraph."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30 if hasattr(os, "sysconf") else 0
    return (
        f"{_processor()}, {os.cpu_count()} cores, {memory:.0f} GiB; {platform.system()} {platform.release()}; "
        f"Python {sys.version.split()[0]}, SQLite {apsw.sqlite_lib_version()} through apsw {apsw.apsw_version()}; load average {_load()}"
    )


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [text.partition(":")[2].strip() for text in file if text.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.processor() or platform.machine()


def _load() -> str:
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
