"""What git's hooks cost: a range of commits checked as CI does, and references that move where no commit is new.

1,000 commits in one line, each with a receipt of its own, written as loose objects and then packed. The branch that is made and
deleted stands at HEAD, so that the shell decides by itself; beside it is the same without hooks.
"""

from __future__ import annotations

import os
import subprocess
import sys
import zlib
from functools import partial
from hashlib import sha1
from typing import TYPE_CHECKING

from ratios import interleave, ratio, wall
from table import Row

from indelible.githooks import scripts
from indelible.seal.note import Signer, Verifier
from indelible.workflow.commits import Trust, check_range
from indelible.workflow.guard import RECEIPT
from indelible.workflow.guarded import keep
from indelible.workflow.receipt import Receipt, sign_receipt, to_trailer

if TYPE_CHECKING:
    from collections.abc import Iterator

ROUNDS = 15
COMMITS = 1_000
_WHO = "b <b@example.invalid> 1700000000 +0000"


def rows(folder: str, rounds: int = ROUNDS) -> Iterator[Row]:
    """Both, against git's own work."""
    top, environment = os.path.join(folder, "line"), {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    run = partial(subprocess.run, cwd=top, env=environment, stdout=subprocess.DEVNULL, check=True)
    signer = Signer("indelible-approver/bench", bytes(32))
    tip = _build(top, environment, signer)
    works = {
        "check": (partial(_check, top, environment, tip, Verifier(signer.vkey)), 1),
        "log": (partial(run, ["git", "log", "-p", "--format=%H", tip]), 1),
        "hooks": (partial(_branch, run), 1), "none": (partial(_branch, run, "-c", f"core.hooksPath={os.devnull}"), 1),
    }  # fmt: skip
    times = interleave(works, rounds=rounds, clock=wall)
    found = ratio(times["check"], times["log"])
    yield Row(
        f"{COMMITS:,} approved commits checked, against `git log -p` of them",
        f"{found.median:.2f} x ({times['check'].median:.2f} s, {times['check'].median / COMMITS * 1e3:.2f} ms a commit)", "–", None,
    )  # fmt: skip
    found = ratio(times["hooks"], times["none"])
    yield Row(
        "a branch made and deleted, with our hook against without: no commit is new",
        f"{found.median:.2f} x ({times['hooks'].median * 1e3:.0f} ms against {times['none'].median * 1e3:.0f})", "–", None,
    )  # fmt: skip


def _branch(run: partial[subprocess.CompletedProcess[bytes]], *words: str) -> None:
    run(["git", *words, "branch", "probe"])
    run(["git", *words, "branch", "-q", "-D", "probe"])


def _check(top: str, environment: dict[str, str], tip: str, key: Verifier) -> None:
    found = check_range(top, environment, "", tip, Trust((key,), RECEIPT))
    assert len(found) == COMMITS
    assert all(one.ok for one in found)


def _build(top: str, environment: dict[str, str], signer: Signer) -> str:
    os.makedirs(top)
    git = partial(subprocess.run, cwd=top, env=environment, check=True)
    git(["git", "init", "-q", "-b", "main"])
    base = ""
    for number in range(COMMITS):
        blob = _object(top, "blob", b"line %d\n" % number)
        tree = _object(top, "tree", b"100644 work.txt\0" + bytes.fromhex(blob))
        receipt = Receipt(
            "approved-diff", "sha1", base, tree, (), "refs/heads/main", "", "c" * 64, "d" * 64, (), "2020-01-01T00:00:00Z",
            "2099-01-01T00:00:00Z", f"{number:032x}",
        )  # fmt: skip
        parent = f"parent {base}\n" if base else ""
        text = f"tree {tree}\n{parent}author {_WHO}\ncommitter {_WHO}\n\nWork {number}\n\n{to_trailer(sign_receipt(receipt, signer))}\n"
        base = _object(top, "commit", text.encode())
    git(["git", "update-ref", "refs/heads/main", base])
    git(["git", "gc", "-q"])
    hook = os.path.join(top, ".git", "hooks", "reference-transaction")
    os.makedirs(os.path.dirname(hook), exist_ok=True)
    with open(hook, "wb") as file:
        file.write(scripts.alone(scripts.head_of("reference-transaction", sys.executable)))
    os.chmod(hook, 0o700)
    keep(os.path.join(top, ".git"), ("*",))
    return base


def _object(top: str, kind: str, data: bytes) -> str:
    whole = f"{kind} {len(data)}\0".encode() + data
    name = sha1(whole, usedforsecurity=False).hexdigest()
    path = os.path.join(top, ".git", "objects", name[:2], name[2:])
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if not os.path.exists(path):
        with open(path, "wb") as file:
            file.write(zlib.compress(whole, 1))
    return name


if __name__ == "__main__":
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as scratch:
        for row in rows(scratch):
            print(*row, sep="  ")
