"""A process that a measurement starts: it saves, and says each save that was acknowledged on a line of its own.

    saver.py FOLDER NAME COUNT

saves COUNT memories named NAME-0, NAME-1, … into the memory under FOLDER. What is printed is acknowledged.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import product
import workload

if TYPE_CHECKING:
    from collections.abc import Iterable


def key(name: str, number: int) -> str:
    """The name of a worker's memory."""
    return f"{name}-{number}"


def content(name: str, number: int) -> bytes:
    """What a worker saves under it: whoever reads knows it without being told."""
    return f"{name}-{number}\n".encode() + workload.content(number)


def start(folder: str, name: str, count: int, prefix: Iterable[str] = ()) -> subprocess.Popen[bytes]:
    """Start a worker; its acknowledgements come through its standard output."""
    command = [*prefix, sys.executable, os.path.abspath(__file__), folder, name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE)


def main() -> None:
    """Save, and say so."""
    folder, name, count = sys.argv[1:]
    with product.open_memory(folder, create=True) as memory:
        for number in range(int(count)):
            saved = memory.save(key(name, number), content(name, number))
            os.write(1, f"{saved.key}\n".encode())


if __name__ == "__main__":
    main()
