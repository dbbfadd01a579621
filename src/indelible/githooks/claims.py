"""A receipt is taken by one commit at a time: the claim of a git process, from `prepared` until `committed`.

    {git folder}/indelible/claims/RECEIPT     COMMIT PROCESS AFTER

Whoever makes the file has the receipt, however many worktrees commit at once. The claim of a process that has ended without
coming to `committed` holds nobody up.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from indelible.files import create_file, make_folder, remove

FOLDER = "claims"


class Claim(NamedTuple):
    """What one process takes."""

    receipt: str
    commit: str
    process: int
    after: str
    """The commit that used the receipt before; empty for none."""


def take(common: str, claim: Claim) -> str:
    """Take a receipt; answers with the commit that another process is just making with it, empty where we have it.

    Raises:
        NotSaved, DiskFull, ReadOnly: it could not be written.
    """
    path = _path(common, claim.receipt)
    text = f"{claim.commit} {claim.process} {claim.after or '-'}\n".encode()
    make_folder(os.path.dirname(path))
    for _ in range(3):
        if create_file(path, text):
            return ""
        held = _read(path, claim.receipt)
        if held is not None and held.process != claim.process and _is_alive(held.process):
            return held.commit
        remove(path)
    return "another commit"


def taken(common: str, process: int) -> tuple[Claim, ...]:
    """What a process has taken."""
    folder = os.path.join(common, "indelible", FOLDER)
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return ()
    claims = (_read(os.path.join(folder, name), name) for name in names)
    return tuple(claim for claim in claims if claim is not None and claim.process == process)


def release(common: str, claim: Claim) -> None:
    """Give it back."""
    remove(_path(common, claim.receipt))


def _path(common: str, receipt: str) -> str:
    return os.path.join(common, "indelible", FOLDER, receipt)


def _read(path: str, receipt: str) -> Claim | None:
    try:
        with open(path, encoding="ascii") as file:
            commit, process, after = file.read(1_000).split()
        return Claim(receipt, commit, int(process), "" if after == "-" else after)
    except (OSError, ValueError):
        return None


def _is_alive(process: int) -> bool:
    if os.name != "posix":
        return True  # no harmless way to ask; the claim is taken away by whoever made it
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
