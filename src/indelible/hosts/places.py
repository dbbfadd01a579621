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
    from collections.abc import Iterator
    from typing import NamedTuple

    from indelible.hosts.words import Word
else:
    from indelible.light import NamedTuple

STATE, STORE, KEYS, PINS, OWN, HOOKS, GIT, UNSURE = "state", "store", "keys", "pins", "own", "hooks", "git", "unsure"
"""Kinds of places: the state directory, the store, keys, what this reader remembers, the product's folder in the repository,
a host's settings with our hooks in them, git's hooks and what says where they are, and any of them where nobody can tell whether
it is written to."""
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
    numbers: tuple[tuple[int, str], ...] = ()
    """Inodes of the slots, and their paths: another name of the same file is known by them."""

    def named(self, text: str, cwd: str) -> Named | None:
        """The place that a path lies in, or names."""
        spellings = self._spellings(text, cwd)
        for path in spellings:
            for place in self.places:
                if _within(path, self._folded(place.path)):
                    return Named(place, path)
        return next((found for path in spellings if (found := _anywhere(path))), None) or self._by_number(spellings)

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

    def under(self, pattern: str, cwd: str) -> Iterator[tuple[Named, int, str]]:
        """Places in a folder, and the folder if it is one: with their depths in it, and how it is spelt."""
        if UNKNOWN in pattern or UNKNOWN in cwd or _is_active(pattern):
            for place in self.places:  # any folder may be meant
                yield Named(place, place.path), len(place.path.split(os.sep)) - 1, "/"
            return
        folder = spoken(pattern)
        found = self.named(folder, cwd)
        if found:
            yield found, 0, folder
        for spelt in self._spellings(folder, cwd):
            for place in self.places:
                if place.path != spelt and _within(self._folded(place.path), spelt):
                    yield (
                        Named(place, place.path),
                        len(place.path[len(spelt.rstrip(os.sep)) :].split(os.sep)) - 1,
                        folder,
                    )
        if not found and (held := self.above(folder, cwd)) and held.place.kind == OWN:
            yield (
                held,
                len(held.path.split(os.sep)) - len(self._absolute(folder, cwd).rstrip(os.sep).split(os.sep)),
                folder,
            )

    def _by_number(self, paths: tuple[str, ...]) -> Named | None:
        """A slot by another hard link to it."""
        if not self.numbers or not paths:
            return None
        try:
            at = os.stat(paths[0])
        except (OSError, ValueError):
            return None
        slot = next((path for number, path in self.numbers if number == at.st_ino), "") if at.st_nlink > 1 else ""
        return Named(Place(slot, STATE), slot) if slot else None

    def _by_pattern(self, pattern: str, cwd: str, *, above: bool) -> Named | None:
        if UNKNOWN in pattern or (UNKNOWN in cwd and not pattern.startswith(("/", "~"))):
            whole = pattern if pattern.startswith(("/", "~", UNKNOWN)) else f"{cwd}/{pattern}"
            return self._by_head(whole) or self._by_tail(spoken(whole)) or self._by_last(whole)
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

    def _by_head(self, pattern: str) -> Named | None:
        """The folder that a path begins with, before something unknown."""
        folder, is_folder, _ = pattern.partition(UNKNOWN)[0].rpartition("/")
        if not is_folder or not folder:
            return None
        return (
            self._by_glob(self._folded(folder), above=False) if _is_active(folder) else self.named(spoken(folder), "/")
        )

    def _by_last(self, pattern: str) -> Named | None:
        """A slot that the last part of an unknown path would match, if that begins with two letters of its name."""
        last = self._folded(pattern.rpartition("/")[2])
        if not _is_active(last) or UNKNOWN in last or _is_active(last[:2]) or len(last) < 3:
            return None
        slots = (place for place in self.places if place.kind == STATE and _is_telling(os.path.basename(place.path)))
        return next(
            (Named(one, one.path) for one in slots if _matches(self._folded(os.path.basename(one.path)), last)), None
        )

    def _by_tail(self, text: str) -> Named | None:
        """What can be known of a path that begins with something unknown."""
        tail = self._folded(text.rsplit(UNKNOWN, 1)[-1].rstrip("/"))
        for place in self.places:
            path = self._folded(place.path)
            base = self._folded(_sign(place))
            if f"/{base}/" in f"{tail}/" and _is_telling(base):
                return Named(place, place.path)
            least = len(base) if place.kind in (HOOKS, GIT) else _SHORTEST_TAIL
            if len(tail) >= least and _is_telling(base) and path.endswith(tail):
                return Named(place, place.path)
        return Named(Place(FOLDER, OWN), FOLDER) if f"/{FOLDER}/" in f"{self._folded(text)}/" else None

    def _absolute(self, text: str, cwd: str) -> str:
        return os.path.normpath(os.path.join(cwd, self._at_home(text)))

    def _at_home(self, text: str) -> str:
        """The text with what a tilde stands for."""
        name, _, rest = text.partition("/")
        if name == "~":
            return self.home + text[1:]
        return os.path.expanduser(name) + f"/{rest}" if name[:1] == "~" and rest else text

    def _spellings(self, text: str, cwd: str) -> tuple[str, ...]:
        """A path by its letters, and where links lead it; with the last link not followed, and followed."""
        if not text or "\0" in text:
            return ()
        by_letters = self._absolute(text, cwd)
        try:
            joined = os.path.join(cwd, self._at_home(text))
            real = os.path.realpath(joined)
            folder, name = os.path.split(os.path.abspath(joined))
            beside = os.path.join(os.path.realpath(folder), name)
        except (OSError, ValueError):
            return (self._folded(by_letters),)
        return tuple(dict.fromkeys(self._folded(path) for path in (by_letters, beside, real)))

    def _folded(self, path: str) -> str:
        return path.casefold() if self.caseless else path


def _sign(place: Place) -> str:
    """The part of a path that alone says that it is meant; a host's `settings.json` is one of many, and so is a folder of the name `hooks`: with the folder around it."""
    folder, base = os.path.split(place.path)
    return f"{os.path.basename(folder)}/{base}" if place.kind in (HOOKS, GIT) else base


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
    pattern = pattern.replace("[^", "[!")
    return not (part.startswith(".") and pattern[:1] in "*?[" and pattern[:3] != "[.]") and fnmatchcase(part, pattern)


def _is_active(pattern: str) -> bool:
    """Whether something in it is matched against files, rather than quoted."""
    bare = pattern
    for char in "*?[{,}":
        bare = bare.replace(f"[{char}]", "")
    return any(char in bare for char in "*?[")
