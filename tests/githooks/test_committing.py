"""Approve, then commit: what git really makes is held against what was approved, whichever command made it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
