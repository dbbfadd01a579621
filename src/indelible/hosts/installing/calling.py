"""The words with which a host calls us: an absolute path, quoted for the shell that runs it, the host's name and its event's.

The line is the same for every version of the product, since a host may trust a hook by the digest of its words.
"""

from __future__ import annotations

import os
import re
import shlex
from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import NotFoundError

if TYPE_CHECKING:
    from collections.abc import Callable

HOOK, MAIN = "indelible-hook", "indelible"
STATUSLINE = ("hooks", "statusline")
_WINDOWS = re.compile(r'(?:& )?"([^"]+)"((?: [^\s"]+)+)')


class Programs(NamedTuple):
    """Absolute paths of our own console scripts."""

    hook: str
    main: str


def locate(interpreter: str, search_path: str) -> Programs:
    """Our programs: as the PATH has them, where that is this installation; else those beside the interpreter.

    Args:
        interpreter: the running Python; its scripts lie in its folder.
        search_path: PATH.

    Raises:
        NotFoundError: there is no hook program.
    """
    return Programs(_locate(HOOK, interpreter, search_path), _locate(MAIN, interpreter, search_path))


def _locate(name: str, interpreter: str, search_path: str) -> str:
    from shutil import which

    beside = which(name, path=os.path.dirname(os.path.abspath(interpreter)))
    found = which(name, path=search_path)
    if found is not None and beside is not None and os.path.realpath(found) == os.path.realpath(beside):
        return os.path.abspath(found)  # a link on the PATH outlives the folder of one version
    chosen = beside or found
    if chosen is None:
        raise NotFoundError(
            f"There is no program {name} beside {interpreter} or on the PATH",
            remedy="Install the package with its console scripts: 'pip install indelible' or 'pipx install indelible'",
        )
    return os.path.abspath(chosen)


def unreachable(programs: Programs, search_path: str) -> str:
    """What to say where an agent that types `indelible` would not find it; empty where it would."""
    from shutil import which

    if which(MAIN, path=search_path) is not None:
        return ""
    folder = os.path.dirname(programs.main)
    link = f"'ln -s {shlex.quote(programs.main)} ~/.local/bin/', or " if os.name == "posix" and folder else ""
    return f"'{MAIN}' is not on the PATH, where agents look for it: {link}add {folder or 'its folder'} to PATH"


def line(program: str, *words: str) -> str:
    """A command line for the shell of this system."""
    if os.name == "nt":
        return " ".join([f'"{program}"', *words])
    return " ".join(map(shlex.quote, (program, *words)))


def powershell(text: str) -> str:
    """The same line for PowerShell, which takes a quoted word for a value and not for a program."""
    return f"& {text}" if text.startswith('"') else text


def caller(program: str, host: str) -> Callable[[str], str]:
    """What makes the line for each event of a host."""
    return lambda event: line(program, host, event)


def words_of(command: object) -> tuple[str, ...]:
    """The words of a command line, as either kind of shell parts them; none where it is no plain line."""
    if not isinstance(command, str):
        return ()
    if (found := _WINDOWS.fullmatch(command)) is not None:
        return (found[1], *found[2].split())
    try:
        return tuple(shlex.split(command))
    except ValueError:
        return ()


def is_hook(command: object, host: str | None = None) -> bool:
    """Whether a command line is one that we wrote, wherever the program lay then."""
    words = words_of(command)
    return len(words) == 3 and _is_named(words[0], HOOK) and host in (None, words[1])


def is_statusline(command: object) -> bool:
    """Whether a command line is that of our status line."""
    words = words_of(command)
    return words[1:] == STATUSLINE and _is_named(words[0], MAIN)


def _is_named(program: str, name: str) -> bool:
    last = re.split(r"[/\\]", program)[-1].lower()
    return last in (name, f"{name}.exe")
