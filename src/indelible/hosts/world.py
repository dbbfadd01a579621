"""What an event meets on this machine: the user's folders, the variables, and whether another hook of ours runs outside of this one."""

from __future__ import annotations

import os

from indelible.hosts import ledger as ledgers
from indelible.hosts.whereabouts import place_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import NamedTuple

    from indelible.hosts.host import Event, Host
    from indelible.hosts.ledger import Ledger
else:
    from indelible.light import NamedTuple

DIRECTORY = "INDELIBLE_STATE_DIR"


class World(NamedTuple):
    """Handed on by the hook program."""

    host: Host
    environ: Mapping[str, str]
    home: str
    state_dir: str
    inner: bool
    """Whether a hook of ours started what started this one: then nothing is begun, and gates judge by what is known."""

    def ledger(self, event: Event) -> Ledger | None:
        """What is known of the session in the place that the event's folder lies in."""
        place = place_of(event.cwd)
        found = ledgers.read(self._path(event, place), self._spare)
        return found if found is not None and found.place == place else None

    def ledger_path(self, event: Event) -> str:
        """Where the ledger of the event's place lies."""
        return self._path(event, place_of(event.cwd))

    def keep(self, event: Event, ledger: Ledger) -> str:
        """Note it; answers with a warning."""
        return ledgers.write(self._path(event, ledger.place), self._spare, ledger)

    def change(self, event: Event, change: Callable[[Ledger], Ledger]) -> str:
        """Change what is noted, if anything is; answers with a warning."""
        place = place_of(event.cwd)
        return ledgers.update(
            self._path(event, place), self._spare, lambda old: change(old) if old.place == place else old
        )

    def owe_elsewhere(self, event: Event) -> None:
        """Note in every other place of this session that its context may have lost the briefing."""
        mine = self._path(event, place_of(event.cwd))
        for path in ledgers.all_of(self.state_dir, self._spare, self.host.name, event.session) if event.session else ():
            if path != mine:
                ledgers.update(path, self._spare, lambda old: old._replace(owed=True))

    def variables(self, event: Event) -> Mapping[str, str]:
        """The variables by which settings are read: a state directory among the host's own artifacts counts as named."""
        directory = os.path.join(event.artifacts, "state") if event.artifacts else ""
        if not directory or self.environ.get(DIRECTORY) or not os.path.isdir(directory):
            return self.environ
        return {**self.environ, DIRECTORY: directory}

    @property
    def _spare(self) -> str:
        return ledgers.spare_folder(self.environ)

    def _path(self, event: Event, place: str) -> str:
        return ledgers.path_of(self.state_dir, self.host.name, event.session or place, place)
