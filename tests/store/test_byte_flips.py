"""One byte flipped anywhere in the database file or in its -wal: no altered memory is ever served as genuine.

`INDELIBLE_FLIPS=2000` makes the whole run of the benchmark; by default the places are few.
"""

from __future__ import annotations

import hashlib
import os
import random
from typing import TYPE_CHECKING, NamedTuple

import pytest
from tests.support import SIDES, Bench

from indelible.errors import IndelibleError

if TYPE_CHECKING:
    from pathlib import Path

FLIPS = int(os.environ.get("INDELIBLE_FLIPS", "0"))
KEYS = 400
SAMPLE = 12
"""Keys that are loaded after each flip, beside the listing."""


class Tally(NamedTuple):
    """What came of the flips."""

    altered: list[str]
    """Memories that were served and are not what was saved: none, ever."""
    crashed: list[str]
    """Errors that are none of ours."""
    asked: int
    served: int


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


def flip(bench: Bench, pristine: str, side: str, count: int, seed: int) -> Tally:
    """Flip one byte of `side` at a time and read; put the file back each time."""
    chance = random.Random(seed)
    with open(os.path.join(pristine, "store.db" + side), "rb") as file:
        genuine = file.read()
    altered: list[str] = []
    crashed: list[str] = []
    asked = served = 0
    for turn in range(count):
        bench.put_back(pristine)
        place, mask = chance.randrange(len(genuine)), chance.randrange(1, 256)
        with open(bench.path + side, "r+b") as file:
            file.seek(place)
            file.write(bytes([genuine[place] ^ mask]))
        numbers = chance.sample(range(KEYS), SAMPLE)
        readers = ("first", f"fresh {seed} {turn}") if turn % 10 == 0 else ("first",)
        for reader in readers:
            for number in numbers:
                asked += reader == "first"
                try:
                    with bench.memory(reader) as memory:
                        loaded = memory.load(f"key {number}")
                except IndelibleError:
                    continue
                except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
                    crashed.append(f"{side or 'db'}@{place}^{mask}: {type(error).__name__}: {error}")
                    continue
                served += reader == "first"
                if loaded.content != content_of(number) or loaded.key != f"key {number}":
                    altered.append(f"{side or 'db'}@{place}^{mask}: key {number}")
            try:
                with bench.memory(reader) as memory:
                    listing = memory.list(limit=SAMPLE)
            except IndelibleError:
                continue
            except Exception as error:  # noqa: BLE001
                crashed.append(f"{side or 'db'}@{place}^{mask}: list: {type(error).__name__}: {error}")
                continue
            for item in listing.items:
                if item.sha256 != GENUINE.get(item.key):
                    altered.append(f"{side or 'db'}@{place}^{mask}: listed {item.key}")
    return Tally(altered, crashed, asked, served)


@pytest.mark.parametrize(("side", "count"), [("", FLIPS or 100), ("-wal", FLIPS // 2 or 50)])
def test_no_flipped_byte_makes_an_altered_memory_genuine(tmp_path: Path, side: str, count: int) -> None:
    bench = build(tmp_path, checkpointed=not side)
    pristine = bench.snapshot("pristine")
    for name in SIDES[2:]:
        if os.path.exists(os.path.join(pristine, "store.db" + name)):
            os.unlink(os.path.join(pristine, "store.db" + name))
    tally = flip(bench, pristine, side, count, seed=20261130)
    print(f"{side or 'db'}: {count} flips, {tally.served} of {tally.asked} loads served ({tally.served / tally.asked:.1%})")
    assert tally.altered == []
    assert tally.crashed == []
    if not side:
        # In a fresh -wal SQLite drops everything from the first bad frame on, so that figure is the main file's.
        assert tally.served / tally.asked >= 0.95
