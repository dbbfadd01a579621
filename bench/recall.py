"""`make bench-recall`: every figure of recall with its reach and its anchors, and recall beside other places to look memories up in.

    make bench-recall                                 everything: about 40 minutes on two cores
    make bench-recall ARGS=--quick                    smaller stores and fewer trials: about 5 minutes
    make bench-recall ARGS='--only whole rivals'      some of: ranking embedding nearest noise contamination whole rivals
    make bench-recall ARGS='--data FOLDER'            where the public sets lie; ../shared/data by default

Each part is a program of its own, which may be run alone and says more in its docstring. Parts whose data are not there are named and
left out. Nothing is asserted on a time, and the exit code says only whether everything that could run ran.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from typing import NamedTuple

import publicsets

HERE = os.path.dirname(os.path.abspath(__file__))
CACHE = os.path.join(os.path.dirname(HERE), ".bench")


class Part(NamedTuple):
    """One program."""

    name: str
    title: str
    full: tuple[str, ...]
    quick: tuple[str, ...]
    bare: bool = False
    """It runs without the public sets too."""


def parts(picture: str) -> tuple[Part, ...]:
    """All of them, in the order in which they run."""
    return (
        Part("ranking", "Ranking without a model, and its speed", ("ranking.py",), ("ranking.py", "--sizes", "10000")),
        Part("embedding", "Ranking with a small model", ("embedding.py",), ("embedding.py",)),
        Part("nearest", "The nearest vectors", ("nearest.py",), ("nearest.py", "100000"), bare=True),
        Part("noise", "Damaged texts, and how sure recall may be", ("noise.py", "--picture", picture), ("noise.py", "--quick", "--picture", picture)),
        Part(
            "contamination", "Contamination between agents", ("contamination.py",),
            ("contamination.py", "--trials", "5", "--quiet-runs", "20", "--speed", "200"),
        ),
        Part(
            "whole", "The whole way of a question", ("wholerecall.py", "--sizes", "10000,100000,1000000"),
            ("wholerecall.py", "--sizes", "10000", "--short", "0"),
        ),
        Part("rivals", "Beside others", ("rivals.py", "--sizes", "10000,100000"), ("rivals.py", "--sizes", "2000", "--only", "speed", "abilities")),
    )  # fmt: skip


def run(part: Part, data: str, *, quick: bool) -> bool:
    """Whether it came to its end; what it prints goes to where this process prints."""
    script, *words = part.quick if quick else part.full
    command = [sys.executable, os.path.join(HERE, script), *words, "--data", data]
    print(f"\n## {part.title}\n", flush=True)
    begun = time.perf_counter()
    code = subprocess.run(command, check=False, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"}).returncode
    print(
        f"{part.name}: {time.perf_counter() - begun:.0f} s{f', and it failed ({code})' if code else ''}",
        file=sys.stderr,
    )
    return code == 0


def main() -> int:
    """Run the parts that were chosen."""
    known = parts(os.path.join(CACHE, "t7.svg"))
    options = argparse.ArgumentParser(description="Recall's figures, with their reach and their anchors, as Markdown.")
    options.add_argument("--quick", action="store_true", help="smaller stores and fewer trials")
    options.add_argument("--only", nargs="+", metavar="PART", help=f"some of: {', '.join(part.name for part in known)}")
    options.add_argument("--data", default=publicsets.BESIDE, help="folder of the public sets")
    given = options.parse_args()
    if unknown := set(given.only or ()) - {part.name for part in known}:
        options.error(f"there is no part {', '.join(sorted(unknown))}")
    os.makedirs(CACHE, exist_ok=True)
    begun, absent, failed = time.perf_counter(), publicsets.missing(given.data), []
    print(f"# Recall\n\n{time.strftime('%Y-%m-%d')}, {'quick' if given.quick else 'full'} run.", flush=True)
    for part in known:
        if given.only and part.name not in given.only:
            continue
        if absent and not part.bare:
            print(f"\n## {part.title}\n\nNot measured: {absent}.", flush=True)
        elif not run(part, given.data, quick=given.quick):
            failed.append(part.name)
    print(f"\n{time.perf_counter() - begun:.0f} s in all{'; failed: ' + ', '.join(failed) if failed else ''}.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
