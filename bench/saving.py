"""A sealed, durable save of 500 bytes beside a raw insert of the same content that is as durable.

On a disk the wall time is that of the fsync, which some disks take 0.1 ms for and others, or the same one a minute later,
4 ms. So raw inserts and saves take turns, five at a time, with a bare fdatasync before, between and after them; a turn counts
for a phase of the disk if all three fdatasync calls were of that phase, and what is compared are the medians of a phase.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

import apsw
import product
import saver
import workload
from ratios import cpu, interleave, repeat, wall
from table import Row

from indelible.screening import screen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from indelible.memory import Memory

FAST, SLOW = 0.0005, 0.003
"""Seconds of one fdatasync: below the one it counts as "0.1 ms", above the other as "4 ms"."""
EACH = 5
"""Inserts, and saves, in one turn."""
ENOUGH = 12
"""Turns; the median of fewer says little."""
COUNTED = 200
DELAY = [
    "strace",
    "-f",
    "-qq",
    "--seccomp-bpf",
    "-e",
    "trace=fdatasync",
    "-e",
    "inject=fdatasync:delay_exit=3900",
    "-o",
    os.devnull,
]
"""Makes each fsync wait as such a disk does; no other system call is stopped."""


class Turn(NamedTuple):
    """Seconds of a raw insert and of a save, and of the fdatasync calls round them."""

    raw: float
    save: float
    fsyncs: tuple[float, float, float]
    raw_cpu: float
    save_cpu: float


def rows(disk: str, memory: str, turns: int) -> list[Row]:
    """On the disk the wall ratio and the fsyncs; CPU there, and in a folder in memory, where no disk disturbs."""
    there, here = [*_turns(disk, turns)], [*_turns(memory, turns)]
    usual, raw, pure = (
        median(times) * 1e6
        for times in ([t.save_cpu for t in there], [t.raw_cpu for t in there], [t.save_cpu for t in here])
    )
    least = _quiet([turn.save_cpu for turn in there]) * 1e6
    return [
        Row("save, 500 bytes, CPU, on the disk", f"{least:.0f} µs (median {usual:.0f}; a raw insert's {raw:.0f}; in memory {pure:.0f})",
            "<= 300 µs", least <= 300),
        _look(),
        *_ratios(disk, there),
        *_fsyncs(os.path.join(disk, "counted")),
    ]  # fmt: skip


def _look() -> Row:
    """What of it is the look for secrets, of which there are none."""
    content = workload.content(0, workload.SMALL)
    look = repeat(lambda _: screen(content, mode="refuse", names={"key": "MEMORY.md"}), 2_000)
    return Row("… of which the look for secrets in it", interleave({"look": look})["look"].micros())


def _quiet(times: list[float]) -> float:
    """The tenth part that the neighbours disturbed least: its last one."""
    return sorted(times)[len(times) // 10]


def raw_store(path: str) -> Callable[[str, bytes], None]:
    """An insert into one ordinary table, in WAL mode with synchronous=FULL, each in a transaction of its own."""
    connection = apsw.Connection(path)
    for setting in ("journal_mode=WAL", "synchronous=FULL"):
        connection.execute(f"PRAGMA {setting}").fetchall()
    connection.execute("CREATE TABLE memory (key TEXT PRIMARY KEY, content BLOB NOT NULL)")

    def insert(key: str, content: bytes) -> None:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO memory VALUES (?, ?)", (key, content))
        connection.execute("COMMIT")

    return insert


def _turns(folder: str, turns: int) -> Iterator[Turn]:
    os.makedirs(folder, exist_ok=True)
    insert = raw_store(os.path.join(folder, "raw.db"))
    file = os.open(os.path.join(folder, "bare"), os.O_CREAT | os.O_RDWR, 0o600)
    os.write(file, bytes(4096))

    def sync(number: int) -> float:
        os.pwrite(file, number.to_bytes(4096, "big"), 0)  # over what is there, as in a -wal that was used before
        begun = wall()
        os.fdatasync(file)
        return wall() - begun

    with product.open_memory(folder, create=True) as memory:
        _wear_in(memory, insert)
        before = sync(0)
        for number in range(turns):
            items = [*workload.memories(EACH, start=number * EACH)]
            raw, raw_cpu = _time(insert, items)
            between = sync(number)
            save, save_cpu = _time(memory.save, items)
            after = sync(number)
            yield Turn(raw, save, (before, between, after), raw_cpu, save_cpu)
            before = after
    os.close(file)


def _wear_in(memory: Memory, insert: Callable[[str, bytes], None]) -> None:
    """Let both -wal files grow to their full length once: until then each fsync has to make a longer file durable too."""
    for number in range(50):
        insert(f"first {number}", workload.content(0, workload.LARGE))
        memory.save(f"first {number}", workload.content(0, workload.LARGE))
    for key, content in workload.memories(20, start=10**6):
        insert(key, content)
        memory.save(key, content)


def _time(work: Callable[[str, bytes], object], items: list[tuple[str, bytes]]) -> tuple[float, float]:
    """Median wall seconds and mean CPU seconds of one call."""
    taken: list[float] = []
    worked = cpu()
    for key, content in items:
        begun = wall()
        work(key, content)
        taken.append(wall() - begun)
    return median(taken), (cpu() - worked) / len(items)


def _ratios(disk: str, turns: list[Turn]) -> list[Row]:
    fast = [turn for turn in turns if max(turn.fsyncs) < FAST]
    slow, how = [turn for turn in turns if min(turn.fsyncs) >= SLOW], "this disk"
    if len(slow) < ENOUGH:
        slow, how = _slowed(os.path.join(disk, "slowed")), "made so by strace"
    return [_ratio("0.1 ms", fast, "this disk", 2.2), _ratio("4 ms", slow, how, 1.2)]


def _ratio(name: str, turns: list[Turn], how: str, reach: float) -> Row:
    what = f"save against raw apsw insert, WAL and FULL, wall, where an fsync takes about {name}"
    if len(turns) < ENOUGH:
        return Row(what, f"the disk was so in {len(turns)} turns only", f"<= {reach} x")
    raw, save = (median(turn[at] for turn in turns) * 1e3 for at in (0, 1))
    fsync = median(turn.fsyncs[1] for turn in turns) * 1e3
    measured = f"{save / raw:.2f} x ({save:.2f} ms against {raw:.2f}; fsync {fsync:.2f} ms, {how}; {len(turns)} turns)"
    return Row(what, measured, f"<= {reach} x", save / raw <= reach)


def _slowed(folder: str) -> list[Turn]:
    """The same in a process whose fsyncs take 4 ms, where strace can do that."""
    if shutil.which("strace") is None:
        return []
    command = [*DELAY, sys.executable, os.path.abspath(__file__), folder, str(3 * ENOUGH)]
    said = subprocess.run(command, capture_output=True, check=False, text=True).stdout
    numbers = [[float(word) for word in line.split()] for line in said.splitlines()]
    return [
        Turn(raw, save, (fsync, fsync, fsync), raw_cpu, save_cpu) for raw, save, fsync, raw_cpu, save_cpu in numbers
    ]


def _fsyncs(folder: str) -> list[Row]:
    """Counted by strace, by the name of the file; what a start and an end cost is counted apart and taken away."""
    what, reach = "fsyncs of one save, connection kept open", "1 of the store"
    if shutil.which("strace") is None:
        return [Row(what, "not counted: no strace here", reach)]
    few, many = (_count(os.path.join(folder, str(count)), count) for count in (1, 1 + COUNTED))
    if few is None or many is None:
        return [Row(what, "not counted: strace may not trace here", reach)]
    store, other = ((many[at] - few[at]) / COUNTED for at in (0, 1))
    return [Row(what, f"{store:.2f} of the store, {other:.2f} of the reader's pin", reach, 0.99 <= store <= 1.05)]


def _count(folder: str, saves: int) -> tuple[int, int] | None:
    """`(store, other)` of a process that makes so many saves."""
    os.makedirs(folder)
    trace = os.path.join(folder, "trace")
    command = ["strace", "-f", "-y", "-e", "trace=fsync,fdatasync", "-o", trace]
    process = saver.start(folder, "s", saves, prefix=command)
    process.communicate()
    if process.returncode or not os.path.exists(trace):
        return None
    with open(trace, encoding="utf-8") as file:
        files = re.findall(r"(?:fsync|fdatasync)\(\d+<([^>]*)>", file.read())
    mine = sum(os.path.basename(name).startswith("store.db") for name in files)
    return mine, len(files) - mine


if __name__ == "__main__":
    for turn in _turns(sys.argv[1], int(sys.argv[2])):
        print(turn.raw, turn.save, turn.fsyncs[1], turn.raw_cpu, turn.save_cpu)
