"""Flags, variables, settings file and defaults, gathered into one value.

    INDELIBLE_STORE  INDELIBLE_AGENT  INDELIBLE_TEAM  INDELIBLE_PIN  INDELIBLE_REQUIRE_PIN  INDELIBLE_KEY_FILE
    INDELIBLE_PASSPHRASE_FILE, and the seeds' MEMORY_API_BASE as the store where INDELIBLE_STORE is not set;
    those by which memory is judged are in `judging.py`, those of boot and of the state directory in `booting.py`

A variable that is set but empty counts as not set. The user's folders are those of
the XDG specification on Linux, and elsewhere those that `platformdirs` knows.
"""

from __future__ import annotations

import os
import time

from indelible.errors import IndelibleError, StoreError, UsageError
from indelible.light import TYPE_CHECKING, NamedTuple
from indelible.settings.booting import boot_of
from indelible.settings.folders import FORK, KINDS, home, user_folder
from indelible.settings.judging import facts_of, policy_of, secrets_of
from indelible.settings.repository import (
    FOLDER,
    Config,
    link_refused,
    read_beside,
    read_config,
    repository_of,
    require_inside,
    within,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indelible.settings.booting import Boot

DEFAULT_AGENT = "default"
DEFAULT_TEAM = "local"

_STORE = "store.db"
_SIDE_FILES = ("-wal", "-shm", "-journal")
_MAX_NAME = 512
_SWITCH = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}


class Settings(NamedTuple):
    """What a door hands to the core. Holds no secret."""

    store: str
    """An absolute path, by its letters, or a URL without a trailing slash."""
    store_from: str
    """Who named it: `flag`, `environment`, `repository` or `default`."""
    agent: str
    team: str
    config_dir: str
    state_dir: str
    data_dir: str
    repository_top: str | None
    """The folder whose `.indelible/` is used; the worktrees of a repository share one."""
    pin: str | None
    """INDELIBLE_PIN, or `pin` in the settings file: a note, or the path of one; `pin_note` gives the note."""
    pin_from: str
    """Who gave it: `environment`, `repository`, or empty."""
    require_pin: bool
    key_file: str | None
    passphrase_file: str | None
    remotes: Mapping[str, str]
    """`owner/repo` to a URL or an absolute path."""
    agents: Mapping[str, str]
    """Agent to vkey, as the repository has it: a proposal, never above a key that is already trusted."""
    servers: Mapping[str, str]
    """URL to vkey, likewise."""
    reviewers: Mapping[str, str]
    """Reviewer to vkey, likewise."""
    policy: str
    """The name of the policy by which memory is judged."""
    admits_global: bool
    """Whether memory of no place applies too."""
    secrets: str
    """What happens to a text with a secret in it: `refuse`, `mask` or `allow`."""
    facts: Mapping[str, str]
    """Of org, user, project and session what is stated; no value is empty."""
    apis: Mapping[str, str]
    """API to the version in use."""
    reader: str | None
    """The agent that reads, where that is another than the one whose memory it is."""
    checkout: str | None
    """The worktree that the current folder lies in."""
    boot: Boot
    """What a waking agent is told, and from which state directory."""
    fork: str
    """The fork that this process runs in; empty outside of any."""

    @property
    def remote(self) -> bool:
        """Whether the store is a server."""
        return is_url(self.store)


def load(
    cwd: str | os.PathLike[str] | None = None,
    environ: Mapping[str, str] = os.environ,
    *,
    store: str | None = None,
    agent: str | None = None,
) -> Settings:
    """Gather the settings that hold in the folder `cwd`. Creates nothing.

    Args:
        cwd: the current folder if None.
        environ: the variables.
        store: what the flag `--store` says.
        agent: what the flag `--agent` says.

    Raises:
        UsageError: a variable or a settings file is off; it and its line are named.
        StoreError: the repository's own folder leads out of the repository, or is somebody else's.
    """
    here = _here(cwd)
    top, checkout = repository_of(here, environ)
    config = read_config(top, checkout)
    return _gather(here, environ, (top, checkout), config, store=store, agent=agent)


