"""What a command line would commit, push, merge or publish, by every spelling that its text shows.

A text match: a script, an alias of the shell and what a program puts together pass it. See docs/hosts.md.
"""

from __future__ import annotations

from indelible.hosts.commands import DEEPEST, INTERPRETERS, SHELLS, SPEAKERS, Line, name_in, own_words
from indelible.hosts.gitting import parted, subcommand_of
from indelible.hosts.landing import COMMIT, alias_in, folder_of, is_known, landed
from indelible.hosts.prefixes import bare, has_input
from indelible.hosts.publishing import by_name
from indelible.hosts.words import UNKNOWN, alternatives, plain, spoken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import NamedTuple

    from indelible.hosts.expanding import Command
    from indelible.hosts.words import Word
else:
    from indelible.light import NamedTuple

_GITS = frozenset(("git", "hub", "dulwich"))
_MANUALS = frozenset(
    (
        "man",
        "tldr",
        "info",
        "help",
        "apropos",
        "whatis",
        "cheat",
        "howdoi",
        "brew",
        "apt",
        "apt-get",
        "dnf",
        "apk",
        "pip",
    )
)
_LOCAL = ("localhost", "127.0.0.1", "::1")
_RUNNERS = (
    "subprocess",
    "system",
    "popen",
    "exec",
    "spawn",
    "run(",
    "call(",
    "check_output",
    "`",
    "qx",
    "shell",
    "pty.",
    "sh.",
    "getline",
    "|",
)
"""Of which an interpreter's text has one where it runs a program."""
_CALLS = ("index.commit(", "create_commit(", "porcelain.commit(", "porcelain.push(", ".git.commit(", ".git.push(", ".git.merge(",
          ".git.cherry_pick(", ".git.execute(", "pygit2", "nodegit")  # fmt: skip
_STARTERS = frozenset(("npx", "bunx", "pnpx", "uvx"))
_MARKS = dict.fromkeys(map(ord, "\"'[](),{}`"), " ")
_ENDING = (";", "&&", "||", "|")
_NEAR = 6
_MOST_GITS = 1_000
"""Mentions of git in a program's text that are looked at; of more, nobody knows."""
_MOST_AFTER = 64
"""Words behind a `git` among another program's words that are looked at."""


class Deed(NamedTuple):
    """One thing that a call would do."""

    what: str
    """`commit`, `push`, `merge`, or the target of a guarded command."""
    said: str
    """As it stands there, in few words."""
    folder: str
    """Where it would be done; UNKNOWN within where nobody can tell."""
    words: tuple[str, ...] | None = None
    """Git's own, the subcommand first; empty where they are not all told; None where it is no git command."""


def deeds(line: Line, commands: tuple[tuple[str, str], ...], alias: Callable[[str, str], str]) -> Iterator[Deed]:
    """All of a line, those inside of other commands too.

    Args:
        commands: guarded commands, and their targets.
        alias: what git's settings in a folder say of a name.
    """
    if line.is_unread or not line.reading.is_whole:
        yield from _scanned(line.text, line.commands[0].cwd if line.commands else UNKNOWN)
    for command in line.commands:
        yield from _of_command(line, command, commands, alias)


def _of_command(
    line: Line, command: Command, commands: tuple[tuple[str, str], ...], alias: Callable[[str, str], str]
) -> Iterator[Deed]:
    short = bare(command)
    for one in line.assigned(short):
        yield from deeds(one, commands, alias)
    if not short.words:
        return
    if own_words(short):
        return
    name = name_in(short).lower()
    if line.reads(command, short) and name not in SHELLS:
        return
    target = next((target for said, target in commands if _begins(short.words, said)), "")
    if name in _STARTERS and (
        at := next((at for at, word in enumerate(short.words) if at and word.text[:1] != "-"), 0)
    ):
        yield from _of_command(line, short._replace(words=short.words[at:]), commands, alias)
    if target:
        yield Deed(target, _said(short.words), short.cwd)
    elif what := by_name(name, short.words):
        yield Deed(what, _said(short.words), short.cwd)
    elif git := _git_words(name, short, command):
        yield from _of_git(line, short, git, commands, alias)
        return
    yield from _inside(line, name, short, commands, alias)


def _git_words(name: str, short: Command, command: Command) -> tuple[Word, ...]:
    """Git's own words with git in front, however it is called; nothing where it is another program."""
    first = short.words[0]
    names = {spoken(one).rpartition("/")[2].lower().removesuffix(".exe") for one in alternatives(first.pattern)}
    if name in _GITS or names & _GITS:
        return (*short.words, plain(UNKNOWN)) if has_input(command) and len(short.words) < 2 else short.words
    if name.startswith("git-") and len(name) > len("git-"):
        return (plain("git"), plain(name.removeprefix("git-")), *short.words[1:])
    if UNKNOWN in first.pattern and landed(short.words[1:]) and UNKNOWN not in short.words[1].pattern:
        return short.words
    return ()


