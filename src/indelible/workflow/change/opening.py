"""The exact change of a work tree, of an index, or of a commit that exists."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from indelible.errors import NotFoundError
from indelible.gitsource.command import GitFailed
from indelible.light import NamedTuple
from indelible.workflow.change.entries import begin_entries, clear_marks, present, read_entries
from indelible.workflow.change.ignoring import begin_ignored, read_ignored
from indelible.workflow.change.listing import describe, read_rows
from indelible.workflow.change.model import GITLINK, Change
from indelible.workflow.change.place import find_commit, find_head, find_place, find_work_tree, git_for, going_on
from indelible.workflow.change.rendering import pack, render
from indelible.workflow.change.scratch import copy_index, join_split, keep, restore, scratch
from indelible.workflow.change.staging import ASKED, must_be_clean, read_ways, stage

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from indelible.workflow.change.entries import Entries
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
    place = find_work_tree(git_for(environ), folder)
    with scratch(place, environ) as work:
        copy_index(os.path.join(place.git_dir, "index"), work.index_file)
        join_split(work, place, environ)
        keep(work)
        yield Opened(_taken(work, place), work)


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
        with begin_entries(work.real, place.top) as reading:
            head = find_head(work.real, place)
            read_entries(work.real, place.top, work.index_file, reading)
        tree = _written(work, place)
        files = describe(work, place, read_rows(work, place, head.commit, tree), {})
    return Change(place.format, head.commit, tree, head.parents, head.branch, files, going_on(place))


def change_of_commit(folder: str, environ: Mapping[str, str], commit: str) -> Change:
    """What a commit did to its first parent.

    Raises:
        NotFoundError: there is no such commit. NoRepository, GitMissing.
        GitFailed: its parent is not here (a shallow clone), or git could not do it.
    """
    place = find_place(git_for(environ), folder)
    with scratch(place, environ) as work:
        _, text = find_commit(work.real, place, commit)
        tree, parents = _parsed(text)
        base = parents[0] if parents else ""
        files = describe(work, place, read_rows(work, place, base, tree), {})
        return Change(place.format, base, tree, parents[1:], "", files)


def _taken(work: Scratch, place: Place) -> Change:
    """Git's steps side by side: the index is filled while HEAD, settings and the index before are read, and so on."""
    with work.real.begin(place.top, *ASKED) as asked, begin_entries(work.before, place.top) as reading:
        left_out, fault = _tried(work, place)
        head = find_head(work.real, place)
        ways = read_ways(asked.end())
        entries = read_entries(work.before, place.top, f"{work.index_file}-before", reading)
    if entries.assumed or present(place.top, entries.skipped):
        restore(work)
        clear_marks(work.real, place.top, entries)
        left_out = stage(work, place)
    elif fault:
        raise fault
    with begin_ignored(work.before, place.top) as hidden:
        tree = _written(work, place)
        read = read_rows(work, place, head.commit, tree)
        marks = _marks(read.rows, entries)
        must_be_clean(work, place, [*entries.submodules, *marks["nested-repository"]])
        files = describe(work, place, read, marks)
        ignored, more = read_ignored(hidden)
    notes = (*going_on(place), *ways.notes(), *left_out, *more)
    return Change(place.format, head.commit, tree, head.parents, head.branch, files, notes, ignored)


def _tried(work: Scratch, place: Place) -> tuple[tuple[str, ...], GitFailed | None]:
    """The filling, as if no mark hid anything. What went wrong counts only if none did: conflicts are told before it, too."""
    try:
        return stage(work, place), None
    except GitFailed as exc:
        return (), exc


def _written(work: Scratch, place: Place) -> str:
    return work.real.must(place.top, "write-tree").decode("ascii").strip()


def _marks(rows: Sequence[Row], entries: Entries) -> dict[str, Collection[bytes]]:
    there = [row for row in rows if row.new]
    known = entries.known(row.path for row in there)
    return {
        "untracked": [row.path for row in there if row.path not in known],
        "nested-repository": [row.path for row in there if row.new_mode == GITLINK and row.path not in known],
        "assume-unchanged": entries.assumed, "skip-worktree": entries.skipped, "intent-to-add": entries.intended,
    }  # fmt: skip


def _parsed(text: bytes) -> tuple[str, tuple[str, ...]]:
    """The tree and the parents of a commit."""
    head = [line.split(b" ") for line in text.partition(b"\n\n")[0].split(b"\n")]
    tree, *others = [words for words in head if words[0] in (b"tree", b"parent")]
    return tree[1].decode("ascii"), tuple(words[1].decode("ascii") for words in others)
