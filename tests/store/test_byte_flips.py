"""One byte flipped anywhere in the database file or in its -wal: no altered memory is ever served as genuine.

`INDELIBLE_FLIPS=2000` makes the whole run of the benchmark; by default the places are few.
"""

from __future__ import annotations

import hashlib
import os
import random
import sys
from typing import TYPE_CHECKING

import pytest
from tests.support import Bench

from indelible.errors import IndelibleError

if TYPE_CHECKING:
    from pathlib import Path

FLIPS = int(os.environ.get("INDELIBLE_FLIPS", "0"))
KEYS = 400
SAMPLE = 12
"""Keys that are loaded after each flip, beside the listing."""


def content_of(number: int) -> bytes:
    return (f"{number}번째 기억: what was decided on day {number}. ".encode() * 12)[:500]


GENUINE = {f"key {number}": hashlib.sha256(content_of(number)).hexdigest() for number in range(KEYS)}


def build(root: Path, *, checkpointed: bool) -> Bench:
    bench = Bench(str(root))
    os.makedirs(os.path.dirname(bench.path), exist_ok=True)
    with bench.memory(create=True) as memory:
        for number in range(KEYS):
            memory.save(f"key {number}", content_of(number))
    if checkpointed:
        bench.sql("PRAGMA wal_checkpoint(TRUNCATE)")
    return bench


class Damage:
    """The files as they were, put back with one byte flipped each time, and what readers then said."""

    def __init__(self, bench: Bench, side: str) -> None:
        self.bench, self.side = bench, side
        self.pristine = bench.snapshot("pristine")
        shm = os.path.join(self.pristine, "store.db-shm")
        if os.path.exists(shm):
            os.unlink(shm)
        with open(os.path.join(self.pristine, "store.db" + side), "rb") as file:
            self.genuine = file.read()
        self.altered: list[str] = []
        """Memories that were served and are not what was saved: none, ever."""
        self.crashed: list[str] = []
        """Errors that are none of ours."""
        self.asked = self.served = 0
        self.where = ""

    def flip(self, place: int, mask: int) -> None:
        self.bench.put_back(self.pristine)
        with open(self.bench.path + self.side, "r+b") as file:
            file.seek(place)
            file.write(bytes([self.genuine[place] ^ mask]))
        self.where = f"{self.side or 'db'}@{place}^{mask}"

    def load(self, reader: str, number: int) -> bool:
        """Whether it was served."""
        key = f"key {number}"
        try:
            with self.bench.memory(reader) as memory:
                loaded = memory.load(key)
        except IndelibleError:
            return False
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
            self.crashed.append(f"{self.where}: {error!r}")
            return False
        if (loaded.content, loaded.key) != (content_of(number), key):
            self.altered.append(f"{self.where}: {key}")
        return True

    def list(self, reader: str) -> None:
        try:
            with self.bench.memory(reader) as memory:
                items = memory.list(limit=SAMPLE).items
        except IndelibleError:
            return
        except Exception as error:  # noqa: BLE001
            self.crashed.append(f"{self.where}: list: {error!r}")
            return
        self.altered += [f"{self.where}: listed {item.key}" for item in items if item.sha256 != GENUINE.get(item.key)]


@pytest.mark.parametrize(("side", "count"), [("", FLIPS or 100), ("-wal", FLIPS // 2 or 50)])
def test_no_flipped_byte_makes_an_altered_memory_genuine(tmp_path: Path, side: str, count: int) -> None:
    chance = random.Random(20261130)
    damage = Damage(build(tmp_path, checkpointed=not side), side)
    for turn in range(count):
        damage.flip(chance.randrange(len(damage.genuine)), chance.randrange(1, 256))
        served = [damage.load("first", number) for number in chance.sample(range(KEYS), SAMPLE)]
        damage.asked += len(served)
        damage.served += sum(served)
        damage.list("first")
        if turn % 10 == 0:
            damage.load(f"fresh {turn}", chance.randrange(KEYS))
            damage.list(f"fresh {turn}")
    share = damage.served / damage.asked
    sys.stdout.write(f"{count} flips in {side or 'the main file'}: {share:.1%} of the loads served\n")
    assert damage.altered == []
    assert damage.crashed == []
    # In a fresh -wal SQLite drops everything from the first bad frame on, so the figure is the main file's.
    assert side or share >= 0.95
