"""The exact change of a work tree, of an index, or of a commit that exists."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from indelible.errors import NotFoundError
from indelible.light import NamedTuple
from indelible.workflow.change.entries import Entries, begin_entries, read_entries
from indelible.workflow.change.ignoring import begin_ignored, read_ignored
from indelible.workflow.change.listing import changed, describe
from indelible.workflow.change.model import GITLINK, Change
from indelible.workflow.change.place import Head, find_commit, find_head, find_place, find_work_tree, git_for, going_on
from indelible.workflow.change.rendering import pack, render
from indelible.workflow.change.scratch import copy_index, join_split, scratch
from indelible.workflow.change.staging import ASKED, must_be_clean, read_ways, stage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from indelible.workflow.change.listing import Row
    from indelible.workflow.change.place import Place
    from indelible.workflow.change.scratch import Scratch


class Opened(NamedTuple):
    """A change whose objects are at hand, until its `with` ends."""

    change: Change
    work: Scratch

    def render(self) -> Iterator[bytes]:
        """`branch.diff`, in pieces."""
        return render(self.work, self.change)

    def pack(self) -> bytes:
        """The new objects, as a git pack."""
        return pack(self.work, self.change)


@contextmanager
def open_change(folder: str, environ: Mapping[str, str]) -> Iterator[Opened]:
    """What a commit of everything in this work tree would be. Nothing of the user's is written.

    Args:
        folder: The work tree, or a folder in it.
        environ: The environment, for git.

    Raises:
        NoRepository: no work tree. NotBindable: conflicts, or an unclean submodule.
        GitMissing, GitFailed: git is not there, or could not do it. NotSaved: no room for temporary files.
    """
    git = git_for(environ)
    place = find_work_tree(git, folder)
    head = find_head(git, place)
    with scratch(place, environ) as work:
        copy_index(os.path.join(place.git_dir, "index"), work.index_file)
        join_split(work, place, environ)
        yield Opened(_taken(work, place, head), work)


def change_of_index(folder: str, environ: Mapping[str, str], index_file: str = "") -> Change:
    """What a commit of an index as it stands would be. The index is copied, and not written to.

    Args:
        index_file: As git names it to a hook in GIT_INDEX_FILE, from the top of the work tree; empty for the usual one.

    Raises:
        As `open_change`; NotFoundError too, where there is no such index.
    """
    git = git_for(environ)
    place = find_work_tree(git, folder)
    head = find_head(git, place)
    source = os.path.join(place.top, index_file) if index_file else os.path.join(place.git_dir, "index")
    with scratch(place, environ) as work:
        if not copy_index(source, work.index_file) and index_file:
            raise NotFoundError(f"There is no index {source}", remedy="Give what git names in GIT_INDEX_FILE")
        join_split(work, place, environ)
        with begin_entries(work.real, place.top) as read:
            read_entries(work.real, place.top, work.index_file, read)
        tree = _written(work, place)
        rows = changed(work, place, head.commit, tree)
        files = describe(work, place, head.commit, tree, rows, {})
    return Change(place.format, head.commit, tree, head.parents, head.branch, files, going_on(place))


def change_of_commit(folder: str, environ: Mapping[str, str], commit: str) -> Change:
    """What a commit did to its first parent.

    Raises:
        NotFoundError: there is no such commit. NoRepository, GitMissing.
        GitFailed: its parent is not here (a shallow clone), or git could not do it.
    """
    git = git_for(environ)
    place = find_place(git, folder)
    with scratch(place, environ) as work:
        _, text = find_commit(work.real, place, commit)
        tree, parents = _parsed(text)
        base = parents[0] if parents else ""
        rows = changed(work, place, base, tree)
        return Change(place.format, base, tree, parents[1:], "", describe(work, place, base, tree, rows, {}))


def _taken(work: Scratch, place: Place, head: Head) -> Change:
    with (
        work.real.begin(place.top, *ASKED) as asked,
        begin_entries(work.real, place.top) as read,
        begin_ignored(work.real, place.top) as hidden,
    ):
        entries = read_entries(work.real, place.top, work.index_file, read)
        ways = read_ways(asked.end())
        notes = [*going_on(place), *ways.notes(), *stage(work, place, entries, ways)]
        tree = _written(work, place)
        rows = changed(work, place, head.commit, tree)
        marks = _marks(rows, entries)
        must_be_clean(work, place, [*entries.submodules, *marks["nested-repository"]])
        files = describe(work, place, head.commit, tree, rows, marks)
        ignored, more = read_ignored(hidden)
    return Change(place.format, head.commit, tree, head.parents, head.branch, files, (*notes, *more), ignored)


def _written(work: Scratch, place: Place) -> str:
    return work.real.must(place.top, "write-tree").decode("ascii").strip()


def _marks(rows: Sequence[Row], entries: Entries) -> dict[str, Sequence[bytes]]:
    added = [row.path for row in rows if row.status == "A"]
    known = entries.known(added)
    untracked = [path for path in added if path not in known]
    links = {row.path for row in rows if row.new_mode == GITLINK}
    nested = [path for path in links if path not in entries.known(links)]
    return {
        "untracked": untracked, "nested-repository": nested, "assume-unchanged": entries.assumed,
        "skip-worktree": entries.skipped, "intent-to-add": entries.intended,
    }  # fmt: skip


def _parsed(text: bytes) -> tuple[str, tuple[str, ...]]:
    """The tree and the parents of a commit."""
    head = [line.split(b" ") for line in text.partition(b"\n\n")[0].split(b"\n")]
    tree, *others = [words for words in head if words[0] in (b"tree", b"parent")]
    return tree[1].decode("ascii"), tuple(words[1].decode("ascii") for words in others)
