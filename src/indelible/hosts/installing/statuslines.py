"""Our status line in a host's settings, where the user has none."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from indelible.errors import UsageError
from indelible.hosts.installing import merging
from indelible.hosts.installing.calling import STATUSLINE, line
from indelible.hosts.installing.desk import Desk

if TYPE_CHECKING:
    from indelible.hosts.installing.bench import Bench
    from indelible.hosts.installing.targets import Statusline


def put(bench: Bench) -> list[str]:
    """Put it in; gives what a person should know.

    Raises:
        UsageError: the settings are broken.
    """
    status = bench.target.statusline
    path = _file(bench, status) if status is not None else ""
    if status is None or not path or (status.needs_file and bench.desk.read(path) is None):
        return []
    if other := _others(bench, status):
        return [f"{other} has a status line already, which stays; ours is 'indelible hooks statusline'"]
    command = line(bench.machine.programs.main, *STATUSLINE)
    bench.change(path, lambda text: merging.set_statusline(text, status.path, command))
    return []


def take_out(bench: Bench) -> None:
    """Take it out.

    Raises:
        UsageError: the settings are broken.
    """
    status = bench.target.statusline
    if status is not None and (path := _file(bench, status)):
        bench.take_out(path, lambda text, made: merging.take_statusline_out(text, status.path, made or ()))


def _others(bench: Bench, status: Statusline) -> str:
    """The file in which the user has a status line that is not ours; a project's would hide the user's."""
    names = [os.path.join(bench.machine.places.folders[bench.host.name], status.user)]
    if bench.machine.top is not None and status.project:
        project = os.path.join(bench.machine.top, status.project)
        names += [project, project.replace(".json", ".local.json")]
    desk = Desk(bench.machine.state_dir, None)  # the user's file is looked at for a project too
    for name in names:
        try:
            document = bench.document(name, desk)
            found = document is not None and document.find(status.path) is not None
        except UsageError:
            continue  # said where it is to be changed
        if document is not None and found and not merging.has_statusline(document, status.path):
            return name
    return ""


def _file(bench: Bench, status: Statusline) -> str:
    below = status.user if bench.scope == "user" else status.project
    if bench.scope == "project" and below == bench.target.project:
        return bench.file  # or the personal one in its place
    return os.path.join(bench.folder, below) if below else ""
