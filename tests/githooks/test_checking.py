"""`flow check`: a range of commits by public keys alone, as CI does it, and as the receiving repository does."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

import pytest
from tests.githooks.conftest import LEO, MINA, Repo, begin
from tests.support import signer_of
from tests.workflow.change.planting import plant, raw

from indelible.gitsource.command import Git, GitFailed
from indelible.gitsource.genuine import ObjectAltered
from indelible.seal.note import Verifier, parse_note
from indelible.workflow import commits
from indelible.workflow.change import Change
from indelible.workflow.commits import SAYS, Trust, check_range
from indelible.workflow.history import read_commits, trees_of
from indelible.workflow.receipt import Receipt, from_trailer, sign_receipt, to_trailer

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Ran, Run

    from indelible.seal.note import Signer

KEYS = (Verifier(MINA.vkey),)
TRUST = Trust(KEYS, "approved-diff")


def note_for(base: str, tree: str, parents: tuple[str, ...] = (), signer: Signer = MINA, **other: object) -> bytes:
    """A receipt that no log has: CI has none either."""
    form = "sha256" if len(tree) == 64 else "sha1"
    receipt = Receipt(
        "approved-diff", form, base, tree, parents, "", "", "c" * 64, "d" * 64, (), "2020-01-01T00:00:00Z", "2099-01-01T00:00:00Z",
        os.urandom(16).hex(),
    )._replace(**other)  # type: ignore[arg-type] # fmt: skip
    return sign_receipt(receipt, signer)


class Line:
    """Commits made by plumbing, without any hook."""

    def __init__(self, repo: Repo) -> None:
        self.repo = repo
        self.first = self.tip = repo.head
        self.count = 0

    def tree(self, text: str | None = None) -> str:
        self.count += 1
        self.repo.write("work.txt", text if text is not None else f"{self.count}\n")
        self.repo.must("add", "-A")
        return self.repo.must("write-tree")

    def make(self, message: str, tree: str, *parents: str, env: dict[str, str | None] | None = None) -> str:
        words = [word for parent in parents for word in ("-p", parent)]
        self.tip = self.repo.must("commit-tree", tree, *words, "-m", message, env=env)
        return self.tip

    def approved(self, text: str | None = None, **other: object) -> str:
        tree, base = self.tree(text), self.tip
        return self.make(f"Work\n\n{to_trailer(note_for(base, tree, **other))}", tree, base)  # type: ignore[arg-type]

    def slugs(self, **other: object) -> list[str]:
        found = check_range(str(self.repo.top), os.environ, self.first, self.tip, TRUST._replace(**other))  # type: ignore[arg-type]
        assert {one.slug for one in found} <= SAYS.keys()
        return [one.slug for one in found]


@pytest.fixture
def line(bare_repo: Repo) -> Line:
    return Line(bare_repo)


def test_each_commit_is_told_parents_first(line: Line) -> None:
    line.approved()
    line.make("No", line.tree(), line.tip)
    line.approved()
    assert line.slugs() == ["approved", "no-receipt", "approved"]


def test_a_receipt_for_another_change_is_a_misfit(line: Line) -> None:
    base, tree = line.tip, line.tree()
    for note in (
        note_for(line.repo.must("rev-parse", "HEAD^{tree}"), tree), note_for(base, base), note_for(base, tree, (base,)),
        note_for(base, tree, target="approved-plan"),
    ):  # fmt: skip
        line.make(f"x\n\n{to_trailer(note)}", tree, base)
        assert line.slugs() == ["misfit"]


def test_whose_receipt_counts(line: Line) -> None:
    base, tree = line.tip, line.tree()
    line.make(f"x\n\n{to_trailer(note_for(base, tree, signer=LEO))}", tree, base)
    assert line.slugs() == ["unknown-approver"]
    impostor = signer_of("indelible-approver/mina", 7)
    line.make(f"x\n\n{to_trailer(note_for(base, tree, signer=impostor))}", tree, base)
    assert line.slugs() == ["unknown-approver"]
    line.make(f"x\n\n{to_trailer(note_for(base, tree))}", tree, base)
    assert line.slugs() == ["approved"]
    assert line.slugs(revoked=KEYS) == ["revoked-approver"]


def test_a_receipt_that_was_altered_does_not_hold(line: Line) -> None:
    base, tree = line.tip, line.tree()
    good = note_for(base, "a" * len(tree))
    line.make(f"x\n\n{to_trailer(good.replace(b'a' * len(tree), tree.encode()))}", tree, base)
    assert line.slugs() == ["bad-receipt"]
    line.make("x\n\nIndelible-Receipt: nonsense", tree, base)
    assert line.slugs() == ["bad-receipt"]


def test_a_second_signature_makes_no_second_receipt(line: Line) -> None:
    base, tree = line.tip, line.tree()
    note = parse_note(note_for(base, tree))
    more = note._replace(signatures=(*note.signatures, LEO.signature(note.text)))
    line.make(f"x\n\n{to_trailer(more.format())}", tree, base)
    assert line.slugs() == ["bad-receipt"]


def test_two_receipts_in_one_message_are_none(line: Line) -> None:
    base, tree = line.tip, line.tree()
    two = "\n".join(to_trailer(note_for(base, tree)) for _ in range(2))
    line.make(f"x\n\n{two}", tree, base)
    assert line.slugs() == ["many-receipts"]


@pytest.mark.parametrize(("at", "slug"), [
    ("2025-12-31T23:54:59Z", "out-of-time"), ("2025-12-31T23:55:00Z", "approved"), ("2026-01-01T23:59:59Z", "approved"),
    ("2026-01-02T00:00:00Z", "out-of-time"),
])  # fmt: skip
def test_a_commit_is_made_while_its_receipt_holds(line: Line, at: str, slug: str) -> None:
    base, tree = line.tip, line.tree()
    note = note_for(base, tree, issued="2026-01-01T00:00:00Z", expires="2026-01-02T00:00:00Z")
    line.make(f"x\n\n{to_trailer(note)}", tree, base, env={"GIT_COMMITTER_DATE": at})
    assert line.slugs() == [slug]


def test_an_empty_change_is_refused_even_with_a_receipt(line: Line) -> None:
    tree, base = line.repo.must("rev-parse", "HEAD^{tree}"), line.tip
    line.make(f"x\n\n{to_trailer(note_for(base, tree))}", tree, base)
    assert line.slugs() == ["empty-change"]


def test_one_receipt_is_for_one_commit_of_a_history(line: Line) -> None:
    base, tree = line.tip, line.tree()
    message = f"x\n\n{to_trailer(note_for(base, tree))}"
    one = line.make(message, tree, base)
    other = line.make(f"again\n\n{message}", tree, base)
    merge = to_trailer(note_for(one, tree, (other,)))
    line.make(f"Merge\n\n{merge}", tree, one, other)
    assert sorted(line.slugs()) == ["approved", "approved", "used-twice"]
    # The first of the two is history already when the second comes.
    line.first = one
    assert sorted(line.slugs()) == ["approved", "used-twice"]


def test_another_message_instead_of_the_first_one_is_the_same_change(line: Line) -> None:
    base, tree = line.tip, line.tree()
    trailer = to_trailer(note_for(base, tree))
    line.make(f"x\n\n{trailer}", tree, base)
    line.make(f"Said better\n\n{trailer}", tree, base)
    assert line.slugs() == ["approved"]


def test_a_merge_has_a_receipt_of_its_own_and_brings_none_for_what_it_merges(line: Line) -> None:
    one = line.approved()
    line.tip = line.first
    unseen = line.make("Unseen", line.tree(), line.first)
    tree = line.tree()
    line.make(f"Merge\n\n{to_trailer(note_for(one, tree, (unseen,)))}", tree, one, unseen)
    assert sorted(line.slugs()) == ["approved", "approved", "no-receipt"]
    line.make("Merge", tree, one, unseen)
    assert sorted(line.slugs()) == ["approved", "no-receipt", "no-receipt"]


def test_an_octopus_names_all_of_its_parents(line: Line) -> None:
    sides = []
    for _ in range(3):
        line.tip = line.first
        sides.append(line.approved())
    tree = line.tree()
    line.make(f"Octopus\n\n{to_trailer(note_for(sides[0], tree, tuple(sides[1:])))}", tree, *sides)
    assert line.slugs() == ["approved"] * 4
    line.make(f"Octopus\n\n{to_trailer(note_for(sides[0], tree, (sides[2], sides[1])))}", tree, *sides)
    assert line.slugs()[-1] == "misfit"


def test_a_root_stands_on_nothing(line: Line) -> None:
    tree = line.tree()
    line.make(f"Root\n\n{to_trailer(note_for('', tree))}", tree)
    line.first = ""
    assert line.slugs() == ["approved"]


def test_ids_of_sha256(run: Run, home: Path) -> None:
    line = Line(begin(run, home / "work" / "long", form="sha256"))
    line.approved()
    line.make("No", line.tree(), line.tip)
    assert line.slugs() == ["approved", "no-receipt"]


def test_replaced_objects_and_grafts_change_nothing(line: Line) -> None:
    unseen = line.make("Unseen", line.tree(), line.tip)
    good = line.approved()
    line.repo.must("replace", unseen, line.first)
    assert line.slugs() == ["no-receipt", "approved"]
    grafts = line.repo.top / ".git" / "info" / "grafts"
    grafts.parent.mkdir(exist_ok=True)
    grafts.write_text(f"{good} {line.first}\n")
    assert line.slugs() == ["no-receipt", "approved"]


def test_what_was_cut_off_is_said_and_never_counts(line: Line, tmp_path: Path) -> None:
    line.make("Unseen", line.tree(), line.tip)
    line.approved()
    line.repo.must("update-ref", "refs/heads/main", line.tip)
    thin = tmp_path / "thin"
    line.repo.must("clone", "-q", "--depth", "1", f"file://{line.repo.top}", str(thin))
    found = check_range(str(thin), os.environ, "", "HEAD", TRUST)
    assert [one.slug for one in found] == ["approved", "unseen"]
    with pytest.raises(GitFailed, match="unshallow"):
        check_range(str(thin), os.environ, line.first, "HEAD", TRUST)
    # The same by hand, in a repository that has all of it.
    (line.repo.top / ".git" / "shallow").write_text(f"{line.tip}\n")
    assert line.slugs() == ["approved", "unseen"]


def test_messages_that_only_look_like_receipts(line: Line) -> None:
    base, tree = line.tip, line.tree()
    trailer = to_trailer(note_for(base, tree))
    for message, slug in (
        (f"x\n\n  {trailer}", "no-receipt"), (f"x {trailer}", "no-receipt"), (f"x\n\n{trailer.upper().split(':')[0]}:{trailer.partition(':')[2]}", "approved"),
        (f"x\n\n{trailer}\n\nmore text below", "approved"), (f"x\r\n\r\n{trailer}\r", "approved"),
    ):  # fmt: skip
        line.make(message, tree, base)
        assert line.slugs() == [slug], message


def test_git_is_run_as_often_for_many_commits_as_for_few(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[object] = []
    run = Git._start

    def counted(self: Git, *args: Any) -> Any:
        started.append(args)
        return run(self, *args)

    monkeypatch.setattr(Git, "_start", counted)
    counts = []
    for more in (1, 30):
        for _ in range(more):
            line.approved()
        started.clear()
        assert set(line.slugs()) == {"approved"}
        counts.append(len(started))
    assert counts[0] == counts[1] < 10


# The command.


def check(run: Run, line: Line, *words: str, **more: object) -> Ran:
    line.repo.must("update-ref", "refs/heads/main", line.tip)
    return run(*words[:0], "flow", "check", "--range", f"{line.first}..{line.tip}", *words, cwd=line.repo.top, **more)  # type: ignore[arg-type]


def test_the_command_says_one_line_for_each_commit(line: Line, run: Run) -> None:
    line.approved()
    ended = check(run, line, "--approver", MINA.vkey)
    assert ended.code == 0, ended.err
    assert f"✅ {line.tip[:12]}  'Work': approved by {MINA.name} [approved]" in ended.out
    line.make("No", line.tree(), line.tip)
    ended = check(run, line, "--approver", MINA.vkey)
    assert ended.code == 2
    assert len(ended.out.splitlines()) == 2
    assert "[no-receipt]" in ended.out
    found = run(
        "--json", "flow", "check", "--range", f"{line.first}..HEAD", "--approver", MINA.vkey, cwd=line.repo.top
    ).json
    assert (found["ok"], found["exit_code"], found["slug"]) == (False, 2, "blocked")
    assert [one["slug"] for one in found["commits"]] == ["approved", "no-receipt"]


def test_who_may_approve_is_read_where_ci_has_it(line: Line, run: Run, home: Path, tmp_path: Path) -> None:
    bare = {"XDG_CONFIG_HOME": str(tmp_path / "nobody")}  # a machine that trusts nobody
    ended = check(run, line, env=bare)
    assert ended.code == 1
    assert "Nobody is named who may approve" in ended.err
    config = line.repo.top / ".indelible" / "config.toml"
    config.write_text(f'[approvers]\nmina = "{MINA.vkey}"\n')
    line.repo.must("add", "-f", ".indelible/config.toml")
    line.repo.must("commit", "-q", "-m", "Approvers")
    line.first = line.tip = line.repo.head
    line.approved()
    assert check(run, line, env=bare).code == 0
    config.write_text(f'[approvers]\nmina = "{MINA.vkey}"\nleo = "{LEO.vkey}"\n')
    line.repo.must("add", "-f", ".indelible/config.toml")
    line.approved(signer=LEO)
    ended = check(run, line, env=bare)
    assert ended.code == 2
    assert "[unknown-approver]" in ended.out, "who is named in the very commits that are checked does not count"
    file = tmp_path / "approvers"
    file.write_text(f"# ours\n{MINA.vkey}\n{LEO.vkey}\n")
    assert check(run, line, env={**bare, "INDELIBLE_APPROVERS": str(file)}).code == 0
    assert check(run, line, "--approvers", str(file), env=bare).code == 0
    file.write_text(f"{MINA.vkey}\nrevoked {LEO.vkey}\n")
    assert "[revoked-approver]" in check(run, line, "--approvers", str(file), env=bare).out


def test_a_range_that_is_none(line: Line, run: Run) -> None:
    for span in ("HEAD", "a...b", "a..b..c"):
        assert run("flow", "check", "--range", span, "--approver", MINA.vkey, cwd=line.repo.top).code == 64
    assert run("flow", "check", "--range", "gone..HEAD", "--approver", MINA.vkey, cwd=line.repo.top).code == 1
    assert run("flow", "check", "--range", "HEAD..HEAD", "--approver", MINA.vkey, cwd=line.repo.top).code == 0
    ended = run("flow", "check", "--range", f"{'0' * 40}..HEAD", "--approver", MINA.vkey, cwd=line.repo.top)
    assert ended.code == 2, "a new branch, as CI names it: everything is checked"


def test_a_shallow_clone_is_not_counted_as_approved(line: Line, run: Run, tmp_path: Path) -> None:
    line.approved()
    line.approved()
    line.repo.must("update-ref", "refs/heads/main", line.tip)
    line.repo.must("clone", "-q", "--depth", "1", f"file://{line.repo.top}", str(tmp_path / "thin"))
    ended = run("flow", "check", "--range", "..HEAD", "--approver", MINA.vkey, cwd=tmp_path / "thin")
    assert ended.code == 1
    assert "fetch-depth: 0" in ended.err


# What `misfit` reads of a commit is what it reads of a change.


def test_a_commit_has_the_members_of_a_change_that_are_compared() -> None:
    from indelible.workflow.history import Commit

    assert {"format", "base", "tree", "parents"} <= set(Commit._fields) & set(Change._fields)


def test_a_thousand_commits_are_parsed_and_judged_in_one_go() -> None:
    from indelible.workflow.history import Commit

    trust = TRUST
    begun = time.process_time()
    for number in range(1_000):
        tree = f"{number:040x}"
        commit = Commit(
            "a" * 40,
            "sha1",
            "b" * 40,
            tree,
            (),
            "2026-01-01T00:00:00Z",
            (to_trailer(note_for("b" * 40, tree)).partition(": ")[2],),
            "",
        )
        assert commits.judge(commit, "c" * 40, trust).ok
    assert time.process_time() - begun < 60
    assert from_trailer(to_trailer(note_for("b" * 40, "c" * 40)))


def test_a_folder_that_is_no_repository_is_told_as_that(run: Run, home: Path) -> None:
    plain = home / "plain"
    plain.mkdir()
    ran = run("flow", "check", "--range", "A..B", "--approver", MINA.vkey, cwd=plain)
    assert ran.code == 64
    assert "no git repository" in ran.err
    assert "Fetch it" not in ran.err


def test_a_bare_repository_has_no_state_directory_and_is_not_called_none(run: Run, home: Path) -> None:
    from tests.githooks.conftest import git_in

    bare = home / "bare.git"
    git_in(home, "init", "-q", "--bare", str(bare))
    ran = run("state", "check", cwd=bare)
    assert ran.code != 0
    assert "is in no repository" not in ran.err
    assert "no checkout of a repository" in ran.err


def planted(repo: Repo, commit: str, was: str, becomes: str) -> None:
    """The commit's name over other bytes, as whoever can write in `.git/objects` can have them."""
    real = raw(repo.top, "commit", commit)
    assert was.encode() in real
    plant(repo.top, "commit", real, real.replace(was.encode(), becomes.encode()))


