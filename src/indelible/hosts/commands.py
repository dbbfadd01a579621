"""What a shell's command does to protected places, and whether it plainly only reads.

A command that is not known to read, and that names a protected place, is taken for one that writes there: so a way of
writing that nobody thought of is refused with the rest.
"""

from __future__ import annotations

import os
from itertools import pairwise

from indelible.hosts import gitting
from indelible.hosts.reserved import variable_in, verb_in
from indelible.hosts.shell import Command, read
from indelible.hosts.tools import patched
from indelible.hosts.words import Word, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from indelible.hosts.places import Named, Places

_PREFIXES = frozenset(
    ("sudo", "doas", "env", "nohup", "time", "command", "builtin", "exec", "nice", "ionice", "stdbuf", "timeout", "setsid",
     "busybox", "noglob", "unbuffer", "uv", "uvx", "poetry", "pipx", "run", "xargs", "parallel")
)  # fmt: skip
_SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "eval", "source", ".", "pwsh", "powershell"))
_INTERPRETERS = frozenset(
    ("python", "python2", "python3", "py", "pypy", "pypy3", "perl", "ruby", "node", "nodejs", "deno", "bun", "php", "lua",
     "tclsh", "osascript", "Rscript", "julia", "sqlite3", "ed", "ex", "vi", "vim", "nvim", "emacs", "expect", "gawk", "awk", "mawk", "sed",
     "apply_patch", "patch", "cmd", "pwsh", "powershell")
)  # fmt: skip
_READERS = frozenset(
    ("cat", "head", "tail", "less", "more", "grep", "egrep", "fgrep", "rg", "ag", "ls", "dir", "stat", "wc", "sha256sum",
     "sha1sum", "sha512sum", "shasum", "md5sum", "b2sum", "cksum", "sum", "diff", "cmp", "comm", "file", "tree", "du", "df",
     "bat", "od", "xxd", "hexdump", "sort", "uniq", "cut", "tr", "jq", "yq", "test", "[", "[[", "echo", "printf", "true",
     "false", ":", "cd", "pushd", "popd", "pwd", "readlink", "realpath", "basename", "dirname", "strings", "nl", "column",
     "paste", "fold", "tac", "rev", "lsattr", "getfattr", "getfacl", "which", "type", "whoami", "id", "date", "uname",
     "hostname", "ps", "find", "fd", "sed", "awk", "mawk", "locate", "sleep", "export", "set", "unset", "printenv", "for",
     "case", "return", "exit", "wait", "seq", "expr", "local", "declare", "shopt", "read", "select", "git", "in", "sqlite3",
     "Get-Content", "Select-String", "Get-ChildItem", "man", "base64", "zcat", "view")
)  # fmt: skip
_REMOVERS = frozenset(
    ("rm", "rmdir", "unlink", "shred", "mv", "chmod", "chown", "chgrp", "chattr", "truncate", "setfacl", "setfattr", "touch",
     "del", "rd", "Remove-Item", "Move-Item", "rename", "srm", "trash")
)  # fmt: skip
_COPIERS = frozenset(("cp", "install", "rsync", "scp", "Copy-Item", "copy", "ditto"))
_FIND_ACTS = frozenset(("-delete", "-exec", "-execdir", "-ok", "-okdir", "-fprint", "-fprintf", "-fls", "-fprint0"))
_DECLARING = frozenset(("export", "declare", "local", "set"))
_QUOTES = dict.fromkeys(map(ord, "\"'\\"))
_MODED = frozenset(("chmod", "chown", "chgrp"))
"""Whose first word that is no option is a mode or an owner, unless a file is named for it."""
_DEEPEST = 5
_MOST_WORDS = 2_000
"""Of one command, that are each looked up; of more, all that counts is whether they speak of a protected place."""
_LONGEST = 200_000
"""Characters of a command that are read; of a longer one, all that counts is whether it speaks of a protected place."""


