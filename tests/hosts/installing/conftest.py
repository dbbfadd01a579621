"""A machine with our programs on its PATH, and a repository in it whose path has a space and Korean in its name."""

from __future__ import annotations

import os
import shlex
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from tests.cli.conftest import plain_user
from tests.cli.hands import git, within

from indelible.hosts.installing import calling
from indelible.hosts.installing.targets import Machine
from indelible.settings.hosting import host_places

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Ran, Run

__all__ = ["plain_user"]  # without a superuser's rights

MODULES = {"indelible-hook": "indelible.hosts.hook", "indelible": "indelible"}


@dataclass(frozen=True)
class Place:
    """The repository, the home around it, and the command line in it."""

    run: Run
    home: Path
    work: Path

    def hooks(self, *words: str, code: int = 0, env: dict[str, str | None] | None = None) -> Ran:
        ran = self.run("hooks", *words, cwd=self.work, env=env)
        assert ran.code == code, ran
        return ran

    def move(self, path: Path, program: str) -> None:
        """Write another path of the hook program into a host's file, as a program that has moved since leaves it."""
        text, hook = path.read_text(encoding="utf-8"), self.machine.programs.hook
        for old, new in ((shlex.quote(hook), shlex.quote(program)), (hook, program)):
            if old in text:
                text = text.replace(old, new)
                break
        path.write_text(text, encoding="utf-8")

    @property
    def machine(self) -> Machine:
        programs = calling.locate(sys.executable, os.environ["PATH"])
        return Machine(
            host_places(os.environ), str(self.work), str(self.home / "state" / "indelible"), programs, os.environ
        )


@pytest.fixture
def place(home: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> Place:
    tools = home / "our tools 도구"
    tools.mkdir()
    for name, module in MODULES.items():
        script = tools / name
        script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m {module} "$@"\n', encoding="utf-8")
        script.chmod(0o755)
    # Only what a test puts there is found: the developer's own clients are not.
    monkeypatch.setenv("PATH", os.pathsep.join([str(tools), *_plain_path()]))
    work = home / "my project 작업"
    work.mkdir()
    git(work, "init", "-q")
    return Place(run, home, work)


@pytest.fixture
def begun(place: Place, monkeypatch: pytest.MonkeyPatch) -> Place:
    """The same, with a store and a state directory in it."""
    monkeypatch.chdir(place.work)
    assert within("init") == 0
    if not (place.work / ".indelible" / "state" / "00_governance.md").exists():
        (place.home / "laws").write_text("# Laws\n\n- 승인 없이 push 하지 않는다\n", encoding="utf-8")
        assert within("state", "write", "00_governance.md", str(place.home / "laws")) == 0
    return place


def _plain_path() -> list[str]:
    return [
        folder for folder in os.environ["PATH"].split(os.pathsep) if folder in ("/usr/local/bin", "/usr/bin", "/bin")
    ]
