"""A change that comes as a pack from another machine, made anew from it and from the base that is here. Nothing is kept."""

from __future__ import annotations

from contextlib import contextmanager

from indelible.errors import NotFoundError
from indelible.gitsource.command import GitFailed
from indelible.light import TYPE_CHECKING
from indelible.workflow.change.listing import describe, read_rows
from indelible.workflow.change.looking import NotBindable
from indelible.workflow.change.opening import Opened
from indelible.workflow.change.place import find_commit, find_place, git_for
from indelible.workflow.change.scratch import scratch

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from indelible.workflow.change.model import Change


@contextmanager
def open_packed(folder: str, environ: Mapping[str, str], told: Change, pack: bytes) -> Iterator[Opened]:
    """The change that `told` names, from what is here and what the pack brings.

    Git checks every object's name as it unpacks; what was here before is held against its name as it is read.

    Args:
        folder: a clone that has the base.
        told: base, tree and parents as the other side has them; of its files nothing is believed.

    Raises:
        NotFoundError: the base, or a parent, is not in this clone. NotBindable: it is of another kind of repository, or the pack
            does not bring what the tree needs.
        ObjectAltered: an object of this clone is not what its name says. NoRepository, GitMissing, GitFailed, NotSaved.
    """
    git = git_for(environ)
    place = find_place(git, folder)
    if place.format != told.format:
        raise NotBindable(
            f"It is of a {told.format} repository, and {folder} is of {place.format}", remedy="Use a clone of it"
        )
    with scratch(place, environ) as work:
        for name in filter(None, (told.base, *told.parents)):
            try:
                find_commit(work.real, place, name)
            except NotFoundError as error:
                raise NotFoundError(
                    f"This clone does not have the commit {name[:12]} that the change stands on",
                    remedy="'git fetch' it first",
                ) from error
        try:
            work.real.must(place.top, "unpack-objects", "-q", "--strict", stdin=pack)
            read = read_rows(work, place, told.base, told.tree)
            files = describe(work, place, read, {})
        except GitFailed as error:
            raise NotBindable(
                f"What came does not make the tree {told.tree[:12]} ({error.message})", remedy="Have it asked for again"
            ) from error
        yield Opened(told._replace(files=files, notes=(), ignored=()), work, read.held)
