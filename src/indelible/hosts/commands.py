"""What a shell's command does to protected places, and whether it plainly only reads.

A command that is not known to read, and that names a protected place, is taken for one that writes there: so a way of
writing that nobody thought of is refused with the rest. Where a line speaks of a protected place, and changes something
that its text does not tell, nobody knows: that is refused too.
"""

from __future__ import annotations

import os

from indelible.hosts import assignments, booting, gitting, writing
from indelible.hosts.expanding import Command, printed
from indelible.hosts.places import UNSURE, Place
from indelible.hosts.prefixes import bare, has_input, name_of
from indelible.hosts.readers import only_reads, takes_any
from indelible.hosts.reserved import variable_in, verb_in
from indelible.hosts.shell import Reading, read
from indelible.hosts.tools import patched
from indelible.hosts.words import UNKNOWN, Word, spoken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from indelible.hosts.booting import Boot
    from indelible.hosts.places import Named, Places

SHELLS = frozenset((
    "sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "eval", "source", ".", "pwsh", "powershell", "tcsh", "csh",
    "mksh",
))  # fmt: skip
INTERPRETERS = frozenset(
    ("python", "pypy", "py", "perl", "ruby", "node", "nodejs", "deno", "bun", "php", "lua", "tclsh", "osascript", "Rscript", "julia",
     "sqlite", "ed", "ex", "vi", "vim", "nvim", "view", "emacs", "expect", "gawk", "awk", "mawk", "apply_patch", "patch", "cmd", "make", "at",
     "batch")
)  # fmt: skip
SPEAKERS = frozenset((
    "git", "gh", "glab", "curl", "logger", "notify-send", "say", "claude", "codex", "gemini", "qwen", "copilot",
    "opencode", "llm", "sed",
))  # fmt: skip
"""Whose words are texts for people or for models, where they are not paths."""
_HARMLESS = frozenset(("kill", "wait", "disown", "exit", "return", "sleep", "gh", "glab", "logger", "notify-send"))
_INPUT = ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
_DECLARING = frozenset(("export", "declare", "local", "readonly", "typeset"))
_RUNNING = frozenset(("export", "declare", "local", "set", "find", *SHELLS))
_SETTING = frozenset(("for", "select", "set", "read", "export", "declare", "local", "printf", "case", "cd", "pushd"))
_QUOTES = dict.fromkeys(map(ord, "\"'\\"))
DEEPEST = 5
_LONGEST = 200_000
"""Characters of a command that are read; of a longer one, all that counts is whether it speaks of a protected place."""


