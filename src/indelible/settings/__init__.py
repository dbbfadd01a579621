"""Where things are and who speaks: the only reader of the environment, the settings files and the clock.

flags  >  INDELIBLE_… variables  >  .indelible/config.toml  >  defaults
"""

from indelible.settings.repository import FOLDER
from indelible.settings.secrets import Secret, api_key, api_key_file, passphrase, pin_note, quoted
from indelible.settings.sources import DEFAULT_AGENT, DEFAULT_TEAM, Settings, is_url, load, now, retention_text, today

__all__ = [
    "DEFAULT_AGENT",
    "DEFAULT_TEAM",
    "FOLDER",
    "Secret",
    "Settings",
    "api_key",
    "api_key_file",
    "is_url",
    "load",
    "now",
    "passphrase",
    "pin_note",
    "quoted",
    "retention_text",
    "today",
]
