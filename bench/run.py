"""`make bench`: every figure of the core with its target, and Indelible beside other memories, as Markdown.

    make bench                        everything: 20 minutes at most on two cores
    make bench ARGS=--quick           smaller stores and fewer rounds: 3 minutes at most
    make bench ARGS='--only saving'   one part

Nothing is asserted on a time, and the exit code says only whether everything ran. A shared machine gives other times a
minute later: read the ratios, and run it again before you believe a bad one.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from typing import TYPE_CHECKING, NamedTuple

import auditing
import changing
import committing
import flips
import following
import gating
import growth
import honest
import integrity
import noticing
import reading
import saving
import starting
from table import heading, machine

import comparing
import forking
from comparing import Size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from table import Row

ROOMY = 6 << 30
"""Bytes free that a folder in memory must have: a million memories take 2 GB, and their -wal some more."""


class Amounts(NamedTuple):
    """How much of everything."""

    flips: int
    saves: int
    kills: int
    turns: int
    many: int
    follow: int
    audit: tuple[int, int]
    starts: int
    judged: int
    sizes: tuple[Size, ...]


FULL = Amounts(
    2_000, 500, 30, 600, 1_000_000, 100_000, (10_000, 500), 31, 10_000,
    (Size("500 bytes", 500, 10_000, 10, 10), Size("2 KB", 2_000, 1_000, 10, 10), Size("100 KB", 100_000, 100, 10, 5)),
)  # fmt: skip
QUICK = Amounts(
    150, 100, 5, 150, 50_000, 20_000, (3_000, 200), 9, 10_000,
    (Size("500 bytes", 500, 1_000, 3, 10), Size("2 KB", 2_000, 300, 3, 5), Size("100 KB", 100_000, 30, 3, 3)),
)  # fmt: skip


def parts(disk: str, memory: str, much: Amounts) -> dict[str, Callable[[], Iterable[Row]]]:
    """Name to measurement. `disk` is a folder on a disk, `memory` one in memory, if the machine has one."""
    return {
        "conformance": lambda: integrity.conformance(disk),
        "flips": lambda: flips.rows(os.path.join(memory, "flips"), much.flips),
        "writers": lambda: integrity.writers(os.path.join(disk, "writers"), much.saves),
        "kills": lambda: integrity.kills(os.path.join(disk, "kills"), much.kills),
        "saving": lambda: saving.rows(os.path.join(disk, "saving"), os.path.join(memory, "saving"), much.turns),
        "reading": lambda: reading.rows(os.path.join(memory, "reading")),
        "gating": lambda: gating.rows(_folder(disk, "gating"), much.judged),
        "growth": lambda: growth.rows(os.path.join(memory, "growth"), much.many),
        "following": lambda: following.rows(os.path.join(memory, "following"), much.follow),
        "auditing": lambda: auditing.rows(os.path.join(memory, "auditing"), *much.audit),
        "gate": honest.rows,
        "changing": lambda: changing.rows(_folder(disk, "changing"), memory, much.starts),
        "committing": lambda: committing.rows(_folder(disk, "committing"), much.starts),
        "noticing": noticing.rows,
        "forking": lambda: forking.rows(_folder(disk, "forking"), much.starts),
        "starting": lambda: starting.rows(_folder(disk, "starting"), much.starts),
        "hooks": lambda: starting.hooks(_folder(disk, "hooks"), much.starts),
    }


def _folder(parent: str, name: str) -> str:
    path = os.path.join(parent, name)
    os.makedirs(path)
    return path


def _in_memory() -> str | None:
    """A folder in memory with room in it; None for the ordinary temporary folder."""
    shared = "/dev/shm"  # noqa: S108 - a fresh folder of our own is made in it
    return shared if os.path.isdir(shared) and shutil.disk_usage(shared).free > ROOMY else None


def _say(text: str = "") -> None:
    print(text, flush=True)


def main() -> None:
    """Measure, and print each row when it is there."""
    options = argparse.ArgumentParser(description="Indelible's figures, as ratios, with their targets.")
    options.add_argument("--quick", action="store_true", help="smaller stores and fewer rounds")
    options.add_argument(
        "--only", nargs="+", metavar="PART", help=f"some of: {', '.join(parts('', '', QUICK))}, comparing"
    )
    chosen = options.parse_args()
    much, begun = QUICK if chosen.quick else FULL, time.perf_counter()
    _say(f"{time.strftime('%Y-%m-%d')}, {'quick' if chosen.quick else 'full'} run. {machine()}.\n")
    with (
        tempfile.TemporaryDirectory(prefix="indelible-bench-") as disk,
        tempfile.TemporaryDirectory(dir=_in_memory()) as memory,
    ):
        _say(heading("what", "measured", "reach", "reached"))
        for name, measure in parts(disk, memory, much).items():
            if chosen.only and name not in chosen.only:
                continue
            started = time.perf_counter()
            for row in measure():
                _say(row.format())
            print(f"{name}: {time.perf_counter() - started:.0f} s", file=sys.stderr)
            shutil.rmtree(os.path.join(memory, name), ignore_errors=True)
        if not chosen.only or "comparing" in chosen.only:
            for table in comparing.tables(_folder(disk, "comparing"), much.sizes):
                _say(f"\n{table}")
    _say(f"\n{time.perf_counter() - begun:.0f} s in all.")


if __name__ == "__main__":
    main()
