"""A receipt is taken by one git process at a time, and one that died holds nobody up."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from indelible.githooks import claims
from indelible.githooks.claims import Claim

if TYPE_CHECKING:
    from pathlib import Path

    from tests.githooks.conftest import Repo

RECEIPT = "0123456789abcdef"


def claim(process: int, commit: str = "a" * 40, after: str = "") -> Claim:
    return Claim(RECEIPT, commit, process, after)


def test_a_claim_is_read_as_it_was_written(tmp_path: Path) -> None:
    mine = claim(os.getpid(), after="b" * 40)
    assert claims.take(str(tmp_path), mine) == ""
    assert claims.taken(str(tmp_path), os.getpid()) == (mine,)
    assert claims.taken(str(tmp_path), 1) == ()
    claims.release(str(tmp_path), mine)
    assert claims.taken(str(tmp_path), os.getpid()) == ()


def test_who_comes_second_is_told_the_first_commit(tmp_path: Path) -> None:
    assert claims.take(str(tmp_path), claim(os.getppid(), "a" * 40)) == ""
    assert claims.take(str(tmp_path), claim(os.getpid(), "b" * 40)) == "a" * 40


def test_a_process_that_died_holds_nobody_up(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert claims.take(str(tmp_path), claim(ended.pid)) == ""
    assert claims.take(str(tmp_path), claim(os.getpid(), "b" * 40)) == ""


@pytest.mark.parametrize("text", ["", "nonsense", "a b c d"])
def test_a_claim_that_cannot_be_read_holds_nobody_up(tmp_path: Path, text: str) -> None:
    path = tmp_path / "indelible" / "claims" / RECEIPT
    path.parent.mkdir(parents=True)
    path.write_text(text)
    assert claims.take(str(tmp_path), claim(os.getpid())) == ""


def _try(folder: str, number: int, won: multiprocessing.Queue[int]) -> None:
    if not claims.take(folder, claim(os.getpid(), f"{number:040x}")):
        won.put(number)
        signal.pause()


@pytest.mark.skipif(os.name != "posix", reason="waits for a signal")
def test_of_eight_that_come_at_once_one_has_it(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    won: multiprocessing.Queue[int] = context.Queue()
    begun = [context.Process(target=_try, args=(str(tmp_path), number, won)) for number in range(8)]
    for process in begun:
        process.start()
    first = won.get(timeout=30)
    for process in begun:
        process.join(timeout=5 if process is not begun[first] else 0)
    assert won.empty()
    assert [process.is_alive() for process in begun].count(True) == 1
    begun[first].kill()
    begun[first].join()


def test_a_commit_that_is_killed_before_its_end_does_not_use_up_the_receipt(repo: Repo) -> None:
    repo.write("readme.txt", "second\n")
    receipt = repo.approve()
    hook = repo.top / ".git" / "hooks" / "reference-transaction"
    text = hook.read_text()
    hook.write_text(
        text + 'if [ "$1" = prepared ]; then kill -9 "$PPID"; fi\n'
    )  # the former hook, after ours has said yes
    assert repo.git("commit", "-a", "-m", "Second").code != 0
    assert (repo.top / ".git" / "indelible" / "claims" / receipt).is_file()
    assert repo.used(receipt) == ""
    hook.write_text(text)
    for lock in (*(repo.top / ".git").glob("*.lock"), *(repo.top / ".git" / "refs").rglob("*.lock")):
        lock.unlink()
    ended = repo.git("commit", "-a", "-m", "Second")
    assert ended.code == 0, ended.err
    assert repo.used(receipt) == repo.head
