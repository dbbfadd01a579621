"""Where this process stands, for the gate: the folder's repository and files, looked at again when git's own files changed.

A long-lived process keeps memory open while people commit beside it. What git said is used for as long as the few small
files that it read for it (HEAD, its branch, the settings) have the same stamps; one `stat` each, and no git.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from indelible.errors import UsageError
from indelible.gate.context import Context
from indelible.gate.place import GitPlace
from indelible.gate.presets import policy_of
from indelible.gate.world import FileWorld
from indelible.memory.gating import Gate
from indelible.retention import parse_rules
from indelible.settings import retention_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indelible.deliveries import Journal
    from indelible.gate.context import Place
    from indelible.memory.gating import Where
    from indelible.retention import Rules
    from indelible.settings import Settings


class Surroundings:
    """The contexts of one folder.

    Args:
        folder: where the reader stands.
        environ: the environment, for git and for anchors in it.

    Raises:
        UsageError: the rules of how long content is kept are not well formed.
    """

    def __init__(self, folder: str, environ: Mapping[str, str], settings: Settings) -> None:
        self._folder, self._environ, self._settings = folder, environ, settings
        self._look()

    def context(self, agent: str, now: str) -> Context:
        """Where and when the memory of `agent` is asked for."""
        if self._place.stale:
            self._look()
        self._world.refresh()
        settings = self._settings
        return Context(
            settings.reader or agent, now, self._place, self._world, settings.facts, settings.admits_global, self._retention
        )  # fmt: skip

    def _look(self) -> None:
        self._place = GitPlace(self._folder, self._environ)
        self._world = FileWorld(self._place, self._environ, self._settings.apis)
        self._retention = _rules(self._folder, self._environ)


def _rules(folder: str, environ: Mapping[str, str]) -> Rules | None:
    found = retention_text(folder, environ)
    return None if found is None else parse_rules(found[1], found[0])


def gate_of(
    settings: Settings, journal: Journal | None, *, folder: str, environ: Mapping[str, str], door: str, policy: str | None = None
) -> Gate:  # fmt: skip
    """How what is read in a folder is judged.

    Raises:
        UsageError: there is no such policy.
    """
    here = Surroundings(folder, environ, settings)
    return Gate(policy_of(policy or settings.policy), here.context, journal, door)


def about(where: Where, files: tuple[str, ...], folder: str) -> Where:
    """The same standing, with files that are worked on; each relative to `folder`, if it is not absolute."""

    def stands(agent: str, now: str) -> Context:
        context = where(agent, now)
        return replace(context, paths=tuple(_from_top(file, folder, context.place) for file in files))

    return stands


def _from_top(file: str, folder: str, place: Place) -> str:
    """A file's path from the top of the checkout. A link is what is worked on, and not what it leads to.

    Raises:
        UsageError: it is not in the checkout, or that is not known.
    """
    if place.top is None:
        said = f" ({place.problem.message})" if place.problem else ""
        raise UsageError(f"It is not known where this checkout begins{said}", remedy="Leave the files out")
    parent, name = os.path.split(os.path.abspath(os.path.join(folder, file)))
    whole = os.path.join(os.path.realpath(parent), name)
    path = whole.removeprefix(os.path.join(os.path.realpath(place.top), ""))
    if path in ("", whole):
        raise UsageError(f"{file!r} is no file below {place.top}", remedy="Name a file of this checkout")
    return path.replace(os.sep, "/")
