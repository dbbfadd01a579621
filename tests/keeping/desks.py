"""A repository with a state directory in it, as the agent that works there has it, and what can be done behind its back."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.cli.hands import CASES, git, within
from tests.conftest import environment, indelible_command

from indelible import settings, wiring
from indelible.memory import amending, deciding, disciplining

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    from tests.conftest import Ran, Run

    from indelible.keeping import StateDirectory
    from indelible.memory import Memory
    from indelible.seal.note import Signer

STATE_OK = {path.name: path.read_bytes() for path in sorted((CASES / "state_ok").iterdir())}
"""The five files of the public cases; their 99 has the older words."""
LAW, TICKET, PLAN, CRITIC, NEXT = STATE_OK
PASSPHRASE = "correct horse battery staple"


@dataclass
class Desk:
    """A home with a repository, its store, and its state directory."""

    run: Run
    home: Path
    work: Path

    @property
    def folder(self) -> Path:
        return self.work / ".indelible" / "state"

    @property
    def settings(self) -> settings.Settings:
        return settings.load(self.work)

    def state(self) -> StateDirectory:
        """In this process; use it in a `with` statement."""
        return wiring.open_state(self.settings)

    def memory(self) -> Memory:
        return wiring.open_memory(self.settings)

    def fill(self) -> None:
        """The five files of the public cases, each through its own verb."""
        with self.state() as state:
            for name, content in STATE_OK.items():
                state.append(name, content) if name == CRITIC else state.write(name, content)

    def write(self, name: str, content: bytes) -> None:
        with self.state() as state:
            state.write(name, content)

    def owner(self) -> Signer:
        """The owner's key, made here at its first need."""
        keys, name = wiring.keystore(self.settings), f"{wiring.OWNER}test"
        return (
            keys.create(name, "owner", lambda _: PASSPHRASE)
            if keys.verifier(name) is None
            else keys.signer(name, lambda _: PASSPHRASE)
        )

    def check(self) -> list[str]:
        """The slugs that a look at everything finds, tampering first."""
        with self.state() as state:
            return [one.slug for one in sorted(state.check().findings, key=lambda one: not one.is_tampering)]

    def exit_of_check(self) -> int:
        return within("state", "check")

    def exit_of_boot(self) -> int:
        return within("boot")

    def refused(self) -> list[str]:
        """Keys of the writes that were refused and written down."""
        ran = self.run("deliveries", "--json")
        return [one["key"] for one in ran.json["deliveries"] if one["outcome"] == "refused"]

    def said(self, *words: str, **how: Any) -> Any:
        return json.loads(self.run(*words, "--json", **how).stdout)

    def tell(self, *words: str, content: bytes = b"") -> Ran:
        return self.run(*words, input=content, cwd=self.work)

    def run_with(self, stdin: int, *words: str) -> int:
        """The command with a terminal, or whatever else, as standard input; gives its exit code."""
        done = subprocess.run(
            [*indelible_command(), *words],
            cwd=self.work,
            env=environment(),
            stdin=stdin,
            capture_output=True,
            check=False,
        )
        return done.returncode

    # Behind its back.

    def file(self, name: str) -> Path:
        return self.folder / name

    def overwrite(self, name: str, content: bytes) -> None:
        """As an editor that cares for no mode."""
        path = self.file(name)
        mode = path.stat().st_mode & 0o777
        path.chmod(0o600)
        path.write_bytes(content)
        path.chmod(mode)


def desk_at(home: Path, work: Path, run: Run) -> Desk:
    """A fresh repository at `work`, initialised with the laws of the public cases."""
    work.mkdir(parents=True, exist_ok=True)
    os.chdir(work)
    git(work, "init", "-q")
    laws = home / "laws.md"
    laws.write_bytes(STATE_OK[LAW])
    assert within("init", "--governance", str(laws)) == 0
    return Desk(run, home, work)


def lift_the_disciplines(patch: pytest.MonkeyPatch) -> None:
    """Make this program one that keeps no discipline, as somebody with the agent's key can."""
    for module in (disciplining, amending):
        patch.setattr(module, "refuse_save", lambda *_args, **_facts: None)
    for module in (disciplining, deciding):
        patch.setattr(module, "refuse_note", lambda *_args: None)
