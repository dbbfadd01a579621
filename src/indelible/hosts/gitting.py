"""What a git command does to protected places, and whether it only reads."""

from __future__ import annotations

from itertools import pairwise

from indelible.hosts.words import Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from indelible.hosts.expanding import Command
    from indelible.hosts.places import Named, Places

_READING = frozenset(
    ("status", "log", "diff", "show", "rev-parse", "ls-files", "ls-tree", "cat-file", "blame", "annotate",
     "grep", "describe", "shortlog", "rev-list", "merge-base", "show-ref", "show-branch", "for-each-ref", "whatchanged",
     "version", "--version", "help", "--help", "count-objects", "check-ignore", "diff-tree", "diff-index", "diff-files",
     "name-rev", "range-diff", "cherry", "var", "fsck", "ls-remote", "check-attr", "")
)  # fmt: skip
_LISTING = {
    "branch": ("-a", "-r", "-v", "-vv", "-av", "-avv", "-rv", "-l", "--list", "--show-current", "--all", "--remotes", "--verbose"),
    "tag": ("-l", "-n", "--list", "-ln"),
    "remote": ("-v", "--verbose", "show", "get-url"),
    "config": ("--get", "--get-all", "--get-regexp", "-l", "--list", "--show-origin", "list", "get"),
    "stash": ("list", "show"),
    "worktree": ("list",),
    "reflog": ("", "show"),
    "submodule": ("", "status", "summary"),
    "notes": ("", "list", "show"),
    "bisect": ("log",),
}  # fmt: skip
"""By what stands first after the subcommand, which then only lists; an empty one means that nothing need stand there."""
_LISTING_TOO = ("--contains", "--no-contains", "--merged", "--no-merged", "--points-at", "--sort", "--format", "--column", "--porcelain",
                "--global", "--local", "--system", "--name-only", "--stat", "-p", "-z")  # fmt: skip
_BEFORE = frozenset(
    ("-C", "--no-pager", "-P", "--git-dir", "--work-tree", "--no-optional-locks", "--bare", "-c", "--literal-pathspecs")
)
_SETTINGS = ("core.quotepath=", "color.", "advice.", "column.", "i18n.", "status.", "safe.directory=", "core.abbrev=",
             "log.", "user.name=", "user.email=")  # fmt: skip
_VALUED = frozenset(("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"))
INERT = frozenset(
    ("commit", "add", "push", "fetch", "pull", "merge", "rebase", "tag", "branch", "remote", "notes", "cherry-pick", "revert", "reflog",
     "gc", "commit-tree", "send-email", "request-pull", "stage", "bisect", "submodule", "lfs", "am", "switch", "update-ref")
)  # fmt: skip
"""Change the repository, and of the files only what is in its history: a path or a message among their words writes to none."""

_RUNNING = frozenset(
    ("bisect", "submodule", "rebase", "filter-branch", "difftool", "mergetool", "config", "send-email")
)
"""Have words that are run as commands, now or later."""
HOOKS_PATH = "core.hookspath"
"""Where git looks for hooks, in small letters: git takes capitals for the same."""
_SETTING = ("set", "unset", "--unset", "--unset-all", "--replace-all", "--add")
_GETTING = ("get", "--get", "--get-all", "--get-regexp")


def unhooks(words: tuple[Word, ...]) -> bool:
    """Whether git with these words after it is told of another place for hooks: for this once, or for good."""
    name, rest = parted(words)
    before = words[: len(words) - len(rest)]
    if any(HOOKS_PATH in word.text.casefold() for word in before):
        return True
    texts = [word.text for word in rest]
    at = next((index for index, text in enumerate(texts) if text.casefold() == HOOKS_PATH), -1)
    if name != "config" or any(text in _GETTING for text in texts):
        return False
    if at < 0:
        return "core" in texts and any(text.lstrip("-") in ("remove-section", "rename-section") for text in texts)
    return any(text in _SETTING for text in texts[:at]) or any(not text.startswith("-") for text in texts[at + 1 :])


def is_reading(words: tuple[Word, ...]) -> bool:
    """Whether git with these words after it changes nothing."""
    name, rest = parted(words)
    before, texts = words[: len(words) - len(rest)], [word.text for word in rest]
    if not all(map(_is_harmless, before, (*before[1:], Word("", "")))) or any(map(_writes_output, texts)):
        return False
    if name == "grep":
        return not any(text.startswith(("-O", "--op")) for text in texts)
    if name == "ls-remote":
        return not any("::" in text or text.startswith(("--upload", "--exec")) for text in texts)
    if name in _READING:
        return "--ext-diff" not in texts
    return name in _LISTING and _lists(name, texts)


def _is_harmless(word: Word, after: Word) -> bool:
    """Whether an option in front of the subcommand, with what follows it, runs nothing."""
    name = word.text.partition("=")[0]
    if name == "-c":
        return after.text.lower() == "core.pager=cat" or after.text.lower().startswith(_SETTINGS)
    return name in _BEFORE or not name.startswith("-") or name in _READING


def _writes_output(text: str) -> bool:
    """`--output=FILE`, also cut short."""
    return text.startswith("--ou") and not text.startswith("--output-indicator")


def _lists(name: str, texts: list[str]) -> bool:
    firsts = _LISTING[name]
    options = [text.partition("=")[0] for text in texts if text.startswith("-")]
    if not all(option in firsts or option in _LISTING_TOO or option[1:].isdigit() for option in options):
        return False
    others = [text for text in texts if not text.startswith("-")]
    if name == "config" and not options:
        return len(others) == 1 or others[:1] in (["list"], ["get"])
    if name in ("branch", "tag", "config"):
        lists = name == "config" or any(one in _LISTING_TOO or "l" in one for one in options)
        return not others or (bool(options) and lists)
    return others[0] in firsts if others else "" in firsts or bool(options) or name == "remote"


