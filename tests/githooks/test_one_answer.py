"""Git's hooks, the host's gate, boot and CI say the same of a commit: by the workflow in force, and by what was there before."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from indelible import settings as kept
from indelible.stepping.permitting import permitted
from indelible.stepping.publishing import parse_push
from indelible.workflow.branches import PROTECTED
from indelible.workflow.graph import Guard
from indelible.workflow.guard import COMMANDS, RECEIPT
from indelible.workflow.parsing import default_workflow
from indelible.workflow.receipt import SKEW

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.conftest import Run
    from tests.githooks.conftest import Repo

UNAPPROVED = "nobody approved"
PUSHES = {
    ("origin", "feature"): True,
    ("origin", "HEAD"): True,
    ("-u", "origin", "feature"): True,
    (): True,
    ("origin", "+feature:refs/heads/other"): True,
    ("origin", "feature:main"): False,
    ("origin", "HEAD:refs/heads/main"): False,
    ("-o", "ci.skip", "origin", "feature:heads/master"): False,
    ("origin", "main", "feature:MAIN"): False,
    ("origin", "main"): True,
    ("--all",): True,
    ("origin", "--tags"): True,
}
"""Words of a push from a branch that is not guarded, and whether git's hook lets it pass."""


def seal(repo: Repo, old: str, new: str) -> None:
    """The workflow that is built in, with something else in it, in force."""
    secret = repo.top.parent / "passphrase"
    secret.write_text("a passphrase for tests\n")
    env = {"INDELIBLE_PASSPHRASE_FILE": str(secret)}
    ended = repo.run("flow", "init", cwd=repo.top, env=env)
    assert ended.code == 0, ended.err
    file = repo.top / ".indelible" / "workflow.toml"
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))
    ended = repo.run("flow", "seal", "--reason", "test", cwd=repo.top, env=env)
    assert ended.code == 0, ended.err


def only_main(repo: Repo) -> None:
    seal(repo, 'branches = ["*"]', 'branches = ["main"]')


def gate(repo: Repo, *words: str, what: str = "push") -> str:
    said: Sequence[str] | None = ("push", *words) if what == "push" else words
    return permitted(kept.load(str(repo.top)), str(repo.top), what, os.environ, said)


LATER = "2099-01-01T00:00:00Z"
"""Surely after this log began, whatever second it began in."""


def on_a_branch(repo: Repo, name: str = "feature", *, at: str | None = LATER) -> None:
    """A commit without a receipt, which the hooks let pass where the branch is not guarded; `at` that time, or now."""
    repo.must("checkout", "-q", "-b", name)
    repo.write("readme.txt", f"{name}\n")
    repo.must("commit", "-q", "-a", "-m", "Unguarded", env={"GIT_COMMITTER_DATE": at})


@pytest.fixture
def awake(repo: Repo, run: Run) -> Repo:
    assert run("state", "init", cwd=repo.top).code == 0
    return repo


@pytest.fixture
def far(awake: Repo) -> Path:
    path = awake.top.parent / "far.git"
    awake.must("init", "-q", "--bare", str(path))
    awake.must("remote", "add", "origin", str(path))
    awake.plainly("push", "-q", "origin", "main")
    return path


def boot(repo: Repo) -> str:
    ended = repo.run("boot", cwd=repo.top)
    assert ended.code == 0, ended.err
    return ended.out + ended.err


# Boot.


def test_boot_goes_by_the_target_of_the_workflow_in_force(awake: Repo) -> None:
    seal(awake, f'"{RECEIPT}"', '"human-ok"')
    boot(awake)
    awake.commit()
    assert UNAPPROVED not in boot(awake)
    awake.write("readme.txt", "unseen\n")
    awake.plainly("commit", "-q", "-a", "-m", "Unseen")
    assert UNAPPROVED in boot(awake)


def test_boot_says_nothing_of_a_branch_that_is_not_guarded(awake: Repo) -> None:
    only_main(awake)
    boot(awake)
    on_a_branch(awake)
    assert UNAPPROVED not in boot(awake)
    awake.must("checkout", "-q", "main")
    assert UNAPPROVED not in boot(awake)
    awake.plainly("merge", "-q", "--ff-only", "feature")
    assert UNAPPROVED in boot(awake), "what lay on it is still new to one that is guarded"


def test_boot_says_nothing_of_what_was_there_before_the_hooks(bare_repo: Repo, run: Run) -> None:
    assert run("state", "init", cwd=bare_repo.top).code == 0
    on_a_branch(bare_repo, "older", at=None)
    bare_repo.must("checkout", "-q", "main")
    assert run("hooks", "install", "--git", cwd=bare_repo.top).code == 0
    boot(bare_repo)
    bare_repo.must("checkout", "-q", "older")
    assert UNAPPROVED not in boot(bare_repo)


# The host's gate, against the push itself.


