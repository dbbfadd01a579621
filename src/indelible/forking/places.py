"""Where runs are kept: a folder for each, `.indelible/forks/ID` in a repository that has memory, else in the user's data folder.

run.json      what is known of it (replaced whole)
output        what the child wrote, standard error included unless it was kept apart in `errors`; mode 0600
lock          held by the supervisor for as long as it lives
stop          somebody wants it stopped
trouble       what a supervisor said that broke; hardly ever there
"""

from __future__ import annotations

import os
import re

from indelible import files
from indelible.errors import Malformed, NotFoundError, UsageError
from indelible.forking import locks
from indelible.forking.run import Run, parse_run, to_document
from indelible.light import TYPE_CHECKING
from indelible.settings.folders import FORK

if TYPE_CHECKING:
    from indelible.settings import Settings

FORKS = "forks"
RECORD, OUTPUT, ERRORS, LOCK, STOP, TROUBLE = "run.json", "output", "errors", "lock", "stop", "trouble"
MARKER = FORK
BETWEEN = "+"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,47}")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,47}-[0-9a-f]{8}")
_TRIES = 16


def forks_folder(settings: Settings) -> str:
    """The folder of the runs of this place.

    Raises:
        StoreError: a link stands on its way.
    """
    from indelible.settings.repository import FOLDER, require_inside

    top = settings.repository_top
    if top is None or not os.path.isdir(os.path.join(top, FOLDER)):
        return os.path.join(settings.data_dir, FORKS)
    folder = os.path.join(top, FOLDER, FORKS)
    require_inside(top, folder)
    return folder


def check_name(name: str) -> str:
    """The name of a run.

    Raises:
        UsageError: it is none.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name[:60]!r} is no name for a fork", remedy="Use up to 48 letters, digits, '.', '_' or '-': archaeology"
        )
    return name


def begin(folder: str, run: Run) -> tuple[Run, int | None]:
    """Give a run an id and a folder of its own; gives the descriptor of its lock too, which its supervisor is to hold.

    Raises:
        NotSaved, DiskFull, ReadOnly: it could not be made.
    """
    for _ in range(_TRIES):
        made = run._replace(id=f"{run.name}-{os.urandom(4).hex()}")
        place = os.path.join(folder, made.id)
        files.make_folder(place)
        lock = None if os.name == "nt" else locks.take(os.path.join(place, LOCK))
        if files.create_file(os.path.join(place, RECORD), _text(made)):
            return made, lock
        if lock is not None:  # pragma: no cover - one in 4,000,000,000
            os.close(lock)
    raise UsageError(f"There are too many forks of the name {run.name}", remedy="'indelible forks clean --older 30d'")


def keep(folder: str, run: Run) -> Run:
    """Write down what is known of a run by now.

    Raises:
        NotSaved, DiskFull, ReadOnly: it could not be written; what was known before stands.
    """
    files.replace_file(os.path.join(folder, run.id, RECORD), _text(run))
    return run


def _text(run: Run) -> bytes:
    import json

    return (json.dumps(to_document(run), sort_keys=True, indent=1) + "\n").encode()


def read(folder: str, name: str) -> Run:
    """What is known of the run of that id.

    Raises:
        NotFoundError: there is none. Malformed: what is written down is no record.
    """
    if not _ID.fullmatch(name):
        raise _unknown(name, folder)
    path = os.path.join(folder, name, RECORD)
    try:
        with open(path, "rb") as file:
            text = file.read()
    except OSError as exc:
        raise _unknown(name, folder) from exc
    run = parse_run(text, path)
    if run.id != name:
        raise Malformed(f"{path} is the record of another fork ({run.id})", remedy="It was copied there by hand")
    return run


def ids(folder: str) -> tuple[str, ...]:
    """The ids of all runs there, in no order."""
    try:
        names = os.listdir(folder)
    except OSError:
        return ()
    return tuple(name for name in sorted(names) if _ID.fullmatch(name))


def named(folder: str, name: str) -> tuple[Run, ...]:
    """The runs that an id or a name means, the newest last.

    Raises:
        NotFoundError: there is none.
    """
    if _ID.fullmatch(name) and name in ids(folder):
        return (read(folder, name),)
    if not (found := [read(folder, one) for one in ids(folder) if one.rpartition("-")[0] == name]):
        raise _unknown(name, folder)
    return tuple(sorted(found, key=lambda run: run.started))


def _unknown(name: str, folder: str) -> NotFoundError:
    return NotFoundError(
        f"There is no fork {name!r} in {folder}", remedy="'indelible forks' lists those that there are", fork=name
    )


def is_held(folder: str, name: str) -> bool:
    """Whether the supervisor of a run lives: the system frees its lock when it ends, however that is."""
    return locks.is_locked(os.path.join(folder, name, LOCK))
