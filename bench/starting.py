"""What an opening of a session waits for: the installed command, started cold, beside `python -c pass`.

The bytecode is compiled, as pip leaves it; with PYTHONDONTWRITEBYTECODE set, and no cache, every figure here would
be several times as large, so that variable is taken out. The home and the repository are scratch ones.
"""

from __future__ import annotations

import compileall
import os
import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING

from ratios import interleave, ratio, wall
from table import Row

import indelible

if TYPE_CHECKING:
    from collections.abc import Iterator

ROUNDS = 31
KEPT = ("PATH", "LANG", "LD_LIBRARY_PATH", "SYSTEMROOT", "TEMP", "TMP")


def rows(folder: str, rounds: int = ROUNDS) -> Iterator[Row]:
    """Each command in turns with a Python that does nothing."""
    command = os.path.join(os.path.dirname(sys.executable), "indelible")
    start = [command] if os.path.exists(command) else [sys.executable, "-m", "indelible"]
    compileall.compile_dir(os.path.dirname(indelible.__file__), quiet=2)
    run = partial(_run, folder, _environment(folder))
    run(start, "init")
    with open(os.path.join(folder, "MEMORY.md"), "w", encoding="utf-8") as file:
        file.write("결정: the release branch is cut on Thursday.\n" * 10)
    run(start, "save", "MEMORY.md", "MEMORY.md")
    commands = {"--version": ["--version"], "verify": ["verify", "MEMORY.md"], "list": ["list"]}
    works = {name: (partial(run, start, *words), 1) for name, words in commands.items()}
    times = interleave(
        {"nothing": (partial(run, [sys.executable], "-c", "pass"), 1)} | works, rounds=rounds, clock=wall
    )
    for name, what, limit in (
        ("--version", "`indelible --version`", 2.0), ("verify", "`indelible verify KEY`", 4.0),
        ("list", "for comparison, a verb that takes the way through click: `indelible list`", None),
    ):  # fmt: skip
        found = ratio(times[name], times["nothing"])
        measured = f"{found.median:.2f} x (of the least times {found.least:.2f}; {times[name].median * 1e3:.0f} ms)"
        reached = None if limit is None else min(found) <= limit
        yield Row(
            f"cold start, {what}, against `python -c pass`",
            measured,
            "–" if limit is None else f"<= {limit:g} x",
            reached,
        )


def _environment(folder: str) -> dict[str, str]:
    homes = {
        name: os.path.join(folder, name.lower()) for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME")
    }
    paths = {"PYTHONPATH": os.environ["PYTHONPATH"]} if "PYTHONPATH" in os.environ else {}
    return (
        {name: os.environ[name] for name in KEPT if name in os.environ}
        | homes
        | paths
        | {"HOME": folder, "GIT_CEILING_DIRECTORIES": folder}
    )


def _run(folder: str, environment: dict[str, str], start: list[str], *words: str) -> None:
    subprocess.run(
        [*start, *words], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True
    )
