"""What is served after something went wrong: edits behind the store's back, flipped bytes, many writers, kill -9.

These rows are counts and not times. A count that is not what it must be is shown as not reached; nothing is asserted
here, since the same things are asserted by the test suite.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import product
import saver
from table import Row

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SEED = 20261130


def conformance(folder: str) -> list[Row]:
    """The public suite `agent-memory-integrity`, on the library's read path."""
    what, reach = "`agmi-check` T1 to T9, when memory is read", "9 of 9 REJECTED"
    places = [os.path.dirname(sys.executable), os.path.join(ROOT, ".venv", "bin")]
    command = shutil.which("agmi-check", path=os.pathsep.join([*places, os.environ.get("PATH", "")]))
    if command is None:
        return [Row(what, "not run: agent-memory-integrity is not installed here", reach)]
    report = os.path.join(folder, "agmi.json")
    adapter = ["--adapter", "tests.conformance.agmi_adapter:IndelibleAdapter"]
    paths = os.pathsep.join([ROOT, os.path.join(ROOT, "src")])
    ended = subprocess.run(
        [command, *adapter, "--json", report],
        env={**os.environ, "PYTHONPATH": paths},
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if not os.path.exists(report):
        return [Row(what, f"failed, exit {ended.returncode}: {ended.stderr.decode()[-200:]}", reach, reached=False)]
    with open(report, encoding="utf-8") as file:
        edits = json.load(file)["edits"]
    rejected = [edit for edit in edits if edit["verdict"] == "REJECTED"]
    return [Row(what, f"{len(rejected)} of {len(edits)} REJECTED", reach, len(rejected) == len(edits) == 9)]


def writers(folder: str, each: int) -> list[Row]:
    """Four processes that save at once."""
    begun = time.perf_counter()
    processes = [saver.start(folder, f"w{number}", each) for number in range(4)]
    acknowledged = {line for process in processes for line in process.communicate()[0].decode().split()}
    seconds = time.perf_counter() - begun
    lost = _lost(folder, acknowledged)
    measured = f"{lost} lost of {len(acknowledged)} acknowledged ({len(acknowledged) / seconds:.0f} a second together)"
    whole = lost == 0 and len(acknowledged) == 4 * each
    return [Row(f"4 processes × {each} saves on one store", measured, "acknowledged and lost: 0", whole)]


def kills(folder: str, rounds: int) -> list[Row]:
    """Two processes that save, killed at a random moment, again and again."""
    dice = random.Random(SEED)
    acknowledged: set[str] = set()
    for turn in range(rounds):
        processes = [saver.start(folder, f"k{turn}p{number}", 1_000_000) for number in range(2)]
        for process in processes:
            assert process.stdout is not None
            acknowledged.add(process.stdout.readline().decode().strip())
        time.sleep(dice.random() * 0.3)
        for process in processes:
            process.send_signal(signal.SIGKILL)
        for process in processes:
            # What was not said whole was not acknowledged.
            acknowledged |= set(process.communicate()[0].decode().split("\n")[:-1])
    lost = _lost(folder, acknowledged - {""})
    return [
        Row(
            f"kill -9 in {rounds} rounds",
            f"{lost} lost of {len(acknowledged)} acknowledged",
            "acknowledged and lost: 0",
            lost == 0,
        )
    ]


def _lost(folder: str, acknowledged: set[str]) -> int:
    """How many of them a reader with a pin, and one without, do not get back as they were saved."""
    lost = 0
    for reader in ("first", "fresh"):
        with product.open_memory(folder, reader) as memory:
            served = {item.key: memory.load(item.key).content for item in memory.list().items}
        for name in acknowledged:
            start, _, number = name.rpartition("-")
            lost += served.get(name) != saver.content(start, int(number))
        shutil.rmtree(os.path.join(folder, "readers", "fresh"), ignore_errors=True)
    return lost
