"""What gets round the hooks if a line is cut wrongly, a word is dropped, or something is trusted that anybody may set."""

from __future__ import annotations

import os
import subprocess
import zlib
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import environment
from tests.githooks.conftest import HEADS, MINA, git_in
from tests.githooks.test_receiving import push

from indelible.gitsource.lines import lines_of, names_of
from indelible.workflow.receipt import receipt_id, to_trailer

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Run
    from tests.githooks.conftest import Repo

ENDS = {"U+2028": "\u2028", "U+2029": "\u2029", "U+0085": "\x85"}
"""What Python takes for the end of a line, git for a letter."""


def unseen(repo: Repo, message: str = "Unseen", text: str = "nobody saw it\n") -> str:
    """A commit on HEAD that nobody approved and no reference has."""
    repo.write("readme.txt", text)
    repo.must("add", "-A")
    return repo.must("commit-tree", repo.must("write-tree"), "-p", "HEAD", "-m", message)


# What git hands over, line by line.


@given(st.lists(st.text(st.characters(exclude_characters="\n\0", exclude_categories=["Cs"]), min_size=1)))
def test_lines_come_back_as_they_were_written(lines: list[str]) -> None:
    raw = b"".join(os.fsencode(line) + b"\n" for line in lines)
    assert lines_of(raw) == lines
    assert names_of(b"".join(b"f00 " + os.fsencode(line) + b"\n" for line in lines)) == [
        ("f00", line) for line in lines
    ]


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
@pytest.mark.parametrize("first", [True, False])
def test_a_branch_whose_name_looks_like_two_lines_hides_no_other(repo: Repo, end: str, first: bool) -> None:
    before, new = repo.head, unseen(repo)
    lines = [f"update {HEADS}main {new}\n", f"create {HEADS}main{end}z {before}\n"]
    ended = repo.git("update-ref", "--stdin", stdin="".join(lines if first else reversed(lines)))
    assert ended.code != 0
    assert repo.must("rev-parse", "main") == before
    assert repo.git("branch", f"main{end}z").code == 0, "a branch of that name, with what was there, is no harm"


@pytest.mark.parametrize("line", [
    "nonsense", f"{'0' * 40} {'1' * 40}", f"{'0' * 40} {'1' * 39} {HEADS}x", f"{'0' * 40} {'1' * 40} {HEADS}x more", f" {'1' * 40} {HEADS}x",
])  # fmt: skip
@pytest.mark.parametrize("event", [("reference-transaction", "prepared"), ("pre-push", "origin", "there")])
def test_a_line_that_is_not_understood_is_refused(repo: Repo, run: Run, event: tuple[str, ...], line: str) -> None:
    ended = run("flow", "hook", *event, cwd=repo.top, input=f"{line}\n")
    assert ended.code == 2, ended
    assert "not understood" in ended.err
    hook = repo.top / ".git" / "hooks" / event[0]
    straight = subprocess.run([hook, *event[1:]], cwd=repo.top, env=environment(), input=f"{line}\n", capture_output=True, text=True, check=False)  # fmt: skip
    assert straight.returncode == 2, "the shell's own half drops none either"


def test_a_branch_that_becomes_another_name_is_refused(repo: Repo, run: Run) -> None:
    lines = f"{'0' * 40} ref:refs/other/x {HEADS}main\n"
    ended = run("flow", "hook", "reference-transaction", "prepared", cwd=repo.top, input=lines)
    assert ended.code == 2
    assert "another name of refs/other/x" in ended.err


@pytest.mark.parametrize("source", ["main^{/evil words}", ":/evil words"])
def test_a_source_with_a_blank_in_it_is_looked_at(repo: Repo, source: str) -> None:
    far = repo.top.parent / "far.git"
    repo.must("init", "-q", "--bare", str(far))
    repo.plainly("push", "-q", str(far), "main")
    repo.plainly("commit", "-q", "--allow-empty", "-m", "some evil words")
    before = git_in(far, "rev-parse", "main").out
    ended = repo.git("push", "-q", str(far), f"{source}:{HEADS}main")
    assert ended.code != 0
    assert "some evil words" in ended.err
    assert git_in(far, "rev-parse", "main").out == before


