"""Where this process stands, for the gate: the folder's repository and files, looked at again when git's own files changed.

A long-lived process keeps memory open while people commit beside it. What git said is used for as long as the few small
files that it read for it (HEAD, its branch, the settings) have the same stamps; one `stat` each, and no git.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from indelible.gate.context import Context
from indelible.gate.place import GitPlace
from indelible.gate.presets import policy_of
from indelible.gate.world import FileWorld
from indelible.memory.gating import Gate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indelible.deliveries import Journal
    from indelible.settings import Settings


class Surroundings:
    """The contexts of one folder.

    Args:
        folder: where the reader stands.
        environ: the environment, for git and for anchors in it.
        reader: the agent that reads; None for whose memory is read.
    """

    def __init__(
        self, folder: str, environ: Mapping[str, str], settings: Settings, *, reader: str | None = None
    ) -> None:
        self._folder, self._environ, self._settings, self._reader = folder, environ, settings, reader
        self._look()

    def context(self, agent: str, now: str) -> Context:
        """Where and when the memory of `agent` is asked for."""
        if self._place.stale:
            self._look()
        facts, admits = self._settings.facts, self._settings.admits_global
        return Context(self._reader or agent, now, self._place, self._world, facts, admits)

    def _look(self) -> None:
        self._place = GitPlace(self._folder, self._environ)
        self._world = FileWorld(self._place, self._environ, self._settings.apis)


def gate_of(settings: Settings, journal: Journal | None, *, door: str, policy: str | None = None) -> Gate:
    """How what is read in the current folder is judged.

    Raises:
        UsageError: there is no such policy.
    """
    here = Surroundings(_folder(), os.environ, settings)
    return Gate(policy_of(policy or settings.policy), here.context, journal, door)


def _folder() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:  # it was removed under us: git then says that there is no such folder
        return os.sep + "gone"
