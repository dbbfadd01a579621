"""A place for one client: a home of its own, a git repository, and an environment in which nothing of the caller's is left.

Proxies are set to a port where nobody listens: a client that wants to leave this machine fails at once, and says so.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

NOBODY = "http://127.0.0.1:9"
"""Where nobody listens (the discard port)."""


@dataclass(frozen=True)
class Ended:
    """A process that has ended."""

    code: int
    out: str
    err: str
    seconds: float

    def __str__(self) -> str:
        """For a failed assertion: everything that it said."""
        return f"exit {self.code} after {self.seconds:.1f} s\n--- out\n{self.out[-6000:]}\n--- err\n{self.err[-6000:]}"


@dataclass
class Sandbox:
    """Home and project of one client."""

    root: Path
    extra: dict[str, str] = field(default_factory=dict)
    """Variables of this sandbox's own."""

    def __post_init__(self) -> None:
        for folder in (self.home, self.project):
            folder.mkdir(parents=True)
        self.git("init", "-q", "-b", "main")
        self.git("commit", "-q", "--allow-empty", "-m", "first")

    @property
    def home(self) -> Path:
        """The scratch home."""
        return self.root / "home"

    @property
    def project(self) -> Path:
        """A git repository with one commit."""
        return self.root / "project"

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """All that a process in here gets to see."""
        folders = [os.path.dirname(found) for found in map(shutil.which, ("node", "git")) if found]
        person = {"NAME": "Test", "EMAIL": "test@example.invalid"}
        return {
            "HOME": str(self.home),
            "PATH": os.pathsep.join(dict.fromkeys([*folders, "/usr/local/bin", "/usr/bin", "/bin"])),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "TMPDIR": str(self.home),
            "CI": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CEILING_DIRECTORIES": str(self.root),
            **{f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in person.items()},
            **dict.fromkeys(("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"), NOBODY),
            **dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost"),
            **self.extra,
            **(more or {}),
        }

    def git(self, *args: str) -> str:
        """Git in the project."""
        done = subprocess.run(
            ["git", *args], cwd=self.project, env=self.environment(), check=True, capture_output=True, text=True
        )
        return done.stdout

    def indelible(self, *args: str, given: str = "") -> Ended:
        """The product's command line, as a person types it in the project."""
        program = shutil.which("indelible", path=os.path.dirname(sys.executable))
        command = [program] if program else [sys.executable, "-m", "indelible"]
        return self.run([*command, *args], given=given)

    def run(
        self, command: Sequence[str], more: Mapping[str, str] | None = None, *, given: str = "", limit: float = 90
    ) -> Ended:
        """Start a program in the project and wait for its end; it and its children are killed after `limit` seconds."""
        begun = time.monotonic()
        with subprocess.Popen(
            command, cwd=self.project, env=self.environment(more), text=True, errors="replace", start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        ) as process:  # fmt: skip
            try:
                out, err = process.communicate(given, timeout=limit)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                out, err = process.communicate()
                err += f"\n(killed after {limit} s)"
        return Ended(process.returncode, out, err, time.monotonic() - begun)
