"""A repository in which an agent works by the workflow, with an approver's key that is not its own."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.cli.hands import git, said

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Ran, Run

LATER = "2099-01-01T00:00:00Z"
PASSPHRASE = "correct horse battery staple"
TICKET = b"# Ticket\n\nIssue: #12 sort keeps ties\nBranch: main\n\n## Requirements\n- ties keep their order\n"
PLAN = b"# Plan\n\n1. make the sort stable\n"
OKS = tuple(
    word for name in ("correctness", "architecture", "tests", "security", "performance", "readability") for word in ("--pillar", f"{name}=ok")
)  # fmt: skip


@dataclass
class Site:
    """A checkout with laws, an approver `mina`, and the command run in it."""

    run: Run
    home: Path
    top: Path

    def tell(self, *words: str | Path, input: bytes = b"", **env: str | None) -> Ran:  # noqa: A002 - as subprocess calls it
        """As the agent: no passphrase within reach."""
        return self.run(*words, input=input, cwd=self.top, env=env)

    def approver(self, *words: str | Path, **env: str | None) -> Ran:
        """As the person who knows the passphrase."""
        env = {"INDELIBLE_PASSPHRASE_FILE": str(self.home / "passphrase"), **env}
        return self.run(*words, cwd=self.top, env=env)

    def said(self, *words: str) -> dict[str, Any]:
        return said(self.tell("--json", *words))

    def git(self, *words: str) -> str:
        return git(self.top, *words)

    def commit_at(self, at: str, message: str) -> None:
        """Commit what is staged, as if at that time: before this log began, or surely after it."""
        env = {**os.environ, "GIT_COMMITTER_DATE": at}
        subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", message], cwd=self.top, check=True, env=env)

    def write(self, name: str, content: bytes | str) -> None:
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)

    def plan(self) -> None:
        """Ticket written, plan approved."""
        assert self.tell("flow", "run", "0").code == 0
        assert self.tell("state", "write", "10", input=TICKET).code == 0
        assert self.tell("state", "write", "90_plan_draft.md", input=PLAN).code == 0
        ran = self.approver("approve", "2", "--yes")
        assert ran.code == 0, ran

    def judged(self, verdict: str = "approved") -> Ran:
        """A critic's round on the change as it is."""
        return self.tell("critic", "add", "--verdict", verdict, *OKS)

    def ready(self) -> None:
        """Everything before the approval of a change."""
        self.plan()
        self.write("a.txt", "two\n")
        self.write("deep/new.txt", "new\n")
        ran = self.judged()
        assert ran.code == 0, ran

    def approved(self) -> str:
        """The change as it is, approved; gives the receipt's id."""
        ran = self.approver("--json", "approve", "--yes")
        assert ran.code == 0, ran
        return str(ran.json["receipt"])

    def counter(self) -> str:
        """What a waking agent is told to do next."""
        return (self.top / ".indelible" / "state" / "99_next_action.md").read_text(encoding="utf-8")

    def receipts(self) -> list[str]:
        """The ids of those that were issued here."""
        folder = self.top / ".indelible" / "receipts"
        return sorted(path.stem for path in folder.glob("*.receipt"))

    def status(self) -> dict[str, str]:
        """How each target stands, by its name."""
        return {one["name"]: one["state"] for one in self.said("flow", "status")["targets"]}


def site_at(run: Run, home: Path, *, name: str = "work") -> Site:
    """A site with one commit, in `home / name`."""
    top = home / name
    top.mkdir(exist_ok=True)
    made = Site(run, home, top)
    subprocess.run(["git", "init", "-q", "."], cwd=top, check=True)
    made.write("a.txt", "one\n")
    assert made.tell("init").code == 0
    made.git("add", "-A")
    made.commit_at("2020-01-01T00:00:00Z", "base")
    passphrase = home / "passphrase"
    passphrase.write_text(PASSPHRASE + "\n", encoding="utf-8")
    os.chmod(passphrase, 0o600)
    ran = made.approver("key", "create", "mina", "--role", "approver")
    assert ran.code in (0, 5), ran
    return made