def changes(command: Command, words: tuple[Word, ...], places: Places) -> Named | None:
    """The protected place that git with these words after it would change."""
    name, rest = parted(words)
    cwd, trees = command.cwd, [one.partition("=")[2] for one in command.assigned if one.startswith("GIT_WORK_TREE=")]
    for option, value in pairwise((*words, Word("", ""))):
        if option.text == "-C":
            cwd = _joined(cwd, value.pattern)
        if option.text == "-c" and (found := places.mentioned(value.text)):
            return found
        if option.text.startswith("--work-tree"):
            trees.append(option.pattern.partition("=")[2] or value.pattern)
    cwd = _joined(cwd, trees[-1]) if trees and name in ("checkout", "restore", "reset", "rm", "clean") else cwd
    if trees and (found := places.named_by(Word(cwd, cwd), cwd)):
        return found
    if found := _to_file(name, rest, cwd, places):
        return found
    if (
        name in _RUNNING
        and not is_reading(words)
        and (found := places.mentioned("\n".join(word.text for word in rest)))
    ):
        return found
    if name == "grep" and not is_reading(words):
        return next((found for word in rest if (found := places.named_by(word, cwd))), None)
    return None if name in _READING or name in INERT else _changed(name, rest, command, cwd, places)


def _changed(name: str, rest: tuple[Word, ...], command: Command, cwd: str, places: Places) -> Named | None:
    """Of a subcommand that may write to the files that it names."""
    texts = [word.text for word in rest]
    if name == "clean":
        return _cleaned(rest, cwd, places)
    if name == "rm" and "--cached" in texts:
        return None
    if name == "stash":
        is_all = any(text == "--all" or _has(text, "a") for text in texts) and texts[:1] not in (
            ["list"],
            ["show"],
            ["drop"],
        )
        return places.above(".", cwd) if is_all else None
    if name == "apply":
        from indelible.hosts.tools import patched

        folder = next((text.partition("=")[2] for text in texts if text.startswith("--directory=")), ".")
        into = _joined(cwd, folder)
        found = next((found for path in patched(command.fed) if (found := places.named(path, into))), None)
        return found or places.named(folder, cwd)
    if name in _LISTING and _lists(name, texts):
        return None
    is_deep = name in ("worktree", "mv")
    if name == "mv" and rest:
        return next(
            (found for word in rest[:-1] if (found := places.named_by(word, cwd, above=is_deep))), None
        ) or places.named_by(rest[-1], cwd)
    for word in rest:
        tail = word.pattern.partition("=")[2]
        for one in (word, Word(tail, tail)) if tail else (word,):
            if not one.text.startswith((":!", ":(exclude", ":^")) and (
                found := places.named_by(one, cwd, above=is_deep)
            ):
                return found
    return None


def _to_file(name: str, rest: tuple[Word, ...], cwd: str, places: Places) -> Named | None:
    """Where an option says that the output goes: `--output FILE`, `-o FILE`."""
    for option, value in pairwise((*rest, Word("", ""))):
        tail = ""
        if _writes_output(option.text):
            tail = option.pattern.partition("=")[2] or value.pattern
        elif option.text.startswith("-o") and name in (
            "archive",
            "format-patch",
            "bugreport",
            "diagnose",
            "log",
            "diff",
        ):
            tail = option.pattern[2:] or value.pattern
        if tail and (found := places.named_by(Word(tail, tail), cwd)):
            return found
    return None


def _cleaned(rest: tuple[Word, ...], cwd: str, places: Places) -> Named | None:
    """Only with `-x` or `-X` does `git clean` take what is ignored, as our folder is."""
    flags, excluded, named, left = "", [], [], list(rest)
    while left:
        word = left.pop(0)
        if word.text in ("--exclude", "-e") or (_has(word.text, "e") and word.text.endswith("e")):
            flags += word.text
            excluded += [left.pop(0).text] if left else []
        elif word.text.startswith("--exclude="):
            excluded.append(word.text.partition("=")[2])
        elif word.text.startswith("-"):
            flags += "n" if word.text == "--dry-run" else word.text if word.text[:2] != "--" else ""
        else:
            named.append(word)
    is_kept = any(text.strip("/") in (".indelible", "**/.indelible") for text in excluded)
    if "x" not in flags.lower() or "n" in flags or (is_kept and not named):
        return None
    if not named or any(word.text.startswith(":") for word in named):
        return places.above(".", cwd)
    return next((found for word in named if (found := places.named_by(word, cwd, above=not is_kept))), None)


def _has(text: str, letter: str) -> bool:
    return text[:1] == "-" and text[1:2] != "-" and letter in text


def _joined(cwd: str, path: str) -> str:
    return path if path.startswith(("/", "~", "\0")) else f"{cwd}/{path}"


def subcommand_of(words: tuple[Word, ...]) -> str:
    """The subcommand among git's words."""
    return parted(words)[0]


def parted(words: tuple[Word, ...]) -> tuple[str, tuple[Word, ...]]:
    """The subcommand, and what follows it."""
    index = 0
    while index < len(words) and words[index].text.startswith("-") and words[index].text not in _READING:
        index += 2 if words[index].text in _VALUED else 1
    return (words[index].text, words[index + 1 :]) if index < len(words) else ("", ())
