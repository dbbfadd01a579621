"""A repository with a state directory that was written as an agent writes it, and what happens to it behind its back."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from tests.cli.hands import CASES, git

from indelible import settings, wiring
from indelible.boot import wake

if TYPE_CHECKING:
    from pathlib import Path

    from indelible.boot import Briefing
    from indelible.keeping import StateDirectory
    from indelible.memory import Memory

STATE_OK = {path.name: path.read_bytes() for path in sorted((CASES / "state_ok").iterdir())}
"""The five files of the public cases."""


@dataclass(frozen=True, slots=True)
class Desk:
    """Where an agent works."""

    home: Path
    work: Path

    @property
    def folder(self) -> Path:
        return self.work / ".indelible" / "state"

    def memory(self) -> Memory:
        return wiring.open_memory(settings.load())

    def state(self) -> StateDirectory:
        return wiring.open_state(settings.load(), create=True)

    def write(self, name: str, content: bytes | str) -> None:
        with self.state() as state:
            state.write(name, content.encode() if isinstance(content, str) else content, over_budget=True)

    def fill(self, **changes: bytes) -> None:
        """Write the five files, in the order in which they come about."""
        for name, content in STATE_OK.items():
            self.write(name, changes.get(f"n{name[:2]}", content))

    def overwrite(self, name: str, content: bytes) -> None:
        """As an editor that cares for no mode."""
        path = self.folder / name
        path.chmod(0o600)
        path.write_bytes(content)
        path.chmod(0o444 if name < "30" else 0o644)

    def wake(self, **how: Any) -> Briefing:
        return wake(settings.load(), **how)


@pytest.fixture
def bare(home: Path) -> Desk:
    """A repository with a store, in which no slot was ever sealed."""
    work = home / "work"
    git(work, "init", "-q")
    wiring.open_memory(settings.load(), create=True).close()
    return Desk(home, work)


@pytest.fixture
def desk(bare: Desk) -> Desk:
    """The same, with the five slots."""
    bare.fill()
    return bare


@pytest.fixture
def rootless() -> None:
    if os.name != "posix" or os.geteuid() == 0:
        pytest.skip("modes stop nobody here")