def test_the_gate_permits_the_pushes_that_git_permits(far: Path, awake: Repo) -> None:
    assert far.exists()
    only_main(awake)
    on_a_branch(awake)
    awake.must("config", "push.autoSetupRemote", "true")
    awake.must("config", "remote.pushDefault", "origin")
    for words, permits in PUSHES.items():
        assert (gate(awake, *words) == "") is permits, words
        assert (awake.git("push", "--dry-run", *words).code == 0) is permits, words


def test_the_words_of_a_push() -> None:
    assert parse_push(("push", "-fo", "x", "origin")) is None, "the next word may be the option's"
    assert parse_push(("push", "--push-opt", "x", "origin")) is None
    assert parse_push(("push", "--repo=x", "main")) is None
    assert parse_push(("push", "origin", "refs/heads/*:refs/heads/*")) is None
    assert parse_push(("send-pack", "x", "main")) is None
    assert parse_push(("push", "-f", "-o", "x", "--", "origin", "a", "b:c")) == ("origin", ("a", "b:c"), False)
    assert parse_push(("push", "--follow-tags", "--mirror", "far")) == ("far", (), True)


def test_a_push_whose_words_are_not_told_is_held_by_the_branch_of_head(far: Path, awake: Repo) -> None:
    assert far.exists()
    only_main(awake)
    on_a_branch(awake)
    here = kept.load(str(awake.top))
    assert permitted(here, str(awake.top), "push", os.environ, ()) == ""
    assert permitted(here, str(awake.top), "merge", os.environ, ()) == ""
    asked_for = permitted(here, str(awake.top), "merge", os.environ, None)
    assert "not approved" in asked_for, "a merge by a server's tool goes past git's hooks"
    assert "git reset --soft" in asked_for
    awake.plainly("branch", "-f", "main", "feature")
    awake.must("checkout", "-q", "main")
    assert "not approved" in permitted(here, str(awake.top), "push", os.environ, ())


def test_a_refspec_in_the_settings_is_not_overlooked(far: Path, awake: Repo) -> None:
    assert far.exists()
    only_main(awake)
    on_a_branch(awake)
    awake.plainly("branch", "-f", "main", "feature")
    awake.must("checkout", "-q", "main")
    awake.must("config", "remote.origin.push", "refs/heads/feature:refs/heads/main")
    assert "not approved" in gate(awake, "origin", "feature")
    assert awake.git("push", "origin", "feature").code != 0


def test_what_was_committed_between_the_log_and_the_hooks_is_pushed(bare_repo: Repo, run: Run) -> None:
    time.sleep(1.1)  # a commit of the same second would count as one from before the log
    bare_repo.write("readme.txt", "before the hooks\n")
    bare_repo.must("commit", "-q", "-a", "-m", "Later than the log")
    assert run("hooks", "install", "--git", cwd=bare_repo.top).code == 0
    assert run("state", "init", cwd=bare_repo.top).code == 0
    far = bare_repo.top.parent / "far.git"
    bare_repo.must("init", "-q", "--bare", str(far))
    assert gate(bare_repo, str(far), "main") == ""
    assert bare_repo.git("push", str(far), "main").code == 0


def test_capitals_count_for_no_more_at_the_gate_than_in_the_hook(awake: Repo) -> None:
    only_main(awake)
    awake.must("checkout", "-q", "-b", "Main")
    awake.write("readme.txt", "unseen\n")
    assert gate(awake, what="commit") != ""
    assert awake.git("commit", "-q", "-a", "-m", "x").code != 0


# The clock.


def test_a_receipt_of_a_clock_that_is_a_little_ahead_serves_everywhere(awake: Repo) -> None:
    awake.write("readme.txt", "second\n")
    ahead = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + SKEW - 60))
    awake.approve(issued=ahead)
    assert gate(awake, what="commit") == ""
    ended = awake.git("commit", "-q", "-a", "-m", "Second")
    assert ended.code == 0, ended.err
    assert UNAPPROVED not in boot(awake)


# What stands for a setting where there is none.


def test_every_default_is_that_of_the_workflow_that_is_built_in() -> None:
    guard = default_workflow().guard
    assert (guard.receipt, guard.protected, guard.branches) == (RECEIPT, PROTECTED, Guard().branches)
    assert (Guard().receipt, Guard().protected) == (RECEIPT, PROTECTED)
    assert dict(COMMANDS) == dict(guard.commands)


def test_which_branch_is_guarded() -> None:
    guard = Guard(branches=("main", "release/*"), protected=("main",))
    assert [guard.guards(f"refs/heads/{name}") for name in ("main", "MAIN", "release/1", "x", "main2")] == [
        True, True, True, False, False,
    ]  # fmt: skip
    assert guard.guards(""), "a detached HEAD"
    assert not Guard(receipt="").guards("")
    assert not guard.guards("refs/tags/main")
    assert (guard.protects("refs/heads/main"), guard.protects("refs/heads/release/1"), guard.protects("")) == (
        True, False, False,
    )  # fmt: skip