class Line:
    """A whole command line, read once and asked several things."""

    def __init__(
        self, text: str, cwd: str, variables: Mapping[str, str], depth: int = 0, around: Callable[[], str] = str
    ) -> None:
        """Read it.

        Args:
            depth: in how many others it stands.
            around: tells what those speak of besides.
        """
        self.text, self.variables, self.depth, self.around = text, variables, depth, around
        self.is_unread = len(text) > _LONGEST
        self.reading = Reading((), (), is_whole=True) if self.is_unread else read(text, cwd, variables)
        self.commands = self.reading.commands
        self.patched = patched(text) if "*** " in text else ()

    @property
    def is_reading(self) -> bool:
        """Whether every command of it plainly changes nothing but what it prints."""
        return bool(self.commands) and not self.patched and all(map(self._is_reading, self.commands))

    @property
    def boot(self) -> Boot | None:
        """The `indelible boot` that it is, alone and with its output shown; in a shell of its own too."""
        found = booting.boot_of(self.reading)
        if found is None and len(self.commands) == 1 and self.depth < DEEPEST:
            command = self.commands[0]
            is_plain = set(self.reading.operators) <= {";", "\n"} and not command.assigned and not command.redirects
            inner = self._inner(command) if is_plain and name_in(command) in SHELLS and len(command.words) > 2 else None
            found = inner.boot if inner is not None else None
        return found

    @property
    def seals(self) -> bool:
        """Whether it has a verb of ours that writes into the log, but for the remedy that an alarm names."""
        for command in self.commands:
            own = own_words(command)
            if booting.seals(own) if own else any(one.seals for one in self.lines(bare(command))):
                return True
        return False

    def reserved(self, *, altered: bool) -> str:
        """What in it is a person's to do, in words: a verb of ours, or a variable that switches a guard off."""
        for command in self.commands:
            declared = tuple(word.text for word in command.words if "=" in word.text)
            short = bare(command)
            is_said = name_in(short) not in _RUNNING and self._only_reads(short)
            found = variable_in((*command.assigned, *(() if is_said else declared)))
            if not found and not is_said:
                found = verb_in(command.words, altered=altered)
                found = found or next(
                    (said for one in self.lines(command) if (said := one.reserved(altered=altered))), ""
                )
            if found:
                return found
        return ""

    @property
    def unhooks(self) -> bool:
        """Whether it has git leave the repository's hooks out, by another `core.hooksPath`."""
        said = self.text.translate(_QUOTES).casefold()
        if gitting.HOOKS_PATH in said and (self.is_unread or "git_config_" in said):
            return True
        return any(map(self._unhooks, self.commands))

    def _unhooks(self, command: Command) -> bool:
        short = bare(command)
        name = name_in(short)
        if not short.words:
            return False
        if name == "git":
            return gitting.unhooks(short.words[1:])
        if any(one.unhooks for one in self.lines(short)):
            return True
        return name.rstrip("0123456789.") in INTERPRETERS and any(
            gitting.HOOKS_PATH in text.casefold() for text in (*(word.text for word in short.words), command.fed)
        )

    def writes(self, places: Places) -> Named | None:
        """The first protected place that something in it would write to, rename, remove or give another name."""
        if self.is_unread:
            return places.mentioned(self.text)
        found = writing.first(self._written(command, places) for command in self.commands)
        cwd = self.commands[0].cwd if self.commands else ""
        return found or writing.first(places.named(path, cwd) for path in self.patched) or self._unsure(places)

    def _is_reading(self, command: Command) -> bool:
        if any(word.text != "/dev/null" for word in command.targets):
            return False
        short = bare(command)
        return not short.words or bool(own_words(short)) or self.reads(command, short)

    def reads(self, command: Command, short: Command) -> bool:
        """Whether it only reads, whatever options may come from its input."""
        return self._only_reads(short) and (not has_input(command) or takes_any(name_in(short)))

    def _only_reads(self, command: Command) -> bool:
        """Of a command without what goes in front of it."""
        name = name_in(command)
        if "/" in name_of(command) or any(map(assignments.may_run, command.assigned)):
            return False
        if name in SHELLS:
            inner = self._inner(command)
            return inner is not None and inner.is_reading
        if name == "find":
            from indelible.hosts import finding

            return finding.ACTS.isdisjoint(word.text for word in command.words) and all(
                self._is_reading(command._replace(words=words, targets=())) for words in finding.runs(command.words)
            )
        return only_reads(name, command.words)

    def _written(self, command: Command, places: Places) -> Named | None:
        if found := writing.first(places.named_by(target, command.cwd) for target in command.targets):
            return found
        short = bare(command)
        run = self.assigned(short)
        if run and (found := writing.first(one.writes(places) for one in run)):
            return found
        if not short.words:
            return None
        if own := own_words(short):
            return booting.written(own, short.cwd, places)
        in_front = command.words[: len(command.words) - len(short.words)]
        if (
            found := writing.any_named(writing.without_excluded("", in_front), command.cwd, places)
            if in_front
            else None
        ):
            return found
        name = name_in(short)
        if name in SHELLS and self.depth < DEEPEST and (inner := self._inner(short)) is not None:
            return inner.writes(places)
        if self.reads(command, short):
            return None
        if name == "git":
            return gitting.changes(short, short.words[1:], places)
        if name == "find":
            return self._found(short, places)
        return self._by_kind(name, short, command, places) or writing.first(
            one.writes(places) for one in self.lines(short)
        )

    def assigned(self, command: Command) -> list[Line]:
        """What stands in variables of which programs run the text: `GIT_PAGER='rm a'`."""
        if self.depth >= DEEPEST:
            return []
        said = (*command.assigned, *(word.text for word in command.words[1:] if name_in(command) in _DECLARING))
        texts = [one.partition("=")[2] for one in said if assignments.may_run(one)]
        return [self._line(text, command) for text in texts]

    def _line(self, text: str, command: Command) -> Line:
        return Line(text, command.cwd, self.variables, self.depth + 1, lambda: self._spoken(command))

    def _by_kind(self, name: str, short: Command, command: Command, places: Places) -> Named | None:
        """A command that is not known to read."""
        given, cwd = writing.without_excluded(name, short.words)[1:], short.cwd
        if has_input(command) and (found := self._piped(command, places)):
            return found
        if name in writing.REMOVERS:
            return writing.removed(name, given, cwd, places)
        if name in writing.COPIERS:
            keeps = any(".indelible" in word.text for word in short.words if word not in given)
            return writing.copied(name, given, cwd, places, keeps=keeps)
        if name in ("tar", "bsdtar", "gtar", "zip"):
            return writing.archived(name.removeprefix("bsd").removeprefix("g"), given, cwd, places)
        if name == "gh" and given[:1] and given[0].text in ("pr", "issue"):
            return None
        if name == "fd" and any(
            word.text in ("--hidden", "--unrestricted") or writing.has(word.text, "uH") for word in given
        ):
            folders = (Word(".", "."), *(word for word in given if word.text[:1] != "-"))
            return writing.first(places.named_by(word, cwd, above=True) for word in folders)
        return self._by_words(name, given, short, places)

    def _by_words(self, name: str, given: tuple[Word, ...], command: Command, places: Places) -> Named | None:
        """A command that may write to whatever it names, and an interpreter to whatever it speaks of."""
        if name == "sed":
            from indelible.hosts.scripts import sed_edits

            if (files := sed_edits([word.text for word in given])) is not None:
                return writing.any_named([given[index] for index in files], command.cwd, places)
        if name.rstrip("0123456789.") in INTERPRETERS or name in ("sed", "fd"):
            said = "\n".join((*(word.text for word in given), command.fed))
            if found := places.mentioned(said):
                return found
        here = places.named(".", spoken(command.cwd)) if UNKNOWN not in command.cwd else None
        return writing.any_named(given, command.cwd, places) or here

    def _found(self, command: Command, places: Places) -> Named | None:
        """What `find` acts on, and what the commands that it runs are told besides."""
        from indelible.hosts import finding

        for words in finding.runs(command.words):
            run = tuple(Word(word.text, UNKNOWN) if "{}" in word.text else word for word in words)
            if found := self._written(command._replace(words=run, targets=()), places):
                return found
        return finding.acted_on(
            command.words,
            command.cwd,
            places,
            lambda words: self._is_reading(command._replace(words=words, targets=())),
        )

    def _inner(self, command: Command) -> Line | None:
        """What a shell in it is given to run, where that stands in the text."""
        given = list(command.words[1:])
        arguments: tuple[str, ...] = ()
        text: str | None = None
        if command.words[0].text == "eval":
            text = " ".join(word.text for word in given)
        while text is None and given:
            one = given.pop(0).text
            if one[:1] in ("-", "+") and one[:2] != "--" and "c" in one.lower():
                text = given[0].text if given else ""
                arguments = tuple(word.text for word in given[1:])
            elif one in ("--rcfile", "--init-file", "-o", "-O", "+o", "+O"):
                del given[:1]
            elif one in _INPUT or one == "-s":
                break
            elif not one.startswith(("-", "+")):
                return None
        if text is None:
            text = self._input(command)
        if not text or self.depth >= DEEPEST:
            return None
        numbered = {str(number): said for number, said in enumerate(arguments)} | {"@": " ".join(arguments[1:])}
        return Line(
            text,
            command.cwd,
            {**self.variables, **(numbered if arguments else {})},
            self.depth + 1,
            lambda: self._spoken(command),
        )

    def _input(self, command: Command) -> str:
        """What a command reads, where the text tells it; empty else."""
        others = [one for one in self.commands if one.pipeline == command.pipeline and one.words != command.words]
        if command.fed or len(others) != 1:
            return command.fed
        said = printed(others[0])
        if said == UNKNOWN and name_in(others[0]) in ("echo", "printf"):
            return " ".join(word.text for word in others[0].words[1:] if word.text[:1] != "-")
        return "" if said == UNKNOWN else spoken(said)

    def lines(self, command: Command) -> Iterator[Line]:
        """Commands that stand in a word of another one: `su -c 'rm a'`, `env -S 'rm a'`, and what a shell is given."""
        if self.depth >= DEEPEST or name_in(command) in SPEAKERS:
            return
        if name_in(command) in SHELLS and (inner := self._inner(command)) is not None:
            yield inner
            return
        for word in command.words[1:]:
            name, _, value = word.text.partition("=")
            text = value if name.isidentifier() else word.text  # an alias
            if any(char in text for char in " \t\n"):
                yield self._line(text, command)
        if command.fed and name_in(command) in (
            "at",
            "batch",
            "ssh",
            "su",
            "sudo",
            "doas",
            "nsenter",
            "chroot",
            "xargs",
        ):
            yield self._line(command.fed, command)

    def _piped(self, command: Command, places: Places) -> Named | None:
        """What `xargs` is handed: by the commands in front of it, or by its own input."""
        others = [one for one in self.commands if one.pipeline == command.pipeline and one is not command]
        for one in others:
            kept = writing.without_excluded(name_in(one), one.words)
            if found := writing.any_named(kept, one.cwd, places) or (places.mentioned(one.fed) if one.fed else None):
                return found
        return places.mentioned(command.fed) if command.fed else None

    def _unsure(self, places: Places) -> Named | None:
        """A place that it speaks of, where it changes something that its text does not tell."""
        spoken_of: Named | None = None
        if not self.reading.is_whole:
            spoken_of = places.mentioned(f"{self.text}\n{self._spoken()}")
        elif any(self.is_open(command) for command in self.commands):
            spoken_of = places.mentioned(self._spoken())
        return spoken_of._replace(place=Place(spoken_of.place.path, UNSURE)) if spoken_of else None

    def is_open(self, command: Command) -> bool:
        """Whether a command changes something, and what is left to a variable, or to what it reads."""
        short = bare(command)
        name = name_in(short)
        if any(UNKNOWN in word.pattern for word in command.targets):
            return True
        if not short.words or own_words(short) or name in _HARMLESS or self.reads(command, short):
            return False
        if name == "git" and gitting.subcommand_of(short.words[1:]) in gitting.INERT:
            return False
        if UNKNOWN in short.cwd or any(UNKNOWN in word.pattern for word in command.words) or has_input(command):
            return True
        given = [word.text for word in short.words[1:]]
        if name in SHELLS:
            return self._inner(short) is None and (not given or any(one in _INPUT or one[:1] == "-" for one in given))
        takes = not given or any(one in _INPUT for one in given) or all(one[:1] == "-" for one in given)
        return (
            takes
            and name.rstrip("0123456789.") in INTERPRETERS
            and not any(one[1:2] in tuple("cemrpn") for one in given)
        )

    def _spoken(self, besides: Command | None = None) -> str:
        """All that is said in it and around it, but for what is left out, and what is read and goes nowhere."""
        flows = "$_" in self.text or any(
            "|" in one.redirects or one.targets or has_input(one) for one in self.commands
        ) or not {"|", "|&"}.isdisjoint(self.reading.operators)  # fmt: skip
        said = [self.around()]
        for command in self.commands:
            name = name_in(command)
            if command is besides:
                continue
            if not flows and not command.depth and name not in _SETTING and command.words and self._only_reads(command):
                continue
            said += [spoken(word.pattern) for word in writing.without_excluded(name, command.words)]
            said += [command.fed, *command.assigned, *(word.text for word in command.targets)]
        return "\n".join(said)


def own_words(command: Command) -> tuple[Word, ...]:
    """What follows `indelible`, however it was started; nothing where it was not."""
    short = bare(command)
    return booting.own(short.words, short)


def name_in(command: Command) -> str:
    """The name of its program, wherever that lies."""
    return os.path.basename(name_of(command))
