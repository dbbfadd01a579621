"""The world that anchors are held against: one checkout or folder, its files, what git says of it, and stated facts.

Nothing is looked at before it is needed. Files are looked at each time; a digest is kept for as long as nothing that
the file system tells of the file has changed, and not at all while a change could go unseen: as git does, a file that
was touched within the last two seconds is read again ("racily clean"). What git says is asked for once.
"""

from __future__ import annotations

import os
import stat
import time
from types import MappingProxyType
from typing import TYPE_CHECKING

from indelible.gate.anchors.digesting import blob_id, digest_of, read_whole
from indelible.gate.anchors.gitfacts import GitFacts, asking
from indelible.gate.anchors.locating import UNKNOWN, Doubt, first_link, follow, inside, require_file, status
from indelible.gate.identity import ROOT, by_folder, by_root, parse_identity
from indelible.gate.stamps import Stamp, is_racy, stamp_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from indelible.gate.context import Place

_NONE: Mapping[str, str] = MappingProxyType({})


class Files:
    """What the anchors of any number of records are held against.

    Args:
        place: Where the reader stands; anchors' paths are relative to its `top`.
        environ: The environment, for facts about it and for git.
        apis: The version of each API, as the settings state it.
        clock_ns: Nanoseconds since 1970, against which a file's times count as fresh.
    """

    def __init__(
        self,
        place: Place,
        environ: Mapping[str, str],
        apis: Mapping[str, str] = _NONE,
        clock_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        self.place, self.environ, self.apis = place, environ, apis
        self._clock = clock_ns
        self._top: str | None = None
        self._facts: GitFacts | None = None
        self._places: dict[str, str] = {}
        self._digests: dict[tuple[str, str], tuple[Stamp, str]] = {}
        self._parsed: dict[tuple[object, str, str], object] = {}
        self._answers: dict[str | None, bool] = {}

    @property
    def top(self) -> str:
        """The folder that paths are relative to.

        Raises:
            Doubt: there is none.
        """
        if self._top is None:
            top = self.place.top
            if top is None or (self.place.repo is not None and not os.path.lexists(os.path.join(top, ".git"))):
                raise self._nowhere("there is no working tree here")
            self._top = top
        return self._top

    @property
    def git(self) -> GitFacts:
        """What git says of this checkout.

        Raises:
            Doubt: this is no checkout, or git cannot say.
        """
        if self.place.repo is None:
            raise self._nowhere("this is no git repository")
        if self._facts is None:
            self._facts = GitFacts(self.environ, self.top)
        return self._facts

    def forget_git(self) -> None:
        """What git said of refs, commits and files is asked anew; files that are as they were are not read again."""
        self._facts = None

    def forget_places(self) -> None:
        """Where paths lead is looked up anew: a folder on the way may have become a link."""
        self._places.clear()

    def require(self, repo: str | None) -> None:
        """Refuse anchors into another repository.

        Raises:
            Doubt: it is another one, or git cannot say which this is.
        """
        if repo is None:
            return
        if repo not in self._answers:
            self._answers[repo] = self._is_here(repo)
        if not self._answers[repo]:
            raise self._nowhere(f"it is in {repo}, which is not where this is read")

    @property
    def repo(self) -> str:
        """What anchors say of where they were bound: the repository's identity, or that of the folder."""
        return self.place.repo or _folder_id(self.top)

    def digest(self, path: str, kind: str) -> str:
        """Hex digits of a file's digest (`digest_of`).

        Raises:
            Doubt: there is no such file inside, or it cannot be read.
        """
        full, seen = self.reach(path)
        stamp = stamp_of(seen)
        known = self._digests.get((path, kind))
        if known is not None and known[0] == stamp:
            return known[1]
        require_file(seen)
        digest = digest_of(full, kind)
        if not is_racy(stamp, self._clock()):
            self._digests[path, kind] = (stamp, digest)
        return digest

    def reach(self, path: str) -> tuple[str, os.stat_result]:
        """Where a path leads, and what stands there.

        Raises:
            Doubt: nothing does, or it leads outside.
        """
        full = self._places.get(path) or self.locate(path)
        seen = status(full)
        if stat.S_ISLNK(seen.st_mode):
            full = follow(self.top, full)
            seen = status(full)
        return full, seen

    def locate(self, path: str) -> str:
        """The absolute path of what an anchor's path names, which may be a link itself.

        Raises:
            Doubt: it leads outside.
        """
        parts, top = inside(path), self.top
        full = os.path.join(top, *parts)
        if len(parts) > 1 and first_link(top, parts[:-1]) is not None:
            full = os.path.join(follow(top, os.path.dirname(full)), parts[-1])
        self._places[path] = full
        return full

    def is_there(self, path: str) -> bool:
        """Whether something stands at a path inside."""
        try:
            status(self._places.get(path) or self.locate(path))
        except Doubt:
            return False
        return True

    def split_member(self, path: str) -> tuple[str, str | None]:
        """`file#member` in its halves; None where the path is that of a file, whose name may have a `#` in it."""
        if "#" not in path or self.is_there(path):
            return path, None
        cuts = [at for at, letter in enumerate(path) if letter == "#"]
        at = next((at for at in cuts if path[:at] and self.is_there(path[:at])), cuts[0])
        return path[:at], path[at + 1 :]

    def link_id(self, path: str, kind: str) -> str | None:
        """The id that git gives to a link, whose content is where it leads; None where no link is."""
        try:
            return blob_id(os.fsencode(os.readlink(self.locate(path))), kind)
        except OSError:
            return None

    def parsed(self, path: str, how: Callable[[bytes], object]) -> object:
        """What is read out of a whole file, once for each content.

        Raises:
            Doubt: there is no such file, or `how` cannot read it.
        """
        key = (how, path, self.digest(path, "sha256"))
        if key not in self._parsed:
            self._parsed[key] = how(read_whole(self.reach(path)[0]))
        return self._parsed[key]

    def _is_here(self, repo: str) -> bool:
        place = self.place
        if repo.startswith("folder:"):
            return repo in (place.repo, *map(_folder_id, self._folders()))
        if place.repo is None:
            raise self._nowhere("this is no git repository")
        if repo.startswith(ROOT) and place.root is not None:
            return repo in (place.repo, by_root(place.root))
        return place.repo in (repo, parse_identity(repo))

    def _folders(self) -> tuple[str, ...]:
        """The folders by which a place without commits, or without git, is known."""
        if self.place.repo is None:
            return (self.top,)
        with asking():
            common = self.git.git().line(self.top, "rev-parse", "--git-common-dir")
        return (self.top, os.path.join(self.top, common))

    def _nowhere(self, words: str) -> Doubt:
        problem = self.place.problem
        if problem is not None:
            return Doubt(UNKNOWN, f"cannot be checked here: {problem.message}", problem.remedy)
        return Doubt(UNKNOWN, f"cannot be checked here: {words}", "Read it where it was saved")


def _folder_id(folder: str) -> str:
    return by_folder(os.path.realpath(folder))
