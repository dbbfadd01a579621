"""A repository with memory, children that behave badly, and a look at every process of this machine."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.conftest import environment, indelible_command

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.conftest import Ran, Run

on_linux = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="what descends from whom is told by Linux only"
)


@dataclass
class Place:
    """A repository whose forks a test looks at."""

    run: Run
    root: Path
    mark: str
    """A word that every bad child has in its command line, by which it is found whatever it did to its environment."""

    @property
    def forks(self) -> Path:
        return self.root / ".indelible" / "forks"

    def fork(self, name: str, *command: str, options: tuple[str, ...] = (), **more: Any) -> Ran:
        return self.run("fork", name, *options, "--", *command, cwd=self.root, **more)

    def shell(self, name: str, script: str, *options: str, **more: Any) -> Ran:
        return self.fork(name, "sh", "-c", script, options=options, **more)

    def python(self, name: str, program: str, *options: str, **more: Any) -> Ran:
        return self.fork(name, sys.executable, "-c", program, self.mark, options=options, **more)

    def start(self, name: str, *command: str, options: tuple[str, ...] = (), **more: Any) -> subprocess.Popen[bytes]:
        """A fork that goes on while the test does something to it."""
        return subprocess.Popen(
            [*indelible_command(), "--json", "fork", name, *options, "--", *command], cwd=self.root, env=environment(),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more,
        )  # fmt: skip

    def record(self, name: str) -> Any:
        """What is written down of the newest fork of that name."""
        found = list(self.forks.glob(f"{name}-*/run.json"))
        return json.loads(max(found, key=os.path.getmtime).read_bytes())

    def begun(self, name: str) -> Any:
        """As `record`, once its child runs."""
        return eventually(lambda: (one := self._maybe(name)) and one["child"] and one)

    def _maybe(self, name: str) -> Any:
        try:
            return self.record(name)
        except (ValueError, OSError):
            return None

    def orphans(self) -> list[str]:
        """Command lines of processes that carry the mark of a fork of this place, or this test's word."""
        return [line for pid in os.listdir("/proc") if pid.isdigit() and (line := self._of_ours(int(pid)))]

    def _of_ours(self, pid: int) -> str:
        try:
            state = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0]
            line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            marks = Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            return ""
        ids = [one.name.encode() for one in self.forks.glob("*-*")]
        marked = any(b"INDELIBLE_FORK=" in one and any(name in one for name in ids) for one in marks.split(b"\0"))
        return (
            f"{pid} {state!r} {line}"
            if (marked or self.mark in line) and state not in b"ZX" and pid != os.getpid()
            else ""
        )

    def sound(self) -> None:
        """No process is left, every fork is closed, and every output has the digest that is written down of it."""
        assert eventually(lambda: not self.orphans()), self.orphans()
        for folder in self.forks.glob("*-*"):
            if not (folder / "run.json").exists():  # its parent was killed before it had begun: nothing ran in it
                assert not (folder / "output").exists(), list(folder.iterdir())
                continue
            record = json.loads((folder / "run.json").read_bytes())
            assert record["reason"], record
            output = (folder / "output").read_bytes() if (folder / "output").exists() else b""
            assert record["output"]["sha256"] == hashlib.sha256(output).hexdigest()
            assert record["output"]["size"] == len(output)


def eventually(found: Callable[[], Any], seconds: float = 30) -> Any:
    """What a look comes to, once it comes to something."""
    until = time.monotonic() + seconds
    while not (value := found()) and time.monotonic() < until:
        time.sleep(0.02)
    return value


@pytest.fixture
def place(home: Path, run: Run) -> Iterator[Place]:
    root = home / "work" / "app"
    root.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=root, env=environment(), check=True)
    made = Place(run, root, f"mark{os.urandom(6).hex()}")
    assert run("init", cwd=root).code == 0
    yield made
    left = made.orphans() if sys.platform.startswith("linux") else []
    for line in left:
        os.kill(int(line.split()[0]), 9)
    assert left == [], shlex.join(left)
