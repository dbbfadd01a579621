"""Where a change is looked for: one work tree of one repository, its HEAD, and what is going on in it."""

from __future__ import annotations

import os

from indelible.errors import NotFoundError
from indelible.gitsource.command import Git, GitFailed, NoRepository
from indelible.gitsource.genuine import Wanted, reading
from indelible.light import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indelible.gitsource.command import Ended

LIMIT = 600.0
"""Seconds for one change, in all. Clean filters of large files take their time."""
SLOW = "Look for a large file or a slow clean filter: 'git add -A --dry-run' there shows what git looks at"

_ASKED = (
    "--is-bare-repository",
    "--is-inside-work-tree",
    "--absolute-git-dir",
    "--git-common-dir",
    "--show-object-format",
)
_GOING_ON = {
    "CHERRY_PICK_HEAD": "A cherry-pick is going on",
    "REVERT_HEAD": "A revert is going on",
    "rebase-merge": "A rebase is going on: a commit made now stands on HEAD as it is now, and the rebase may rewrite it",
    "rebase-apply": "A rebase or 'git am' is going on: a commit made now stands on HEAD as it is now",
    "BISECT_LOG": "A bisection is going on",
}  # fmt: skip


class Place(NamedTuple):
    """A repository, and one of its work trees."""

    top: str
    """The work tree; the git directory itself where there is none."""
    git_dir: str
    """Absolute; each work tree has its own."""
    objects: str
    """The folder of objects, absolute."""
    format: str
    """`sha1` or `sha256`."""
    bare: bool


class Head(NamedTuple):
    """What a commit made now would stand on."""

    commit: str
    """In hex; empty where there is none yet."""
    branch: str
    """Empty where it is detached."""
    parents: tuple[str, ...]
    """The others, of a merge that is going on."""


def git_for(
    environ: Mapping[str, str], variables: Mapping[str, str] | None = None, settings: tuple[str, ...] = ()
) -> Git:
    """Git, with this part's time limit and remedy."""
    return Git(environ, LIMIT, variables=variables, settings=settings, slow=SLOW)


def find_place(git: Git, folder: str) -> Place:
    """The repository of a folder, with or without a work tree.

    Raises:
        NoRepository: there is none. GitFailed: git does not read it. GitMissing.
    """
    ended = git.run(folder, "rev-parse", *_ASKED, "--show-toplevel")
    lines = os.fsdecode(ended.out).split("\n")[:-1]
    if len(lines) > len(_ASKED) + 1:  # a newline in a folder's name
        lines = [
            os.fsdecode(git.must(folder, "rev-parse", asked).removesuffix(b"\n"))
            for asked in (*_ASKED, "--show-toplevel")
        ]
    if len(lines) < len(_ASKED) or (ended.code and lines[1] == "true"):
        raise _unread(folder, ended.fault)
    bare, inside, git_dir, common, form, *top = lines
    objects = os.path.join(os.path.abspath(folder), common, "objects")
    is_tree = inside == "true" and bare == "false"
    return Place(top[0] if is_tree else git_dir, git_dir, objects, form, not is_tree)


def find_work_tree(git: Git, folder: str) -> Place:
    """As `find_place`, where there has to be a work tree.

    Raises:
        NoRepository: a bare repository, or the inside of `.git`.
    """
    place = find_place(git, folder)
    if place.bare:
        what = "the inside of a git directory, or a bare repository"
        raise NoRepository(f"{folder} is {what}: there is no work tree", remedy="Go to the work tree", folder=folder)
    return place


def find_head(git: Git, place: Place) -> Head:
    """HEAD, and the heads that a merge will record.

    Raises:
        GitFailed: it cannot be read, or names no commit that is here.
    """
    with (
        git.begin(place.top, "symbolic-ref", "--quiet", "HEAD") as name,
        git.begin(place.top, "rev-parse", "--verify", "--quiet", "HEAD^{commit}") as commit,
    ):
        branch = _answer(name.end(), place)
        base = _answer(commit.end(), place)
    if not base:
        _must_be_unborn(git, place, branch)
    return Head(base, branch, _merging(place))


