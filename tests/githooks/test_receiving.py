"""A repository that receives: by the approvers' public keys, without a store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.githooks.conftest import LEO, MINA, Repo, git_in
from tests.support import signer_of

from indelible.errors import UsageError
from indelible.githooks.receiving import Terms, parse_terms
from indelible.seal.note import Verifier

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Run

NOWHERE = {
    "XDG_CONFIG_HOME": "/nonexistent/config",
    "XDG_STATE_HOME": "/nonexistent/state",
    "INDELIBLE_STORE": "/nonexistent/store.db",
}
"""The account of a server: no key, no state, no store."""


@pytest.fixture
def far(repo: Repo, run: Run) -> Path:
    """Has the first commit, and takes approved ones on `main` and `release/*`."""
    path = repo.top.parent / "far.git"
    repo.must("init", "-q", "--bare", str(path))
    repo.plainly("push", "-q", str(path), "main")
    ended = run(
        "hooks", "install", "--git", "--receive", path, "--approver", MINA.vkey, "--protect", "main", "--protect", "release/*",
        cwd=repo.top,
    )  # fmt: skip
    assert ended.code == 0, ended.err
    repo.must("remote", "add", "origin", str(path))
    return path


def push(repo: Repo, *words: str) -> tuple[int, str]:
    """Without local hooks, as an account of a server has it."""
    ended = repo.git("-c", "core.hooksPath=/dev/null", "push", "-q", "origin", *words, env=NOWHERE)
    return ended.code, ended.err


def test_approved_commits_come_in_with_public_keys_alone(repo: Repo, far: Path) -> None:
    repo.commit()
    repo.commit()
    code, said = push(repo, "main")
    assert code == 0, said
    assert git_in(far, "rev-parse", "main").out == repo.head


def test_the_pusher_reads_what_is_missing_commit_by_commit(repo: Repo, far: Path) -> None:
    repo.commit()
    repo.plainly("commit", "-q", "--allow-empty", "-m", "Unseen one")
    one = repo.head
    repo.plainly("commit", "-q", "--allow-empty", "-m", "Unseen two")
    code, said = push(repo, "main")
    assert code != 0
    for commit, subject in ((one, "Unseen one"), (repo.head, "Unseen two")):
        assert f"{commit[:12]}  '{subject}': nobody approved it" in said
    assert "indelible approve" in said
    assert "Traceback" not in said


def test_a_new_protected_branch_is_checked_over_what_the_protected_ones_have(repo: Repo, far: Path) -> None:
    repo.commit()
    assert push(repo, "main:release/1")[0] == 0
    repo.plainly("commit", "-q", "--allow-empty", "-m", "Unseen")
    assert push(repo, "HEAD:refs/heads/topic")[0] == 0
    assert push(repo, "HEAD:refs/heads/release/2")[0] != 0, "another branch has it, and nobody looked at it"


def test_deleting_and_moving_back_are_refused(repo: Repo, far: Path) -> None:
    repo.commit()
    assert push(repo, "main")[0] == 0
    code, said = push(repo, ":main")
    assert code != 0
    assert "refs/heads/main is protected, and would be deleted" in said
    code, said = push(repo, "+HEAD~1:main")
    assert code != 0
    assert "would be moved away from" in said


def test_capitals_make_no_other_branch(repo: Repo, far: Path) -> None:
    repo.plainly("commit", "-q", "--allow-empty", "-m", "Unseen")
    assert push(repo, "HEAD:refs/heads/MAIN")[0] != 0, "on some file systems it would be main"


def test_one_bad_branch_keeps_the_whole_push_out(repo: Repo, far: Path) -> None:
    repo.commit()
    good = repo.head
    repo.plainly("commit", "-q", "--allow-empty", "-m", "Unseen")
    assert push(repo, f"{good}:refs/heads/main", "HEAD:refs/heads/release/1")[0] != 0
    assert git_in(far, "rev-parse", "main").out != good


def test_nothing_of_a_refused_push_is_kept(repo: Repo, far: Path) -> None:
    repo.plainly("commit", "-q", "--allow-empty", "-m", "Unseen")
    assert push(repo, "main")[0] != 0
    assert git_in(far, "cat-file", "-e", repo.head).code != 0


def test_who_may_approve_changes_with_the_file(repo: Repo, far: Path, run: Run) -> None:
    repo.commit()
    file = far / "indelible" / "approvers"
    text = file.read_text()
    file.write_text(text.replace(MINA.vkey, f"revoked {MINA.vkey}\n{LEO.vkey}"))
    code, said = push(repo, "main")
    assert code != 0
    assert "whose key is revoked" in said
    file.write_text(text.replace(MINA.vkey, LEO.vkey))
    assert "who is no approver here" in push(repo, "main")[1]
    ended = run("hooks", "install", "--git", "--receive", far, "--approver", MINA.vkey, cwd=repo.top)
    assert ended.code == 0, ended.err
    assert "protect release/*" in file.read_text(), "what stood there stays"
    assert push(repo, "main")[0] == 0


@pytest.mark.parametrize("fault", ["gone", "nonsense", "empty"])
def test_a_file_of_approvers_that_is_broken_takes_nothing(repo: Repo, far: Path, fault: str) -> None:
    repo.commit()
    file = far / "indelible" / "approvers"
    file.unlink() if fault == "gone" else file.write_text({"nonsense": "who knows what this is\n", "empty": ""}[fault])
    code, said = push(repo, "main")
    assert code != 0
    assert ("could not be told" in said) or ("who is no approver here" in said)
    assert "Traceback" not in said


def test_a_former_hook_of_the_server_still_runs(repo: Repo, run: Run, tmp_path: Path) -> None:
    path = repo.top.parent / "other.git"
    repo.must("init", "-q", "--bare", str(path))
    repo.plainly("push", "-q", str(path), "main")
    hook = path / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ncat > {tmp_path}/seen\n")
    hook.chmod(0o755)
    assert run("hooks", "install", "--git", "--receive", path, "--approver", MINA.vkey, cwd=repo.top).code == 0
    repo.must("remote", "add", "origin", str(path))
    repo.commit()
    assert push(repo, "main")[0] == 0
    assert (tmp_path / "seen").read_text().endswith("refs/heads/main\n")


def test_a_repository_that_receives_names_its_approvers(repo: Repo, run: Run) -> None:
    path = repo.top.parent / "none.git"
    repo.must("init", "-q", "--bare", str(path))
    ended = run("hooks", "install", "--git", "--receive", path, cwd=repo.top)
    assert ended.code == 64
    assert "--approver VKEY" in ended.err
    assert run("hooks", "install", "--approver", MINA.vkey, cwd=repo.top).code == 64
    assert run("hooks", "install", "--git", "--approver", MINA.vkey, cwd=repo.top).code == 64


KEYS = st.lists(st.integers(0, 5), unique=True, max_size=4).map(
    lambda numbers: tuple(Verifier(signer_of(f"indelible-approver/a{number}").vkey) for number in numbers)
)
GONE = st.lists(st.integers(6, 9), unique=True, max_size=3).map(
    lambda numbers: tuple(Verifier(signer_of(f"indelible-approver/a{number}").vkey) for number in numbers)
)
WORDS = st.text("abc/*-0", min_size=1, max_size=8)


@given(
    KEYS,
    GONE,
    st.lists(WORDS, min_size=1, max_size=3),
    WORDS,
    st.lists(st.text("0123456789abcdef", min_size=40, max_size=40), max_size=3),
)
def test_the_file_comes_back_as_it_was_written(
    keys: tuple[Verifier, ...], gone: tuple[Verifier, ...], protected: list[str], target: str, base: list[str]
) -> None:
    terms = Terms(keys, gone, tuple(protected), target, tuple(base))
    again = parse_terms(terms.format().decode(), "x")
    assert again.format() == terms.format()
    assert [key.vkey for key in again.approvers] == [key.vkey for key in keys]


def test_a_line_that_is_none_is_named() -> None:
    with pytest.raises(UsageError, match="x:2"):
        parse_terms(f"{MINA.vkey}\nallow everybody\n", "x")
    with pytest.raises(UsageError, match="vkey"):
        parse_terms("mina\n", "x")


def test_the_hooks_of_a_receiver_are_taken_out_again(repo: Repo, far: Path, run: Run) -> None:
    assert run("hooks", "uninstall", "--receive", far, cwd=repo.top).code == 64
    ended = run("hooks", "uninstall", "--git", "--receive", far, cwd=repo.top)
    assert ended.code == 0, ended
    assert not (far / "hooks" / "pre-receive").exists()
    assert git_in(far, "config", "--get", "core.hooksPath").code == 1
    repo.plainly("commit", "-q", "--allow-empty", "-m", "nobody's")
    assert push(repo, "main")[0] == 0
    assert run("hooks", "uninstall", "--git", "--receive", far, cwd=repo.top).code == 3
