"""Where things are and who speaks: the only reader of the environment, the settings files and the clock.

flags  >  INDELIBLE_… variables  >  .indelible/config.toml  >  defaults

This door imports nothing by itself: a hook needs the user's folder at every tool call, and the rest hardly ever.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from indelible.settings.recalling import Recall, embedder_key, recall
    from indelible.settings.repository import FOLDER
    from indelible.settings.secrets import Secret, api_key, api_key_file, passphrase, pin_note, quoted
    from indelible.settings.sources import (
        DEFAULT_AGENT,
        DEFAULT_TEAM,
        Settings,
        here,
        is_url,
        load,
        now,
        retention_text,
        spare,
        today,
    )

__all__ = [
    "DEFAULT_AGENT",
    "DEFAULT_TEAM",
    "FOLDER",
    "Recall",
    "Secret",
    "Settings",
    "api_key",
    "api_key_file",
    "embedder_key",
    "here",
    "is_url",
    "load",
    "now",
    "passphrase",
    "pin_note",
    "quoted",
    "recall",
    "retention_text",
    "spare",
    "today",
]

_HOMES = {
    "FOLDER": "repository",
    "Recall": "recalling",
    "embedder_key": "recalling",
    "recall": "recalling",
} | dict.fromkeys(("Secret", "api_key", "api_key_file", "passphrase", "pin_note", "quoted"), "secrets")


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'indelible.settings' has no attribute '{name}'")
    home = __import__(f"indelible.settings.{_HOMES.get(name, 'sources')}", fromlist=(name,))
    found = globals()[name] = getattr(home, name)
    return found