def test_a_commit_that_is_not_what_its_name_says_is_never_approved(line: Line) -> None:
    """Its bytes say the tree that was approved; its name, which is what is pushed, says another one."""
    base, good, evil = line.tip, line.tree("good\n"), line.tree("evil\n")
    message = f"Work\n\n{to_trailer(note_for(base, good))}"
    commit = line.make(message, evil, base)
    assert line.slugs() == ["misfit"]
    planted(line.repo, commit, evil, good)
    with pytest.raises(GitFailed, match=commit):
        line.slugs()  # git itself looks at the one that is named
    line.approved()
    with pytest.raises(ObjectAltered, match=commit):
        line.slugs()


def test_a_base_that_is_not_what_its_name_says_is_found(line: Line) -> None:
    base = line.tip
    line.approved()
    planted(line.repo, base, line.repo.must("rev-parse", f"{base}^{{tree}}"), line.tree())
    git = Git(os.environ, 60.0)
    for trees in (
        lambda: trees_of(git, str(line.repo.top), [base]),
        lambda: list(read_commits(git, str(line.repo.top), [base])),
    ):
        with pytest.raises(ObjectAltered, match=base):
            trees()


def test_flow_check_says_that_an_object_was_altered(line: Line, run: Run) -> None:
    commit = line.approved()
    line.approved()
    planted(line.repo, commit, "Work", "Play")
    ended = run(
        "flow", "check", "--range", f"{line.first}..{line.tip}", "--approver", MINA.vkey, "--json", cwd=line.repo.top
    )
    assert (ended.code, ended.json["slug"]) == (2, "git-object-altered")
