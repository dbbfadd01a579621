"""What the scars in force say of a command, of the change of a checkout, and of a range of commits; and scars from an export.

Everything is looked at without anybody's settings: a file that is called binary, or kept from `git diff` by an attribute, is
read line by line all the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indelible.errors import UsageError
from indelible.workflow.addedlines import added_lines, attempts_in_change
from indelible.workflow.scartext import from_lines, to_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from indelible.workflow.change import Opened
    from indelible.workflow.scars import Attempt, Scar

MOST = 4 << 20
"""Bytes of an export."""


def attempts_of_tree(folder: str, environ: Mapping[str, str], scars: Sequence[Scar]) -> tuple[str, tuple[Attempt, ...]]:
    """`(digest, attempts)` of the exact change of a checkout, untracked files too.

    Raises:
        As `open_change`: a change that cannot be told whole is not looked through in part.
    """
    from indelible.workflow.change import open_change

    with open_change(folder, environ) as opened:
        digest = opened.change.digest
        return digest, attempts_in_change(scars, edits_of(opened) if scars else {}, digest)


def edits_of(opened: Opened) -> dict[str, list[str]]:
    """The lines that an open change adds, by file; of a file too large to read only that it is there."""
    from indelible.workflow.change.listing import EMPTY_TREE, excluding
    from indelible.workflow.change.rendering import large_files

    change, work = opened.change, opened.work
    large = [one.path for one in large_files(change, opened.held)]
    without = excluding(large)
    patch = work.alone.must(
        work.folder, "--no-literal-pathspecs", "diff-tree", "-r", "-p", "-U0", "--no-renames", "--no-ext-diff", "--no-textconv",
        "--text", "--src-prefix=a/", "--dst-prefix=b/", "--full-index", "--no-color", "--submodule=short", "--ignore-submodules=none",
        "--inter-hunk-context=0", change.base or EMPTY_TREE[change.format], change.tree, *without,
    )  # fmt: skip
    return {**{path: [] for path in large}, **added_lines(patch.split(b"\n"))}


def read_export(path: str) -> tuple[Scar, ...]:
    """The scars of a file that `scar export` wrote. Nothing of it is signed: they are patterns, and no more.

    Raises:
        UsageError: it cannot be read, is too large, or a line of it is no scar.
    """
    try:
        with open(path, "rb") as file:
            data = file.read(MOST + 1)
    except OSError as exc:
        raise UsageError(
            f"{path} cannot be read ({exc.strerror})", remedy="'indelible scar export FILE' writes one"
        ) from exc
    if len(data) > MOST:
        raise UsageError(f"{path} has more than {MOST >> 20} MiB", remedy="Export those in force only")
    return from_lines(data)


def write_export(scars: Sequence[Scar]) -> bytes:
    """Scars as JSON Lines, for where there is no store."""
    return b"".join(map(to_line, scars))
