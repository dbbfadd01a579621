"""Whose slots a state directory holds: the store, team, agent and namespace under which they were sealed, as this machine knows it.

A settings file comes with the folder, and whoever writes in it can move the reader: to another agent, another namespace,
another store, where nothing is sealed and whatever lies in the folder could be adopted. So the first slot that is placed in a
directory, or found whole in it, is remembered in the user's state folder: by the directory's real path, and, where no
variable named the directory, by the checkout's, so that no other directory in it takes its place. It is as good as the pin,
and to delete it is like deleting a pin.
"""

from __future__ import annotations

import os
from contextlib import suppress

from indelible.errors import IndelibleError, Missing, StateSwitched
from indelible.files import create_file, make_folder, remove
from indelible.light import TYPE_CHECKING, NamedTuple, sha256

if TYPE_CHECKING:
    from indelible.settings import Settings

FOLDER = "belongings"
SWITCH = "'indelible state init --switch' or 'indelible state adopt --switch'"


class Belonging(NamedTuple):
    """Whose a directory is."""

    store: str
    team: str
    agent: str
    namespace: str
    directory: str

    def differs(self, other: Belonging) -> str:
        """In what the two differ, in words: `agent 'eros' instead of 'psyche'`."""
        pairs = zip(self._fields, other, self, strict=True)
        return ", ".join(f"{name} {now!r} instead of {then!r}" for name, now, then in pairs if now != then)


def belonging_of(settings: Settings) -> Belonging:
    """As the settings have it now."""
    store = settings.store if settings.remote else os.path.realpath(settings.store)
    directory = os.path.realpath(settings.boot.directory) if settings.boot.directory is not None else ""
    return Belonging(store, settings.team, settings.agent, settings.boot.namespace, directory)


def refuse_switched(settings: Settings) -> None:
    """Raise where the slots of this directory were sealed under another name than the settings have now.

    Raises:
        Missing: their store, or the repository, is gone. StateSwitched: the settings name another one.
    """
    if settings.boot.directory is None:
        _refuse_unrooted(settings)
        return
    now = belonging_of(settings)
    for path in _records(settings):
        then = _read(path)
        if then is None or then == now:
            continue
        if os.path.isabs(then.store) and not os.path.lexists(then.store):
            raise Missing(
                f"The slots of {then.directory} were sealed for {then.agent!r} in {then.store}, and that store is gone",
                remedy=f"Put a copy of it back; if it was deleted on purpose, a person says {SWITCH}",
                place=then.store, agent=then.agent,
            )  # fmt: skip
        raise StateSwitched(
            f"The slots of this state directory were sealed under another name than the settings have now: {then.differs(now)}",
            remedy=f"Put the setting back; if it was meant, a person says {SWITCH} at a terminal",
            path=now.directory, then=then._asdict(), now=now._asdict(),
        )  # fmt: skip


def refuse_emptied(settings: Settings) -> None:
    """Raise where slots were sealed for this directory, and nothing of them is in the log.

    Raises:
        Missing: so it is.
    """
    then = next(filter(None, map(_read, _records(settings))), None)
    if then is not None:
        raise Missing(
            f"Slots were sealed for {then.directory}, and there are none in the log of {then.agent!r} any more",
            remedy=f"Put a copy of the store back ({then.store}); if it was begun anew on purpose, a person says {SWITCH}",
            place=then.store, agent=then.agent,
        )  # fmt: skip


def remember(settings: Settings) -> None:
    """Remember whose this directory is, where that is not known yet. What cannot be kept is not known at the next look."""
    text = _formatted(belonging_of(settings))
    for path in _records(settings):
        try:
            if not os.path.lexists(path):
                make_folder(os.path.dirname(path))
                create_file(path, text)
        except IndelibleError:
            return


def forget(settings: Settings) -> None:
    """Forget whose the directory was. Only on a person's word."""
    for path in _records(settings):
        remove(path)


def forget_gone(settings: Settings) -> None:
    """Forget whose the directory was, where that store was deleted: what is kept in another one is not given up with it.

    Raises:
        StateSwitched: the slots were sealed under another name, in a store that is there.
    """
    with suppress(Missing):
        refuse_switched(settings)
    forget(settings)


def is_state_directory(settings: Settings, real: str) -> bool:
    """Whether slots were ever placed in the folder of that real path, by this user."""
    return os.path.lexists(_path(settings, "directory", real))


def _refuse_unrooted(settings: Settings) -> None:
    """A folder that was a repository with a state directory, and is none any more, is no new beginning either."""
    from indelible.settings import here

    at = os.path.realpath(here()[0])
    while True:
        then = _read(_path(settings, "checkout", at))
        if then is not None:
            raise Missing(
                f"{at} was a repository with a state directory, {then.directory}, and is none any more",
                remedy="Put its .git back", place=at, agent=then.agent,
            )  # fmt: skip
        if os.path.dirname(at) == at:
            return
        at = os.path.dirname(at)


def _records(settings: Settings) -> tuple[str, ...]:
    """Paths of what is remembered of this directory; none where there is no directory."""
    if settings.boot.directory is None:
        return ()
    records = [_path(settings, "directory", os.path.realpath(settings.boot.directory))]
    if settings.checkout is not None and not settings.boot.by_environment:
        records.append(_path(settings, "checkout", os.path.realpath(settings.checkout)))
    return tuple(records)


def _path(settings: Settings, kind: str, at: str) -> str:
    return os.path.join(settings.state_dir, FOLDER, sha256(kind.encode() + b"\0" + os.fsencode(at)).hexdigest()[:32])


def _formatted(belonging: Belonging) -> bytes:
    """The members with a NUL between them: one in a name makes a member too many, and so no record at all."""
    return b"\0".join(member.encode("utf-8", "surrogateescape") for member in belonging)


def _read(path: str) -> Belonging | None:
    try:
        with open(path, "rb") as file:
            return Belonging(*file.read().decode("utf-8", "surrogateescape").split("\0"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError) as exc:
        raise StateSwitched(
            f"What this machine knows of whose state directory this is cannot be read ({path})",
            remedy=f"A person says {SWITCH} at a terminal, once it is clear why", path=path,
        ) from exc  # fmt: skip
