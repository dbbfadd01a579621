"""Where an anchor's path leads: inside the folder that it is relative to, or nowhere.

A path is written with forward slashes, relative to the top. A link that stays inside is followed, as whoever reads the
file would; one that leads out is not.
"""

from __future__ import annotations

import json
import os
import re
import stat

MISSING, OUTSIDE, UNKNOWN, CHANGED = "anchor-missing", "anchor-outside", "anchor-unknown", "anchor-changed"

_DIGITS = re.compile(r"[0-9a-f]+")
_DRIVE = re.compile(r"[A-Za-z]:")


class Doubt(Exception):
    """Why an anchor does not hold, within the gate: the slug, and words that go on after its name."""

    def __init__(self, slug: str, words: str, remedy: str = "") -> None:
        super().__init__(slug, words, remedy)
        self.slug = slug
        self.words = words
        self.remedy = remedy


def shown(text: str) -> str:
    """A path or a name as a message may hold it: on one line, with what cannot be seen escaped."""
    return text if text.isprintable() and text else json.dumps(text)


def short(value: str) -> str:
    """A value in a message: digests by their first twelve digits."""
    label, colon, digits = value.rpartition(":")
    return shown(f"{label}{colon}{digits[:12]}" if len(digits) >= 40 and _DIGITS.fullmatch(digits) else value[:80])


def inside(path: str) -> tuple[str, ...]:
    """The parts of a path that stays inside.

    Raises:
        Doubt: it is absolute, climbs out, or is no path.
    """
    text = path.replace("\\", "/") if os.name == "nt" else path
    parts = tuple(text.split("/"))
    if not text or "\0" in text or text.startswith("/") or _DRIVE.match(text) or ".." in parts:
        raise Doubt(OUTSIDE, "leads out of the repository", "Anchor a file inside it")
    if "" in parts or "." in parts or parts[0].lower() == ".git":
        raise Doubt(OUTSIDE, "is no path of a file inside the repository", "Anchor a file inside it")
    return parts


def first_link(top: str, parts: tuple[str, ...]) -> str | None:
    """The first link on the way to a path, relative to the top; None where there is none."""
    step = top
    for number, part in enumerate(parts, 1):
        step = os.path.join(step, part)
        if os.path.islink(step):
            return "/".join(parts[:number])
    return None


def follow(top: str, path: str) -> str:
    """The real place of something that is reached through a link.

    Raises:
        Doubt: that is outside.
    """
    real, real_top = os.path.realpath(path), os.path.realpath(top)
    if real != real_top and not real.startswith(real_top.rstrip(os.sep) + os.sep):
        raise Doubt(OUTSIDE, "leads out of the repository through a link", "Anchor a file inside it")
    return real


def status(path: str) -> os.stat_result:
    """What stands at a path, a link itself included.

    Raises:
        Doubt: nothing, or it cannot be told.
    """
    try:
        return os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        raise Doubt(MISSING, "is not there any more") from None
    except OSError as exc:
        raise Doubt(UNKNOWN, f"cannot be looked at ({exc.strerror})") from None
    except ValueError:
        raise Doubt(UNKNOWN, "cannot be looked at: this locale cannot write its name", "Use a UTF-8 locale") from None


def require_file(seen: os.stat_result) -> None:
    """Refuse what is no regular file.

    Raises:
        Doubt: naming what it is instead.
    """
    if not stat.S_ISREG(seen.st_mode):
        what = "a folder" if stat.S_ISDIR(seen.st_mode) else "no regular file"
        raise Doubt(CHANGED, f"is {what} now")