def test_another_checkouts_detached_head_is_looked_at(repo: Repo) -> None:
    beside = repo.top.parent / "beside"
    repo.must("worktree", "add", "-q", "--detach", str(beside))
    new = unseen(repo)
    assert repo.git("update-ref", "worktrees/beside/HEAD", new).code != 0
    assert git_in(beside, "rev-parse", "HEAD").out == repo.head


def test_two_commits_of_one_transaction_do_not_share_a_receipt(repo: Repo) -> None:
    repo.must("worktree", "add", "-q", "--detach", str(repo.top.parent / "beside"))
    repo.must("checkout", "-q", "--detach")
    repo.write("readme.txt", "second\n")
    trailer = to_trailer(repo.issue(repo.change()))
    repo.must("add", "-A")
    tree, before = repo.must("write-tree"), repo.head
    one, two = (repo.must("commit-tree", tree, "-p", "HEAD", "-m", f"{word}\n\n{trailer}") for word in ("One", "Two"))
    ended = repo.git("update-ref", "--stdin", stdin=f"update HEAD {one}\nupdate worktrees/beside/HEAD {two}\n")
    assert ended.code != 0
    assert "used-twice" in ended.err
    assert repo.head == before
    assert repo.git("update-ref", "HEAD", one).code == 0


def test_what_hooks_call_answers_a_person_in_one_document(repo: Repo, run: Run) -> None:
    wrong = run("flow", "hook", "--no-such-option", "--json", cwd=repo.top)
    assert (wrong.code, wrong.json["slug"]) == (64, "usage")
    assert "indelible flow hook --help" in wrong.json["remedy"]
    repo.write("readme.txt", "second\n")
    repo.must("add", "-A")
    refused = run("flow", "hook", "pre-commit", "--json", cwd=repo.top)
    assert (refused.code, refused.json["slug"]) == (2, "blocked")
    repo.approve()
    assert run("flow", "hook", "pre-commit", "--json", cwd=repo.top).json["slug"] == "allowed"
    assert run("flow", "hook", "post-commit", cwd=repo.top).code == 64


# What the shell asks git by itself.


def test_a_graft_makes_nothing_known(repo: Repo, tmp_path: Path) -> None:
    before, new = repo.head, unseen(repo)
    repo.must("config", "advice.graftFileDeprecated", "false")
    graft = f"{before} {new}\n"
    (tmp_path / "grafts").write_text(graft)
    assert repo.git("update-ref", f"{HEADS}main", new, env={"GIT_GRAFT_FILE": str(tmp_path / "grafts")}).code != 0
    (repo.top / ".git" / "info").mkdir(exist_ok=True)
    (repo.top / ".git" / "info" / "grafts").write_text(graft)
    assert repo.git("update-ref", f"{HEADS}main", new).code != 0
    repo.must("branch", "plain")
    assert repo.must("rev-parse", "main") == before


def test_a_replaced_commit_makes_nothing_known(repo: Repo) -> None:
    before, new = repo.head, unseen(repo)
    repo.must("replace", before, repo.must("commit-tree", f"{before}^{{tree}}", "-p", new, "-m", "First"))
    assert repo.git("update-ref", f"{HEADS}main", new).code != 0