class Line:
    """A whole command line, read once and asked several things."""

    def __init__(self, text: str, cwd: str, variables: Mapping[str, str], depth: int = 0) -> None:
        self.text, self.variables, self.depth = text, variables, depth
        self.unread = text if len(text) > _LONGEST else ""
        self.commands = read(text, cwd, variables) if not self.unread else ()
        self.patched = patched(text) if "*** " in text else ()

    @property
    def is_reading(self) -> bool:
        """Whether every command of it plainly changes nothing but what it prints."""
        return bool(self.commands) and not self.patched and all(map(self._is_reading, self.commands))

    @property
    def boots(self) -> bool:
        """Whether it shows the briefing: `indelible boot`, whose output goes nowhere else."""
        return bool(self._boots())

    @property
    def budget(self) -> int | None:
        """The tokens that the `indelible boot` in it gives the briefing, where it says so."""
        given = [word.text for one in self._boots()[:1] for word in _own(one)[1:]]
        said = [text.removeprefix("--budget=") for text in given if text.startswith("--budget=")]
        said += [after for option, after in pairwise(given) if option == "--budget"]
        return int(said[-1]) if said and said[-1].isascii() and said[-1].isdigit() else None

    def _boots(self) -> list[Command]:
        return [
            one
            for one in self.commands
            if [word.text for word in _own(one)[:1]] == ["boot"] and not one.targets
            and sum(other.pipeline == one.pipeline for other in self.commands) == 1
        ]  # fmt: skip

    def reserved(self, *, altered: bool) -> str:
        """What in it is a person's to do, in words: a verb of ours, or a variable that switches a guard off."""
        for command in self.commands:
            words = _bare(command)
            declared = tuple(word.text for word in command.words if "=" in word.text)
            is_said = _name(words) in _READERS and _name(words) not in _DECLARING and not _acts(_name(words), words)
            found = variable_in((*command.assigned, *(() if is_said else declared)))
            if not found and not is_said:
                found = verb_in(command.words, altered=altered)
            if not found and _name(words) in _SHELLS and (inner := self._inner(command, words)) is not None:
                found = inner.reserved(altered=altered)
            if found:
                return found
        return ""

    @property
    def unhooks(self) -> bool:
        """Whether it has git leave the repository's hooks out, by another `core.hooksPath`."""
        bare = self.text.translate(_QUOTES).casefold()
        if gitting.HOOKS_PATH in bare and (self.unread or "git_config_" in bare):
            return True
        return any(map(self._unhooks, self.commands))

    def _unhooks(self, command: Command) -> bool:
        words = _bare(command)
        name = _name(words)
        if name in _SHELLS and (inner := self._inner(command, words)) is not None and self.depth < _DEEPEST:
            return inner.unhooks
        if name == "git":
            return gitting.unhooks(words[1:])
        is_program = (name.rstrip("0123456789.") in _INTERPRETERS or name in _INTERPRETERS) and name not in _READERS
        return is_program and any(
            gitting.HOOKS_PATH in text.casefold() for text in (*(word.text for word in words), command.fed)
        )

    def writes(self, places: Places) -> Named | None:
        """The first protected place that something in it would write to, rename, remove or give another name."""
        if self.unread:
            return places.mentioned(self.unread)
        for command in self.commands:
            found = self._written(command, places)
            if found:
                return found
        return next((found for path in self.patched if (found := places.named(path, self._cwd))), None)

    @property
    def _cwd(self) -> str:
        return self.commands[0].cwd if self.commands else ""

    def _is_reading(self, command: Command) -> bool:
        if any(word.text != "/dev/null" for word in command.targets):
            return False
        words = _bare(command)
        name = _name(words)
        if not words or _own(command):
            return True
        if name in _SHELLS:
            inner = self._inner(command, words)
            return inner is not None and inner.is_reading
        return name in _READERS and not _acts(name, words)

    def _written(self, command: Command, places: Places) -> Named | None:
        for target in command.targets:
            if found := places.named_by(target, command.cwd):
                return found
        words = _bare(command)
        name, given = _name(words), words[1:]
        if not words or _own(command):
            return None
        if name in _SHELLS and (inner := self._inner(command, words)) is not None and self.depth < _DEEPEST:
            return inner.writes(places)
        if name == "git":
            return gitting.changes(given, command.cwd, places)
        if name == "find" and _acts(name, words):
            return _found_files(words, command.cwd, places)
        if _is_xargs(command) and name not in _READERS:
            return self._piped(command, places) or _any(given, command.cwd, places)
        if name in _READERS and not _acts(name, words):
            return None
        return _by_kind(name, given, command, places)

    def _inner(self, command: Command, words: tuple[Word, ...]) -> Line | None:
        """What a shell in it is given to run, where that stands in the text."""
        given = words[1:]
        if words[0].text == "eval":
            text = " ".join(word.text for word in given)
        else:
            options = [
                i for i, word in enumerate(given) if word.text.startswith("-") and "c" in word.text.lower().lstrip("-")
            ]
            text = given[options[0] + 1].text if options and options[0] + 1 < len(given) else command.fed
        if not text and not given:
            text = "\n".join(
                " ".join(word.text for word in other.words[1:])
                for other in self.commands
                if other.pipeline == command.pipeline and other.words[:1] and other.words[0].text in ("echo", "printf")
            )
        return Line(text, command.cwd, self.variables, self.depth + 1) if text and self.depth < _DEEPEST else None

    def _piped(self, command: Command, places: Places) -> Named | None:
        """What `xargs` is handed by the commands in front of it."""
        others = [one for one in self.commands if one.pipeline == command.pipeline and one is not command]
        return next((found for one in others if (found := _any(one.words, one.cwd, places))), None)


