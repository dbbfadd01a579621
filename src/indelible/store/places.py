"""Where a reader keeps what it knows of a log: table in the state folder, its marker in the config folder."""

from __future__ import annotations

import os

from indelible.store.follower import Follower


def follower_of(state_dir: str, config_dir: str, place: str, agent: str) -> Follower:
    """The follower of `agent`'s log at `place`."""
    return Follower(os.path.join(state_dir, "followers"), known_folder(config_dir), place, agent)


def known_folder(config_dir: str) -> str:
    """The folder of markers: one for every log that was ever pinned."""
    return os.path.join(config_dir, "known")