def test_an_index_of_parents_that_lies_makes_nothing_known(repo: Repo, tmp_path: Path) -> None:
    repo.commit()
    repo.write("readme.txt", "nobody saw it\n")
    repo.must("add", "-A")
    new = repo.must("commit-tree", repo.must("write-tree"), "-p", "HEAD~1", "-m", "Unseen")
    # In a copy, the object of the tip says that it has the new commit as a parent; its index of parents goes back.
    copy = tmp_path / "copy"
    repo.plainly("clone", "-q", "--no-local", ".", str(copy))
    head = repo.head
    for name in (new, repo.must("rev-parse", f"{new}^{{tree}}"), repo.must("rev-parse", f"{new}:readme.txt")):
        kind = repo.must("cat-file", "-t", name)
        raw = subprocess.run(["git", "cat-file", kind, name], cwd=repo.top, env=environment(), capture_output=True, check=True).stdout  # fmt: skip
        subprocess.run(["git", "hash-object", "-w", "-t", kind, "--stdin"], cwd=copy, env=environment(), input=raw, check=True, capture_output=True)  # fmt: skip
    raw = subprocess.run(["git", "cat-file", "commit", head], cwd=repo.top, env=environment(), capture_output=True, check=True).stdout  # fmt: skip
    forged = raw.replace(b"\nauthor ", b"\nparent " + new.encode() + b"\nauthor ", 1)
    loose = copy / ".git" / "objects" / head[:2] / head[2:]
    loose.parent.mkdir(exist_ok=True)
    for pack in (copy / ".git" / "objects" / "pack").glob("*.pack"):
        moved = tmp_path / pack.name
        pack.rename(moved)
        pack.with_suffix(".idx").unlink()
        with moved.open("rb") as file:
            subprocess.run(["git", "unpack-objects", "-q"], cwd=copy, env=environment(), stdin=file, check=True)
    loose.unlink(missing_ok=True)
    loose.write_bytes(zlib.compress(b"commit %d\0" % len(forged) + forged))
    made = git_in(copy, "commit-graph", "write", "--reachable")
    assert made.code == 0, made
    lie = copy / ".git" / "objects" / "info" / "commit-graph"
    (repo.top / ".git" / "objects" / "info" / "commit-graph").write_bytes(lie.read_bytes())
    assert repo.must("rev-list", new, "--not", "--branches") == "", "git believes it"
    assert repo.git("update-ref", f"{HEADS}main", new).code != 0
    assert repo.must("rev-parse", "main") == head


@pytest.mark.parametrize("value", ["$$", "1"])
def test_no_variable_takes_our_half_of_a_hook_out(repo: Repo, value: str) -> None:
    repo.write("readme.txt", "second\n")
    repo.must("add", "-A")
    repo.approve()
    script = f"INDELIBLE_INSIDE={value}; export INDELIBLE_INSIDE; exec git commit -q -m Second"
    ended = subprocess.run(["sh", "-c", script], cwd=repo.top, env=environment(), capture_output=True, text=True, check=False)  # fmt: skip
    assert ended.returncode == 0, f"its receipt was not put into the message: {ended.stderr}"
    assert "Indelible-Receipt: " in repo.must("log", "-1", "--format=%B")
    for hook in ("pre-commit", "commit-msg"):
        assert "INSIDE" not in (repo.top / ".git" / "hooks" / hook).read_text()


# What the workflow says is in no script.


def _seal(repo: Repo, run: Run, tmp_path: Path, branches: str) -> None:
    secret = tmp_path / "passphrase"
    secret.write_text("a passphrase for tests\n")
    env = {"INDELIBLE_PASSPHRASE_FILE": str(secret)}
    file = repo.top / ".indelible" / "workflow.toml"
    if not file.exists():
        ended = run("flow", "init", cwd=repo.top, env=env)
        assert ended.code == 0, ended.err
    text = file.read_text()
    at = text.index("branches = ")
    file.write_text(f"{text[:at]}branches = {branches}{text[text.index(']', at) + 1 :]}")
    ended = run("flow", "seal", "--reason", "test", cwd=repo.top, env=env)
    assert ended.code == 0, ended.err