def going_on(place: Place) -> tuple[str, ...]:
    """Sentences about what is under way in this work tree."""
    return tuple(words for name, words in _GOING_ON.items() if os.path.exists(os.path.join(place.git_dir, name)))


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


ASK_WAYS = ("config", "--null", "--type=bool", "--get-regexp", r"^core\.(filemode|symlinks)$")


def read_ways(answer: Ended) -> Ways:
    """What `ASK_WAYS` answered.

    Raises:
        GitFailed: it failed.
    """
    if answer.code not in (0, 1):  # 1: none of them is set
        raise GitFailed(f"Git does not read its settings ({answer.fault})", remedy="Look at 'git config --list'")
    said = dict(record.split(b"\n", 1) for record in answer.out.split(b"\0") if b"\n" in record)
    return Ways(said.get(b"core.filemode") != b"false", said.get(b"core.symlinks") != b"false")


def find_commit(git: Git, place: Place, name: str) -> tuple[str, bytes]:
    """A commit's id and its bytes as they are stored: no graft, no replacement, no shallow border hides a parent.

    Raises:
        NotFoundError: nothing there has that name, or it is no commit. ObjectAltered: its bytes are not what its id says. GitFailed.
    """
    if not name or "\n" in name or "\0" in name:
        raise NotFoundError(f"{name!r} names no commit", remedy="Give the id of a commit")
    asked = os.fsencode(name) + b"^{commit}\n"
    words = git.must(place.top, "cat-file", "--batch-check=%(objectname) %(objecttype)", stdin=asked).split()
    if len(words) != 2 or words[1] != b"commit":
        raise NotFoundError(f"There is no commit {name!r} in {place.top}", remedy="Fetch it, or give another id")
    with reading(git, place.top) as objects:
        (found,) = objects.read([Wanted(words[0].decode("ascii"), name)], "commit")
    return found.name, found.content or b""


def _answer(ended: Ended, place: Place) -> str:
    """One line, or nothing where git says that there is nothing to say (1), and not that it failed."""
    if ended.code not in (0, 1):
        raise GitFailed(
            f"Git does not read HEAD of {place.top} ({ended.fault})", remedy="Try 'git fsck' there", folder=place.top
        )
    return "" if ended.code else os.fsdecode(ended.out.removesuffix(b"\n"))


def _must_be_unborn(git: Git, place: Place, branch: str) -> None:
    """A HEAD without a commit is a branch that nobody has committed to; anything else is damage, and no empty base."""
    if branch:
        ended = git.run(place.top, "for-each-ref", "--count=1", "--format=%(objectname)", branch)
        known = [line for line in ended.out.split(b"\n") if line]
        if not ended.code and not ended.err and not known:
            return
    raise GitFailed(
        f"HEAD of {place.top} names no commit that is here", remedy="Try 'git fsck' there", folder=place.top
    )


def _merging(place: Place) -> tuple[str, ...]:
    try:
        with open(os.path.join(place.git_dir, "MERGE_HEAD"), encoding="ascii") as file:
            return tuple(line.strip() for line in file if line.strip())
    except FileNotFoundError:
        return ()
    except (OSError, ValueError) as exc:
        raise GitFailed(f"MERGE_HEAD of {place.git_dir} cannot be read ({exc})", folder=place.top) from exc


def _unread(folder: str, fault: str) -> NoRepository | GitFailed:
    if "dubious ownership" in fault:
        remedy = "If you trust it: git config --global --add safe.directory FOLDER"
        return GitFailed(f"Git does not read {folder}, which belongs to another account", remedy=remedy, folder=folder)
    if "not a git repository" in fault:
        return NoRepository(
            f"{folder} lies in no git repository", remedy="Go to a repository, or 'git init'", folder=folder
        )
    return GitFailed(f"Git does not read {folder} ({fault})", remedy="Try 'git fsck' there", folder=folder)
