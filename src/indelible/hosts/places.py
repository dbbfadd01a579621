"""Which protected place a path names, by every spelling that a text can have.

A folder of ours is one in whichever repository it lies. Places are kept by their letters and by where links lead; a path is held against both, from the folder that it is
relative to. Where the file system takes capitals for small letters, so does the comparison.
"""

from __future__ import annotations

import os
from fnmatch import fnmatchcase

from indelible.hosts.whereabouts import FOLDER, holds_one
from indelible.hosts.words import UNKNOWN, alternatives, spoken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple

    from indelible.hosts.words import Word
else:
    from indelible.light import NamedTuple

STATE, STORE, KEYS, PINS, OWN, HOOKS = "state", "store", "keys", "pins", "own", "hooks"
"""Kinds of places: the state directory, the store, keys, what this reader remembers, the product's folder in the repository,
and a host's settings with our hooks in them."""
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
    whole: str = ""
    """The folder above it that was named instead of it."""


class Places(NamedTuple):
    """All of them."""

    places: tuple[Place, ...]
    """The innermost first; every one under each of its spellings."""
    home: str
    caseless: bool = False

    def named(self, text: str, cwd: str) -> Named | None:
        """The place that a path lies in, or names."""
        spellings = self._spellings(text, cwd)
        for path in spellings:
            for place in self.places:
                if _within(path, self._folded(place.path)):
                    return Named(place, path)
        return next((found for path in spellings if (found := _anywhere(path))), None)

    def above(self, text: str, cwd: str) -> Named | None:
        """A place that lies in the folder which a path names."""
        spellings = self._spellings(text, cwd)
        for path in spellings:
            for place in self.places:
                if _within(self._folded(place.path), path):
                    return Named(place, place.path, path)
        held = next((held for path in spellings if (held := holds_one(path))), "")
        return Named(Place(held, OWN), held, os.path.dirname(held)) if held else None

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
            base = _sign(place)
            if self._folded(place.path) in folded or (_is_telling(base) and self._folded(base) in folded):
                return Named(place, place.path)
        return Named(Place(FOLDER, OWN), FOLDER) if FOLDER in folded else None

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
                whole = os.sep.join(place.path.split(os.sep)[: len(wanted)]) if len(wanted) < len(parts) else ""
                return Named(place, place.path, whole)
        for index, part in enumerate(wanted):
            folder = os.sep.join(wanted[:index])
            if (
                part[:1] in ("[", ".")
                and _matches(FOLDER, part)
                and (_is_active(folder) or os.path.isdir(os.path.join(spoken(folder), FOLDER)))
            ):
                path = os.path.join(spoken(folder), FOLDER)
                return Named(Place(path, OWN), path)
        return None

    def _by_tail(self, text: str) -> Named | None:
        """What can be known of a path that begins with something unknown."""
        tail = self._folded(text.rsplit(UNKNOWN, 1)[-1].rstrip("/"))
        for place in self.places:
            path = self._folded(place.path)
            base = self._folded(_sign(place))
            if f"/{base}/" in f"{tail}/" and _is_telling(base):
                return Named(place, place.path)
            least = len(base) if place.kind == HOOKS else _SHORTEST_TAIL
            if len(tail) >= least and _is_telling(base) and path.endswith(tail):
                return Named(place, place.path)
        return Named(Place(FOLDER, OWN), FOLDER) if f"/{FOLDER}/" in f"{tail}/" else None

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


def _sign(place: Place) -> str:
    """The part of a path that alone says that it is meant; a host's `settings.json` is one of many, so with its folder."""
    folder, base = os.path.split(place.path)
    return f"{os.path.basename(folder)}/{base}" if place.kind == HOOKS else base


def _is_telling(base: str) -> bool:
    """Whether a name alone says that a protected place is meant: `.indelible`, `00_governance.md`; not `state`."""
    return len(base) >= _SHORTEST_TAIL and "." in base


def _anywhere(path: str) -> Named | None:
    """The folder of ours, of whichever repository, that an absolute path names or lies in."""
    before, found, after = f"{path}{os.sep}".partition(f"{os.sep}{FOLDER}{os.sep}")
    if not found:
        return None
    kind = STATE if after.startswith(f"state{os.sep}") else STORE if after.startswith("store.") else OWN
    return Named(Place(os.path.join(before, FOLDER), kind), path)


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
