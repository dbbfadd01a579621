"""Approve, then commit: what git really makes is held against what was approved, whichever command made it."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

import pytest
from tests.conftest import environment
from tests.githooks.conftest import LEO, begin, trailer_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Run
    from tests.githooks.conftest import Repo


def test_an_approved_change_is_committed_with_its_receipt(repo: Repo) -> None:
    repo.write("new.txt", "new\n")
    receipt = repo.approve()
    repo.must("add", "-A")
    ended = repo.git("commit", "-m", "Add it")
    assert ended.code == 0, ended.err
    assert "Indelible-Receipt: " in repo.must("log", "-1", "--format=%B")
    assert repo.used(receipt) == repo.head


def test_what_nobody_approved_is_not_committed(repo: Repo) -> None:
    before = repo.head
    repo.write("new.txt", "new\n")
    repo.must("add", "-A")
    ended = repo.git("commit", "-m", "Add it")
    assert ended.code != 0
    assert "Nobody approved" in ended.err
    assert "indelible approve" in ended.err
    assert repo.head == before


def test_a_part_of_what_was_approved_is_named(repo: Repo) -> None:
    repo.write("one.txt", "1\n")
    repo.write("two.txt", "2\n")
    repo.approve()
    repo.must("add", "one.txt")
    ended = repo.git("commit", "-m", "Half")
    assert ended.code != 0
    assert "'two.txt'" in ended.err
    assert "'one.txt'" not in ended.err
    assert repo.git("add", "-A").code == 0
    assert repo.git("commit", "-m", "All").code == 0


@pytest.mark.parametrize("words", [("-a",), ("--", "readme.txt"), ("-o", "readme.txt"), ("-i", "readme.txt")])
def test_each_form_of_commit_hands_its_own_index(repo: Repo, words: tuple[str, ...]) -> None:
    repo.write("readme.txt", "second\n")
    repo.approve()
    index = repo.top / ".git" / "index"
    ended = repo.git("commit", "-m", "Second", *words)
    assert ended.code == 0, ended.err
    assert index.is_file()
    assert repo.git("status", "--porcelain").out == ""


@pytest.mark.parametrize("approved", [False, True])
def test_our_hook_does_not_write_the_index(repo: Repo, approved: bool) -> None:
    repo.write("readme.txt", "second\n")
    repo.must("add", "-A")
    if approved:
        repo.approve()
    index = repo.top / ".git" / "index"
    before, stamp = index.read_bytes(), index.stat().st_mtime_ns
    ended = repo.run("flow", "hook", "pre-commit", cwd=repo.top, env={"GIT_INDEX_FILE": ".git/index"})
    assert ended.code == (0 if approved else 2)
    assert (index.read_bytes(), index.stat().st_mtime_ns) == (before, stamp)


def test_only_one_path_is_committed_where_only_that_was_approved(repo: Repo) -> None:
    repo.write("readme.txt", "second\n")
    repo.approve()
    repo.write("later.txt", "not shown\n")
    repo.must("add", "-A")
    ended = repo.git("commit", "-m", "All")
    assert ended.code != 0
    assert repo.git("commit", "-m", "One", "--", "readme.txt").code == 0


def test_no_verify_is_stopped_at_the_reference(repo: Repo) -> None:
    before = repo.head
    repo.write("readme.txt", "second\n")
    ended = repo.git("commit", "-a", "-m", "Second", "--no-verify")
    assert ended.code != 0
    assert "Nobody approved" in ended.err
    assert repo.head == before


def test_an_approved_change_without_its_receipt_in_the_message_is_told_so(repo: Repo) -> None:
    repo.write("readme.txt", "second\n")
    repo.approve()
    ended = repo.git("commit", "-a", "-m", "Second", "--no-verify")
    assert ended.code != 0
    assert "without --no-verify" in ended.err
    assert repo.git("commit", "-a", "-m", "Second").code == 0


def test_plumbing_is_stopped_at_the_reference(repo: Repo) -> None:
    before = repo.head
    made = repo.must("commit-tree", repo.must("write-tree"), "-p", "HEAD", "-m", "Plumbing")
    for words in (
        ("update-ref", "refs/heads/main", made),
        ("branch", "-f", "other", made),
        ("reset", "--hard", made),
        ("checkout", "-B", "x", made),
    ):
        assert repo.git(*words).code != 0, words
    ended = repo.git("update-ref", "--stdin", stdin=f"update refs/heads/main {made}\n")
    assert ended.code != 0
    assert repo.head == before


def test_a_formatter_that_changes_the_tree_after_the_approval_is_found(repo: Repo) -> None:
    hook = repo.top / ".git" / "hooks" / "commit-msg"
    text = hook.read_text()
    # Runs before ours checks the message, and after ours checked the tree: the worst place for a change.
    hook.write_text(text + "echo formatted >> readme.txt\ngit add readme.txt\n")
    repo.write("readme.txt", "second\n")
    repo.must("add", "-A")
    repo.approve()
    before = repo.head
    ended = repo.git("commit", "-m", "Second")
    assert ended.code != 0
    assert repo.head == before


def test_a_formatter_before_us_is_found_with_the_paths(repo: Repo) -> None:
    hook = repo.top / ".git" / "hooks" / "pre-commit"
    hook.write_text(hook.read_text() + "echo formatted >> readme.txt\ngit add readme.txt\n")
    repo.write("readme.txt", "second\n")
    repo.must("add", "-A")
    repo.approve()
    ended = repo.git("commit", "-m", "Second")
    assert ended.code != 0
    assert "Nobody approved this very change" in ended.err


def test_another_message_for_the_same_change_is_no_new_change(repo: Repo) -> None:
    repo.commit()
    receipt = repo.must("log", "-1", "--format=%(trailers:key=Indelible-Receipt,valueonly)")
    ended = repo.git("commit", "--amend", "-m", "Said better")
    assert ended.code == 0, ended.err
    assert repo.must("log", "-1", "--format=%s") == "Said better"
    assert repo.must("log", "-1", "--format=%(trailers:key=Indelible-Receipt,valueonly)") == receipt
    assert repo.git("commit", "--amend", "-m", "And again").code == 0


def test_an_amendment_that_changes_a_file_needs_a_receipt_of_its_own(repo: Repo) -> None:
    repo.commit()
    before = repo.head
    repo.write("work.txt", "slipped in\n")
    ended = repo.git("commit", "-a", "--amend", "--no-edit")
    assert ended.code != 0
    assert repo.head == before
    change = repo.change()
    repo.issue(change._replace(base=repo.must("rev-parse", "HEAD^")))
    ended = repo.git("commit", "-a", "--amend", "--no-edit")
    assert ended.code == 0, ended.err
    assert len(repo.must("log", "-1", "--format=%(trailers:key=Indelible-Receipt,valueonly)").split()) == 1


def test_an_amendment_is_approved_as_a_change_on_the_commits_parent(repo: Repo) -> None:
    base = repo.head
    former = repo.commit("first try\n")
    repo.must("reset", "--soft", "HEAD~1")
    repo.write("work.txt", "second try\n")
    repo.must("add", "-A")
    assert repo.git("commit", "-q", "-m", "Work").code != 0
    identity = repo.approve()
    repo.must("commit", "-q", "-m", "Work")
    assert repo.must("rev-parse", "HEAD~1") == base
    assert repo.used(identity) == repo.head != former


def test_an_empty_commit_is_refused(repo: Repo) -> None:
    before = repo.head
    ended = repo.git("commit", "--allow-empty", "-m", "Nothing")
    assert ended.code != 0
    assert repo.head == before


def test_an_empty_message_still_ends_the_commit(repo: Repo) -> None:
    repo.write("readme.txt", "second\n")
    repo.approve()
    ended = repo.git("commit", "-a", env={"GIT_EDITOR": "true"})
    assert ended.code != 0
    assert "empty commit message" in ended.err


def test_a_message_with_the_diff_below_it_gets_its_receipt_above(repo: Repo) -> None:
    repo.write("readme.txt", "second\n")
    repo.approve()
    editor = repo.top.parent / "editor"
    editor.write_text('#!/bin/sh\n{ echo Second; cat "$1"; } > "$1.new" && mv "$1.new" "$1"\n')
    editor.chmod(0o755)
    ended = repo.git("commit", "-a", "-v", env={"GIT_EDITOR": str(editor)})
    assert ended.code == 0, ended.err
    assert repo.must("log", "-1", "--format=%(trailers:key=Indelible-Receipt,valueonly)")
    assert "diff --git" not in repo.must("log", "-1", "--format=%B")


def test_trailers_of_others_stay(repo: Repo) -> None:
    repo.write("readme.txt", "second\n")
    repo.approve()
    repo.must("commit", "-a", "-m", "Second\n\nBody --- with a divider\n---\nmore\n\nSigned-off-by: A <a@b>")
    body = repo.must("log", "-1", "--format=%B")
    assert "Signed-off-by: A <a@b>\nIndelible-Receipt: " in body
    assert "---\nmore" in body


def test_settings_about_trailers_do_not_keep_it_out(repo: Repo) -> None:
    repo.must("config", "trailer.ifexists", "doNothing")
    repo.must("config", "trailer.where", "start")
    repo.must("config", "trailer.separators", "#")
    repo.write("readme.txt", "second\n")
    repo.approve()
    ended = repo.git("commit", "-a", "-m", "Second")
    assert ended.code == 0 or "trailer." in ended.err


# What does not fit, and why.


def test_an_expired_receipt_is_none(repo: Repo) -> None:
    repo.write("readme.txt", "second\n")
    repo.approve(issued="2020-01-01T00:00:00Z", expires="2020-01-02T00:00:00Z")
    ended = repo.git("commit", "-a", "-m", "Second")
    assert ended.code != 0
    assert "it expired at 2020-01-02T00:00:00Z" in ended.err


def test_a_clock_that_went_back_is_told(repo: Repo) -> None:
    repo.write("readme.txt", "second\n")
    repo.approve(issued="2098-01-01T00:00:00Z")
    ended = repo.git("commit", "-a", "-m", "Second")
    assert ended.code != 0
    assert "it went back" in ended.err


def test_a_receipt_serves_once(repo: Repo) -> None:
    repo.commit("one\n")
    first = repo.head
    trailer = repo.must("log", "-1", "--format=%(trailers:key=Indelible-Receipt)")
    repo.must("reset", "-q", "--hard", "HEAD~1")
    repo.write("work.txt", "one\n")
    repo.must("add", "-A")
    ended = repo.git("commit", "-m", "Again")
    assert ended.code != 0
    assert f"it was used for {first[:12]}" in ended.err
    made = repo.must("commit-tree", repo.must("write-tree"), "-p", "HEAD", "-m", f"By hand\n\n{trailer}")
    ended = repo.git("update-ref", "refs/heads/main", made)
    assert ended.code != 0
    assert "used-twice" in ended.err
    assert repo.git("reset", "--hard", first).code == 0, "the commit itself may come back"


def test_a_receipt_for_another_branch_is_told(repo: Repo) -> None:
    repo.write("readme.txt", "second\n")
    repo.approve(branch="refs/heads/other")
    ended = repo.git("commit", "-a", "-m", "Second")
    assert ended.code != 0
    assert "it is for refs/heads/other, not refs/heads/main" in ended.err


def test_a_receipt_of_another_repository_is_told(repo: Repo) -> None:
    repo.write("readme.txt", "second\n")
    repo.approve(repository="github.com/other/thing")
    ended = repo.git("commit", "-a", "-m", "Second")
    assert ended.code != 0
    assert "it is for the repository github.com/other/thing" in ended.err


def test_a_receipt_of_another_target_is_none(repo: Repo) -> None:
    repo.write("readme.txt", "second\n")
    repo.approve(target="approved-plan")
    assert repo.git("commit", "-a", "-m", "Second").code != 0


def test_who_is_no_approver_here_approves_nothing(repo: Repo) -> None:
    repo.write("readme.txt", "second\n")
    repo.must("add", "-A")
    trailer = trailer_of(repo, signer=LEO)
    ended = repo.git("commit", "-m", f"Second\n\n{trailer}")
    assert ended.code != 0
    made = repo.must("commit-tree", repo.must("write-tree"), "-p", "HEAD", "-m", f"Second\n\n{trailer}")
    ended = repo.git("update-ref", "refs/heads/main", made)
    assert ended.code != 0
    assert "unknown-approver" in ended.err


def test_a_moved_base_makes_the_receipt_void(repo: Repo) -> None:
    repo.write("readme.txt", "second\n")
    repo.approve()
    repo.plainly("commit", "-q", "--allow-empty", "-m", "Underneath")
    ended = repo.git("commit", "-a", "-m", "Second")
    assert ended.code != 0
    assert "stood on" in ended.err


# Other ways to a commit.


def test_a_first_commit_on_an_unborn_branch(repo: Repo) -> None:
    repo.must("checkout", "-q", "--orphan", "fresh")
    assert repo.git("commit", "-m", "Root").code != 0
    repo.approve()
    ended = repo.git("commit", "-m", "Root")
    assert ended.code == 0, ended.err


def test_a_detached_head(repo: Repo) -> None:
    repo.must("checkout", "-q", "--detach")
    repo.write("readme.txt", "second\n")
    assert repo.git("commit", "-a", "-m", "Second").code != 0
    assert repo.git("commit", "-a", "-m", "Second", "--no-verify").code != 0
    repo.approve()
    ended = repo.git("commit", "-a", "-m", "Second")
    assert ended.code == 0, ended.err
    assert repo.git("branch", "kept").code == 0, "it is what its receipt says, and was used by this very commit"


def test_a_repository_of_sha256(run: Run, home: Path) -> None:
    repo = begin(run, home / "work" / "long", form="sha256")
    assert run("hooks", "install", "--git", cwd=repo.top).code == 0
    repo.commit()
    repo.write("work.txt", "nobody saw it\n")
    assert repo.git("commit", "-a", "-m", "No", "--no-verify").code != 0


def test_worktrees_share_the_hooks(repo: Repo, run: Run) -> None:
    beside = repo.top.parent / "beside"
    repo.must("worktree", "add", "-q", "-b", "beside", str(beside))
    other = type(repo)(beside, run)
    other.write("readme.txt", "second\n")
    assert other.git("commit", "-a", "-m", "Second").code != 0
    other.approve()
    ended = other.git("commit", "-a", "-m", "Second")
    assert ended.code == 0, ended.err


def _two_lines(repo: Repo) -> None:
    """`side` and `main`, each with an approved commit of its own."""
    repo.must("checkout", "-q", "-b", "side")
    repo.write("side.txt", "side\n")
    repo.must("add", "-A")
    repo.approve()
    repo.must("commit", "-q", "-m", "Side")
    repo.must("checkout", "-q", "main")
    repo.commit()


def test_a_merge_needs_a_receipt_of_its_own(repo: Repo) -> None:
    _two_lines(repo)
    before = repo.head
    assert repo.git("merge", "--no-edit", "side").code != 0
    assert repo.head == before
    repo.git("merge", "--abort")
    repo.must("merge", "--no-commit", "side")
    repo.approve()
    ended = repo.git("commit", "--no-edit")
    assert ended.code == 0, ended.err
    assert len(repo.must("log", "-1", "--format=%P").split()) == 2


def test_a_fast_forward_to_approved_commits_needs_none(repo: Repo) -> None:
    repo.must("checkout", "-q", "-b", "side")
    repo.commit()
    repo.must("checkout", "-q", "main")
    assert repo.git("merge", "--ff-only", "side").code == 0


@pytest.mark.parametrize("words", [("cherry-pick", "side"), ("rebase", "side"), ("revert", "--no-edit", "HEAD")])
def test_what_makes_commits_by_itself_is_stopped(repo: Repo, words: tuple[str, ...]) -> None:
    _two_lines(repo)
    before = repo.head
    ended = repo.git(*words)
    assert ended.code != 0
    repo.git(words[0], "--abort")
    assert repo.must("rev-parse", "main") == before
    assert repo.head == before
    assert repo.must("symbolic-ref", "HEAD") == "refs/heads/main"


def test_where_no_commit_needs_a_receipt_every_one_is_made(repo: Repo) -> None:
    text = b"[guard]\nreceipt = ''\n[[target]]\nid = 'a'\nname = 'a'\nrun = 'true'\n"
    (repo.top / ".indelible" / "workflow.toml").write_bytes(text)
    secret = repo.top.parent / "passphrase"
    secret.write_text("four words are enough\n")
    secret.chmod(0o600)
    words = {"INDELIBLE_PASSPHRASE_FILE": str(secret)}
    assert repo.run("key", "create", "--role", "owner", cwd=repo.top, env=words).code == 0
    assert repo.run("flow", "seal", "--reason", "stamps alone", cwd=repo.top, env=words).code == 0
    repo.write("a.txt", "two\n")
    repo.git("add", "-A")
    assert repo.git("commit", "-q", "-m", "on a branch").code == 0
    repo.git("checkout", "-q", "--detach")
    ended = repo.git("commit", "-q", "--allow-empty", "-m", "on none")
    assert ended.code == 0, ended.err


def test_am_is_stopped(repo: Repo) -> None:
    _two_lines(repo)
    before = repo.head
    patch = repo.must("format-patch", "--stdout", "-1", "side")
    ended = repo.git("am", stdin=patch + "\n")
    assert ended.code != 0
    assert repo.git("am", "--abort").code == 0
    assert repo.head == before


def test_a_cherry_pick_that_was_approved_is_committed(repo: Repo) -> None:
    _two_lines(repo)
    repo.must("cherry-pick", "-n", "side")
    repo.approve()
    ended = repo.git("commit", "-m", "Picked")
    assert ended.code == 0, ended.err


def test_a_submodule_that_moves_is_a_change_like_any(repo: Repo) -> None:
    library = repo.top.parent / "library"
    other = type(repo)(library, repo.run)
    library.mkdir()
    other.must("init", "-q")
    other.must("commit", "-q", "--allow-empty", "-m", "Library")
    repo.must("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "lib")
    assert repo.git("commit", "-m", "Library").code != 0
    repo.approve()
    ended = repo.git("commit", "-m", "Library")
    assert ended.code == 0, ended.err


def test_two_commits_cannot_use_one_receipt_at_once(repo: Repo, run: Run) -> None:
    beside = repo.top.parent / "beside"
    repo.must("worktree", "add", "-q", "--detach", str(beside))
    repo.must("checkout", "-q", "--detach")
    other = type(repo)(beside, run)
    for one in (repo, other):
        one.write("readme.txt", "second\n")
    repo.approve()
    begun = [
        subprocess.Popen(["git", "commit", "-q", "-a", "-m", one.top.name], cwd=one.top, env=environment(), stderr=subprocess.PIPE)
        for one in (repo, other)
    ]  # fmt: skip
    codes = [process.wait() for process in begun]
    for process in begun:
        process.communicate()
    assert min(codes) == 0
    assert codes.count(0) == 1
    assert not list((repo.top / ".git" / "indelible" / "claims").iterdir())


# What is no commit goes on as ever.


def test_everyday_git_goes_on(repo: Repo, run: Run) -> None:
    repo.commit()
    repo.write("readme.txt", "dirty\n")
    for words in (
        ("stash",), ("stash", "pop"), ("stash", "-u"), ("stash", "drop"), ("branch", "topic"), ("branch", "-m", "topic", "topic2"), ("tag", "v1"),
        ("gc", "-q"), ("pack-refs", "--all"), ("checkout", "-q", "topic2"), ("checkout", "-q", "--detach", "HEAD~1"), ("checkout", "-q", "main"),
        ("reset", "-q", "--hard", "HEAD~1"), ("reset", "-q", "--hard", "ORIG_HEAD"), ("branch", "-D", "topic2"),
        ("bisect", "start", "HEAD", "HEAD~1"), ("bisect", "reset"), ("worktree", "add", "-q", "../w"), ("worktree", "remove", "../w"),
        ("clone", "-q", ".", "../clone"), ("notes", "add", "-m", "note"), ("fsck",), ("rebase", "HEAD~1"),
    ):  # fmt: skip
        ended = repo.git(*words)
        assert ended.code == 0, (words, ended.err)


def test_a_fetch_and_a_pull_from_a_remote_go_on(repo: Repo) -> None:
    origin = repo.top.parent / "origin"
    repo.must("clone", "-q", ".", str(origin))
    other = type(repo)(origin, repo.run)
    other.write("theirs.txt", "theirs\n")
    other.must("add", "-A")
    other.must("commit", "-q", "-m", "Theirs")
    repo.must("remote", "add", "origin", str(origin))
    for words in (
        ("fetch", "-q", "origin"),
        ("merge", "--ff-only", "origin/main"),
        ("checkout", "-q", "-b", "t", "origin/main"),
    ):
        ended = repo.git(*words)
        assert ended.code == 0, (words, ended.err)
    other.must("commit", "-q", "--allow-empty", "-m", "More")
    repo.must("checkout", "-q", "main")
    ended = repo.git("pull", "-q", "--ff-only", "origin", "main")
    assert ended.code == 0, ended.err


def test_nothing_of_ours_is_started_where_no_commit_is_new(repo: Repo, tmp_path: Path) -> None:
    seen = tmp_path / "started"
    program = tmp_path / "indelible"
    program.write_text(f"#!/bin/sh\necho started >> {seen}\nexit 1\n")
    program.chmod(0o755)
    hook = repo.top / ".git" / "hooks" / "reference-transaction"
    hook.write_bytes(
        re.sub(rb"^indelible='.*'$", b"indelible='%b'" % bytes(program), hook.read_bytes(), flags=re.MULTILINE)
    )
    for words in (
        ("branch", "topic"),
        ("stash",),
        ("gc", "-q"),
        ("tag", "v1"),
        ("branch", "-D", "topic"),
        ("worktree", "add", "-q", "../w"),
    ):
        assert repo.git(*words).code == 0
    assert not seen.exists()
    repo.write("readme.txt", "second\n")
    assert repo.git("commit", "-a", "-n", "-m", "x").code != 0
    assert seen.exists()


# Faults of ours refuse.


def test_a_program_that_is_gone_refuses_and_says_what_to_do(repo: Repo) -> None:
    for name in ("pre-commit", "commit-msg", "reference-transaction", "pre-push"):
        hook = repo.top / ".git" / "hooks" / name
        hook.write_bytes(
            re.sub(rb"^indelible='.*'$", b"indelible='/gone/indelible'", hook.read_bytes(), flags=re.MULTILINE)
        )
    repo.write("readme.txt", "second\n")
    for words in (("commit", "-a", "-m", "x"), ("commit", "-a", "-m", "x", "--no-verify")):
        ended = repo.git(*words)
        assert ended.code != 0
        assert "/gone/indelible is not there any more" in ended.err
        assert "take this hook out" in ended.err
    assert repo.git("stash").code == 0


def test_settings_that_are_broken_refuse(repo: Repo) -> None:
    repo.write("readme.txt", "second\n")
    repo.approve()
    (repo.top / ".indelible" / "config.toml").write_text("nonsense = [")
    ended = repo.git("commit", "-a", "-m", "x")
    assert ended.code != 0
    assert "could not be told" in ended.err
    assert "Traceback" not in ended.err


def test_a_store_that_was_altered_refuses(repo: Repo) -> None:
    repo.write("readme.txt", "second\n")
    repo.approve()
    store = repo.top / ".indelible" / "store.db"
    store.write_bytes(b"\0" * store.stat().st_size)
    ended = repo.git("commit", "-a", "-m", "x")
    assert ended.code != 0
    assert "could not be told" in ended.err
