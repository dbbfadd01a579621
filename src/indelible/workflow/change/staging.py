"""Everything in the work tree, taken into the copy of the index as `git add -A` would: what a commit of it all contains.

    look (git status) -> take away what is gone -> take in what is altered or new (git update-index)

Only the paths that differ are named to git again, so that the whole tree is walked once. That this comes to the very tree of
`git add -A && git commit` is a property which the tests hold against git itself.
"""

from __future__ import annotations

import os
import re

from indelible.gitsource.command import GitFailed
from indelible.light import TYPE_CHECKING, NamedTuple
from indelible.workflow.change.looking import LOOK, Look, must_be_bindable, printable, read_look, shown  # fmt: skip

if TYPE_CHECKING:
    from collections.abc import Iterable

    from indelible.gitsource.command import Ended, Running
    from indelible.workflow.change.place import Place
    from indelible.workflow.change.scratch import Scratch

MOST_ARGUMENTS = 500
"""Paths on one command line."""
_SAID = re.compile(rb"^(?:error|fatal): (.*)$", re.MULTILINE)


class Staged(NamedTuple):
    """What was taken in."""

    look: Look
    nested: tuple[bytes, ...]
    """Repositories inside this one, each taken in as the commit it stands at."""
    notes: tuple[str, ...]
    """What was left out."""


def stage(work: Scratch, place: Place, looking: Running) -> Staged:
    """Fill the copied index.

    Args:
        looking: a `LOOK` that was begun. A second one follows where a file vanished between looking and taking in.

    Raises:
        NotBindable: conflicts, or an unclean submodule. GitFailed: a file cannot be read, or git cannot do it.
    """
    look = read_look(looking.end(), place.top)
    try:
        return _take(work, place, look)
    except _NotTaken:
        return _take(work, place, read_look(work.real.run(place.top, *LOOK), place.top))


class _NotTaken(GitFailed):
    """A path could not be taken in."""


def _take(work: Scratch, place: Place, look: Look) -> Staged:
    must_be_bindable(look)
    hollow = [path for path in look.nested if _is_hollow(work, place, path)]
    nested = tuple(path for path in look.nested if path not in hollow)
    _update(work, place, look.gone, "--force-remove")
    _update(work, place, (*look.altered, *look.untracked, *nested), "--add", "--remove", "--replace")
    _must_be_clean(work, place, nested)
    return Staged(
        look, nested, tuple(f"{shown([path])} is a repository without a commit, and left out" for path in hollow)
    )


def _update(work: Scratch, place: Place, paths: tuple[bytes, ...], *options: str) -> None:
    if not paths:
        return
    ended = work.real.run(place.top, "update-index", *options, "-z", "--stdin", stdin=_joined(paths))
    if ended.code:
        raise _NotTaken(
            f"Git could not take in everything in {place.top}: {_reason(ended)}",
            remedy="Make it a file that can be read, remove it, or have it ignored; then try again", folder=place.top,
        )  # fmt: skip


def _must_be_clean(work: Scratch, place: Place, nested: tuple[bytes, ...]) -> None:
    """As for submodules, which the look has told about: what is not committed there, a commit here would not bind."""
    unclean: list[bytes] = []
    for start in range(0, len(nested), MOST_ARGUMENTS):
        paths = map(os.fsdecode, nested[start : start + MOST_ARGUMENTS])
        out = work.real.must(place.top, "diff-files", "--name-only", "--ignore-submodules=none", "-z", "--", *paths)
        unclean += [path for path in out.split(b"\0") if path]
    must_be_bindable(Look(unclean=tuple(unclean)))


def _is_hollow(work: Scratch, place: Place, path: bytes) -> bool:
    """Whether it is a repository that nobody has committed to."""
    return (
        work.real.run(os.path.join(place.top, os.fsdecode(path)), "rev-parse", "--verify", "--quiet", "HEAD").code == 1
    )


def _joined(paths: Iterable[bytes]) -> bytes:
    return b"".join(path + b"\0" for path in paths)


def _reason(ended: Ended) -> str:
    """What git says in its errors, which name the file."""
    said = "; ".join(line.decode("utf-8", "replace") for line in _SAID.findall(ended.err))
    return printable(said)[:300] or ended.fault
