"""Whether a search goes through the whole checkout, or through more, and prints all that it finds."""

from __future__ import annotations

import os

from indelible.hosts.commands import name_in
from indelible.hosts.words import spoken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from indelible.hosts.commands import Line
    from indelible.hosts.expanding import Command
    from indelible.hosts.words import Word

_BOUNDED = (
    "-l",
    "-L",
    "-c",
    "-q",
    "--files-with-matches",
    "--files-without-match",
    "--count",
    "--quiet",
    "-m",
    "--max-count",
    "--stats",
)
SEARCHERS = frozenset(("grep", "egrep", "fgrep", "rgrep", "rg", "ag", "ack", "git"))
FINDERS = frozenset(("find", "fd", "tree", "ls", "du"))
_SHORT = frozenset(("head", "tail", "wc", "uniq"))
_SUMMARIES = _SHORT | {"xargs"}


def searches(line: Line, command: Command, name: str, words: tuple[Word, ...], place: str, home: str) -> bool:
    """Whether a search goes through the whole checkout, or through more, and prints all that it finds."""
    texts = [word.text for word in words[1:]]
    later = [
        name_in(one) for one in line.commands if one.pipeline == command.pipeline and one is not command and one.words
    ]
    is_short = not _SUMMARIES.isdisjoint(later) or command.targets
    if name == "git":
        return (
            texts[:1] == ["grep"]
            and not is_short
            and len([one for one in texts[1:] if one[:1] != "-"]) == 1
            and not _is_bounded(texts)
        )
    folders = _folders(name, texts)
    here = spoken(command.cwd)
    wide = [folder for folder in folders if _is_wide(os.path.join(here, _at_home(folder, home)), place, home)]
    if name in FINDERS:
        beyond = any(_is_beyond(os.path.join(here, _at_home(folder, home)), place) for folder in wide)
        if name in ("find", "fd", "du"):
            return beyond and not is_short
        deep = (name == "tree" and "-L" not in texts) or (
            name == "ls" and any(one[:1] == "-" and "R" in one for one in texts)
        )
        return deep and bool(wide) and not is_short
    recursive = name in ("rg", "ag", "ack", "rgrep") or any(
        one in ("--recursive", "--dereference-recursive")
        or (one[:1] == "-" and one[1:2] != "-" and ("r" in one or "R" in one))
        for one in texts
    )
    return recursive and bool(wide) and not is_short and not _is_bounded(texts)


def _is_bounded(texts: list[str]) -> bool:
    return any(
        one.partition("=")[0] in _BOUNDED or (one[:1] == "-" and one[1:2] != "-" and any(x in one for x in "lcq"))
        for one in texts
    )


def _folders(name: str, texts: list[str]) -> list[str]:
    """Where a search looks; the folder that it runs in where it does not say."""
    plainly: list[str] = []
    skip = False
    for text in texts:
        if skip or text[:1] == "-":
            skip = not skip and text in (
                "-e",
                "-f",
                "--regexp",
                "--include",
                "--exclude",
                "-A",
                "-B",
                "-C",
                "-g",
                "-t",
                "--glob",
                "--type",
                "-m",
                "-L",
                "-I",
            )
            if name == "find" and text[:1] == "-" and plainly:
                break
            continue
        plainly.append(text)
    if name in ("grep", "egrep", "fgrep", "rgrep", "rg", "ag", "ack", "fd") and not any(
        text in ("-e", "--regexp", "-f", "--files") for text in texts
    ):
        plainly = plainly[1:]
    return plainly or ["."]


def _at_home(folder: str, home: str) -> str:
    return home + folder[1:] if folder == "~" or folder.startswith("~/") else folder


def _is_wide(folder: str, place: str, home: str) -> bool:
    """Whether a folder is the whole checkout, or holds it, or lies near the top of the file system."""
    whole = os.path.normpath(folder.rstrip("*") or "/")
    return whole in (place, home) or _is_beyond(whole, place)


def _is_beyond(folder: str, place: str) -> bool:
    whole = os.path.normpath(folder.rstrip("*") or "/")
    is_above = place != whole and f"{place}/".startswith(whole.rstrip("/") + "/")
    return is_above or (whole.count("/") <= 1 and whole != place)
