"""Real repositories for the tests of anchors, and a place that is told rather than found out."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from indelible.gate.anchors.capturing import capture
from indelible.gate.anchors.files import Files
from indelible.gate.place import NO_REMEDIES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from indelible.gate.verdict import Reason
    from indelible.record import Anchor

REPO = "github.com/example/app"
LATER = 10_000_000_000
"""Nanoseconds after now, when no file that a test has written is fresh any more."""


class Here(NamedTuple):
    """A place, as the gate asks for it."""

    repo: str | None = REPO
    top: str | None = None
    root: str | None = None
    revision: str | None = None
    branch: str | None = None
    problem: Reason | None = None
    remedies: Mapping[str, str] = NO_REMEDIES


@dataclass
class Checkout:
    """A work tree in which git is run as people run it."""

    top: Path

    def git(self, *args: str | Path, check: bool = True, **env: str) -> str:
        ended = subprocess.run(
            ["git", *map(str, args)], cwd=self.top, env={**os.environ, **env}, capture_output=True, check=False
        )
        assert not check or ended.returncode == 0, ended.stderr.decode()
        return ended.stdout.decode().strip()

    def write(self, path: str, content: bytes | str) -> None:
        file = self.top / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)

    def commit(self, **files: bytes | str) -> str:
        """Write these files and commit all there is."""
        for path, content in files.items():
            self.write(path, content)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "change")
        return self.git("rev-parse", "HEAD")

    def files(self, *, apis: Mapping[str, str] | None = None, environ: Mapping[str, str] | None = None) -> Files:
        """The world as it is now, with nothing remembered."""
        return Files(Here(top=str(self.top)), os.environ if environ is None else environ, apis or {})

    def capture(self, text: str, **facts: Mapping[str, str]) -> tuple[Anchor, ...]:
        return capture(text, self.files(**facts), str(self.top))

    def anchor(self, text: str, **facts: Mapping[str, str]) -> Anchor:
        (made,) = self.capture(text, **facts)
        return made


def checkout_in(folder: Path) -> Checkout:
    """A repository with `src/app.py` and `README.md` in its one commit."""
    folder.mkdir(parents=True)
    made = Checkout(folder)
    made.git("init", "-q")
    made.write("src/app.py", "print('one')\nprint('two')\nprint('three')\n")
    made.write("README.md", "# App\n")
    made.commit()
    return made
