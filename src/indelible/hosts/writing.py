"""Where commands write that are not known to only read: those whose words say it, and all others wherever they name a place."""

from __future__ import annotations

import os

from indelible.hosts.words import UNKNOWN, Word, spoken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from indelible.hosts.places import Named, Places

REMOVERS = frozenset(
    ("rm", "rmdir", "unlink", "shred", "chmod", "chown", "chgrp", "chattr", "truncate", "setfacl", "setfattr", "touch",
     "del", "rd", "Remove-Item", "rename", "srm", "trash", "mkdir")
)  # fmt: skip
_MODED = frozenset(("chmod", "chown", "chgrp"))
"""Whose first word that is no option is a mode or an owner, unless a file is named for it."""
COPIERS = frozenset(("cp", "mv", "install", "rsync", "scp", "Copy-Item", "Move-Item", "copy", "ditto", "gcp", "gmv"))
_MODE = frozenset("rwxXstugoa,=")
_LETTERS = {"cp": "tS", "mv": "tS", "install": "mogtS", "rsync": "efBTM", "scp": "PiocFlSJ"}
_LONG = frozenset(
    ("--suffix", "--mode", "--owner", "--group", "--include", "--filter", "--rsh", "--log-file", "--backup-dir", "--temp-dir",
     "--partial-dir", "--link-dest", "--compare-dest", "--copy-dest", "--files-from", "--include-from", "--chmod", "--bwlimit",
     "--max-size", "--min-size", "--timeout", "--port", "--info", "--strip-program", "--exclude-from")
)  # fmt: skip
_EXCLUDING = ("--exclude", "--extend-exclude", "--exclude-dir", "--exclude-pattern", "--exclude-glob", "--ignore", "--ignore-pattern",
              "--ignore-dir", "--ignore-glob", "--skip", "--omit", "--extend-ignore", "--force-exclude", "--exclude-vcs-ignores",
              "--not-match-d", "--coveragePathIgnorePatterns", "--testPathIgnorePatterns", "--modulePathIgnorePatterns")  # fmt: skip
_LOUD = frozenset(("echo", "printf", "cat", "sh", "bash", "zsh", "dash", "ksh", "eval", "xargs", "parallel", "env"))
_PACKING = {
    "tar": ("cvzjJapPhSC", ("--create", "--file", "--gzip", "--xz", "--zstd", "--bzip2", "--verbose", "--directory", "--dereference")),
    "zip": ("rqv9876543210yjXo", ("--recurse-paths", "--quiet", "--symlinks")),
}  # fmt: skip
"""Options with which these only make an archive: letters, and whole words."""
MOST_WORDS = 2_000
"""Of one command, that are each looked up; of more, all that counts is whether they speak of a protected place."""


def without_excluded(name: str, words: tuple[Word, ...]) -> tuple[Word, ...]:
    """The words without those that say what is left out: `--exclude X`, `-x X` of zip, `-v X` of grep, `!X`."""
    if name in _LOUD or name in REMOVERS:
        return words
    kept: list[Word] = []
    index = 0
    while index < len(words):
        text, after = words[index].text, [word.text for word in words[index : index + 3]]
        is_pattern = (text == "-x" and name == "zip") or (name.endswith("grep") and has(text, "v"))
        if text in _EXCLUDING or is_pattern:
            index += 2
            while name == "zip" and index < len(words) and not words[index].text.startswith("-"):
                index += 1
        elif index and text.startswith((*(f"{one}=" for one in _EXCLUDING), "!", ":!", ":(exclude", ":^", "^")):
            index += 1
        elif name == "find" and _leaves_out(after):
            index += 3
        else:
            kept.append(words[index])
            index += 1
    return tuple(kept)


def _leaves_out(texts: list[str]) -> bool:
    """Whether three words of `find` leave a path out."""
    names = ("-path", "-name", "-wholename")
    is_turned = texts[0] in ("-not", "!") and texts[1:2] != [] and texts[1] in names
    return is_turned or (texts[0] in names and texts[2:] == ["-prune"])