def spare(environ: Mapping[str, str] = os.environ) -> Settings:
    """What is known where `load` raises: the user's folders and, where it may be looked at, the repository; defaults for the rest.

    For whoever looks for the fault. Neither store nor agent is the one that is meant.

    Raises:
        UsageError: there is no current folder any more.
    """
    here = _here(None)
    left = {
        name: value
        for name, value in environ.items()
        if not name.startswith("INDELIBLE_") and name != "MEMORY_API_BASE"
    }
    try:
        return _gather(here, left, repository_of(here, left), Config("", {}))
    except IndelibleError:  # a folder of ours that leads out of the repository
        return _gather(os.sep, left, (None, None), Config("", {}))


def _gather(
    here: str, environ: Mapping[str, str], tops: tuple[str | None, str | None], config: Config, *,
    store: str | None = None, agent: str | None = None,
) -> Settings:  # fmt: skip
    top, checkout = tops
    folders = {kind: user_folder(kind, environ) for kind in KINDS}
    named = _named_stores(store, environ, config)
    place, place_from = _store(here, top, named, os.path.join(folders["data"], _STORE), environ)
    return Settings(
        store=place,
        store_from=place_from,
        agent=_name("agent", agent, environ.get("INDELIBLE_AGENT"), config.text("agent"), DEFAULT_AGENT),
        team=_name("team", None, environ.get("INDELIBLE_TEAM"), config.text("team"), DEFAULT_TEAM),
        config_dir=folders["config"],
        state_dir=folders["state"],
        data_dir=folders["data"],
        repository_top=top,
        pin=_pin(here, top, config, environ),
        pin_from="environment" if environ.get("INDELIBLE_PIN") else "repository" if config.text("pin") else "",
        require_pin=_switch("INDELIBLE_REQUIRE_PIN", environ, default=config.flag("require_pin")),
        key_file=_absolute(here, environ.get("INDELIBLE_KEY_FILE"), environ),
        passphrase_file=_absolute(here, environ.get("INDELIBLE_PASSPHRASE_FILE"), environ),
        remotes={name: _remote(name, at, top or here, environ) for name, at in config.table("remotes").items()},
        agents=config.table("agents"),
        servers={url.rstrip("/"): vkey for url, vkey in config.table("servers").items()},
        reviewers=config.table("reviewers"),
        policy=policy_of(config, environ),
        admits_global=_switch("INDELIBLE_GLOBAL", environ, default=config.flag("global")),
        secrets=secrets_of(config, environ),
        facts=facts_of(config, environ),
        apis=config.table("apis"),
        reader=_reader(environ),
        checkout=checkout,
        boot=boot_of(top, checkout, place, config, environ),
        fork=environ.get(FORK, ""),
    )


def _reader(environ: Mapping[str, str]) -> str | None:
    name = environ.get("INDELIBLE_READER")
    return _name("reader", name) if name else None


def retention_text(
    cwd: str | os.PathLike[str] | None = None, environ: Mapping[str, str] = os.environ
) -> tuple[str, str] | None:
    """`(path, text)` of the retention rules that hold in the folder `cwd`; None where there are none.

    Raises:
        UsageError: the file cannot be read.
        StoreError: it leads out of the repository, or is somebody else's.
    """
    here = _here(cwd)
    return read_beside(*repository_of(here, environ), "retention.toml", "The retention rules")


def here() -> tuple[str, Mapping[str, str]]:
    """The current folder and the environment, for git and for what a memory depends on. A folder that was removed under us is none."""
    try:
        return os.getcwd(), os.environ
    except FileNotFoundError:
        return os.path.join(os.sep, "gone"), os.environ