def test_a_workflow_that_is_sealed_later_counts_at_once(repo: Repo, run: Run, tmp_path: Path) -> None:
    kept = repo.top / ".git" / "indelible" / "all-branches"
    assert kept.exists()
    _seal(repo, run, tmp_path, '["main"]')
    assert not kept.exists()
    before = repo.head
    repo.must("checkout", "-q", "-b", "dev")
    repo.write("readme.txt", "nobody saw it\n")
    repo.must("commit", "-q", "-a", "-m", "Unguarded")
    repo.must("checkout", "-q", "main")
    assert repo.git("merge", "--ff-only", "dev").code != 0
    assert repo.must("rev-parse", "main") == before
    assert run("hooks", "status", cwd=repo.top).code == 0
    kept.write_text("put there by whoever\n")
    ended = run("hooks", "status", cwd=repo.top)
    assert ended.code == 1
    assert "guards fewer" in ended.out
    os.utime(kept, (0, 0))
    assert repo.git("merge", "--ff-only", "dev").code != 0, "it is older than the workflow's file"
    assert not kept.exists(), "and whoever is asked then takes it away"
    _seal(repo, run, tmp_path, '["*"]')
    assert kept.exists()


def test_lines_of_another_version_are_told(repo: Repo, run: Run) -> None:
    hook = repo.top / ".git" / "hooks" / "reference-transaction"
    hook.write_text(hook.read_text().replace("--remotes --tags", "--all"))
    ended = run("hooks", "status", cwd=repo.top)
    assert ended.code == 1
    assert "not those of this version" in ended.out
    assert run("hooks", "install", "--git", cwd=repo.top).code == 0
    assert run("hooks", "status", cwd=repo.top).code == 0


# A receipt that this machine's log does not know.


def _from_elsewhere(repo: Repo, **other: object) -> tuple[str, str]:
    """A commit with such a receipt, and the receipt's id."""
    repo.write("readme.txt", "second\n")
    note = repo.sign(repo.change(), **other)  # type: ignore[arg-type]
    repo.must("add", "-A")
    made = repo.must("commit-tree", repo.must("write-tree"), "-p", "HEAD", "-m", f"Second\n\n{to_trailer(note)}")
    return made, receipt_id(note)


@pytest.mark.parametrize(("other", "said"), [
    ({"branch": f"{HEADS}feature"}, "it is for refs/heads/feature"), ({"repository": "github.com/other/thing"}, "github.com/other/thing"),
    ({"issued": "2020-01-01T00:00:00Z", "expires": "2020-01-02T00:00:00Z"}, "2020-01-02T00:00:00Z"),
    ({"workflow": "0" * 64}, "another one"),
])  # fmt: skip
def test_a_receipt_from_elsewhere_is_held_to_the_place_and_the_clock(
    repo: Repo, other: dict[str, object], said: str
) -> None:
    before = repo.head
    made, _ = _from_elsewhere(repo, **other)
    ended = repo.git("update-ref", f"{HEADS}main", made)
    assert ended.code != 0
    assert said in ended.err
    assert repo.head == before


def test_a_receipt_from_elsewhere_that_holds_is_taken_in_and_used(repo: Repo) -> None:
    made, receipt = _from_elsewhere(repo)
    ended = repo.git("update-ref", f"{HEADS}main", made)
    assert ended.code == 0, ended.err
    assert repo.used(receipt) == made
    again = repo.must(
        "commit-tree", f"{made}^{{tree}}", "-p", f"{made}~1", "-m", repo.must("log", "-1", "--format=Again%n%n%b", made)
    )
    repo.must("checkout", "-q", "-f", "-b", "other", "HEAD~1")
    ended = repo.git("update-ref", "HEAD", again)
    assert ended.code != 0, "it serves once"


# A repository that receives.


def _far(repo: Repo, run: Run, *words: str) -> Path:
    path = repo.top.parent / "far.git"
    repo.must("init", "-q", "--bare", str(path))
    repo.plainly("push", "-q", str(path), "main")
    ended = run("hooks", "install", "--git", "--receive", path, "--approver", MINA.vkey, *words, cwd=repo.top)
    assert ended.code == 0, ended.err
    repo.must("remote", "add", "origin", str(path))
    return path


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_a_protected_branch_is_looked_at_by_its_whole_name(repo: Repo, run: Run, end: str) -> None:
    _far(repo, run, "--protect", "main", "--protect", "release/*-lts")
    repo.plainly("commit", "-q", "--allow-empty", "-m", "Unseen")
    assert push(repo, f"HEAD:{HEADS}release/x{end}-lts")[0] != 0


