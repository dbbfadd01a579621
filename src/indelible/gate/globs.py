"""Which files a glob means: `*` and `?` stop at a slash, `**` does not, and a folder stands for all that lies in it.

Everything else is meant by its letter, capitals and brackets too (`app/[id]/page.tsx`). No glob takes longer than its
length times that of the path.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def matches(glob: str, path: str) -> bool:
    """Whether a path, from the top and with forward slashes, is among those that `glob` means."""
    return _match([*_steps(glob), "**"], _steps(path), "**", _is_step)


def _steps(path: str) -> list[str]:
    return [step for step in path.split("/") if step not in ("", ".")]


def _is_step(glob: str, step: str) -> bool:
    return _match(glob, step, "*", lambda wanted, letter: wanted in ("?", letter))


def _match(glob: Sequence[str], text: Sequence[str], star: str, same: Callable[[str, str], bool]) -> bool:
    """Whether the parts of `text` are those of `glob`, where `star` is any number of parts. Only the last star is ever taken back."""
    at, read, last, begun = 0, 0, -1, 0
    while read < len(text):
        if at < len(glob) and glob[at] == star:
            last, begun, at = at, read, at + 1
        elif at < len(glob) and same(glob[at], text[read]):
            at, read = at + 1, read + 1
        elif last >= 0:
            begun += 1
            at, read = last + 1, begun
        else:
            return False
    return all(part == star for part in glob[at:])
