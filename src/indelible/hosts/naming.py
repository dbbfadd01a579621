"""What an agent has to type to reach `indelible`: the word alone where it is on the PATH, else the path beside the hook program."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MAIN = "indelible"
_ENDS = ("", ".exe") if os.name == "nt" else ("",)


def named(environ: Mapping[str, str], beside: Iterable[str]) -> str:
    """The word, or an absolute path quoted for a shell; the word too where the program is found nowhere.

    Args:
        beside: programs that it may lie beside.
    """
    if _in(environ.get("PATH", os.defpath).split(os.pathsep)):
        return MAIN
    found = _in(os.path.dirname(os.path.abspath(one)) for one in beside if one)
    return f'"{found}"' if " " in found else found or MAIN


def spell(text: str, program: str) -> str:
    """A text of ours with our command lines, which stand in quotes, as `program` has to be typed."""
    return text if program == MAIN else text.replace(f"'{MAIN} ", f"'{program} ")


def _in(folders: Iterable[str]) -> str:
    for folder in filter(None, folders):
        for end in _ENDS:
            if os.access(path := os.path.join(folder, MAIN + end), os.X_OK) and not os.path.isdir(path):
                return path
    return ""
