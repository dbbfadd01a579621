"""Which protected place a path names, by every spelling that a text can have.

Places are kept by their letters and by where links lead; a path is held against both, from the folder that it is
relative to. Where the file system takes capitals for small letters, so does the comparison.
"""

from __future__ import annotations

import os
from fnmatch import fnmatchcase

from indelible.hosts.words import UNKNOWN, alternatives, spoken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple

    from indelible.hosts.words import Word
else:
    from indelible.light import NamedTuple

STATE, STORE, KEYS, PINS, OWN = "state", "store", "keys", "pins", "own"
"""Kinds of places: the state directory, the store, keys, what this reader remembers, the product's folder in the repository."""
_SHORTEST_TAIL = 8
"""Characters of a file's name after an unknown beginning that are enough to know it by."""


class Place(NamedTuple):
    """A protected file, or a folder with all that is in it."""

    path: str
    kind: str


class Named(NamedTuple):
    """A protected place, as a path named it."""

    place: Place
    path: str
    """The very file, where it is inside of the place."""


class Places(NamedTuple):
    """All of them."""

    places: tuple[Place, ...]
    """The innermost first; every one under each of its spellings."""
    home: str
    caseless: bool = False

    def named(self, text: str, cwd: str) -> Named | None:
        """The place that a path lies in, or names."""
        for path in self._spellings(text, cwd):
            for place in self.places:
                if _within(path, self._folded(place.path)):
                    return Named(place, path)
        return None

    def above(self, text: str, cwd: str) -> Named | None:
        """A place that lies in the folder which a path names."""
        for path in self._spellings(text, cwd):
            for place in self.places:
                if _within(self._folded(place.path), path):
                    return Named(place, place.path)
        return None

    def named_by(self, word: Word, cwd: str, *, above: bool = False) -> Named | None:
        """As `named`, of a shell's word; with `above`, as that too."""
        for pattern in alternatives(word.pattern):
            found = self._by_pattern(pattern, cwd, above=above)
            if found:
                return found
        return None

    def mentioned(self, text: str) -> Named | None:
        """A place that is spoken of somewhere in a text: by its path, or by the name of its folder or file."""
        folded = self._folded(text)
        for place in self.places:
            base = os.path.basename(place.path)
            if self._folded(place.path) in folded or (_is_telling(base) and self._folded(base) in folded):
                return Named(place, place.path)
        return None

    def any_matches(self, filters: list[str]) -> bool:
        """Whether the name or the path of a place is one that these patterns mean."""
        return any(
            fnmatchcase(os.path.basename(place.path), one) or fnmatchcase(place.path, one)
            for one in filters
            for place in self.places
        )

    def _by_pattern(self, pattern: str, cwd: str, *, above: bool) -> Named | None:
        if UNKNOWN in pattern or (UNKNOWN in cwd and not pattern.startswith(("/", "~"))):
            return self._by_tail(spoken(pattern if UNKNOWN in pattern else f"/{pattern}"))
        text = spoken(pattern)
        if "*" not in pattern and "?" not in pattern and "[" not in pattern:
            return self.named(text, cwd) or (self.above(text, cwd) if above else None)
        if text != pattern and not _is_active(pattern):
            return self.named(text, cwd) or (self.above(text, cwd) if above else None)
        return self._by_glob(self._folded(self._absolute(pattern, cwd)), above=above)

    def _by_glob(self, pattern: str, *, above: bool) -> Named | None:
        wanted = pattern.split(os.sep)
        for place in self.places:
            parts = self._folded(place.path).split(os.sep)
            if (len(wanted) >= len(parts) or above) and all(map(_matches, parts, wanted)):
                return Named(place, place.path)
        return None

    def _by_tail(self, text: str) -> Named | None:
        """What can be known of a path that begins with something unknown."""
        tail = self._folded(text.rsplit(UNKNOWN, 1)[-1].rstrip("/"))
        for place in self.places:
            path = self._folded(place.path)
            base = os.path.basename(path)
            if f"/{base}/" in f"{tail}/" and _is_telling(base):
                return Named(place, place.path)
            if len(tail) >= _SHORTEST_TAIL and _is_telling(base) and path.endswith(tail):
                return Named(place, place.path)
        return None

    def _absolute(self, text: str, cwd: str) -> str:
        if text == "~" or text.startswith(("~/", f"~{os.sep}")):
            text = self.home + text[1:]
        return os.path.normpath(os.path.join(cwd, text))

    def _spellings(self, text: str, cwd: str) -> tuple[str, ...]:
        """A path by its letters, and where links lead it; with the last link not followed, and followed."""
        if not text or "\0" in text:
            return ()
        by_letters = self._absolute(text, cwd)
        try:
            joined = os.path.join(cwd, self.home + text[1:] if text.startswith("~/") else text)
            real = os.path.realpath(joined)
            folder, name = os.path.split(os.path.abspath(joined))
            beside = os.path.join(os.path.realpath(folder), name)
        except (OSError, ValueError):
            return (self._folded(by_letters),)
        return tuple(dict.fromkeys(self._folded(path) for path in (by_letters, beside, real)))

    def _folded(self, path: str) -> str:
        return path.casefold() if self.caseless else path


def _is_telling(base: str) -> bool:
    """Whether a name alone says that a protected place is meant: `.indelible`, `00_governance.md`; not `state`."""
    return len(base) >= _SHORTEST_TAIL and "." in base


def _within(path: str, place: str) -> bool:
    return path == place or path.startswith(place.rstrip(os.sep) + os.sep)


def _matches(part: str, pattern: str) -> bool:
    """A shell's star leaves names that begin with a dot alone."""
    return not (part.startswith(".") and pattern[:1] in "*?[" and pattern[:3] != "[.]") and fnmatchcase(part, pattern)


def _is_active(pattern: str) -> bool:
    """Whether something in it is matched against files, rather than quoted."""
    bare = pattern
    for char in "*?[{,}":
        bare = bare.replace(f"[{char}]", "")
    return any(char in bare for char in "*?[")
