"""Indelible beside other memories: the same memories in each, then single saves, single loads and a listing, in turns.

Each is filled first, in whatever bulk way it has. Times are wall times on the disk, medians of all single calls; what
an fsync cost meanwhile is said with them, for it is most of a durable save.
"""

from __future__ import annotations

import os
import random
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

import workload
from contenders import MAKERS, missing
from ratios import wall
from table import heading, line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from contenders import Contender

SEED = 20261130


class Size(NamedTuple):
    """One workload."""

    label: str
    size: int
    count: int
    rounds: int
    each: int
    """Saves, and loads, of each contender in one round."""


class Taken(NamedTuple):
    """Seconds of single calls."""

    save: list[float]
    load: list[float]
    list: list[float]


def tables(folder: str, sizes: tuple[Size, ...]) -> Iterator[str]:
    """A Markdown table for each workload."""
    for size in sizes:
        yield _table(os.path.join(folder, str(size.size)), size)


def _table(folder: str, size: Size) -> str:
    absent = {name: why for name in MAKERS if (why := missing(name))}
    contenders = {
        name: _made(os.path.join(folder, name.replace(" ", "-")), make)
        for name, make in MAKERS.items()
        if name not in absent
    }
    fsyncs: list[float] = []
    taken = {name: Taken([], [], []) for name in contenders}
    for contender in contenders.values():
        contender.fill([*workload.memories(size.count, size.size)])
    dice = random.Random(SEED)
    for turn in range(size.rounds):
        fsyncs.append(_fsync(folder))
        for name, contender in contenders.items():
            _round(contender, taken[name], size, turn, dice)
    for contender in contenders.values():
        contender.close()
    head = (
        f"### {size.count:,} memories of {size.label}; fsync {min(fsyncs) * 1e3:.2f} to {max(fsyncs) * 1e3:.2f} ms\n\n"
    )
    lines = [heading("", "save", "load", "list all"), *(_line(name, taken) for name in contenders)]
    return head + "\n".join(lines + [line(name, f"left out: {why}", "", "") for name, why in absent.items()]) + "\n"


def _made(folder: str, make: Callable[[str], Contender]) -> Contender:
    os.makedirs(folder)
    return make(folder)


def _round(contender: Contender, taken: Taken, size: Size, turn: int, dice: random.Random) -> None:
    start = size.count + turn * size.each
    for key, content in workload.memories(size.each, size.size, start):
        taken.save.append(_clock(contender.save, key, content))
    for _ in range(size.each):
        number = dice.randrange(size.count)
        begun = wall()
        content = contender.load(workload.key(number))
        taken.load.append(wall() - begun)
        assert content == workload.content(number, size.size)
    begun = wall()
    found = contender.list()
    taken.list.append(wall() - begun)
    assert found == start + size.each


def _clock(work: Callable[..., object], *arguments: object) -> float:
    begun = wall()
    work(*arguments)
    return wall() - begun


def _fsync(folder: str) -> float:
    handle = os.open(os.path.join(folder, "bare"), os.O_CREAT | os.O_RDWR, 0o600)
    os.pwrite(handle, bytes(4096), 0)
    os.fsync(handle)
    os.pwrite(handle, os.urandom(4096), 0)
    taken = _clock(os.fdatasync, handle)
    os.close(handle)
    return taken


def _line(name: str, taken: dict[str, Taken]) -> str:
    cells = []
    for mine, ours in zip(taken[name], taken["Indelible"], strict=True):
        cells.append(
            f"{median(mine) * 1e6:,.0f} µs" + ("" if name == "Indelible" else f" ({median(mine) / median(ours):.2f} x)")
        )
    return line(name, *cells)
