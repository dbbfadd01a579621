"""What `git status` sees, against the copy of the index: which paths a commit of everything would take, leave, or take away."""

from __future__ import annotations

import os
import re

from indelible.errors import UsageError
from indelible.gitsource.command import GitFailed
from indelible.light import TYPE_CHECKING, NamedTuple
from indelible.workflow.change.model import GITLINK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indelible.gitsource.command import Ended

LOOK = (
    "status", "--porcelain=v2", "-z", "--untracked-files=all", "--ignored=matching", "--no-renames", "--ignore-submodules=none",
)  # fmt: skip
"""Submodules are looked into, whatever settings say; so is every folder that is not ignored."""
MOST_IGNORED = 200
"""Names of ignored files that a change lists; a folder that is ignored whole is one."""
SHOWN = 10
"""Paths that a message names."""

_UNREAD = re.compile(rb"^.*(?:could not open directory|: Permission denied$).*$", re.MULTILINE)
_LINK = GITLINK.encode()


class NotBindable(UsageError):
    """The work tree is in a state to which nobody can bind an approval."""

    slug = "change-not-bindable"


class Look(NamedTuple):
    """Paths, as bytes."""

    altered: tuple[bytes, ...] = ()
    """Tracked, and other than in the index."""
    gone: tuple[bytes, ...] = ()
    """In the index, and not in the work tree, or there as something that git replaces only when told twice."""
    untracked: tuple[bytes, ...] = ()
    nested: tuple[bytes, ...] = ()
    """Untracked, and a repository of its own."""
    intended: tuple[bytes, ...] = ()
    """`git add -N`: only the name is known to the index."""
    unclean: tuple[bytes, ...] = ()
    """Submodules with content that is not committed there."""
    conflicts: tuple[bytes, ...] = ()
    ignored: tuple[bytes, ...] = ()


def read_look(ended: Ended, top: str) -> Look:
    """What `LOOK` answered.

    Raises:
        GitFailed: it failed, or could not read a folder or file, which git goes past and only mentions.
    """
    said = _UNREAD.search(ended.err)
    if ended.code or said:
        reason = printable(said[0].decode("utf-8", "replace"))[:300] if said else ended.fault
        raise GitFailed(
            f"Git could not look through {top} ({reason})", remedy="Make it readable, or have it ignored", folder=top
        )
    found: dict[str, list[bytes]] = {name: [] for name in Look._fields}
    for record in ended.out.split(b"\0"):
        _sort(record, found)
    return Look(**{name: tuple(paths) for name, paths in found.items()})


def must_be_bindable(look: Look) -> None:
    """Refuse what no commit could bind.

    Raises:
        NotBindable: conflicts, or a submodule with content that its own HEAD has not.
    """
    if look.conflicts:
        raise NotBindable(
            f"Conflicts are not resolved: {shown(look.conflicts)}", remedy="Resolve them, then 'git add' those files"
        )
    if look.unclean:
        raise NotBindable(
            f"A repository inside this one has content that is not committed there: {shown(look.unclean)}",
            remedy="Commit or remove it there, or have it ignored there; a repository that does not belong here goes into .gitignore",
        )


def ignored_of(look: Look) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of what is ignored, and a note where they are not all."""
    names = sorted(look.ignored)
    more = len(names) - MOST_IGNORED
    notes = (f"{more:,} more ignored files and folders are not listed",) if more > 0 else ()
    return tuple(os.fsdecode(name) for name in names[:MOST_IGNORED]), notes


def shown(paths: Sequence[bytes]) -> str:
    """Some of the paths, for a message."""
    names = ", ".join(printable(os.fsdecode(path)) for path in paths[:SHOWN])
    return names if len(paths) <= SHOWN else f"{names} and {len(paths) - SHOWN:,} more"


def printable(name: str) -> str:
    """A name as one line, which steers no terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in name)


def _sort(record: bytes, found: dict[str, list[bytes]]) -> None:
    kind, _, rest = record.partition(b" ")
    if kind == b"1":
        _sort_tracked(rest, found)
    elif kind == b"u":
        found["conflicts"].append(rest.split(b" ", 9)[9])
    elif kind == b"!":
        found["ignored"].append(rest)
    elif kind == b"?":  # only a repository of its own is named as a folder
        found["nested" if rest.endswith(b"/") else "untracked"].append(rest.removesuffix(b"/"))
    elif record:
        raise GitFailed("Git describes a change in a way that is not known", remedy="Say which version of git it is")


def _sort_tracked(rest: bytes, found: dict[str, list[bytes]]) -> None:
    letters, submodule, _, index_mode, tree_mode, _, _, path = rest.split(b" ", 7)
    if submodule.startswith(b"S") and submodule[2:] != b"..":
        found["unclean"].append(path)
    if letters.endswith(b"A"):
        found["intended"].append(path)
    deleted = letters.endswith(b"D")
    if deleted or (not letters.endswith(b".") and index_mode != tree_mode and _LINK in (index_mode, tree_mode)):
        found["gone"].append(path)
    if not deleted and not letters.endswith(b"."):
        found["altered"].append(path)