def _of_git(
    line: Line, short: Command, git: tuple[Word, ...], commands: tuple[tuple[str, str], ...], alias: Callable[[str, str], str]
) -> Iterator[Deed]:  # fmt: skip
    words, folder = git[1:], folder_of(short, git[1:])
    name, rest = parted(words)
    if what := landed(words):
        yield Deed(what, _said(git), folder, _told(words, short))
        return
    for word in words[: len(words) - len(rest)]:  # what a setting has git run: `-c core.pager='git push'`
        ran = word.text.partition("=")[2].removeprefix("!")
        if " " in ran and line.depth < DEEPEST:
            yield from deeds(Line(ran, folder, line.variables, line.depth + 1), commands, alias)
    texts = [word.text for word in rest]
    if not is_known(name) and line.depth < DEEPEST:
        said = alias_in(words, name) or ("" if UNKNOWN in folder else alias(folder, name))
        if "%" in name or (not said and any("alias." in one.casefold() for one in short.assigned)):
            said = COMMIT
        if said.startswith("!"):
            tail = " ".join("'" + text.replace("'", "'\\''") + "'" for text in texts)
            yield from deeds(Line(f"{said[1:]} {tail}", folder, line.variables, line.depth + 1), commands, alias)
        elif said and (what := landed((*map(plain, said.split()), *rest))):
            yield Deed(what, _said(git), folder, ())
    verb = next((text for text in texts if text in ("foreach", "run")), "") if name in ("submodule", "bisect") else ""
    if verb:
        run = short._replace(words=rest[texts.index(verb) + 1 :], targets=(), assigned=())
        yield from _of_command(line, run, commands, alias) if len(run.words) > 1 else ()
        for one in run.words[:1]:
            yield from deeds(Line(one.text, folder, line.variables, line.depth + 1), commands, alias)


def _told(words: tuple[Word, ...], short: Command) -> tuple[str, ...]:
    """The subcommand and its words; empty where a variable, a setting for this once or an option in front has a say in them."""
    name, rest = parted(words)
    told = tuple(word.text for word in rest)
    is_told = all(word.pattern == plain(word.text).pattern for word in rest) and not any(
        one.startswith("GIT_") for one in short.assigned
    )
    return (name, *told) if is_told and _is_only_moved(words[: len(words) - len(rest) - 1]) else ()


def _is_only_moved(before: tuple[Word, ...]) -> bool:
    """Whether nothing but `-C FOLDER` stands in front of a subcommand."""
    return all(one.text == "-C" for one in before[::2]) and len(before) % 2 == 0


def _inside(
    line: Line, name: str, short: Command, commands: tuple[tuple[str, str], ...], alias: Callable[[str, str], str]
) -> Iterator[Deed]:  # fmt: skip
    """What another command has in its words, or reads."""
    texts = [word.text for word in short.words]
    if (
        name in _MANUALS
        or name in SPEAKERS
        or (name == "ssh" and not any(one in text for text in texts for one in _LOCAL))
    ):
        return
    for one in line.lines(short):
        yield from deeds(one, commands, alias)
    if name in SHELLS:
        if line.is_open(short):
            yield from _scanned(line.text, short.cwd)
        return
    kind = name.rstrip("0123456789.")
    said = "\n".join((*texts[1:], short.fed))
    if kind in INTERPRETERS and any(one in said for one in _RUNNERS) and not _edits(kind, texts):
        yield from _scanned(said, short.cwd)
    if kind in INTERPRETERS and any(one in said for one in _CALLS):
        yield Deed(COMMIT, f"{name} …", short.cwd)
    for index, text in enumerate(texts[1:], 1):
        after = short.words[index + 1 : index + 1 + _MOST_AFTER] if text.rpartition("/")[2] in _GITS else ()
        if what := landed(after) if after else "":
            yield Deed(what, _said(short.words[index : index + 3]), folder_of(short, after), ())
            return


def _edits(kind: str, texts: list[str]) -> bool:
    """Whether it is a one-liner of perl that only replaces text: `perl -pi -e 's/a/b/'`."""
    scripts = [text for text in texts[1:] if text[:1] != "-"][:1]
    return kind == "perl" and any(text[:2] in ("-p", "-n") for text in texts[1:]) and all(
        text[:2] in ("s/", "s|", "s#", "y/", "s{") and "e" not in text.rpartition(text[1])[2] for text in scripts
    )  # fmt: skip


def _scanned(text: str, cwd: str) -> Iterator[Deed]:
    """The first git command somewhere in a text of another language."""
    tokens = text.translate(_MARKS).split()
    places = [index for index, token in enumerate(tokens) if token.rpartition("/")[2] in _GITS]
    if len(places) > _MOST_GITS:
        yield Deed(COMMIT, "git …", cwd)
        return
    for index in places:
        near = tokens[index + 1 : index + 1 + _NEAR]
        end = next((at for at, one in enumerate(near) if one in _ENDING or one[-1:] == ";"), len(near))
        words = tuple(plain(one.rstrip(";")) for one in near[: end + 1])
        what = landed(words)
        if not what and not is_known(subcommand_of(words)):
            what = next((what for at in range(len(words)) if (what := landed(words[at:]))), "")
        if what:
            yield Deed(what, " ".join(("git", *(word.text for word in words[:2]))), cwd, ())
            return


def _begins(words: tuple[Word, ...], said: str) -> bool:
    """Whether a command begins with these words, options and what may be their values left out."""
    wanted = said.split()
    after_option = False
    for word in words:
        text = word.text.rpartition("/")[2] if word is words[0] else word.text
        if wanted and text == wanted[0]:
            wanted = wanted[1:]
        elif not wanted:
            return True
        elif text[:1] != "-" and not after_option:
            return False
        after_option = text[:1] == "-" and "=" not in text
    return not wanted


def _said(words: tuple[Word, ...]) -> str:
    """How it stands there, short and without what may be unknown."""
    return " ".join(word.text.replace(UNKNOWN, "…").partition("\n")[0][:40] for word in words[:3])
