"""A change as a file to read, and as a pack to send: made where no setting, attribute or driver of anybody reaches."""

from __future__ import annotations

from indelible.light import TYPE_CHECKING
from indelible.workflow.change.listing import EMPTY_TREE, RAW, excluding, is_large

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indelible.workflow.change.genuine import Held
    from indelible.workflow.change.model import Change, File
    from indelible.workflow.change.scratch import Scratch

_SHOWN = (
    "--patch", "--binary", "--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/", "--unified=3",
    "--inter-hunk-context=0", "--diff-algorithm=myers", "--indent-heuristic", "--submodule=short", "--no-relative",
)  # fmt: skip


def render(work: Scratch, change: Change, held: Held) -> Iterator[bytes]:
    """`branch.diff`: the same bytes for the same change, whoever asks.

    Raises:
        GitFailed: git could not do it, which may show only after the last piece.
    """
    base, large = change.base or EMPTY_TREE[change.format], large_files(change, held)
    without = excluding(file.path for file in large)
    yield from work.alone.stream(work.folder, "--no-literal-pathspecs", *RAW, *_SHOWN, base, change.tree, *without)
    for file in large:
        named = file.path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        line = f"Large file {named!r} {file.old_mode} {file.old or '-'} -> {file.new_mode} {file.new or '-'} {file.size} bytes\n"
        yield line.encode()


def large_files(change: Change, held: Held) -> list[File]:
    """Files of which one side is too large to be written out."""
    return [file for file in change.files if is_large(held, file.old, file.new)]


def pack(work: Scratch, held: Held) -> bytes:
    """A git pack with what the change has and its base has not; whoever has the base can unpack and read it.

    Raises:
        GitFailed.
    """
    wanted = "".join(f"{name}\n" for name in held.fresh)
    return work.seeing.must(work.folder, "pack-objects", "--stdout", "--quiet", stdin=wanted.encode())