@pytest.mark.parametrize(
    "line", ["nonsense", f"{'0' * 40} {'1' * 40}", f"{'0' * 40} {'1' * 40} main", f"{'0' * 40} x {HEADS}main"]
)
def test_a_line_that_is_not_understood_is_not_taken(repo: Repo, run: Run, line: str) -> None:
    far = _far(repo, run)
    ended = run("flow", "hook", "pre-receive", cwd=far, input=f"{line}\n")
    assert ended.code == 2
    assert "not understood" in ended.err


def test_a_receipt_of_another_repository_is_not_taken_where_one_is_named(repo: Repo, run: Run) -> None:
    far = _far(repo, run, "--repository", "git@GitHub.com:mina/app.git", "--repository", "github.com/mina/old")
    file = far / "indelible" / "approvers"
    assert file.read_text().count("repository github.com/mina/") == 2
    repo.commit()
    code, said = push(repo, "main")
    assert code != 0
    assert "not github.com/mina/app or github.com/mina/old [misfit]" in said
    checked = ("flow", "check", "--range", "HEAD~1..HEAD")
    assert run(*checked, cwd=repo.top).code == 0
    assert run(*checked, "--repository", "github.com/mina/app", cwd=repo.top).code == 2
    assert run(*checked, "--approvers", file, cwd=repo.top).code == 2
    ended = run(*checked, "--approvers", file, "--repository", far, cwd=repo.top)
    assert ended.code == 0, "its own address goes before what the file names"
    file.write_text("\n".join(line for line in file.read_text().split("\n") if not line.startswith("repository")))
    assert push(repo, "main")[0] == 0


def test_a_feature_branch_is_taken_onto_the_protected_one(repo: Repo, run: Run) -> None:
    far = _far(repo, run)
    repo.must("checkout", "-q", "-b", "feature")
    repo.commit()
    assert push(repo, "feature:main")[0] == 0, "the receipt says `feature`, and that is not looked at here"
    assert git_in(far, "rev-parse", "main").out == repo.head


def test_an_address_that_names_no_repository_is_told(repo: Repo, run: Run) -> None:
    ended = run("flow", "check", "--range", "HEAD~1..HEAD", "--repository", "https://", cwd=repo.top)
    assert ended.code == 64
    assert "names no repository" in ended.err


def test_one_receipt_does_not_serve_two_protected_branches(repo: Repo, run: Run) -> None:
    _far(repo, run, "--protect", "main", "--protect", "release")
    repo.commit()
    assert push(repo, "main:release")[0] == 0
    other = repo.must(
        "commit-tree",
        "HEAD^{tree}",
        "-p",
        "HEAD~1",
        "-m",
        repo.must("log", "-1", "--format=Other words%n%n%(trailers)"),
    )
    code, said = push(repo, f"{other}:{HEADS}main")
    assert code != 0
    assert "used-twice" in said
    assert push(repo, "main")[0] == 0, "the commit itself goes there as well"


def test_a_parent_that_git_does_not_see_is_refused(repo: Repo, run: Run) -> None:
    _far(repo, run, "--protect", "main", "--protect", "release/*")
    base = repo.head
    repo.write("readme.txt", "second\n")
    note = repo.sign(repo.change())
    repo.must("add", "-A")
    plain = repo.must("commit-tree", repo.must("write-tree"), "-m", f"No parent\n\n{to_trailer(note)}")
    raw = repo.must("cat-file", "commit", plain).replace("\n\n", f"\nparent {base}\n\n", 1)
    made = repo.must("hash-object", "-t", "commit", "-w", "--literally", "--stdin", stdin=f"{raw}\n")
    assert repo.must("rev-list", "--count", made) == "1", "git sees no parent"
    code, said = push(repo, f"{made}:{HEADS}release/1")
    assert code != 0
    assert f"The commit {made} cannot be read" in said
    assert repo.git("branch", "fresh", made).code != 0
