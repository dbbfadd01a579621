"""The first step: a store, a key, a settings file, and git told to leave the store alone. Nothing there is changed."""

from __future__ import annotations

import os
import subprocess
from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import DisciplineError, Missing, NotSaved, UsageError
from indelible.files import create_file, replace_file

if TYPE_CHECKING:
    from indelible.memory import Saved
    from indelible.settings import Settings

EXCLUDED = (
    "# Indelible: the store is not for git; its settings files are",
    "/.indelible/*",
    "!/.indelible/config.toml",
    "!/.indelible/workflow.toml",
    "!/.indelible/protocol.toml",
)


ANEW = "Put a copy of it back; if it was deleted on purpose, 'indelible init --anew' begins again"
NOWHERE = (
    "No laws were sealed: this folder is in no repository, so there is no state directory. "
    "Go into one, or name a folder in INDELIBLE_STATE_DIR, and run it again"
)


class Made(NamedTuple):
    """What `initialise` left behind."""

    fresh: bool
    """False where the store was there already."""
    vkey: str
    governance: str = ""
    """SHA-256 of the laws that were sealed just now; empty where there were some, or this is in no repository."""
    warning: str = ""
    """Why no laws were sealed, where there are none; or whose they are, where they were carried over."""
    ownerless: bool = False
    """Whether there are laws here and no owner's key yet: whoever first needs one makes it."""


def initialise(settings: Settings, *, anew: bool = False, governance: bytes | None = None, laws: bool = True) -> Made:
    """Make what is missing of store, key, settings file, git's exclusion and the laws of the state directory.

    Of two at once, the second begins when the first has ended, and finds all there.

    Args:
        anew: where a store that this reader knew was deleted on purpose, forget what was known of this agent's memory in it.
        governance: the laws, where they are not to be made from the template.
        laws: False where the caller sees to them.

    Raises:
        Missing: there was a store here, and `anew` was not said.
        StateSwitched: the slots of the state directory were sealed under another name than the settings have.
        UsageError: the store is a server. StoreError, NotSaved: it cannot be made there.
    """
    if settings.remote:
        raise UsageError(
            "The store is a server, which makes its own",
            remedy="'indelible state init' seals laws in it for this checkout; 'indelible init' is for the server, or for a path that --store names",
        )
    with ExitStack() as alone:
        _wait(settings, alone)
        return _initialise(settings, anew=anew, governance=governance, laws=laws)


def _wait(settings: Settings, alone: ExitStack) -> None:
    """For another one of this user's to end; where no lock can be written, nobody is waited for."""
    from indelible.keys.files import locked

    try:
        alone.enter_context(locked(os.path.join(settings.state_dir, "init")))
    except (NotSaved, UsageError):
        return


def _initialise(settings: Settings, *, anew: bool, governance: bytes | None, laws: bool) -> Made:
    from indelible import wiring
    from indelible.state import belonging
    from indelible.store.places import follower_of

    fresh = not os.path.lexists(settings.store)
    if anew:
        _require_nothing(settings)
        belonging.forget_gone(settings)
        follower_of(settings.state_dir, settings.config_dir, settings.store, settings.agent).forget()
    elif settings.boot.directory is not None:
        try:
            belonging.refuse_switched(settings)
        except Missing as gone:
            gone.remedy = ANEW
            raise
    if not anew and fresh and (missing := wiring.gone(settings, settings.agent)) is not None:
        missing.remedy = ANEW
        raise missing
    with wiring.open_memory(settings, create=True) as memory:
        memory.begin()
        vkey = memory.signer.vkey
    if settings.repository_top is not None and os.path.dirname(settings.store) == os.path.join(
        settings.repository_top, ".indelible"
    ):
        config = os.path.join(settings.repository_top, ".indelible", "config.toml")
        create_file(config, f"agent = {_toml(settings.agent)}\n".encode(), mode=0o644)
        _exclude(settings.repository_top)
    if not laws:
        exclude_state(settings)
        return Made(fresh, vkey)
    owners = wiring.KeyFolder(wiring.keystore(settings)).owners()
    return Made(fresh, vkey, *_begin_state(settings, governance), settings.boot.directory is not None and not owners)


def _begin_state(settings: Settings, governance: bytes | None) -> tuple[str, str]:
    """Seal the laws, where there are none; what a clone brought in their place is not taken for them.

    Raises:
        DisciplineError: other laws are sealed already than those that are given.
    """
    from indelible import wiring
    from indelible.keeping.writing import Altered
    from indelible.state.slot import GOVERNANCE

    if settings.boot.directory is None:
        return "", NOWHERE
    with wiring.open_state(settings, door="init") as state:

        def begin() -> Saved | None:
            return state.begin() if governance is None else state.write(GOVERNANCE, governance)

        try:
            saved = begin()
        except DisciplineError:  # somebody was first meanwhile: with the same laws that is as good, and else said now
            saved = begin()
        except Altered as found:
            return "", f"No laws were sealed: {found}"
    exclude_state(settings)
    if saved is None or saved.repeated:
        return "", ""
    return saved.sha256, "; ".join(saved.warnings)


def exclude_state(settings: Settings) -> None:
    """Tell git to leave the state directory alone, where it lies in the repository and not in `.indelible/`."""
    directory, checkout = settings.boot.directory, settings.checkout
    if directory is None or checkout is None:
        return
    path = os.path.relpath(directory, checkout).replace(os.sep, "/")
    if path.startswith("../"):
        return
    ours = ("# Indelible: the state directory is sealed, and not for git", f"/{_pattern(path)}/")
    _exclude(checkout, EXCLUDED if path.startswith(".indelible/") else ours)


def _pattern(path: str) -> str:
    """The path as git's patterns have it: nothing in it stands for anything else."""
    return "".join(f"\\{char}" if char in "\\*?[]!# " else char for char in path)


def _require_nothing(settings: Settings) -> None:
    """Beginning anew is for a store that is gone: one that is there is moved away by hand first, and so not lost by a slip."""
    from indelible.store.sqlite import SqliteStore

    if not os.path.lexists(settings.store):
        return
    with SqliteStore(settings.store) as store:
        if settings.agent in store.agents():
            raise UsageError(
                f"There is memory of {settings.agent!r} in {settings.store}",
                remedy="Move that file away first, then say --anew",
            )


def _toml(text: str) -> str:
    """A basic string of TOML, which JSON's escapes fit but for DEL."""
    import json

    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _exclude(top: str, lines: tuple[str, ...] = EXCLUDED) -> None:
    """Add our lines to `info/exclude` of the repository, once; where git is not installed there is nothing to tell."""
    command = ["git", "-C", top, "rev-parse", "--git-path", "info/exclude"]
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return
    if done.returncode:
        return
    path = os.path.join(top, os.fsdecode(done.stdout).rstrip("\n"))
    try:
        with open(path, "rb") as file:
            present = file.read()
    except OSError:
        present = b""
    if lines[1].encode() in present.splitlines():
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    joint = b"" if not present or present.endswith(b"\n") else b"\n"
    replace_file(path, present + joint + "\n".join(lines).encode() + b"\n", mode=0o644)
