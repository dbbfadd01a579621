"""Everything in the work tree, taken into the copy of the index as `git add -A` would: what a commit of it all contains.

Git goes on where it cannot take a file in, and then this looks at what is left over: a nested repository without a
commit is told and left out; a file that vanished while git looked is no matter the second time; anything else is an error.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from indelible.gitsource.command import GitFailed
from indelible.light import NamedTuple
from indelible.workflow.change.entries import NotBindable, printable, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indelible.gitsource.command import Ended
    from indelible.workflow.change.place import Place
    from indelible.workflow.change.scratch import Scratch

_UNREAD = re.compile(rb"^.*(?:could not open directory|: Permission denied$).*$", re.MULTILINE)
_ASKED = r"^core\.(filemode|symlinks)$"


class Ways(NamedTuple):
    """The repository's settings that decide what git can see."""

    modes: bool
    links: bool

    def notes(self) -> tuple[str, ...]:
        """What cannot be seen here."""
        modes = (
            "core.fileMode is false: a change of the executable bit cannot be seen here, and git would not commit it"
        )
        links = "core.symlinks is false: a symbolic link cannot be told from a file here"
        return (() if self.modes else (modes,)) + (() if self.links else (links,))


def read_ways(answer: Ended) -> Ways:
    """From what `git config` answered to `ASKED`."""
    if answer.code not in (0, 1):  # 1: none of them is set
        raise GitFailed(f"Git does not read its settings ({answer.fault})", remedy="Look at 'git config --list'")
    said = dict(record.split(b"\n", 1) for record in answer.out.split(b"\0") if b"\n" in record)
    return Ways(said.get(b"core.filemode") != b"false", said.get(b"core.symlinks") != b"false")


ASKED = ("config", "--null", "--type=bool", "--get-regexp", _ASKED)


def stage(work: Scratch, place: Place) -> tuple[str, ...]:
    """Fill the copied index; gives notes about what is left out.

    Raises:
        GitFailed: a file cannot be read, or git cannot do it.
    """
    for again in (True, False):
        ended = work.real.run(place.top, "add", "--all", "--sparse")
        _must_be_read(ended, place)
        if not ended.code:
            break
        left = _left_over(work, place)
        hollow = [path for path in left if _is_hollow(work, place, path)]
        if left and hollow == left:
            return tuple(f"{shown([path])} is a repository without a commit, and left out" for path in hollow)
        if not again:
            raise _not_taken(place, [path for path in left if path not in hollow], ended)
    return ()


def must_be_clean(work: Scratch, place: Place, submodules: Sequence[bytes]) -> None:
    """Refuse a submodule with content that its HEAD has not: the commit could not bind it.

    Raises:
        NotBindable: there is one. GitFailed.
    """
    dirty = []
    for start in range(0, len(submodules), 500):
        paths = map(os.fsdecode, submodules[start : start + 500])
        out = work.real.must(place.top, "diff-files", "--name-only", "--ignore-submodules=none", "-z", "--", *paths)
        dirty += [path for path in out.split(b"\0") if path]
    if dirty:
        raise NotBindable(
            f"A repository inside this one has content that is not committed there: {shown(dirty)}",
            remedy="Commit or remove it there, or have it ignored there; a repository that does not belong here goes into .gitignore",
        )


def _left_over(work: Scratch, place: Place) -> list[bytes]:
    changed = work.real.must(place.top, "diff-files", "--name-only", "--ignore-submodules=dirty", "-z")
    untracked = work.real.must(place.top, "ls-files", "--others", "--exclude-standard", "-z")
    return [path for path in (changed + untracked).split(b"\0") if path]


def _is_hollow(work: Scratch, place: Place, path: bytes) -> bool:
    """Whether it is a repository that nobody has committed to."""
    folder = os.path.join(place.top, os.fsdecode(path))
    if not path.endswith(b"/") or not os.path.lexists(os.path.join(folder, ".git")):
        return False
    return work.real.run(folder, "rev-parse", "--verify", "--quiet", "HEAD").code == 1


def _must_be_read(ended: Ended, place: Place) -> None:
    """Git goes past a folder that it may not open, and only says so."""
    said = _UNREAD.search(ended.err)
    if said:
        line = printable(said[0].decode("utf-8", "replace"))[:300]
        raise GitFailed(
            f"Something in {place.top} cannot be read ({line})",
            remedy="Give yourself the right to read it, or ignore it",
        )


def _not_taken(place: Place, left: list[bytes], ended: Ended) -> GitFailed:
    what = shown(left) if left else "files vanish while git looks at them"
    return GitFailed(
        f"Git could not take everything in {place.top} in: {what} ({ended.fault})",
        remedy="Make it a readable file, remove it, or have it ignored; then try again",
        folder=place.top, paths=[os.fsdecode(path) for path in left],
    )  # fmt: skip
