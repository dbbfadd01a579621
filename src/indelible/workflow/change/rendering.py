"""A change as a file to read, and as a pack to send: made where no setting, attribute or driver of anybody reaches."""

from __future__ import annotations

from indelible.light import TYPE_CHECKING
from indelible.workflow.change.listing import BATCH, EMPTY_TREE, RAW
from indelible.workflow.change.model import GITLINK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indelible.workflow.change.model import Change, File
    from indelible.workflow.change.scratch import Scratch

LARGE = 64 << 20
"""Bytes from which on a file is named with its size and object instead of being written out."""
_SHOWN = (
    "--patch", "--binary", "--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/", "--unified=3",
    "--inter-hunk-context=0", "--diff-algorithm=myers", "--indent-heuristic", "--submodule=short", "--no-relative",
)  # fmt: skip


def render(work: Scratch, change: Change) -> Iterator[bytes]:
    """`branch.diff`: the same bytes for the same change, whoever asks.

    Raises:
        GitFailed: git could not do it, which may show only after the last piece.
    """
    base = change.base or EMPTY_TREE[change.format]
    large = _large(work, change)
    without = [f":(top,literal,exclude){file.path}" for file in large]
    yield from work.alone.stream(
        work.folder, "--no-literal-pathspecs", *RAW, *_SHOWN, base, change.tree, *(("--", *without) if large else ())
    )
    for file in large:
        named = file.path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        line = f"Large file {named!r} {file.old_mode} {file.old or '-'} -> {file.new_mode} {file.new or '-'} {file.size} bytes\n"
        yield line.encode()


def _large(work: Scratch, change: Change) -> list[File]:
    """Files of which one side is too large to be written out."""
    olds = "".join(f"{file.old}\n" for file in change.files if file.old and file.old_mode != GITLINK)
    said = work.alone.must(work.folder, *BATCH, stdin=olds.encode()) if olds else b""
    known = [line.split(" ") for line in said.decode("ascii", "replace").splitlines()]
    sizes = {name: int(size[0]) for name, _, *size in known if size}
    return [file for file in change.files if max(file.size, sizes.get(file.old, 0)) > LARGE]


def pack(work: Scratch, change: Change) -> bytes:
    """A git pack with what the change has and its base has not; whoever has the base can unpack and read it.

    Raises:
        GitFailed.
    """
    wanted = f"{change.tree}\n" + (f"^{change.base}^{{tree}}\n" if change.base else "")
    return work.alone.must(work.folder, "pack-objects", "--revs", "--stdout", "--quiet", stdin=wanted.encode())
