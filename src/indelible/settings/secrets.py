"""API keys, the passphrase and the given pin: small texts that the user keeps outside the store.

A file is read with the line end, the byte-order mark or the CRLF that an editor put
there. No error and no repr shows a secret. An API key goes only to a server that
the user has named: a repository's settings file comes with a clone, and naming a
server there must not be enough to be sent the keys of everyone who clones it.
"""

from __future__ import annotations

import os

from indelible.errors import AccessDenied, UsageError
from indelible.light import TYPE_CHECKING, NamedTuple
from indelible.settings.folders import home

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indelible.settings.sources import Settings

_MAX_FILE = 1_000_000
_BOM = b"\xef\xbb\xbf"
_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._@-")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Secret(NamedTuple):
    """A secret and where it was found. Its repr does not show it."""

    text: str
    source: str
    """The variable or the file."""
    warning: str
    """A sentence for the user, or empty."""

    def __repr__(self) -> str:
        return f"Secret(source={self.source!r}, warning={self.warning!r})"


_NAMED_BY = {
    "flag": "--store",
    "environment": "INDELIBLE_STORE or MEMORY_API_BASE",
    "repository": "the repository's settings",
    "default": "nobody",
}


def api_key(settings: Settings, agent: str, environ: Mapping[str, str] = os.environ) -> Secret:
    """The API key with which `agent` speaks to `settings.store`.

    INDELIBLE_API_KEY, else the seeds' MEMORY_API_KEY_<AGENT>, else the user's key
    file, else the seeds' `~/hypercode/<agent>_memory_api.key`.

    Raises:
        UsageError: there is none, or what is there cannot be an API key; where is said, the key is not.
        AccessDenied: only the repository's own settings name this server.
    """
    _require_chosen_server(settings)
    for variable in ("INDELIBLE_API_KEY", _seed_variable(agent)):
        if text := environ.get(variable, "").strip():
            return Secret(_token(text, f"The variable {variable}"), variable, "")
    own = api_key_file(settings, agent)
    for path in (own, os.path.join(home(environ), "hypercode", f"{quoted(agent)}_memory_api.key")):
        if os.path.lexists(path):
            text = read_text(path, "The API key file").strip()
            return Secret(_token(text, f"The API key file {path}"), path, _wide(path))
    raise UsageError(
        f"There is no API key for agent '{agent}' at {settings.store} (named by {_NAMED_BY[settings.store_from]})",
        remedy=f"Set INDELIBLE_API_KEY, or put the key into {own}",
        agent=agent,
    )


def api_key_file(settings: Settings, agent: str) -> str:
    """Where an agent's API key is kept on this machine."""
    return os.path.join(settings.config_dir, "api-keys", f"{quoted(agent)}.key")


def named_secret(variable: str, environ: Mapping[str, str], purpose: str) -> Secret:
    """The API key that a variable holds, whose name a setting of the user's gives.

    Args:
        purpose: what it is for, for a refusal: `for the embedder`.

    Raises:
        UsageError: the variable is not set, or what it holds cannot be an API key; that is not said.
    """
    text = environ.get(variable, "").strip()
    if not text:
        raise UsageError(
            f"The variable {variable}, which should hold the API key {purpose}, is not set", remedy="Set it"
        )
    return Secret(_token(text, f"The variable {variable}"), variable, "")


def passphrase(settings: Settings) -> Secret:
    """The passphrase in INDELIBLE_PASSPHRASE_FILE: the file's one line, without its end.

    Raises:
        UsageError: the variable is not set, or the file is unreadable, empty or of several lines.
    """
    path = settings.passphrase_file
    if path is None:
        raise UsageError("INDELIBLE_PASSPHRASE_FILE is not set", remedy="Set it, or use a terminal")
    text = read_text(path, "The passphrase file").removesuffix("\n").removesuffix("\r")
    if not text or "\n" in text:
        raise UsageError(f"The passphrase file {path} does not hold exactly one line", file=path)
    return Secret(text, path, _wide(path))


def pin_note(settings: Settings) -> bytes:
    """The signed note that INDELIBLE_PIN is or names, not yet verified.

    A note has newlines only and ends in one, so the line ends that a checkout or a
    shell changed are put right.

    Raises:
        UsageError: the variable is not set, or the file cannot be read.
    """
    if settings.pin is None:
        raise UsageError("INDELIBLE_PIN is not set")
    text = settings.pin if "\n" in settings.pin else read_text(settings.pin, "The pin file")
    text = text.replace("\r\n", "\n")
    return (text if text.endswith("\n") else f"{text}\n").encode(errors="surrogateescape")


def quoted(name: str) -> str:
    """`name` as one file name: UTF-8 bytes outside `A-Za-z0-9._@-` as `%XX`."""
    return "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in name.encode())


def read_text(path: str, what: str) -> str:
    """The text of a small file, without a byte-order mark.

    Raises:
        UsageError: naming `what` it is and the file.
    """
    try:
        if not os.path.isfile(path):
            raise UsageError(f"{what} {path} is not a file", file=path)
        with open(path, "rb") as file:
            data = file.read(_MAX_FILE + 1)
    except OSError as exc:
        raise UsageError(f"{what} {path} cannot be read: {exc.strerror}", file=path) from exc
    if len(data) > _MAX_FILE:
        raise UsageError(f"{what} {path} is longer than {_MAX_FILE} bytes", file=path)
    try:
        return data.removeprefix(_BOM).decode()
    except UnicodeDecodeError as exc:
        raise UsageError(f"{what} {path} is not UTF-8 text", remedy="Save it as UTF-8", file=path) from exc


def _require_chosen_server(settings: Settings) -> None:
    if settings.store_from == "repository" and _host(settings.store) not in _LOOPBACK:
        raise AccessDenied(
            f"Only this repository's settings name the server {settings.store}, so no API key is sent to it",
            remedy=f"If you trust it with yours: export INDELIBLE_STORE={settings.store}",
            store=settings.store,
        )


def _host(url: str) -> str | None:
    from urllib.parse import urlsplit

    try:
        return urlsplit(url).hostname
    except ValueError as exc:
        raise UsageError(f"The store's address {url} is not a URL") from exc


def _seed_variable(agent: str) -> str:
    return "MEMORY_API_KEY_" + "".join(letter if letter.isalnum() else "_" for letter in agent.upper())


def _token(text: str, what: str) -> str:
    if not text:
        raise UsageError(f"{what} is empty", remedy="Put the API key there, or take it away")
    if not all("!" <= letter <= "~" for letter in text):
        raise UsageError(
            f"{what} holds a space, a line break or a character outside ASCII",
            remedy="An API key is one word: copy it again",
        )
    return text


def _wide(path: str) -> str:
    if os.name != "posix" or not os.stat(path).st_mode & 0o077:
        return ""
    return f"Other users of this machine can read {path}: run 'chmod 600 {path}'"


def for_others(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment for a program that is not ours: without where a person's passphrase lies."""
    return {name: value for name, value in environ.items() if name != "INDELIBLE_PASSPHRASE_FILE"}
