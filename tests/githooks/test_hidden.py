"""What hides a reference, or a commit, from a hook that reads git's words loosely."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.githooks.conftest import Repo

WIDE = ("\u2028", "\u2029", "\x85")
"""Ends of a line for Unicode, and a letter of a name for git."""


def unapproved(repo: Repo) -> str:
    """A commit on HEAD that no reference has."""
    repo.write("evil.txt", "evil\n")
    repo.must("add", "-A")
    made = repo.must("commit-tree", repo.must("write-tree"), "-p", "HEAD", "-m", "evil words")
    repo.must("reset", "-q", "--hard")
    return made


@pytest.mark.parametrize("wide", WIDE)
def test_a_name_with_a_wide_line_end_hides_no_other_reference(repo: Repo, wide: str) -> None:
    before, made = repo.head, unapproved(repo)
    ended = repo.git(
        "update-ref", "--stdin", stdin=f"update refs/heads/main {made}\ncreate refs/heads/main{wide}z {before}\n"
    )
    assert ended.code
    assert repo.head == before


def test_the_source_of_a_push_may_have_blanks_in_it(repo: Repo, tmp_path: Path) -> None:
    far = tmp_path / "far.git"
    repo.must("init", "-q", "--bare", str(far))
    repo.plainly("push", "-q", str(far), "main")
    repo.plainly("reset", "-q", "--hard", unapproved(repo))
    ended = repo.git("push", str(far), "main^{/evil words}:refs/heads/main")
    assert ended.code
    assert "no-receipt" in ended.err


def test_a_graft_does_not_make_a_commit_known(repo: Repo, tmp_path: Path) -> None:
    before, made = repo.head, unapproved(repo)
    repo.must("config", "advice.graftFileDeprecated", "false")
    graft = tmp_path / "graft"
    graft.write_text(f"{before} {made}\n", encoding="ascii")
    assert repo.git("update-ref", "refs/heads/main", made, env={"GIT_GRAFT_FILE": str(graft)}).code
    (repo.top / ".git" / "info").mkdir(exist_ok=True)
    (repo.top / ".git" / "info" / "grafts").write_bytes(graft.read_bytes())
    assert repo.git("update-ref", "refs/heads/main", made).code
    assert repo.head == before
