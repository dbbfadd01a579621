r"""A change as it is bound: a base commit, the tree that results, further parents. Values only; no git, no file.

    digest = SHA-256 of "indelible/change/v1\n" <format> "\n" <base, or -> "\n" <tree> "\n" <parents, space between, or -> "\n"

The files, notes and names beside it are for reading: they follow from base and tree, and the digest has no need of them.
"""

from __future__ import annotations

from indelible.errors import UsageError
from indelible.light import NamedTuple, sha256

LABEL = "indelible/change/v1"
GITLINK, LINK = "160000", "120000"
"""Modes: a commit of another repository, and a symbolic link."""


class File(NamedTuple):
    """One path of a change. A rename is a deletion and an addition."""

    path: str
    """Inside the repository, with `/`; bytes that are no UTF-8 stand in it as `os.fsdecode` puts them."""
    status: str
    """`A` added, `M` modified, `D` deleted, `T` of another type than before."""
    old_mode: str
    """Six octal digits, `000000` where there was nothing."""
    new_mode: str
    old: str
    """The object before, in hex; empty where there was none."""
    new: str
    """The object after, in hex; empty where there is none."""
    size: int
    """Bytes of the object after; 0 of a deletion and of a submodule."""
    flags: tuple[str, ...] = ()
    """What a reader should know: `untracked`, `binary`, `no-diff-attribute`, `filtered`, `symlink`, `mode`, …"""


class Change(NamedTuple):
    """What a commit made now would be: bound by `digest`."""

    format: str
    """`sha1` or `sha256`: of the repository's object names."""
    base: str
    """The commit it stands on, in hex; empty where there is none yet."""
    tree: str
    """The tree that results, in hex."""
    parents: tuple[str, ...] = ()
    """Further parents of a merge, in hex, in their order."""
    branch: str = ""
    """`refs/heads/…`; empty where HEAD is detached, and for a commit that exists."""
    files: tuple[File, ...] = ()
    """In the order of their paths' bytes."""
    notes: tuple[str, ...] = ()
    """Sentences about what cannot be seen here, or is left out."""
    ignored: tuple[str, ...] = ()
    """Names of ignored files, a folder of them as one; a bounded number."""

    @property
    def digest(self) -> str:
        """64 hex digits, which another implementation computes from plain git: see docs/change.md."""
        lines = (LABEL, self.format, self.base or "-", self.tree, " ".join(self.parents) or "-")
        return sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()

    @property
    def is_empty(self) -> bool:
        """Whether a commit would change nothing: the same tree, and no merge to record."""
        return not self.files and not self.parents


class Difference(NamedTuple):
    """Where another change is not the approved one: paths."""

    missing: tuple[str, ...]
    """Approved, and not in the other."""
    unapproved: tuple[str, ...]
    """In the other, and not approved."""
    altered: tuple[str, ...]
    """In both, with other content or another mode."""


def difference(approved: Change, other: Change) -> Difference:
    """Which paths keep `other` from being what was approved. All three are empty where the trees are equal.

    Raises:
        UsageError: they do not stand on the same commit, so that paths say nothing.
    """
    if (approved.format, approved.base) != (other.format, other.base):
        raise UsageError("The two changes stand on different commits", remedy="Compute the approved one again")
    wanted, found = ({file.path: file for file in change.files} for change in (approved, other))
    common = [path for path in wanted if path in found]
    return Difference(
        tuple(path for path in wanted if path not in found),
        tuple(path for path in found if path not in wanted),
        tuple(path for path in common if wanted[path][1:6] != found[path][1:6]),
    )


def missing(approved: Change, other: Change) -> tuple[str, ...]:
    """Every path of `difference`, in order: what to stage, take back, or have approved."""
    return tuple(sorted({path for paths in difference(approved, other) for path in paths}))
