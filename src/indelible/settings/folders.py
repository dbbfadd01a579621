"""The user's own folders. Imports nothing, so that a hook can find what it noted before it knows anything else."""

from __future__ import annotations

import os
import sys

from indelible.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_XDG = {
    "config": ("XDG_CONFIG_HOME", ".config"),
    "state": ("XDG_STATE_HOME", os.path.join(".local", "state")),
    "data": ("XDG_DATA_HOME", os.path.join(".local", "share")),
}
HOOK_DEPTH = "INDELIBLE_HOOK_DEPTH"
"""Set for whatever a hook of ours starts, so that a hook of ours inside of it begins nothing."""
FORK = "INDELIBLE_FORK"
"""Set for whatever `indelible fork` starts: the id of the run, behind those of the runs that it is in."""
KINDS = tuple(_XDG)
"""`config`, `state` and `data`."""


def home(environ: Mapping[str, str]) -> str:
    """The user's home folder.

    Raises:
        UsageError: this account has none.
    """
    named = environ.get("HOME", "") if os.name == "posix" else os.path.expanduser("~")
    if os.path.isabs(named):
        return named
    try:
        import pwd

        return pwd.getpwuid(os.getuid()).pw_dir
    except (ImportError, KeyError) as exc:
        raise UsageError("This account has no home folder", remedy="Set HOME to an absolute path") from exc


def user_folder(kind: str, environ: Mapping[str, str]) -> str:
    """Our folder among the user's: those of the XDG specification on Linux, elsewhere those that `platformdirs` knows.

    Args:
        kind: one of KINDS.
        environ: the variables.
    """
    if not sys.platform.startswith("linux"):
        from platformdirs import PlatformDirs

        return str(getattr(PlatformDirs("indelible", appauthor=False), f"user_{kind}_dir"))
    variable, below_home = _XDG[kind]
    chosen = environ.get(variable, "")
    # The specification has relative paths ignored.
    base = chosen if os.path.isabs(chosen) else os.path.join(home(environ), below_home)
    return os.path.join(base, "indelible")
