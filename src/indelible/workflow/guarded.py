"""Whether every local branch is guarded, in one small file, so that git's hook need not start us to know what is new.

    {git folder}/indelible/all-branches

It is there where the workflow in force guards every local branch, and nowhere else: a commit that some branch has is then no
new one. The hook does not go by it where `.indelible/workflow.toml` is newer. Whoever seals or restores a workflow, and every
hook that reads one, writes it anew or takes it away; where it is not there, the hook asks.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from indelible.errors import NotSaved
from indelible.files import make_folder, remove, replace_file
from indelible.workflow.branches import are_all

if TYPE_CHECKING:
    from collections.abc import Iterable

NAME = os.path.join("indelible", "all-branches")
_TEXT = b"The workflow in force guards every local branch.\n"


def is_kept(common: str) -> bool:
    """Whether the file says that every branch is guarded.

    Args:
        common: the git folder that all checkouts share.
    """
    return os.path.lexists(os.path.join(common, NAME))


def keep(common: str, branches: Iterable[str]) -> None:
    """Say what is so. Written anew each time: it counts only while it is newer than the workflow's file.

    Raises:
        NotSaved, DiskFull, ReadOnly: it could not be written, or taken away.
    """
    path = os.path.join(common, NAME)
    if not are_all(branches):
        remove(path)
        if os.path.lexists(path):
            raise NotSaved(f"{path} cannot be taken away", remedy="Delete it: git's hook goes by it", file=path)
        return
    make_folder(os.path.dirname(path))
    replace_file(path, _TEXT)
