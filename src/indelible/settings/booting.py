"""What is told to an agent that wakes up, and from which state directory.

    [state]
    directory = ".indelible/state"         # inside the repository; elsewhere by INDELIBLE_STATE_DIR only
    name = "app"                           # the directory's own name in a store that several repositories share
    [boot]
    budget = 1800                          # tokens of a briefing
    memories = ["MEMORY.md"]               # verified at every boot, and their local files against the sealed copies
    briefing_first = "writes"              # until the briefing was read: "writes" or "all" tools are denied

The settings file comes with a clone. That nothing is denied (`off`) can be said by whoever starts the program, with
INDELIBLE_BRIEFING_FIRST, and not by it.
"""

from __future__ import annotations

import os

from indelible.errors import UsageError
from indelible.light import TYPE_CHECKING, NamedTuple
from indelible.settings.repository import FOLDER, require_inside, within

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indelible.settings.repository import Config

BUDGET = 1_800
"""Tokens of a briefing: what five terse state files come to (seed 004)."""
MEMORIES = ("MEMORY.md",)
LEVELS = ("writes", "all", "off")
HEAVY = ("refuse", "allow")
_UNQUOTED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._@-")
_MEMBERS = {"state": ("directory", "name"), "boot": ("budget", "memories", "briefing_first")}


class Boot(NamedTuple):
    """How an agent is woken here."""

    directory: str | None
    """Absolute path of the state directory; None outside of any repository, where nobody named one."""
    namespace: str
    """Where its slots are sealed: `state`, `state/worktree/NAME` or `state/at/NAME`."""
    budget: int
    memories: tuple[str, ...]
    briefing_first: str
    """What is denied before the briefing was read: `writes`, `all`, or nothing (`off`)."""
    by_environment: bool = False
    """Whether a variable named the directory, and not the settings file."""
    heavy: str = ""
    """Whether an agent is told to fork heavy work: `refuse`, `allow`, or as the workflow says (empty)."""


def boot_of(top: str | None, checkout: str | None, store: str, config: Config, environ: Mapping[str, str]) -> Boot:
    """Gather them.

    Args:
        top: the folder whose `.indelible/` is used.
        checkout: the worktree that the current folder lies in.
        store: the store's place, as the settings have it.

    Raises:
        UsageError: a setting is off. StoreError: the state directory leads out of the repository.
    """
    for section, members in _MEMBERS.items():
        _require_known(config, section, members)
    directory = _directory(checkout, config, environ)
    return Boot(
        directory, _namespace(directory, top, checkout, store, config), _budget(config), _memories(config), _first(config, environ),
        bool(environ.get("INDELIBLE_STATE_DIR")), _heavy(environ),
    )  # fmt: skip


def _require_known(config: Config, section: str, members: tuple[str, ...]) -> None:
    for name in config.section(section):
        if name not in members:
            raise UsageError(
                f"{config.path}: there is no setting '{name}' in [{section}]",
                remedy=f"The settings there are {', '.join(members)}", file=config.path,
            )  # fmt: skip


def _directory(checkout: str | None, config: Config, environ: Mapping[str, str]) -> str | None:
    if said := environ.get("INDELIBLE_STATE_DIR"):
        return os.path.abspath(said)
    if checkout is None:
        return None
    named = config.section("state").get("directory", os.path.join(FOLDER, "state"))
    if not isinstance(named, str) or not named or "\0" in named:
        raise UsageError(f"{config.path}: [state] directory is not a path in quotes", file=config.path)
    path = os.path.abspath(os.path.join(checkout, named))
    if path == checkout or not within(checkout, path) or within(os.path.join(checkout, ".git"), path):
        raise UsageError(
            f"{config.path}: [state] directory leads out of the repository, and a settings file comes with a clone",
            remedy="Name it yourself: INDELIBLE_STATE_DIR=…", file=config.path,
        )  # fmt: skip
    require_inside(checkout, path)
    return path


def _namespace(directory: str | None, top: str | None, checkout: str | None, store: str, config: Config) -> str:
    """A name of its own for every state directory that may share a log with another one."""
    named = config.section("state").get("name")
    if named is not None:
        return f"state/at/{_name(named, config)}"
    if directory is None:
        return "state"
    inside = checkout is not None and within(checkout, directory)
    if not inside or top is None or not within(os.path.join(top, FOLDER), store):
        return f"state/at/{_by_path(directory, checkout if inside else None)}"
    return "state" if checkout == top else f"state/worktree/{_worktree(checkout or '')}"


def _by_path(directory: str, checkout: str | None) -> str:
    from indelible.light import sha256

    base = checkout or directory
    digest = sha256(os.fsencode(os.path.realpath(base))).hexdigest()[:8]
    return f"{_plain(os.path.basename(base))}-{digest}"


def _worktree(checkout: str) -> str:
    """The name by which git knows a worktree, which stays when it is moved."""
    try:
        with open(os.path.join(checkout, ".git"), "rb") as file:
            line = os.fsdecode(file.read(8192)).strip()
    except OSError:
        line = checkout
    return _plain(os.path.basename(line.rstrip("/\\")))


def _plain(name: str) -> str:
    """The name with everything quoted that a key of a slot must not have in its middle; what a log's origin is quoted like."""
    quoted = "".join(
        chr(byte) if byte in _UNQUOTED else f"%{byte:02X}" for byte in name.encode("utf-8", "surrogateescape")
    )
    return quoted[:96] or "root"


def _name(named: object, config: Config) -> str:
    if not isinstance(named, str) or not named or "/" in named or len(named) > 96 or not named.isprintable():
        raise UsageError(f"{config.path}: [state] name is not one word of up to 96 characters", file=config.path)
    return named


def _budget(config: Config) -> int:
    value = config.section("boot").get("budget", BUDGET)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise UsageError(f"{config.path}: [boot] budget is not a number of tokens", file=config.path)
    return value


def _memories(config: Config) -> tuple[str, ...]:
    value = config.section("boot").get("memories", list(MEMORIES))
    if not isinstance(value, list) or not all(isinstance(key, str) and key for key in value):
        raise UsageError(f'{config.path}: [boot] memories is not a list of keys: ["MEMORY.md"]', file=config.path)
    return tuple(value)


def _first(config: Config, environ: Mapping[str, str]) -> str:
    named, said = config.section("boot").get("briefing_first"), environ.get("INDELIBLE_BRIEFING_FIRST")
    for where, word in ((f"{config.path}: [boot] briefing_first", named), ("INDELIBLE_BRIEFING_FIRST", said)):
        if word and word not in LEVELS:
            raise UsageError(f"{where} is none of {', '.join(LEVELS)}", remedy="Use writes")
    if named == "off":
        raise UsageError(
            f"{config.path}: [boot] briefing_first = 'off' would let a clone switch the guard off",
            remedy="Take it out there; who means it says INDELIBLE_BRIEFING_FIRST=off", file=config.path,
        )  # fmt: skip
    return said or str(named or LEVELS[0])


def _heavy(environ: Mapping[str, str]) -> str:
    said = environ.get("INDELIBLE_HEAVY", "")
    if said and said not in HEAVY:
        raise UsageError(f"INDELIBLE_HEAVY is none of {', '.join(HEAVY)}", remedy="Use refuse")
    return said