def _by_kind(name: str, given: tuple[Word, ...], command: Command, places: Places) -> Named | None:
    """A command that is not known to read."""
    texts = [word.text for word in given]
    if name in _REMOVERS:
        deep = name in ("mv", "rmdir", "Move-Item", "rd") or any(
            text.startswith("-") and "r" in text.lower().lstrip("-") for text in texts
        )
        files = _without_mode(given) if name in _MODED else given
        return _told([found for word in files if (found := places.named_by(word, command.cwd, above=deep))])
    if name in _COPIERS and not any(
        text in ("-l", "-s", "--link", "--symbolic-link") or _has(text, "ls") for text in texts
    ):
        into = [word for index, word in enumerate(given) if texts[index - 1 : index] == ["-t"] or "=" in word.text]
        return _any((*given[-1:], *into), command.cwd, places)
    if name.rstrip("0123456789.") in _INTERPRETERS or name in _INTERPRETERS:
        said = "\n".join((*texts, command.fed))
        return places.mentioned(said) or _any(given, command.cwd, places)
    return _any(given, command.cwd, places)


def _any(given: Sequence[Word], cwd: str, places: Places) -> Named | None:
    """The first of the words that names a place, as a whole or behind an option or a sign: `of=PATH`, `-oPATH`, `@PATH`."""
    if len(given) > _MOST_WORDS:
        return places.mentioned("\n".join(word.text for word in given))
    parts = (part for word in given for part in (word, *_tails(word)))
    return _told([found for part in parts if (found := places.named_by(part, cwd))])


def _told(found: list[Named]) -> Named | None:
    """The one to speak of: in a protected folder every word is the name of a place, and few are files."""
    return next((one for one in found if os.path.lexists(one.path)), found[0] if found else None)


def _without_mode(given: tuple[Word, ...]) -> tuple[Word, ...]:
    if any(word.text.startswith("--reference") for word in given):
        return given
    mode = next((index for index, word in enumerate(given) if not word.text.startswith("-")), len(given))
    return given[:mode] + given[mode + 1 :]


