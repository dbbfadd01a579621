"""One byte flipped at a random place, 2,000 times in the main file and as often in the -wal: what is served then?

After each flip the store is opened afresh by a reader with a pin, who loads some keys; every tenth time a reader without
one does the same. Served and not what was saved: never. The share that is still served is a lower bound of
that of the keys not touched, as a touched one counts as asked for.

In the -wal a bad frame takes all frames after it along: SQLite's checksums run through the file, and whoever opens it
without the index of a living process (-shm) reads up to the last commit before the bad frame. So keys that were saved
before it are told apart from those in it or behind it.
"""

from __future__ import annotations

import os
import random
import shutil
from typing import TYPE_CHECKING, NamedTuple

import apsw
import product
import workload
from table import Row

from indelible.errors import IndelibleError

if TYPE_CHECKING:
    from collections.abc import Iterator

KEYS = 150
"""As many as one -wal holds before SQLite copies it into the main file."""
SAMPLE = 6
SEED = 20261130
WAL_HEADER, FRAME = 32, 24 + 4096


class Tally(NamedTuple):
    """What came of the loads, by whether the key lies wholly before the flipped byte's frame (main file: all do)."""

    altered: int
    crashed: int
    asked: tuple[int, int]
    served: tuple[int, int]

    def share(self, behind: int = 0) -> float:
        return self.served[behind] / self.asked[behind] if self.asked[behind] else 1.0


class Original(NamedTuple):
    """A store that is put back before each flip."""

    folder: str
    side: str
    data: bytes
    frames: tuple[int, ...]
    """Frames in the -wal when each key had been saved; none for the main file."""


def rows(folder: str, count: int) -> list[Row]:
    """Both files, so many flips each."""
    tallies = {
        side: _flip(_build(os.path.join(folder, name), side), count) for name, side in (("main", ""), ("tail", "-wal"))
    }
    altered = sum(tally.altered + tally.crashed for tally in tallies.values())
    main, tail = tallies[""], tallies["-wal"]
    return [
        Row(f"{count:,} one-byte flips in the database file, {count:,} in its -wal: altered and served as genuine, or a crash",
            f"{altered} of {sum(map(sum, (main.asked, tail.asked))):,} loads", "0", altered == 0),
        Row("… keys not touched that still load, database file", f"{main.share():.1%} of all keys asked for", ">= 95 %", main.share() >= 0.95),
        Row("… -wal: keys saved before the bad frame; in it or behind it", f"{tail.share():.1%}; {tail.share(1):.1%} (SQLite drops these)"),
    ]  # fmt: skip


def _build(folder: str, side: str) -> Original:
    """A store whose keys all lie in the main file, or all in the -wal."""
    path = product.store_path(folder)
    frames: list[int] = []
    memory = product.open_memory(folder, create=True)
    for key, content in workload.memories(KEYS):
        memory.save(key, content)
        if side:
            frames.append((os.path.getsize(path + "-wal") - WAL_HEADER) // FRAME)
    if not side:
        memory.store.settle(purge=True)
    memory.close()
    if os.path.exists(path + "-shm"):
        os.unlink(path + "-shm")
    kept = os.path.join(folder, "kept")
    shutil.copytree(os.path.dirname(path), kept)
    with open(path + side, "rb") as file:
        return Original(folder, side, file.read(), tuple(frames))


def _flip(original: Original, count: int) -> Tally:
    dice = random.Random(SEED)
    altered = crashed = 0
    asked, served = [0, 0], [0, 0]
    for turn in range(count):
        place = dice.randrange(len(original.data))
        _put_back(original, place, dice.randrange(1, 256))
        numbers = dice.sample(range(KEYS), SAMPLE)
        for outcome, number in _read(original.folder, "first", numbers):
            behind = bool(original.frames) and original.frames[number] > (place - WAL_HEADER) // FRAME
            asked[behind] += 1
            served[behind] += outcome == "served"
            altered += outcome == "altered"
            crashed += outcome == "crashed"
        if turn % 10 == 0:
            strange = [outcome for outcome, _ in _read(original.folder, f"fresh{turn}", numbers)]
            altered, crashed = altered + strange.count("altered"), crashed + strange.count("crashed")
    return Tally(altered, crashed, (asked[0], asked[1]), (served[0], served[1]))


def _put_back(original: Original, place: int, mask: int) -> None:
    """The store as it was built, but for one byte; the index of the -wal is made anew by who opens it."""
    path = product.store_path(original.folder)
    for side in ("-shm", "-wal", ""):
        if os.path.exists(path + side):
            os.unlink(path + side)
        kept = os.path.join(original.folder, "kept", os.path.basename(path) + side)
        if os.path.exists(kept):
            shutil.copyfile(kept, path + side)
    os.chmod(path, 0o600)
    with open(path + original.side, "r+b") as file:
        file.seek(place)
        file.write(bytes([original.data[place] ^ mask]))


def _read(folder: str, reader: str, numbers: list[int]) -> Iterator[tuple[str, int]]:
    """What one reader gets: each key by a load, and those of a listing."""
    for number in numbers:
        try:
            with product.open_memory(folder, reader) as memory:
                genuine = memory.load(workload.key(number)).content == workload.content(number)
        except IndelibleError:
            yield "refused", number
        except (apsw.Error, OSError, ValueError, TypeError, LookupError):
            yield "crashed", number
        else:
            yield "served" if genuine else "altered", number
