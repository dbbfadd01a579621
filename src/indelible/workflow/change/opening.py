"""The exact change of a work tree, of an index, or of a commit that exists."""

from __future__ import annotations

import os
from contextlib import contextmanager

from indelible.errors import NotFoundError
from indelible.light import TYPE_CHECKING, NamedTuple
from indelible.workflow.change.genuine import root_of
from indelible.workflow.change.listing import describe, read_rows
from indelible.workflow.change.looking import LOOK, Look, ignored_of, must_be_bindable
from indelible.workflow.change.marks import ASK_MARKS, clear, read_marks
from indelible.workflow.change.model import Change
from indelible.workflow.change.place import (
    ASK_WAYS,
    find_commit,
    find_head,
    find_place,
    find_work_tree,
    git_for,
    going_on,
    read_ways,
)
from indelible.workflow.change.rendering import pack, render
from indelible.workflow.change.scratch import copy_index, join_split, scratch
from indelible.workflow.change.staging import stage

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from indelible.gitsource.command import Running
    from indelible.workflow.change.genuine import Held
    from indelible.workflow.change.marks import Marks
    from indelible.workflow.change.place import Place
    from indelible.workflow.change.scratch import Scratch
    from indelible.workflow.change.staging import Staged


class Opened(NamedTuple):
    """A change whose objects are at hand, until its `with` ends."""

    change: Change
    work: Scratch
    held: Held

    def render(self) -> Iterator[bytes]:
        """`branch.diff`, in pieces."""
        return render(self.work, self.change, self.held)

    def pack(self) -> bytes:
        """The new objects, as a git pack."""
        return pack(self.work, self.held)


@contextmanager
def open_change(folder: str, environ: Mapping[str, str]) -> Iterator[Opened]:
    """What a commit of everything in this work tree would be. Nothing of the user's is written.

    Args:
        folder: The work tree, or a folder in it.
        environ: The environment, for git.

    Raises:
        NoRepository: no work tree. NotBindable: conflicts, or an unclean submodule.
        ObjectAltered: an object that would be shown is not what its name says.
        GitMissing, GitFailed: git is not there, or could not do it. NotSaved: no room for temporary files.
    """
    place = find_work_tree(git_for(environ), folder)
    with scratch(place, environ) as work:
        copy_index(os.path.join(place.git_dir, "index"), work.index_file)
        join_split(work, place, environ)
        change, held = _taken(work, place)
        yield Opened(change, work, held)


def change_of_index(folder: str, environ: Mapping[str, str], index_file: str = "") -> Change:
    """What a commit of an index as it stands would be. The index is copied, and not written to.

    Args:
        index_file: As git names it to a hook in GIT_INDEX_FILE, from the top of the work tree; empty for the usual one.

    Raises:
        As `open_change`; NotFoundError too, where there is no such index.
    """
    place = find_work_tree(git_for(environ), folder)
    source = os.path.join(place.top, index_file) if index_file else os.path.join(place.git_dir, "index")
    with scratch(place, environ) as work:
        if not copy_index(source, work.index_file) and index_file:
            raise NotFoundError(f"There is no index {source}", remedy="Give what git names in GIT_INDEX_FILE")
        join_split(work, place, environ)
        with work.real.begin(place.top, "ls-files", "--unmerged", "-z") as asked:
            head = find_head(work.real, place)
            unmerged = {record.partition(b"\t")[2] for record in asked.must().split(b"\0") if record}
        must_be_bindable(Look(conflicts=tuple(sorted(unmerged))))
        tree = _written(work, place)
        files = describe(work, place, read_rows(work, place, head.commit, tree), {})
    return Change(place.format, head.commit, tree, head.parents, head.branch, files, going_on(place))


def change_of_commit(folder: str, environ: Mapping[str, str], commit: str) -> Change:
    """What a commit did to its first parent.

    Raises:
        NotFoundError: there is no such commit. NoRepository, GitMissing.
        ObjectAltered: it, or an object that it differs in, is not what its name says.
        GitFailed: its parent is not here (a shallow clone), or git could not do it.
    """
    place = find_place(git_for(environ), folder)
    with scratch(place, environ) as work:
        _, text = find_commit(work.real, place, commit)
        tree, parents = root_of(text)
        base = parents[0] if parents else ""
        files = describe(work, place, read_rows(work, place, base, tree), {})
        return Change(place.format, base, tree, parents[1:], "", files)


def _taken(work: Scratch, place: Place) -> tuple[Change, Held]:
    """Git's steps side by side: HEAD, settings and marks are read while git looks through the work tree."""
    git = work.real
    with git.begin(place.top, *LOOK) as looking, git.begin(place.top, *ASK_MARKS) as marking:
        with git.begin(place.top, *ASK_WAYS) as asked:
            head = find_head(git, place)
            ways = read_ways(asked.end())
        marks = read_marks(marking.must())
        staged = _staged(work, place, marks, looking)
    tree = _written(work, place)
    read = read_rows(work, place, head.commit, tree)
    files = describe(work, place, read, _flags(staged, marks))
    ignored, more = ignored_of(staged.look)
    notes = (*going_on(place), *ways.notes(), *staged.notes, *more)
    return Change(place.format, head.commit, tree, head.parents, head.branch, files, notes, ignored), read.held


def _staged(work: Scratch, place: Place, marks: Marks, looking: Running) -> Staged:
    present = marks.present(place.top)
    if not marks.assumed and not present:
        return stage(work, place, looking)
    clear(work.real, place.top, marks.assumed, present)  # what is being looked at is not all
    with work.real.begin(place.top, *LOOK) as anew:
        return stage(work, place, anew)


def _written(work: Scratch, place: Place) -> str:
    return work.real.must(place.top, "write-tree").decode("ascii").strip()


def _flags(staged: Staged, marks: Marks) -> dict[str, Collection[bytes]]:
    return {
        "untracked": (*staged.look.untracked, *staged.nested), "nested-repository": staged.nested, "assume-unchanged": marks.assumed,
        "skip-worktree": marks.skipped, "intent-to-add": staged.look.intended,
    }  # fmt: skip
