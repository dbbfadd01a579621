"""Our own program in a command: whether it is ours, what it would write, and whether it shows the briefing."""

from __future__ import annotations

import os
import sys

from indelible.hosts.words import plain, spoken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple

    from indelible.hosts.expanding import Command
    from indelible.hosts.places import Named, Places
    from indelible.hosts.shell import Reading
    from indelible.hosts.words import Word
else:
    from indelible.light import NamedTuple

_NAME = "indelible"
_ISOLATED = ("-I", "-P")
_PYTHON_OPTIONS = (*_ISOLATED, "-u", "-B", "-E", "-s", "-q")
_RUNNERS = ("uv", "poetry", "pipx", "pdm")
_VALUED = ("--agent", "--store")
_LOOKING = frozenset(
    ("", "boot", "verify", "load", "list", "history", "diff", "recall", "audit", "checkpoint", "proof", "incident", "why", "held",
     "gate", "deliveries", "doctor", "completion", "serve")
)  # fmt: skip
_LOOKING_PAIRS = frozenset(
    (("state", "show"), ("state", "list"), ("state", "history"), ("state", "check"), ("state", "template"), ("key", "show"),
     ("key", "list"), ("pin", "show"), ("review", "show"), ("review", "list"), ("hooks", "status"), ("hooks", "statusline"),
     ("retention", "show"), ("apikey", "list"))
)  # fmt: skip
_REMEDY = "save"
"""What an alarm over an edited memory itself tells to do."""
_OUTPUTS = frozenset(("-o", "--output", "--out", "--repair", "--plot"))
_HARMLESS = frozenset(("2>&1", "2>/dev/null", "</dev/null"))


class Boot(NamedTuple):
    """One `indelible boot`, alone and with its output shown."""

    cwd: str
    assigned: tuple[str, ...]
    budget: int | None
    characters: int | None


def own(words: tuple[Word, ...], command: Command) -> tuple[Word, ...]:
    """What follows `indelible` in a command's words, with its options in front left out; nothing where it is not ours."""
    if any(one.startswith(("PATH=", "PYTHONPATH=")) for one in command.assigned):
        return ()
    given = _after_program(words, command.cwd)
    if given is None:
        return ()
    while given and given[0].text.startswith("-"):
        given = given[2:] if given[0].text in _VALUED else given[1:]
    return given or (plain(""),)


def written(given: tuple[Word, ...], cwd: str, places: Places) -> Named | None:
    """The protected place that an output of ours would go to: of `-o FILE`, `--repair FILE`, `--plot FILE`, or of `hooks plugin HOST DIR`."""
    targets = list(given[3:]) if [word.text for word in given[:2]] == ["hooks", "plugin"] else []
    for word, after in zip(given, (*given[1:], plain("")), strict=True):
        if word.text in _OUTPUTS:
            targets.append(after)
        elif word.text.startswith(("--o", "--repair=", "--plot=")) and "=" in word.text:
            targets.append(word._replace(pattern=word.pattern.partition("=")[2]))
        elif word.text.startswith("-o") and len(word.text) > 2:
            targets.append(word._replace(pattern=word.pattern[2:]))
    return next((found for word in targets if (found := places.named_by(word, cwd))), None)


def seals(given: tuple[Word, ...]) -> bool:
    """Whether these words of ours write into the log, but for the remedy that an alarm names."""
    verbs = tuple(word.text for word in given if not word.text.startswith("-"))[:2] or ("",)
    return verbs[0] not in _LOOKING and verbs not in _LOOKING_PAIRS and verbs[0] != _REMEDY


def boot_of(reading: Reading) -> Boot | None:
    """The boot that a line is, with at most `cd` before it and `|| exit` after it."""
    commands, operators = list(reading.commands), [one for one in reading.operators if one not in ("\n", ";")]
    if len(commands) > 1 and commands[-1].words[:1] == (plain("exit"),) and operators[-1:] == ["||"]:
        commands, operators = commands[:-1], operators[:-1]
    if len(commands) == 2 and commands[0].words[:1] == (plain("cd"),) and operators in ([], ["&&"]):
        commands, operators = commands[1:], []
    if len(commands) != 1 or operators or not reading.is_whole:
        return None
    return _shown(commands[0]) if _HARMLESS.issuperset(commands[0].redirects) and not commands[0].depth else None


def _shown(command: Command) -> Boot | None:
    given = [word.text for word in _after_program(command.words, command.cwd) or ()]
    given = [text for text in given if text != "--json"]
    if given[:1] != ["boot"]:
        return None
    numbers: dict[str, int] = {}
    rest = given[1:]
    while rest:
        name, equals, value = rest[0].partition("=")
        if not equals:
            value, rest = (rest[1] if len(rest) > 1 else ""), rest[1:]
        if name not in ("--budget", "--characters") or not value.isdecimal():
            return None
        numbers[name], rest = int(value), rest[1:]
    return Boot(spoken(command.cwd), command.assigned, numbers.get("--budget"), numbers.get("--characters"))


def _after_program(words: tuple[Word, ...], cwd: str) -> tuple[Word, ...] | None:
    """The words after our program; None where the program is not ours."""
    texts = [word.text for word in words]
    if texts[1:2] == ["run"] and texts[0] in _RUNNERS:
        words, texts = words[2:], texts[2:]
    if not texts:
        return None
    if texts[0] == _NAME or _is_beside(texts[0], cwd):
        return words[1:]
    if not texts[0].startswith("python") and os.path.join(cwd, texts[0]) != sys.executable:
        return None
    if "/" in texts[0] and os.path.join(cwd, texts[0]) != sys.executable:
        return None
    index = 1
    while texts[index : index + 1] and texts[index] in _PYTHON_OPTIONS:
        index += 1
    if texts[index : index + 2] != ["-m", _NAME]:
        return None
    if not set(_ISOLATED) & set(texts[1:index]) and any(
        os.path.exists(os.path.join(cwd, one)) for one in (_NAME, f"{_NAME}.py")
    ):
        return None  # `-m` would take the module that lies in the folder
    return words[index + 2 :]


def _is_beside(program: str, cwd: str) -> bool:
    """Whether a path is that of the program beside this interpreter."""
    if os.path.basename(program) not in (_NAME, f"{_NAME}.exe") or not os.path.dirname(program) or "\0" in program:
        return False
    beside = os.path.join(os.path.dirname(sys.executable), os.path.basename(program))
    return os.path.realpath(os.path.join(cwd, program)) == os.path.realpath(beside)
