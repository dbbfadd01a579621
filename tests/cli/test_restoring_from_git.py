"""restore --from-git: the original at its recorded source and branch, found by digest where the branch has moved on."""

from __future__ import annotations

import json
import shutil

import pytest
from tests.cli.hands import FIRST, Kept, git, refused, said, sha256


def test_an_altered_memory_comes_back_from_its_file_in_git(repo: Kept) -> None:
    repo.alter()
    refused(repo.run("verify", "MEMORY.md"), 2)
    ran = repo.run("restore", "MEMORY.md", "--from-git")
    assert ran.code == 0, ran.err
    assert "team/notes/MEMORY.md at commit" in ran.out
    assert repo.load("MEMORY.md") == FIRST
    newest = said(repo.run("history", "MEMORY.md", "--json"))["entries"][0]
    assert newest["how"] == "restored"
    assert "team/notes" in newest["reason"] or git(repo.work, "rev-parse", "HEAD")[:7] in newest["reason"]


def test_an_absent_record_comes_back_from_git(repo: Kept) -> None:
    repo.sql("DELETE FROM record")
    refused(repo.run("load", "MEMORY.md"), 2)
    ran = repo.run("restore", "MEMORY.md", "--from-git", "--source", "team/notes/MEMORY.md", "--branch", "main")
    assert ran.code == 0, ran.err
    assert repo.load("MEMORY.md") == FIRST


def test_where_the_branch_has_moved_on_the_history_is_searched_for_the_digest(repo: Kept) -> None:
    for number in range(5):
        (repo.work / "MEMORY.md").write_bytes(b"later %d\n" % number)
        git(repo.work, "commit", "-qam", f"later {number}")
    git(repo.work, "mv", "MEMORY.md", "NOTES.md")
    git(repo.work, "commit", "-qm", "renamed")
    repo.alter()
    ran = repo.run("restore", "MEMORY.md", "--from-git")
    assert ran.code == 0, ran.err
    assert repo.load("MEMORY.md") == FIRST


def test_the_working_copy_is_not_taken_for_the_original(repo: Kept) -> None:
    (repo.work / "MEMORY.md").write_bytes(b"edited, not committed\n")
    repo.alter()
    assert repo.run("restore", "MEMORY.md", "--from-git").code == 0
    assert repo.load("MEMORY.md") == FIRST


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--source", "nonsense"), 64), (("--source", "../../etc/passwd"), 64), (("--source", "other/repo/FILE"), 64),
        (("--source", "team/notes/OTHER.md"), 3), (("--sha256", "zz"), 64), (("--sha256", "0" * 64), 3),
    ],
)  # fmt: skip
def test_a_source_that_leads_nowhere_is_said_in_words(repo: Kept, words: tuple[str, ...], code: int) -> None:
    repo.alter()
    refused(repo.run("restore", "MEMORY.md", "--from-git", *words), code)
    assert said(repo.run("restore", "MEMORY.md", "--from-git", *words, "--json"))["message"]
    refused(repo.run("load", "MEMORY.md"), 2)


@pytest.mark.parametrize("branch", ["nowhere", "--upload-pack=touch pwned", "$(touch pwned)"])
def test_where_the_branch_is_gone_the_digest_is_looked_for_everywhere(repo: Kept, branch: str) -> None:
    repo.alter()
    assert repo.run("restore", "MEMORY.md", "--from-git", "--branch", branch).code == 0
    assert repo.load("MEMORY.md") == FIRST
    assert not list(repo.home.rglob("pwned"))


def test_what_came_from_no_file_needs_a_source(kept: Kept) -> None:
    refused(kept.run("restore", "MEMORY.md", "--from-git"), 64, "--source OWNER/REPO/PATH")


def test_a_remote_that_the_settings_map_is_asked(repo: Kept) -> None:
    """The seed's case: a container without the repository, and `owner/repo/path` mapped to a remote."""
    bare = repo.home / "mirror.git"
    git(repo.home, "clone", "-q", "--bare", str(repo.work), str(bare))
    (repo.work / ".indelible" / "config.toml").write_text(
        f'agent = "default"\n[remotes]\n"team/notes" = "{bare}"\n', encoding="utf-8"
    )
    git(repo.work, "remote", "remove", "origin")
    repo.alter()
    ran = repo.run("restore", "MEMORY.md", "--from-git")
    assert ran.code == 0, ran.err
    assert repo.load("MEMORY.md") == FIRST


