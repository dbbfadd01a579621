"""What one session of a host was told in one place, in one small file: so that a gate decides without opening a store.

    {state folder}/hooks/{host}-{session}.{number of the place}.json

A session whose folder moves to another repository has another ledger there, and was told nothing in it yet.

One JSON object; a file that does not parse counts as none, and the next event begins anew. It is written whole under a
lock of its folder. Where the user's state folder cannot be written, a private folder beside the temporary files is used.
The newest two hundred are kept.
"""

from __future__ import annotations

import json
import os
import stat

from indelible.errors import IndelibleError
from indelible.files import make_folder, remove, replace_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import NamedTuple
else:
    from indelible.light import NamedTuple

TAMPERED, NO_STATE = "tampered", "no-state"
MENDED_BY_A_PERSON = frozenset(("over-budget", "half-state", "unchecked"))
"""Outcomes of `boot.briefing` that a gate asks after, which does not load it."""
TOO_LONG = "too-long"
"""Outcome of a boot whose briefing fits its budget, and not what the host passes on whole."""
FORMAT = 1
KEPT = 200
_MOST = 1_000_000
_ENDS = ".json"
_PRIME = 2**61 - 1
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")


class Ledger(NamedTuple):
    """Of one session in one place."""

    host: str
    cwd: str
    """The folder it began in."""
    slug: str
    """Outcome of the last boot (`booted`, `tampered`, …); empty where none was made, as at a server."""
    level: str
    """What is denied before the briefing was read."""
    briefed: bool
    """Whether a good briefing was delivered, or `indelible boot` was run."""
    owed: bool = False
    """Whether this context may have lost it since."""
    remote: bool = False
    """Whether the store is a server, which no gate asks."""
    directory: str = ""
    mark: str = ""
    renewals: int = 0
    """How often the transcript's context had been made anew when the briefing was last delivered."""
    found: str = ""
    """What was not as it was sealed, in one line."""
    stamps: tuple[tuple[object, ...], ...] = ()
    places: tuple[tuple[str, str], ...] = ()
    """Protected places: path and kind."""
    caseless: bool = False
    snapshot: str = ""
    """Digest of the last snapshot before a compaction."""
    returned: tuple[str, ...] = ()
    """Subagents whose summary was sent back."""
    memories: tuple[tuple[str, str], ...] = ()
    """Files whose sealed text every boot holds them against: path and key."""
    place: str = ""
    """Top of the checkout that it is about; empty outside of any."""


def path_of(folder: str, host: str, session: str, place: str) -> str:
    """Where the ledger of a session in a place lies. Two places may share a number: the ledger says whose it is."""
    number = int.from_bytes(os.fsencode(place), "big") % _PRIME
    return os.path.join(folder, "hooks", f"{_begins(host, session)}{number:x}{_ENDS}")


def all_of(folder: str, spare: str, host: str, session: str) -> tuple[str, ...]:
    """The paths of a session's ledgers, of every place."""
    names: set[str] = set()
    for top in (folder, spare):
        try:
            names.update(os.listdir(os.path.join(top, "hooks")))
        except OSError:
            continue
    begins = _begins(host, session)
    return tuple(
        os.path.join(folder, "hooks", name)
        for name in sorted(names)
        if name.startswith(begins) and name.endswith(_ENDS)
    )


def forget(folder: str, spare: str, host: str, session: str) -> None:
    """Remove a session's ledgers."""
    for path in all_of(folder, spare, host, session):
        for one in (path, _spared(path, spare)):
            if os.path.lexists(one):
                remove(one)


def _begins(host: str, session: str) -> str:
    """How the names of a session's ledgers begin."""
    if not session or len(session) > 80 or not _PLAIN.issuperset(session):
        from indelible.light import sha256

        session = sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return f"{host}-{session}."


def read(path: str, spare: str) -> Ledger | None:
    """The ledger at `path`, or of the same name in the spare folder; None where there is none that can be used."""
    found = _read(path)
    return _read(_spared(path, spare)) if found is None and _is_private(spare) else found


def write(path: str, spare: str, ledger: Ledger) -> str:
    """Keep it; answers with what to tell the person, empty where all is well."""
    content = json.dumps({"v": FORMAT} | ledger._asdict(), separators=(",", ":")).encode()
    try:
        make_folder(os.path.dirname(path))
        replace_file(path, content)
        return ""
    except (IndelibleError, OSError) as error:
        said = str(error)
    try:
        other = _spared(path, spare)
        make_folder(spare)
        if not _is_private(spare):
            return said
        make_folder(os.path.dirname(other))
        replace_file(other, content)
    except (IndelibleError, OSError):
        return said
    return ""


def update(path: str, spare: str, change: Callable[[Ledger], Ledger]) -> str:
    """Change what is kept, if anything is; nobody else changes it meanwhile."""
    lock = _lock(os.path.dirname(path))
    try:
        ledger = read(path, spare)
        return "" if ledger is None else write(path, spare, change(ledger))
    finally:
        if lock >= 0:
            os.close(lock)


def sweep(folder: str) -> None:
    """Remove all but the newest ledgers; the installer's notes lie beside them, and have one dot only in their names."""
    here = os.path.join(folder, "hooks")
    try:
        aged = sorted((entry.stat().st_mtime_ns, entry.path) for entry in os.scandir(here) if _is_ledger(entry.name))
    except OSError:
        return
    for _, path in aged[:-KEPT]:
        remove(path)


def _is_ledger(name: str) -> bool:
    return name.endswith(_ENDS) and "." in name.removesuffix(_ENDS)


def spare_folder(environ: Mapping[str, str]) -> str:
    """Where ledgers go if the user's state folder cannot be written."""
    who = os.getuid() if hasattr(os, "getuid") else 0
    return os.path.join(environ.get("TMPDIR") or environ.get("TEMP") or "/tmp", f"indelible-{who}")  # noqa: S108 - only one that is ours alone is used


def _read(path: str) -> Ledger | None:
    try:
        with open(path, "rb") as file:
            members = json.loads(file.read(_MOST))
        if not isinstance(members, dict) or members.pop("v", None) != FORMAT:
            return None
        members["stamps"] = tuple(tuple(stamp) for stamp in members["stamps"])
        members["places"] = tuple((str(place), str(kind)) for place, kind in members["places"])
        members["memories"] = tuple((str(path), str(key)) for path, key in members["memories"])
        members["returned"] = tuple(members["returned"])
        return Ledger(**members)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _spared(path: str, spare: str) -> str:
    return os.path.join(spare, "hooks", os.path.basename(path))


def _is_private(folder: str) -> bool:
    """Whether nobody else can have put something into it."""
    try:
        at = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(at.st_mode) and (os.name != "posix" or (at.st_uid == os.geteuid() and not at.st_mode & 0o077))


def _lock(folder: str) -> int:
    """A lock that ends with its descriptor; none where there can be none, which holds nothing up."""
    try:
        import fcntl

        handle = os.open(os.path.join(folder, ".lock"), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except (ImportError, OSError):
        return -1
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        return handle
    except OSError:  # a file system without locks
        return handle