def any_named(given: Sequence[Word], cwd: str, places: Places) -> Named | None:
    """The first of the words that names a place, as a whole or behind an option or a sign: `of=PATH`, `-oPATH`, `@PATH`."""
    if len(given) > MOST_WORDS:
        return places.mentioned("\n".join(word.text for word in given))
    return told(places.named_by(part, cwd) for word in given for part in (word, *_tails(word)))


def told(found: Iterable[Named | None]) -> Named | None:
    """The one to speak of: within a protected folder every word is the name of a place, and few are files."""
    named = [one for one in found if one]
    return first([one for one in named if os.path.lexists(one.path)] or named)


def first(found: Iterable[Named | None]) -> Named | None:
    """The first that is one."""
    return next((one for one in found if one), None)


def removed(name: str, given: tuple[Word, ...], cwd: str, places: Places) -> Named | None:
    """What a command removes or changes where it lies, with all that is in it."""
    is_deep = name in ("rmdir", "rd") or any(word.text.startswith("--r") or has(word.text, "rR") for word in given)
    if len(given) > MOST_WORDS:
        return any_named(given, cwd, places)
    files = _without_mode(given) if name in _MODED else given
    return told(places.named_by(word, cwd, above=is_deep and not word.text.startswith("-")) for word in files)


def _without_mode(given: tuple[Word, ...]) -> tuple[Word, ...]:
    if any(word.text.startswith("--reference") for word in given):
        return given
    if any(word.text[:1] == "-" and word.text[1:] and _MODE.issuperset(word.text[1:]) for word in given):
        return given  # `chmod -x FILE`: that was the mode
    mode = next((index for index, word in enumerate(given) if not word.text.startswith("-")), len(given))
    return given[:mode] + given[mode + 1 :]


def copied(name: str, given: tuple[Word, ...], cwd: str, places: Places, *, keeps: bool) -> Named | None:
    """Where a command copies or moves to; of `mv` also what it takes away.

    Args:
        keeps: whether it is told to leave our folder out.
    """
    into, sources, rest = _parted(name, given)
    texts = [word.text for word in given]
    if any(name == "cp" and (text.startswith(("--l", "--sy")) or has(text, "ls")) for text in texts):
        return any_named(given, cwd, places)
    is_whole = any(text.startswith("--no-t") or has(text, "T") for text in texts)
    moves = name.lower().startswith(("mv", "move", "gmv"))
    deletes = name == "rsync" and not keeps and any(text.startswith("--del") for text in texts)
    beside = [one for folder in into for source in sources if (one := _beside(folder, source, name))]
    targets = [*into, *(one for one in beside if _is_there(one, cwd))]
    return (
        first(places.named_by(word, cwd, above=deletes) for word in targets)
        or (
            first(places.named_by(word, cwd, above=moves) for word in sources)
            if moves or "--remove-source-files" in texts
            else None
        )
        or (None if keeps else _merged(into, sources, cwd, places, is_whole=is_whole, name=name))
        or any_named([word for word in rest if "=" in word.text], cwd, places)
    )