def _tails(word: Word) -> list[Word]:
    tails = [word.pattern.partition(sign)[2] for sign in ("=", ":", "@")]
    if word.pattern.startswith("-") and not word.pattern.startswith("--"):
        tails.append(word.pattern[2:])
    return [Word(tail, tail) for tail in tails if tail]


def _acts(name: str, words: tuple[Word, ...]) -> bool:
    """Whether a reader is told to write."""
    texts = [word.text for word in words[1:]]
    if name == "sed":
        return any(text.startswith("--in-place") or _has(text, "i") for text in texts) or any(
            " w" in text or "w " in text for text in texts if "/" in text
        )
    if name in ("awk", "mawk"):
        return any(">" in text or "inplace" in text or "system" in text for text in texts)
    if name == "git":
        return not gitting.is_reading(words[1:])
    if name in ("find", "fd"):
        return any(text in _FIND_ACTS or text in ("-x", "-X", "--exec") for text in texts) and not _runs_reader(words)
    if name == "sqlite3":
        return "-readonly" not in texts
    options = {"sort": "o", "yq": "i", "xxd": "r", "tree": "o", "less": "oO", "base64": "o"}.get(name, "")
    return any(_has(text, options) or text.startswith("--output") for text in texts) or (
        name == "uniq" and len(texts) > 1 and texts[-1][:1] != "-" and texts[-2][:1] != "-"
    )


def _has(text: str, letters: str) -> bool:
    """Whether one of the letters stands in a cluster of short options, before anything that is no letter."""
    if not text.startswith("-") or text.startswith("--"):
        return False
    cluster = text[1:]
    end = next((index for index, char in enumerate(cluster) if not char.isalpha()), len(cluster))
    return any(letter in cluster[:end] for letter in letters)


def _runs_reader(words: tuple[Word, ...]) -> bool:
    """Whether what `find` runs only reads."""
    for index, word in enumerate(words):
        if word.text in ("-exec", "-execdir"):
            run = words[index + 1 :]
            name = _name(run)
            return name in _READERS and name not in ("find", "git") and not _acts(name, run)
    return False


def _found_files(words: tuple[Word, ...], cwd: str, places: Places) -> Named | None:
    """What `find` that acts would act on: a place in or under its folders that its names do not leave out."""
    given = words[1:]
    first = next((index for index, word in enumerate(given) if word.text[:1] in ("-", "(", "!")), len(given))
    filters = [
        value.text for option, value in pairwise(given) if option.text in ("-name", "-iname", "-path", "-wholename")
    ]
    for folder in given[:first] or (plain("."),):
        found = places.named_by(folder, cwd, above=True)
        if found and (not filters or places.any_matches(filters)):
            return found
    return None


def _is_xargs(command: Command) -> bool:
    return any(word.text in ("xargs", "parallel") for word in command.words[:4])


def _bare(command: Command) -> tuple[Word, ...]:
    """The words without what only goes in front of a command: `sudo -E`, `env A=b`, `timeout 5`."""
    words = command.words
    while len(words) > 1 and _name(words) in _PREFIXES:
        words = words[1:]
        while len(words) > 1 and (words[0].text[:1] in ("-", *"0123456789") or "=" in words[0].text):
            words = words[1:]
    return words


def _own(command: Command) -> tuple[Word, ...]:
    """What follows `indelible`, however it was started, with its options in front left out; nothing where it was not."""
    words = _bare(command)
    name = _name(words)
    if name.startswith("python") and [word.text for word in words[1:3]] == ["-m", "indelible"]:
        words = words[2:]
    elif name != "indelible":
        return ()
    given = words[1:]
    while given and given[0].text.startswith("-"):
        given = given[2:] if given[0].text in ("--agent", "--store") else given[1:]
    return given or (plain(""),)


def _name(words: tuple[Word, ...]) -> str:
    return os.path.basename(words[0].text).removesuffix(".exe") if words else ""
