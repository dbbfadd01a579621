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


def agents_known(folder: str, place: str) -> list[str]:
    """The agents whose memory was ever read at `place`, by their markers.

    Args:
        folder: of the markers.
    """
    agents = []
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    for name in names:
        try:
            with open(os.path.join(folder, name), encoding="utf-8", errors="surrogatepass") as file:
                at, _, rest = file.read(65_536).partition("\n")
        except (OSError, ValueError):
            continue
        if at == place and rest:
            agents.append(rest.rstrip("\n"))
    return agents
