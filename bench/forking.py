"""What a fork costs beside what it runs: a child that does nothing, and 200 MB of output.

The first is beside `indelible list`, which starts one interpreter, goes through click and opens the store, as a fork does, and
writes nothing; the second beside the same bytes redirected into a file by the shell's own `>`. Both lie on the disk.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING

from ratios import interleave, ratio, wall
from starting import environment_of, installed
from table import Row

if TYPE_CHECKING:
    from collections.abc import Iterator

ROUNDS = 9
MEGABYTES = 200
_WRITES = (
    f"import sys\nfor _ in range({MEGABYTES}): sys.stdout.buffer.write(b'0123456789abcdefghijklmnopqrstu\\n' * 32768)\n"
)


def rows(folder: str, rounds: int = ROUNDS) -> Iterator[Row]:
    """Both figures."""
    place = os.path.join(folder, "repository")
    os.makedirs(place)
    environment, start = environment_of(folder), installed("indelible", "indelible")
    run = partial(subprocess.run, cwd=place, env=environment, stdout=subprocess.DEVNULL, check=True)
    run(["git", "init", "-q"])
    run([*start, "init"])
    writer = [sys.executable, "-c", _WRITES]
    works = {
        "list": (partial(run, [*start, "list"]), 1),
        "fork": (partial(run, [*start, "fork", "nothing", "--", "true"]), 1),
        "file": (partial(_redirected, place, environment, writer), 1),
        "much": (partial(_much, run, start, place, writer), 1),
    }
    times = interleave(works, rounds=rounds, clock=wall)
    found = ratio(times["fork"], times["list"])
    yield Row(
        "`indelible fork` of a program that does nothing, against `indelible list`",
        f"{found.median:.2f} x ({times['fork'].median * 1e3:.0f} ms against {times['list'].median * 1e3:.0f})", "–", None,
    )  # fmt: skip
    found = ratio(times["much"], times["file"])
    yield Row(
        f"`indelible fork` of a program that writes {MEGABYTES} MB, against the shell's `>`",
        f"{found.median:.2f} x ({times['much'].median:.2f} s against {times['file'].median:.2f})", "–", None,
    )  # fmt: skip


def _redirected(place: str, environment: dict[str, str], writer: list[str]) -> None:
    path = os.path.join(place, ".indelible", "plain")
    with open(path, "wb") as file:
        subprocess.run(writer, cwd=place, env=environment, stdout=file, check=True)
    os.unlink(path)


def _much(run: partial[subprocess.CompletedProcess[bytes]], start: list[str], place: str, writer: list[str]) -> None:
    run([*start, "fork", "much", "--", *writer])
    forks = os.path.join(place, ".indelible", "forks")
    for name in os.listdir(forks):
        if name.startswith("much-"):
            os.truncate(os.path.join(forks, name, "output"), 0)


if __name__ == "__main__":
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as scratch:
        for row in rows(scratch):
            print(*row, sep="  ")
