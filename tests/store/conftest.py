"""Fixtures of the store's tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Protocol

import pytest
from tests.support import Bench, bench_at

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """A store without anything in it; `bench.memory(create=True)` makes it."""
    made = bench_at(tmp_path)
    yield made
    made.close()


class MountSmall(Protocol):
    def __call__(self, folder: str, size: str) -> str: ...


@pytest.fixture
def small_disk() -> Iterator[MountSmall]:
    """`small_disk(folder, "1m")`: a file system of that size, of its own, mounted on `folder`."""
    mounted: list[str] = []

    def mount(folder: str, size: str) -> str:
        if sys.platform != "linux" or os.geteuid() != 0:
            pytest.skip("mounting a small tmpfs needs root on Linux")
        os.makedirs(folder, mode=0o700, exist_ok=True)
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", folder],
            capture_output=True,
            check=False,
            text=True,
        )
        if done.returncode:
            pytest.skip(f"no tmpfs can be mounted here: {done.stderr.strip()}")
        mounted.append(folder)
        return folder

    yield mount
    for folder in reversed(mounted):
        subprocess.run(["umount", "-l", folder], check=True)


@pytest.fixture(scope="session")
def strace() -> list[str]:
    """The command that injects faults and counts system calls, if it works here."""
    command = shutil.which("strace")
    if command is None:
        pytest.skip("strace is not installed, so no fault can be injected: apt-get install strace")
    probe = subprocess.run(
        [command, "-f", "-qq", "-o", os.devnull, sys.executable, "-c", "pass"], capture_output=True, check=False
    )
    if probe.returncode:
        pytest.skip(f"strace cannot trace here: {probe.stderr.decode(errors='replace').strip()[:200]}")
    return [command, "-f", "-qq"]