def archived(name: str, given: tuple[Word, ...], cwd: str, places: Places) -> Named | None:
    """Where `tar` and `zip` write: to the archive alone, while they make one with options that are known."""
    letters, long = _PACKING[name]
    options = [word.text for index, word in enumerate(given) if word.text[:1] == "-" or (name == "tar" and not index)]
    clusters = [text.lstrip("-").partition("f")[0] for text in options if text[:2] != "--"]
    makes = name == "zip" or any("c" in cluster for cluster in clusters) or "--create" in options
    if (
        not makes
        or not set("".join(clusters)) <= set(letters)
        or not {text.partition("=")[0] for text in options if text[:2] == "--"} <= set(long)
    ):
        lists = (
            name == "tar" and any("t" in cluster for cluster in clusters) and not set("".join(clusters)) - set("tvzjJ")
        )
        return None if lists else any_named(given, cwd, places)
    if name == "zip":
        return first(places.named_by(word, cwd) for word in [word for word in given if word.text[:1] != "-"][:1])
    targets = []
    for index, word in enumerate(given):
        if word.text.startswith("--file="):
            targets += _tails(word)
        elif word.text == "--file" or (word.text in options and word.text[:2] != "--" and "f" in word.text):
            tail = word.pattern.partition("f")[2] if word.text[:1] == "-" else ""
            targets += [Word(tail, tail)] if tail else given[index + 1 : index + 2]
    return first(places.named_by(word, cwd) for word in targets)


def _parted(name: str, given: tuple[Word, ...]) -> tuple[list[Word], list[Word], list[Word]]:
    """The folder or file that is copied to, what is copied, and the options."""
    letters, into, others, options = _LETTERS.get(name, "t"), [], [], []
    left, ended = list(given), False
    while left:
        word = left.pop(0)
        text = word.text
        if ended or not text.startswith("-") or text == "-":
            others.append(word)
            continue
        ended = text == "--"
        options.append(word)
        if text.startswith("--target"):
            tail = word.pattern.partition("=")[2]
            into += [Word(tail, tail)] if "=" in text else left[:1]
            del left[: "=" not in text]
        elif text in _LONG:
            options += left[:1]
            del left[:1]
        elif text[:2] != "--" and (at := next((i for i, letter in enumerate(text) if i and letter in letters), 0)):
            value = left[:1] if at == len(text) - 1 else [Word(text[at + 1 :], word.pattern[at + 1 :])]
            del left[: at == len(text) - 1]
            into += value if text[at] == "t" else []
    return (into, others, options) if into else (others[-1:], others[:-1], options)


def _beside(folder: Word, source: Word, name: str) -> Word | None:
    """Where a source would lie in a folder."""
    if source.pattern.endswith("/") and name == "rsync":
        return None
    base = source.pattern.rstrip("/").rsplit("/", 1)[-1]
    return (
        Word(f"{folder.text}/{spoken(base)}", f"{folder.pattern}/{base}")
        if base not in ("", ".", "..") and UNKNOWN not in base
        else None
    )


def _merged(
    into: list[Word], sources: list[Word], cwd: str, places: Places, *, is_whole: bool, name: str
) -> Named | None:
    """A folder of ours that comes with what is copied over another folder: `cp -a other/. .`."""
    for source in sources:
        text = spoken(source.pattern)
        if (is_whole or text.endswith("/." if name != "rsync" else "/") or text == ".") and UNKNOWN not in text:
            held = os.path.join(spoken(cwd), text, ".indelible")
            if "\0" not in held and os.path.isdir(held):
                over = [Word("", f"{folder.pattern}/.indelible") for folder in into]
                return first(places.named_by(word, cwd) for word in over if _is_there(word, cwd))
    return None


def _is_there(word: Word, cwd: str) -> bool:
    """Whether something lies there; of what is not known, yes."""
    path = os.path.join(spoken(cwd), spoken(word.pattern))
    return UNKNOWN in path or os.path.lexists(path)


def _tails(word: Word) -> list[Word]:
    tails = [word.pattern.partition(sign)[2] for sign in ("=", ":", "@")]
    if word.pattern.startswith("-") and not word.pattern.startswith("--"):
        tails.append(word.pattern[2:])
    return [Word(tail, tail) for tail in tails if tail]


def has(text: str, letters: str) -> bool:
    """Whether one of the letters stands in a cluster of short options, before anything that is no letter."""
    if not text.startswith("-") or text.startswith("--"):
        return False
    cluster = text[1:]
    end = next((index for index, char in enumerate(cluster) if not char.isalpha()), len(cluster))
    return any(letter in cluster[:end] for letter in letters)
