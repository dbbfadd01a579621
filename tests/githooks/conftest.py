"""Real repositories with the real hooks, put in by the real command; receipts as an approver signs them."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
from tests.conftest import environment
from tests.support import signer_of

from indelible import settings as kept
from indelible.stepping import receipts
from indelible.stepping.desk import open_desk
from indelible.workflow.change import Change, open_change
from indelible.workflow.receipt import Receipt, receipt_id, sign_receipt, to_trailer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.conftest import Run

    from indelible.seal.note import Signer

MINA = signer_of("indelible-approver/mina")
"""An approver who is trusted here."""
LEO = signer_of("indelible-approver/leo")
"""One who is not."""
HEADS = "refs/heads/"


@dataclass(frozen=True, slots=True)
class Ended:
    code: int
    out: str
    err: str


def git_in(folder: Path | str, *args: str, env: Mapping[str, str | None] | None = None, stdin: str = "") -> Ended:
    """Run git as a user does, hooks and all."""
    ended = subprocess.run(
        ["git", *args], cwd=folder, env=environment(env), input=stdin, capture_output=True, text=True, check=False, timeout=120
    )  # fmt: skip
    return Ended(ended.returncode, ended.stdout.strip(), ended.stderr.strip())


@dataclass
class Repo:
    """One checkout."""

    top: Path
    run: Run
    count: int = field(default=0)

    def git(self, *args: str, env: Mapping[str, str | None] | None = None, stdin: str = "") -> Ended:
        return git_in(self.top, *args, env=env, stdin=stdin)

    def must(self, *args: str, env: Mapping[str, str | None] | None = None, stdin: str = "") -> str:
        ended = self.git(*args, env=env, stdin=stdin)
        assert ended.code == 0, (args, ended)
        return ended.out

    def plainly(self, *args: str) -> str:
        """Git without any hook: what was there before us, or what an attacker does."""
        return self.must("-c", f"core.hooksPath={os.devnull}", *args)

    def write(self, name: str, text: str) -> Path:
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
        return path

    @property
    def head(self) -> str:
        return self.must("rev-parse", "HEAD")

    def issue(
        self, change: Change, signer: Signer = MINA, *, issued: str = "", expires: str = "", **other: object
    ) -> bytes:
        """An approver's receipt for a change, sealed in this repository's log."""
        note = self.sign(change, signer, issued=issued, expires=expires, **other)
        if signer is MINA:
            with open_desk(kept.load(str(self.top)), os.environ) as desk:
                receipts.issue(desk.memory, note, desk.approvers)
        return note

    def sign(
        self, change: Change, signer: Signer = MINA, *, issued: str = "", expires: str = "", **other: object
    ) -> bytes:
        """An approver's receipt for a change, which this repository's log does not have."""
        found = kept.load(str(self.top))
        with open_desk(found, os.environ) as desk:
            receipt = Receipt(
                desk.workflow.guard.receipt, change.format, change.base, change.tree, change.parents, change.branch, desk.repository,
                desk.workflow.digest, "d" * 64, (), issued or kept.now(), expires or "2099-01-01T00:00:00Z", os.urandom(16).hex(),
            )._replace(**other)  # type: ignore[arg-type] # fmt: skip
        return sign_receipt(receipt, signer)

    def change(self) -> Change:
        """Of the working tree."""
        with open_change(str(self.top), os.environ) as opened:
            return opened.change

    def approve(self, **other: object) -> str:
        """A receipt for the working tree as it is; its id."""
        return receipt_id(self.issue(self.change(), **other))  # type: ignore[arg-type]

    def commit(self, text: str | None = None) -> str:
        """An approved commit, by the usual way."""
        self.count += 1
        self.write("work.txt", text if text is not None else f"work {self.count}\n")
        self.must("add", "-A")
        self.approve()
        self.must("commit", "-q", "-m", f"Work {self.count}")
        return self.head

    def used(self, identity: str) -> str:
        found = kept.load(str(self.top))
        with open_desk(found, os.environ) as desk:
            return next(one.used for one in receipts.all_issued(desk.memory, desk.approvers) if one.id == identity)


def begin(run: Run, top: Path, *, form: str = "sha1") -> Repo:
    """A repository with a store and one commit, and without git hooks."""
    top.mkdir(parents=True, exist_ok=True)
    repo = Repo(top, run)
    repo.must("init", "-q", f"--object-format={form}")
    ended = run("init", cwd=top)
    assert ended.code == 0, ended.err
    ended = run("key", "trust", MINA.vkey, cwd=top)
    assert ended.code == 0, ended.err
    repo.write("readme.txt", "first\n")
    repo.must("add", "-A")
    repo.must("commit", "-q", "-m", "First")
    return repo


@pytest.fixture
def bare_repo(run: Run, home: Path) -> Repo:
    """Without git hooks."""
    return begin(run, home / "work" / "app")


@pytest.fixture
def repo(bare_repo: Repo, run: Run) -> Repo:
    """With our hooks."""
    ended = run("hooks", "install", "--git", cwd=bare_repo.top)
    assert ended.code == 0, ended.err
    return bare_repo


def trailer_of(repo: Repo, **other: object) -> str:
    """A trailer for the working tree, of a receipt that this machine's log does not have."""
    return to_trailer(repo.issue(repo.change(), **other))  # type: ignore[arg-type]