def test_without_git_it_could_not_be_done(repo: Kept) -> None:
    repo.alter()
    folder = repo.home / "bin"
    folder.mkdir()
    ran = repo.run("restore", "MEMORY.md", "--from-git", env={"PATH": str(folder)})
    refused(ran, 1, "git")


def test_the_embedded_form_is_restored_in_its_form(repo: Kept) -> None:
    assert repo.run("save", "MEMORY.md", "MEMORY.md", "--embed").code == 0
    repo.alter()
    assert repo.run("restore", "MEMORY.md", "--from-git").code == 0
    value = json.loads(repo.load("MEMORY.md"))
    assert (value["text"].encode(), value["checksum"]) == (FIRST, f"sha256:{sha256(FIRST)}")
    assert value["source"] == "team/notes/MEMORY.md"


def test_a_restored_memory_is_sound_for_the_audit_too(repo: Kept) -> None:
    repo.alter()
    assert repo.run("restore", "MEMORY.md", "--from-git").code == 0
    assert repo.run("audit").code == 2, "the laws were altered too"
    assert repo.run("state", "repair").code == 0
    ran = repo.run("audit")
    assert ran.code == 0, ran.out
    assert repo.run("incident").code == 0


def test_a_repeated_restore_is_one_version(repo: Kept) -> None:
    repo.alter()
    first = said(repo.run("restore", "MEMORY.md", "--from-git", "--op-id", "job", "--json"))
    again = said(repo.run("restore", "MEMORY.md", "--from-git", "--op-id", "job", "--json"))
    assert first["seq"] == again["seq"]
    assert again["repeated"]


def test_a_deleted_repository_leaves_the_reason(repo: Kept) -> None:
    repo.alter()
    shutil.rmtree(repo.work / ".git")
    ran = repo.run("restore", "MEMORY.md", "--from-git", "--store", repo.store)
    refused(ran, 64, "team/notes", "[remotes]")


def _moved_on(repo: Kept, content: bytes = b"later, never saved\n") -> str:
    (repo.work / "MEMORY.md").write_bytes(content)
    git(repo.work, "commit", "-qam", "moved on")
    return git(repo.work, "rev-parse", "HEAD")


def test_a_deleted_record_does_not_take_its_source_with_it(repo: Kept) -> None:
    """Source, branch and digest are kept outside the store too."""
    _moved_on(repo)
    repo.sql("DELETE FROM record")
    refused(repo.run("verify", "MEMORY.md"), 2)
    assert "--from-git" in repo.run("incident").out
    ran = repo.run("restore", "MEMORY.md", "--from-git")
    assert ran.code == 0, ran.err
    assert "older" not in ran.err
    assert repo.load("MEMORY.md") == FIRST


def test_a_restored_version_knows_its_source_as_well(repo: Kept) -> None:
    for _ in range(2):
        repo.alter()
        assert repo.run("restore", "MEMORY.md", "--from-git").code == 0
        assert repo.load("MEMORY.md") == FIRST
    assert said(repo.run("load", "MEMORY.md", "--json"))["sha256"] == sha256(FIRST)


@pytest.mark.parametrize("behind", ["UPDATE record SET content = x'65'", "DELETE FROM record"])
def test_without_a_recorded_digest_nothing_in_git_is_taken_for_what_was_saved(repo: Kept, behind: str) -> None:
    place = ("--source", "team/notes/MEMORY.md", "--branch", git(repo.work, "rev-parse", "HEAD"))
    assert repo.run("save", "other", input=b"of no file\n").code == 0
    for book in repo.home.rglob("sources/*.jsonl"):
        book.unlink()
    repo.sql(behind)
    ran = repo.run("restore", "other", "--from-git", *place)
    refused(ran, 64, f"--sha256 {sha256(FIRST)}")
    assert repo.run("restore", "other", "--from-git", *place, "--sha256", sha256(FIRST)).code == 0
    assert repo.load("other") == FIRST


def test_without_a_recorded_digest_the_sealed_commitment_still_tells(repo: Kept) -> None:
    assert repo.run("save", "other", input=FIRST).code == 0
    for book in repo.home.rglob("sources/*.jsonl"):
        book.unlink()
    repo.alter()
    ran = repo.run(
        "restore",
        "other",
        "--from-git",
        "--source",
        "team/notes/MEMORY.md",
        "--branch",
        git(repo.work, "rev-parse", "HEAD"),
    )
    assert ran.code == 0, ran.err
    assert repo.load("other") == FIRST
