"""A repository whose workflow is taken step by step, through the real command."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.conftest import environment, indelible_command
from tests.keeping.desks import PASSPHRASE, Desk

from indelible import settings
from indelible.memory.bound import WORKFLOW
from indelible.stepping.desk import open_desk
from indelible.stepping.rounds import add_round
from indelible.workflow.rounds import PILLARS, Pillar, Round

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Ran

HUMAN = """
[[target]]
id = "ok"
name = "approved-diff"
gate = "human"
inputs = ["change"]
manual = "have it looked at"
"""
"""What every workflow has to have: somebody who approves what is committed."""


def step(name: str, *lines: str, run: str | None = None, number: str = "") -> str:
    """One `[[target]]` whose command notes that it ran."""
    command = run or f"echo {name} >> ran.log"
    return "\n".join(
        ["[[target]]", f'id = "{number or name}"', f'name = "{name}"', f"run = '''{command}'''", *lines, ""]
    )


@dataclass
class Place(Desk):
    """A desk with a workflow."""

    @property
    def workflow_file(self) -> Path:
        """The workflow file."""
        return self.work / ".indelible" / "workflow.toml"

    def seal(self, *parts: str) -> None:
        """Put a workflow in force, as the owner does."""
        text = "\n".join((*parts, HUMAN)).encode()
        self.workflow_file.write_bytes(text)
        owner = self.owner()
        with self.memory() as memory:
            memory.amend(WORKFLOW, text, by=owner, reason="test")

    def secret(self) -> dict[str, str]:
        """The environment of somebody who knows the passphrase."""
        path = self.home / "passphrase"
        path.write_text(PASSPHRASE)
        path.chmod(0o600)
        return {"INDELIBLE_PASSPHRASE_FILE": str(path)}

    def flow(self, *words: str, **env: str) -> Ran:
        return self.run("flow", *words, cwd=self.work, env=env)

    def states(self) -> dict[str, str]:
        """Id of each target to how it stands."""
        return {one["target"]: one["state"] for one in self.targets()}

    def targets(self) -> list[dict[str, Any]]:
        ran = self.flow("status", "--json")
        assert ran.code == 0, ran.err
        found: list[dict[str, Any]] = ran.json["targets"]
        return found

    def reasons(self, target: str) -> list[str]:
        ran = self.flow("why", target, "--json")
        assert ran.code == 0, ran.err
        return [one["slug"] for one in ran.json["reasons"]]

    def ran(self) -> list[str]:
        """Which commands ran, in their order."""
        log = self.work / "ran.log"
        return log.read_text().split() if log.exists() else []

    def counter(self) -> str:
        return (self.folder / "99_next_action.md").read_text(encoding="utf-8")

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        """The command in the background. What it starts may outlive it, and holds no pipe of ours."""
        return subprocess.Popen(
            [*indelible_command(), *words],
            cwd=self.work,
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def review(self, verdict: str = "approved") -> None:
        """A round of the critic about the change as it is now."""
        pillars = tuple(Pillar(name, "ok") for name in PILLARS)
        blocked = ("it is wrong",) if verdict == "rejected" else ()
        found = Round(0, verdict, pillars=pillars, blocked=blocked)
        with open_desk(settings.load(self.work), environment()) as desk, desk.opened() as opened:
            add_round(desk.state, found, opened.change)

    def approve(self, *words: str) -> Ran:
        if not self.run("key", "list", cwd=self.work).out.count("approver"):
            assert self.run("key", "create", "--role", "approver", "mina", cwd=self.work, env=self.secret()).code == 0
        return self.run("approve", *words, "--yes", cwd=self.work, env=self.secret())
