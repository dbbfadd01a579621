"""The first step: a store, a key, a settings file, and git told to leave the store alone. Nothing there is changed."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import UsageError
from indelible.files import create_file, replace_file

if TYPE_CHECKING:
    from indelible.settings import Settings

EXCLUDED = (
    "# Indelible: the store is not for git; its settings files are",
    "/.indelible/*",
    "!/.indelible/config.toml",
    "!/.indelible/workflow.toml",
    "!/.indelible/protocol.toml",
)


class Made(NamedTuple):
    """What `initialise` left behind."""

    fresh: bool
    """False where the store was there already."""
    vkey: str


def initialise(settings: Settings, *, anew: bool = False) -> Made:
    """Make what is missing of store, key, settings file and git's exclusion.

    Args:
        anew: where a store that this reader knew was deleted on purpose, forget what was known of this agent's memory in it.

    Raises:
        Missing: there was a store here, and `anew` was not said.
        UsageError: the store is a server. StoreError, NotSaved: it cannot be made there.
    """
    from indelible import wiring
    from indelible.store.places import follower_of

    if settings.remote:
        raise UsageError(
            "The store is a server, which makes its own",
            remedy="Run 'indelible init' on the server, or name a path with --store",
        )
    fresh = not os.path.lexists(settings.store)
    if anew:
        _require_nothing(settings)
        follower_of(settings.state_dir, settings.config_dir, settings.store, settings.agent).forget()
    elif fresh and (missing := wiring.gone(settings, settings.agent)) is not None:
        missing.remedy = "Put a copy of it back; if it was deleted on purpose, 'indelible init --anew' begins again"
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
    return Made(fresh, vkey)


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


def _exclude(top: str) -> None:
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
    if EXCLUDED[1].encode() in present.splitlines():
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    joint = b"" if not present or present.endswith(b"\n") else b"\n"
    replace_file(path, present + joint + "\n".join(EXCLUDED).encode() + b"\n", mode=0o644)
