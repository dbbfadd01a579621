"""What an approval waits for: the exact change of a large repository, beside `git status --porcelain` in turns with it.

50,000 files in 1,020 folders, each a few hundred bytes, committed and packed; 20 of them changed, in 20 folders. Git's own
settings are its defaults. Before each round nothing is written, so git finds the same index each time.
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
from indelible.workflow.change import open_change

if TYPE_CHECKING:
    from collections.abc import Iterator

ROUNDS = 31
FILES, CHANGED = 50_000, 20
WHOLE = "import os; from indelible.workflow.change import open_change\nwith open_change('.', os.environ) as o: print(o.change.digest)"


def rows(folder: str, memory: str, rounds: int = ROUNDS) -> Iterator[Row]:
    """The digest in this process, and that of a process which does nothing else. `memory` is a folder in memory, if there is one."""
    compileall.compile_dir(os.path.dirname(indelible.__file__), quiet=2)
    top, environment = os.path.join(folder, "tree"), {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    _build(top, environment)
    run = partial(subprocess.run, cwd=top, env=environment, stdout=subprocess.DEVNULL, check=True)
    works = {
        "status": (partial(run, ["git", "status", "--porcelain"]), 1), "digest": (partial(_digest, top, environment), 1),
        "whole": (partial(run, [sys.executable, "-c", WHOLE]), 1), "nothing": (partial(run, [sys.executable, "-c", "pass"]), 1),
    }  # fmt: skip
    works["in memory"] = (partial(_digest, top, {**environment, "TMPDIR": memory}), 1)
    times = interleave(works, rounds=rounds, clock=wall)
    what = f"digest of a change, {FILES:,} files of which {CHANGED} differ, against `git status --porcelain`"
    for name, more, limit in (
        ("digest", "", 2.0), ("in memory", ", TMPDIR in memory", None), ("whole", ", whole process of Python included", None),
    ):  # fmt: skip
        found = ratio(times[name], times["status"])
        measured = f"{found.median:.2f} x (of the least times {found.least:.2f}; {times[name].median * 1e3:.0f} ms against {times['status'].median * 1e3:.0f}"
        measured += ")" if name != "whole" else f"; `python -c pass` {times['nothing'].median * 1e3:.0f})"
        yield Row(what + more, measured, f"<= {limit:g} x" if limit else "–", min(found) <= limit if limit else None)


def _digest(top: str, environment: dict[str, str]) -> str:
    with open_change(top, environment) as opened:
        assert len(opened.change.files) == CHANGED
        return opened.change.digest


def _build(top: str, environment: dict[str, str]) -> None:
    git = partial(subprocess.run, cwd=top, env=environment, check=True)
    os.makedirs(top)
    git(["git", "init", "-q", "-b", "main"])
    lines = [b"feature done\ncommit refs/heads/main\ncommitter b <b@example.invalid> 1700000000 +0000\ndata 0\n"]
    for number in range(FILES):
        data = b"line %d\n" % number * 20
        lines.append(b"M 100644 inline %s\ndata %d\n%s\n" % (_name(number).encode(), len(data), data))
    git(["git", "fast-import", "--quiet"], input=b"".join([*lines, b"done\n"]))
    git(["git", "reset", "-q", "--hard"])
    for number in range(0, FILES, FILES // CHANGED):
        with open(os.path.join(top, _name(number)), "a", encoding="ascii") as file:
            file.write("changed\n")


def _name(number: int) -> str:
    return f"d{number // 2500:02}/e{number // 50 % 50:02}/f{number:05}.txt"