def now() -> str:
    """The time, RFC 3339 in UTC and whole seconds: `2026-06-10T17:43:56Z`."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def today() -> str:
    """The day in UTC: `2026-06-10`."""
    return now()[:10]


def is_url(store: str) -> bool:
    """Whether a store is named by a URL rather than by a path."""
    scheme, mark, _ = store.partition("://")
    # A scheme of one letter would be a drive of Windows.
    return bool(mark) and len(scheme) > 1 and scheme.isascii() and scheme.replace("+", "").isalnum()


def _here(cwd: str | os.PathLike[str] | None) -> str:
    try:
        return os.path.realpath(os.getcwd() if cwd is None else cwd)
    except FileNotFoundError as exc:
        raise UsageError("The current folder no longer exists", remedy="Change to one that does") from exc


def _named_stores(flag: str | None, environ: Mapping[str, str], config: Config) -> tuple[tuple[str, str], ...]:
    """Whoever names a store, the strongest first."""
    if flag is not None and not flag:
        raise UsageError("The store has an empty name", remedy="Give --store a path or an http address")
    by_variable, seed = environ.get("INDELIBLE_STORE"), environ.get("MEMORY_API_BASE")
    if seed and not (flag or by_variable or is_url(seed)):
        raise UsageError("MEMORY_API_BASE is not an http address", remedy="Set INDELIBLE_STORE for a path")
    named = (("flag", flag), ("environment", by_variable or seed), ("repository", config.text("store")))
    return tuple((by, text) for by, text in named if text)


def _store(
    here: str, top: str | None, named: tuple[tuple[str, str], ...], users: str, environ: Mapping[str, str]
) -> tuple[str, str]:
    """The store's place and who named it."""
    default = os.path.join(top, FOLDER, _STORE) if top else users
    by, text = named[0] if named else ("default", default)
    if is_url(text):
        return text.rstrip("/"), by
    path = _absolute(top if top and by == "repository" else here, text, environ) or default
    if top and within(top, path):
        _require_plain_files(top, path)
    elif by == "repository" and not os.path.isfile(path):
        raise StoreError(
            f"The repository's settings name the store {path}, outside of it, and there is none yet",
            remedy="If you want it, make it yourself: INDELIBLE_STORE=… indelible init",
            path=path,
        )
    return path, by


def _require_plain_files(top: str, path: str) -> None:
    """Refuse a store in a repository if it, or a file that SQLite puts beside it, is not where it says."""
    if within(os.path.join(top, ".git"), path):
        raise StoreError(f"The store {path} would lie in git's own folder", remedy="Name another place", path=path)
    require_inside(top, path)
    for side in _SIDE_FILES:
        if os.path.islink(path + side):
            raise link_refused(path + side)


def _absolute(base: str, text: str | None, environ: Mapping[str, str]) -> str | None:
    if not text:
        return None
    if "\0" in text:
        raise UsageError("A path contains a NUL character")
    if text == "~" or text.startswith(("~/", f"~{os.sep}")):
        text = home(environ) + text[1:]
    return os.path.abspath(os.path.join(base, text))


def _pin(here: str, top: str | None, config: Config, environ: Mapping[str, str]) -> str | None:
    """What INDELIBLE_PIN is or names; else the file that the repository's settings name, from its top: one that is committed."""
    text = environ.get("INDELIBLE_PIN")
    if text and "\n" in text:
        return text
    return _absolute(here, text, environ) or _absolute(top or here, config.text("pin"), environ)


def _remote(name: str, value: str, top: str, environ: Mapping[str, str]) -> str:
    """A remote as git takes it; what git would take for an option or a command is refused."""
    if value.startswith("-") or "::" in value:
        raise UsageError(f"The remote '{name}' in the settings file is neither a URL nor a path")
    # host:path is git's short form; a letter and a colon is a drive of Windows.
    short_form = value.split("/", 1)[0].find(":") > 1
    return value if short_form else _absolute(top, value, environ) or top


def _name(what: str, flag: str | None, *weaker: str | None) -> str:
    """The strongest name that is given: UTF-8 text of 1 to 512 bytes."""
    name = flag if flag is not None else next(filter(None, weaker), "")
    try:
        size = len(name.encode())
    except UnicodeEncodeError as exc:
        raise UsageError(f"The name of the {what} is not UTF-8 text") from exc
    if not 0 < size <= _MAX_NAME:
        raise UsageError(f"The name of the {what} has {size} bytes, not 1 to {_MAX_NAME}")
    return name


def _switch(variable: str, environ: Mapping[str, str], *, default: bool) -> bool:
    text = environ.get(variable, "").strip().lower()
    if text and text not in _SWITCH:
        raise UsageError(f"{variable} is neither 1 nor 0", remedy="Use 1, true, yes, on or 0, false, no, off")
    return _SWITCH.get(text, default)
