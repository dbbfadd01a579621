"""Do our hooks of git still stand, and does git run them? Read, and tried on a scratch repository."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, NamedTuple

from indelible.githooks import scripts
from indelible.githooks.installing import read_manifest
from indelible.githooks.mending import is_displaced
from indelible.githooks.places import find_places
from indelible.gitsource.command import Git
from indelible.workflow.branches import are_all
from indelible.workflow.guarded import is_kept

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indelible.githooks.places import Places

AGAIN = "'indelible hooks install --git' puts them back"


class Standing(NamedTuple):
    """How they stand in one repository."""

    installed: bool
    folder: str
    hooks: tuple[str, ...]
    """Those that git runs."""
    problems: tuple[str, ...]
    """What is wrong, each with what to do."""
    fires: bool = False
    """Whether git ran one, and it refused what nobody approved."""

    @property
    def works(self) -> bool:
        return self.installed and self.fires and not self.problems


def stand(git: Git, folder: str, environ: Mapping[str, str], branches: tuple[str, ...] | None = None) -> Standing:
    """Look.

    Args:
        branches: those that the workflow in force guards, as globs; None where that is not known.

    Raises:
        NoRepository: the folder is in none.
    """
    places = find_places(git, folder)
    manifest = read_manifest(places)
    events = scripts.HOOKS if not places.bare else (scripts.RECEIVE,)
    there = tuple(event for event in events if _ours(os.path.join(places.folder, event)))
    if not manifest and not there:
        return Standing(installed=False, folder=places.folder, hooks=(), problems=())
    problems = list(_problems(places, manifest, events, there))
    if branches is not None and is_kept(places.common) and not are_all(branches):
        problems.append(
            f"{places.own} says that every branch is guarded, and the workflow in force guards fewer; {AGAIN}"
        )
    fires = "reference-transaction" in there and _fires(places, environ)
    if "reference-transaction" in there and not fires:
        problems.append(
            f"git ran {places.folder}/reference-transaction on a scratch repository, and nothing was refused; {AGAIN}"
        )
    return Standing(
        installed=True, folder=places.folder, hooks=there, problems=tuple(problems), fires=fires or there == (scripts.RECEIVE,)
    )  # fmt: skip


def _problems(
    places: Places, manifest: Mapping[str, object], events: tuple[str, ...], there: tuple[str, ...]
) -> list[str]:
    put = str(manifest.get("folder", places.folder))
    if os.path.realpath(put) != os.path.realpath(places.folder):
        return [f"core.hooksPath was changed: git looks in {places.folder}, and our hooks lie in {put}; {AGAIN}"]
    found = []
    for event in events:
        path = os.path.join(places.folder, event)
        if event in there:
            content = _read(path)
            program = scripts.program_in(content)
            if scripts.ours_in(content) != scripts.head_of(event, program):
                found.append(f"our lines in {event} are not those of this version, or were changed; {AGAIN}")
            if not os.access(program, os.X_OK):
                found.append(f"{event} calls {program}, which is not there any more: it refuses everything; {AGAIN}")
        elif is_displaced(places.folder, event):
            found.append(f"another program put its {event} in the place of ours; {AGAIN}")
        elif not _ours(f"{path}.legacy"):
            found.append(f"{event} is not there any more, or not executable; {AGAIN}")
    return found


def _ours(path: str) -> bool:
    return os.access(path, os.X_OK) and os.path.isfile(path) and scripts.has_ours(_read(path))


def _fires(places: Places, environ: Mapping[str, str]) -> bool:
    """Whether git runs the hook that lies there, and is kept by it from moving a branch."""
    with tempfile.TemporaryDirectory(prefix="indelible-") as scratch:
        git = Git(environ, 30.0, settings=(f"core.hooksPath={places.folder}",))
        plain = Git(environ, 30.0)
        plain.must(scratch, "init", "--quiet", "--template=", scratch)
        tree = plain.must(scratch, "mktree").decode().strip()
        named = ("-c", "user.name=indelible", "-c", "user.email=indelible@localhost")
        commit = plain.must(scratch, *named, "commit-tree", tree, "-m", "nobody approved this").decode().strip()
        ended = git.run(scratch, "update-ref", "refs/heads/indelible-probe", commit)
        return bool(ended.code) and b"indelible" in ended.err


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""
