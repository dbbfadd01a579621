"""A sealed, durable save of 500 bytes beside a raw insert of the same content that is as durable.

On a disk the wall time is that of the fsync, which some disks take 0.1 ms for and others, or the same one a minute later,
4 ms. So saves, raw inserts and bare fdatasync calls take turns in short blocks, each block's ratio stands for itself,
and blocks are put together by what an fsync cost in them.
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
import worker
import workload
from ratios import cpu, wall
from table import Row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from indelible.memory import Memory

BLOCK = 25
FAST, SLOW = 0.0005, 0.003
"""Seconds of one fdatasync: below the one a block counts as "0.1 ms", above the other as "4 ms"."""
ENOUGH = 5
"""Blocks; the median of fewer says nothing."""
COUNTED = 200
DELAY = ["strace", "-f", "-qq", "--seccomp-bpf", "-e", "trace=fdatasync", "-e", "inject=fdatasync:delay_exit=3900", "-o", os.devnull]
"""Makes each fsync wait as such a disk does; no other system call is stopped."""


class Block(NamedTuple):
    """Median seconds of one operation, in one short stretch of time."""

    raw: float
    save: float
    fsync: float
    save_cpu: float
    raw_cpu: float


def rows(disk: str, memory: str, blocks: int) -> list[Row]:
    """On the disk the wall ratio and the fsyncs; CPU there, and in a folder in memory, where no disk disturbs."""
    there = [*_blocks(disk, blocks)]
    here = [*_blocks(memory, blocks)]
    least = min(block.save_cpu for block in there)
    usual, raw = (median(block[at] for block in there) * 1e6 for at in (3, 4))
    pure = min(block.save_cpu for block in here) * 1e6
    return [
        Row("save, 500 bytes, CPU, on the disk", f"{least * 1e6:.0f} µs (median {usual:.0f}; a raw insert's {raw:.0f}; in memory {pure:.0f})",
            "<= 300 µs", least <= 300e-6),
        *_ratios(disk, there),
        *_fsyncs(os.path.join(disk, "counted")),
    ]  # fmt: skip


def raw_store(path: str) -> Callable[[str, bytes], None]:
    """An insert into one table, in WAL mode with synchronous=FULL, one transaction each."""
    connection = apsw.Connection(path)
    for setting in ("journal_mode=WAL", "synchronous=FULL"):
        connection.execute(f"PRAGMA {setting}").fetchall()
    connection.execute("CREATE TABLE memory (key TEXT PRIMARY KEY, content BLOB NOT NULL) WITHOUT ROWID")

    def insert(key: str, content: bytes) -> None:
        connection.execute("INSERT INTO memory VALUES (?, ?)", (key, content))

    return insert


def _blocks(folder: str, blocks: int) -> Iterator[Block]:
    os.makedirs(folder, exist_ok=True)
    insert = raw_store(os.path.join(folder, "raw.db"))
    file = os.open(os.path.join(folder, "bare"), os.O_CREAT | os.O_RDWR, 0o600)
    os.write(file, bytes(4096))

    def sync(_key: str, content: bytes) -> None:
        os.pwrite(file, content * 8, 0)  # over what is there, as in a -wal that was used before
        os.fdatasync(file)

    with product.open_memory(folder, create=True) as memory:
        _wear_in(memory, insert)
        for number in range(blocks):
            items = [*workload.memories(BLOCK, start=number * BLOCK)]
            raw, raw_cpu = _time(insert, items)
            save, save_cpu = _time(memory.save, items)
            fsync, _ = _time(sync, items)
            yield Block(raw, save, fsync, save_cpu, raw_cpu)
    os.close(file)


def _wear_in(memory: Memory, insert: Callable[[str, bytes], None]) -> None:
    """Let both -wal files grow to their full length once: until then each fsync has to make a longer file durable too."""
    for name, size in ((f"first {number}", workload.LARGE) for number in range(50)):
        insert(name, workload.content(0, size))
        memory.save(name, workload.content(0, size))
    for key, content in workload.memories(BLOCK, start=10**6):
        insert(key, content)
        memory.save(key, content)


def _time(work: Callable[[str, bytes], object], items: list[tuple[str, bytes]]) -> tuple[float, float]:
    """The median of the wall times, and the mean of the CPU times."""
    taken: list[float] = []
    begun = cpu()
    for key, content in items:
        started = wall()
        work(key, content)
        taken.append(wall() - started)
    return median(taken), (cpu() - begun) / len(items)


def _ratios(disk: str, blocks: list[Block]) -> list[Row]:
    slow, how = [block for block in blocks if block.fsync >= SLOW], "this disk"
    if len(slow) < ENOUGH:
        slow, how = _slowed(os.path.join(disk, "slowed")), "made so by strace"
    return [
        _ratio("0.1 ms", [block for block in blocks if block.fsync < FAST], "this disk", 2.2),
        _ratio("4 ms", slow, how, 1.2),
    ]


def _ratio(name: str, blocks: list[Block], how: str, reach: float) -> Row:
    what = f"save against raw apsw insert, WAL and FULL, wall, where an fsync takes about {name}"
    if len(blocks) < ENOUGH:
        return Row(what, "the disk was not so in this run", f"<= {reach} x")
    middle = median(block.save / block.raw for block in blocks)
    fsync, save, raw = (median(block[at] for block in blocks) * 1e3 for at in (2, 1, 0))
    measured = f"{middle:.2f} x ({save:.2f} ms against {raw:.2f}; fsync {fsync:.2f} ms, {how}; {len(blocks)} blocks)"
    return Row(what, measured, f"<= {reach} x", middle <= reach)


def _slowed(folder: str) -> list[Block]:
    """The same in a process whose fsyncs take 4 ms, where strace can do that."""
    if shutil.which("strace") is None:
        return []
    command = [*DELAY, sys.executable, os.path.abspath(__file__), folder, str(2 * ENOUGH)]
    said = subprocess.run(command, capture_output=True, check=False, text=True).stdout
    return [Block(*map(float, line.split())) for line in said.splitlines()]


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
    process = worker.start(folder, "s", saves, prefix=command)
    process.communicate()
    if process.returncode or not os.path.exists(trace):
        return None
    with open(trace, encoding="utf-8") as file:
        files = re.findall(r"(?:fsync|fdatasync)\(\d+<([^>]*)>", file.read())
    mine = sum(os.path.basename(name).startswith("store.db") for name in files)
    return mine, len(files) - mine


if __name__ == "__main__":
    for found in _blocks(sys.argv[1], int(sys.argv[2])):
        print(*found)
